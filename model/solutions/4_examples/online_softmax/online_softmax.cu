// Solution: a softmax that finds maximum and sum of a row in one pass.
//
// A pair begins with the lowest finite float. With -infinity, a thread without elements, or
// one whose elements are all masked, would compute -infinity minus -infinity, which is NaN.
// When a larger element comes, the sum is multiplied by exp(old - new), as if it had been
// formed with the new maximum from the beginning. Two pairs combine in the same way. The
// pairs of the warps meet in shared memory, behind one barrier.
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
    const float largest = fmaxf(pair.largest, x);
    return {largest, pair.sum * expf(pair.largest - largest) + expf(x - largest)};
}

// The pair of the elements of both.
__device__ Pair combined(Pair a, Pair b) {
    const float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

__global__ void softmax_of_row(const float* in, size_t cols, float* out) {
    __shared__ Pair of_warps[warps];
    const float* const from = in + blockIdx.x * cols;
    float* const to = out + blockIdx.x * cols;
    Pair own = {-FLT_MAX, 0};
    for (size_t col = threadIdx.x; col < cols; col += threads)
        own = with_element(own, from[col]);

    // All lanes of a warp get the pair of the warp.
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
        const Pair other = {__shfl_xor_sync(0xffffffff, own.largest, distance),
                            __shfl_xor_sync(0xffffffff, own.sum, distance)};
        own = combined(own, other);
    }
    if (threadIdx.x % lanes == 0) of_warps[threadIdx.x / lanes] = own;
    __syncthreads();
    own = of_warps[0];
    for (unsigned warp = 1; warp < warps; ++warp) own = combined(own, of_warps[warp]);

    for (size_t col = threadIdx.x; col < cols; col += threads)
        to[col] = expf(from[col] - own.largest) / own.sum;
}

void softmax(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    softmax_of_row<<<static_cast<unsigned>(rows), threads>>>(d_in, cols, d_out);
}
