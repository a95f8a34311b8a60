// Correct answer: the coefficients stand the other way round in constant memory
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

#include <algorithm>

__constant__ float reversed[taps];

__global__ void convolve(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int last = i + taps - 1;
    float sum = 0;
    for (int k = taps - 1; k >= 0; --k) sum += reversed[k] * in[last - k];
    out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    float turned[taps];
    std::reverse_copy(coefficients, coefficients + taps, turned);
    cudaMemcpyToSymbol(reversed, turned, sizeof turned);
    convolve<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
}
