// Correct answer: the inputs of a block go through a tile in shared memory
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

constexpr int block_size = 128;
__constant__ float filter[taps];

__global__ void filter_tile(const float* in, float* out, int n) {
    __shared__ float s[block_size + taps - 1];
    const int start = blockIdx.x * block_size;
    const int inputs = n + taps - 1;
    for (int t = threadIdx.x; t < block_size + taps - 1; t += block_size) {
        s[t] = start + t < inputs ? in[start + t] : 0.0f;
    }
    __syncthreads();
    const int i = start + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < taps; ++k) sum += filter[k] * s[threadIdx.x + k];
        out[i] = sum;
    }
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    filter_tile<<<(n + block_size - 1) / block_size, block_size>>>(d_in, d_out, n);
}
