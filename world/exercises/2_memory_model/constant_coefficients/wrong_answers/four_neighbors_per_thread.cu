// Wrong answer: each thread takes four neighboring outputs
// Rejected by: reads and writes the signal side by side
// Message: of the 32-byte sectors that were touched are needed
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void filter_by_fours(const float* in, float* out, int n) {
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + 4 && i < n; ++i) {
        float sum = 0;
        for (int k = 0; k < taps; ++k) sum += filter[k] * in[i + k];
        out[i] = sum;
    }
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    filter_by_fours<<<(n + 1023) / 1024, 256>>>(d_in, d_out, n);
}
