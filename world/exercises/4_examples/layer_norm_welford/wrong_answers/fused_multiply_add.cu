// Wrong answer: subtracts the square of the mean without rounding it, but the squares were
//     rounded before
// Rejected by: normalizes rows whose mean is large
// Message: wrong
#include "exercises/4_examples/layer_norm_welford/layer_norm_welford.h"

#include <cuda_runtime.h>

constexpr unsigned lanes = 32;
constexpr unsigned warps = 8;
constexpr unsigned threads = warps * lanes;  // per block, which has one row

__global__ void normalize_row(const float* in, size_t cols, float* out) {
    __shared__ float sums[warps], squares[warps];
    const float* const from = in + blockIdx.x * cols;
    float* const to = out + blockIdx.x * cols;
    float sum = 0, square = 0;
    for (size_t col = threadIdx.x; col < cols; col += threads) {
        const float x = from[col];
        sum += x;
        square = fmaf(x, x, square);
    }
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
        square += __shfl_xor_sync(0xffffffff, square, distance);
    }
    if (threadIdx.x % lanes == 0) {
        sums[threadIdx.x / lanes] = sum;
        squares[threadIdx.x / lanes] = square;
    }
    __syncthreads();
    sum = square = 0;
    for (unsigned warp = 0; warp < warps; ++warp) {
        sum += sums[warp];
        square += squares[warp];
    }
    const float count = static_cast<float>(cols), mean = sum / count;
    const float variance = fmaf(-mean, mean, square / count);
    const float factor = 1 / sqrtf(variance + 1e-5f);
    for (size_t col = threadIdx.x; col < cols; col += threads)
        to[col] = (from[col] - mean) * factor;
}

void normalize(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    normalize_row<<<static_cast<unsigned>(rows), threads>>>(d_in, cols, d_out);
}
