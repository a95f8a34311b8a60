// Exercise: a softmax that finds maximum and sum of a row in one pass.
// The task: ./warpwise task online_softmax
#include "exercises/4_examples/online_softmax/online_softmax.h"

#include <cuda_runtime.h>

#include <cfloat>

constexpr unsigned lanes = 32;
constexpr unsigned warps = 8;
constexpr unsigned threads = warps * lanes;  // per block, which has one row

// Of some elements x: the largest one, and the sum of exp(x - largest).
struct Pair {
    float largest, sum;
};

// The pair of the elements of `pair` and of x.
__device__ Pair with_element(Pair pair, float x) {
    // TODO 2: what if x is larger than all elements so far? (At present the first maximum
    // stays forever.)
    pair.sum += expf(x - pair.largest);
    return pair;
}

// The pair of the elements of both.
__device__ Pair combined(Pair a, Pair b) {
    // TODO 3: each sum was formed with a maximum of its own. (At present they are added as
    // if that were the same one.)
    return {fmaxf(a.largest, b.largest), a.sum + b.sum};
}

__global__ void softmax_of_row(const float* in, size_t cols, float* out) {
    const float* const from = in + blockIdx.x * cols;
    float* const to = out + blockIdx.x * cols;
    // TODO 1: which pair does a thread have that has seen no element? (At present its
    // maximum is 0, and so is that of a row of negative elements.)
    Pair own = {0, 0};
    for (size_t col = threadIdx.x; col < cols; col += threads)
        own = with_element(own, from[col]);

    // All lanes of a warp get the pair of the warp.
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
        const Pair other = {__shfl_xor_sync(0xffffffff, own.largest, distance),
                            __shfl_xor_sync(0xffffffff, own.sum, distance)};
        own = combined(own, other);
    }
    // TODO 4: let all threads have the pair of the row, that of all 8 warps, with as few
    // barriers as possible. (At present each warp goes on with a pair of its own.)

    for (size_t col = threadIdx.x; col < cols; col += threads)
        to[col] = expf(from[col] - own.largest) / own.sum;
}

void softmax(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    softmax_of_row<<<static_cast<unsigned>(rows), threads>>>(d_in, cols, d_out);
}
