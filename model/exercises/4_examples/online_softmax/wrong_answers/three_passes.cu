// Wrong answer: finds the maximum in one pass and the sum in another one
// Rejected by: reads each element at most twice
// Message: bytes
#include "exercises/4_examples/online_softmax/online_softmax.h"

#include <cuda_runtime.h>

#include <cfloat>

constexpr unsigned lanes = 32, warps = 8, threads = warps * lanes;

__global__ void softmax_of_row(const float* in, size_t cols, float* out) {
    __shared__ float maxima[warps], sums[warps];
    const float* const from = in + blockIdx.x * cols;
    float* const to = out + blockIdx.x * cols;
    float largest = -FLT_MAX;
    for (size_t col = threadIdx.x; col < cols; col += threads)
        largest = fmaxf(largest, from[col]);
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance));
    if (threadIdx.x % lanes == 0) maxima[threadIdx.x / lanes] = largest;
    __syncthreads();
    for (unsigned warp = 0; warp < warps; ++warp) largest = fmaxf(largest, maxima[warp]);
    float sum = 0;
    for (size_t col = threadIdx.x; col < cols; col += threads)
        sum += expf(from[col] - largest);
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (threadIdx.x % lanes == 0) sums[threadIdx.x / lanes] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned warp = 0; warp < warps; ++warp) sum += sums[warp];
    for (size_t col = threadIdx.x; col < cols; col += threads)
        to[col] = expf(from[col] - largest) / sum;
}

void softmax(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    softmax_of_row<<<static_cast<unsigned>(rows), threads>>>(d_in, cols, d_out);
}
