// Wrong answer: one thread copies the coefficients to shared memory, from which all others read them
// Rejected by: takes few passes for an output
// Message: coefficients per output from constant memory, at least 8 wanted
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void filter_by_threads(const float* in, float* out, int n) {
    __shared__ float own[taps];
    if (threadIdx.x == 0) {
        for (int k = 0; k < taps; ++k) own[k] = filter[k];
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += own[k] * in[i + k];
    out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    filter_by_threads<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
}
