// Wrong answer: gives constant memory up, and reads the coefficients from global memory
// Rejected by: reads one coefficient at a time in a warp
// Message: constant memory was not read
#include <cuda_runtime.h>

#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__global__ void filter_from_global(const float* coefficients, const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += coefficients[k] * in[i + k];
    out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    float* d_coefficients = nullptr;
    cudaMalloc(&d_coefficients, taps * sizeof(float));
    cudaMemcpy(d_coefficients, coefficients, taps * sizeof(float), cudaMemcpyHostToDevice);
    const int threads = 256;
    filter_from_global<<<(n + threads - 1) / threads, threads>>>(d_coefficients, d_in, d_out, n);
    cudaFree(d_coefficients);
}
