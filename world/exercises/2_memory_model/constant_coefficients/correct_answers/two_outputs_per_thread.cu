// Correct answer: two outputs a thread, a block apart, for each coefficient
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void two_outputs(const float* in, float* out, int n) {
    const int first = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    const int second = first + blockDim.x;
    const bool has_second = second < n;
    if (first >= n) return;
    float a = 0, b = 0;
    for (int k = 0; k < taps; ++k) {
        const float c = filter[k];
        a += c * in[first + k];
        if (has_second) b += c * in[second + k];
    }
    out[first] = a;
    if (has_second) out[second] = b;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    const int threads = 128;
    two_outputs<<<(n + 2 * threads - 1) / (2 * threads), threads>>>(d_in, d_out, n);
}
