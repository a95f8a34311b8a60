// Wrong answer: a single block filters the whole signal
// Rejected by: shares the outputs among many threads
// Message: the task asks for at least 4 blocks
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void filter_in_one_block(const float* in, float* out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float sum = 0;
        for (int k = 0; k < taps; ++k) sum += filter[k] * in[i + k];
        out[i] = sum;
    }
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    filter_in_one_block<<<1, 1024>>>(d_in, d_out, n);
}
