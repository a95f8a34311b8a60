// Correct answer: keeps rows of up to 8192 elements in shared memory, and passes over them
//     twice there
#include "exercises/4_examples/layer_norm_welford/layer_norm_welford.h"

#include <cuda_runtime.h>

constexpr unsigned lanes = 32, warps = 8, threads = warps * lanes;
constexpr unsigned kept = 8192;

__device__ float sum_over_block(float sum, float* sums) {
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (threadIdx.x % lanes == 0) sums[threadIdx.x / lanes] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned warp = 0; warp < warps; ++warp) sum += sums[warp];
    return sum;
}

__global__ void normalize_row(const float* in, size_t cols, float* out) {
    __shared__ float row[kept];
    __shared__ float sums[warps], squares[warps];
    const float* const from = in + blockIdx.x * cols;
    float* const to = out + blockIdx.x * cols;
    const float count = static_cast<float>(cols);
    float sum = 0, square = 0;
    for (size_t col = threadIdx.x; col < cols; col += threads) {
        const float x = from[col];
        if (col < kept) row[col] = x;
        sum += x;
    }
    const float mean = sum_over_block(sum, sums) / count;
    for (size_t col = threadIdx.x; col < cols; col += threads) {
        const float x = (col < kept ? row[col] : from[col]) - mean;
        square += x * x;
    }
    const float factor = 1 / sqrtf(sum_over_block(square, squares) / count + 1e-5f);
    for (size_t col = threadIdx.x; col < cols; col += threads)
        to[col] = ((col < kept ? row[col] : from[col]) - mean) * factor;
}

void normalize(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    normalize_row<<<static_cast<unsigned>(rows), threads>>>(d_in, cols, d_out);
}
