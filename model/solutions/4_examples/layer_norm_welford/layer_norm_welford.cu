// Solution: a layer norm by Welford's method.
//
// The mistake is the difference of two large numbers: the mean of the squares minus the
// square of the mean. Around 10,000 both are near 10^8, where floats are 8 apart. A thread
// now keeps a mean and the sum of the squares of the deviations from it, m2, and corrects
// both for each element: it subtracts first, while the numbers are small. Threads combine
// what they have by the formula of Chan, Golub, and LeVeque. There the difference of their
// means counts, too. A thread without elements has the count 0, and its share is 0.
#include "exercises/4_examples/layer_norm_welford/layer_norm_welford.h"

#include <cuda_runtime.h>

constexpr unsigned lanes = 32;
constexpr unsigned warps = 8;
constexpr unsigned threads = warps * lanes;  // per block, which has one row

struct Moments {
    float count, mean, m2;
};

__device__ Moments combined(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0) return a;
    const float difference = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + difference * share,
            a.m2 + b.m2 + difference * difference * a.count * share};
}

__global__ void normalize_row(const float* in, size_t cols, float* out) {
    __shared__ Moments of_warps[warps];
    const float* const from = in + blockIdx.x * cols;
    float* const to = out + blockIdx.x * cols;
    Moments own = {0, 0, 0};
    for (size_t col = threadIdx.x; col < cols; col += threads) {
        const float x = from[col], difference = x - own.mean;
        own.count += 1;
        own.mean += difference / own.count;
        own.m2 += difference * (x - own.mean);
    }
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
        const Moments other = {__shfl_xor_sync(0xffffffff, own.count, distance),
                               __shfl_xor_sync(0xffffffff, own.mean, distance),
                               __shfl_xor_sync(0xffffffff, own.m2, distance)};
        own = combined(own, other);
    }
    if (threadIdx.x % lanes == 0) of_warps[threadIdx.x / lanes] = own;
    __syncthreads();
    own = of_warps[0];
    for (unsigned warp = 1; warp < warps; ++warp) own = combined(own, of_warps[warp]);
    const float factor = 1 / sqrtf(own.m2 / own.count + 1e-5f);
    for (size_t col = threadIdx.x; col < cols; col += threads)
        to[col] = (from[col] - own.mean) * factor;
}

void normalize(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    normalize_row<<<static_cast<unsigned>(rows), threads>>>(d_in, cols, d_out);
}
