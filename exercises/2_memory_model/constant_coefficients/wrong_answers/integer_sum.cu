// Wrong answer: adds up in an int
// Rejected by: filters signals of any length
// Message: 1 element: 1 wrong
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void filter_by_threads(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int k = 0; k < taps; ++k) sum += filter[k] * in[i + k];
    out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    const int threads = 256;
    filter_by_threads<<<(n + threads - 1) / threads, threads>>>(d_in, d_out, n);
}
