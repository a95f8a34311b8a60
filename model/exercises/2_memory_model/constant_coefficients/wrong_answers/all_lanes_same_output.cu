// Wrong answer: one address a read, but still a warp for each output
// Rejected by: takes few wavefronts for an output
// Message: wavefronts of constant memory per output:
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void filter_by_warps(const float* in, float* out, int n) {
    const int i = blockIdx.x * 4 + threadIdx.x / 32;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += filter[k] * in[i + k];
    if (threadIdx.x % 32 == 0) out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    filter_by_warps<<<(n + 3) / 4, 128>>>(d_in, d_out, n);
}
