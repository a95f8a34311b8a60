// Wrong answer: one launch per coefficient, each of which writes every output again
// Rejected by: filters signals of any length
// Message: was written more than once
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void add_tap(const float* in, float* out, int n, int k) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float term = filter[k] * in[i + k];
    out[i] = k == 0 ? term : out[i] + term;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    for (int k = 0; k < taps; ++k) add_tap<<<(n + 255) / 256, 256>>>(d_in, d_out, n, k);
}
