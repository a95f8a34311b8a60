// Wrong answer: reads the row a third time, for the squares of the deviations
// Rejected by: reads each element at most twice
// Message: bytes
#include "exercises/4_examples/layer_norm_welford/layer_norm_welford.h"

#include <cuda_runtime.h>

constexpr unsigned lanes = 32, warps = 8, threads = warps * lanes;

__device__ float sum_over_block(float sum) {
    __shared__ float sums[warps];
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    __syncthreads();
    if (threadIdx.x % lanes == 0) sums[threadIdx.x / lanes] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned warp = 0; warp < warps; ++warp) sum += sums[warp];
    return sum;
}

__global__ void normalize_row(const float* in, size_t cols, float* out) {
    const float* const from = in + blockIdx.x * cols;
    float* const to = out + blockIdx.x * cols;
    const float count = static_cast<float>(cols);
    float sum = 0, square = 0;
    for (size_t col = threadIdx.x; col < cols; col += threads) sum += from[col];
    const float mean = sum_over_block(sum) / count;
    for (size_t col = threadIdx.x; col < cols; col += threads)
        square += (from[col] - mean) * (from[col] - mean);
    const float factor = 1 / sqrtf(sum_over_block(square) / count + 1e-5f);
    for (size_t col = threadIdx.x; col < cols; col += threads)
        to[col] = (from[col] - mean) * factor;
}

void normalize(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    normalize_row<<<static_cast<unsigned>(rows), threads>>>(d_in, cols, d_out);
}
