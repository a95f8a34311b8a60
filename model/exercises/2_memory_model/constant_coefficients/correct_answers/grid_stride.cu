// Correct answer: a grid-stride loop over the outputs, blocks of 128 threads
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

#include <algorithm>

__constant__ float c_taps[taps];

__global__ void fir(const float* __restrict__ x, float* __restrict__ y, size_t n) {
    const size_t step = static_cast<size_t>(blockDim.x) * gridDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float acc = 0.f;
        for (int k = 0; k < taps; k++) acc = fmaf(c_taps[k], x[i + k], acc);
        y[i] = acc;
    }
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n <= 0) return;
    cudaMemcpyToSymbol(c_taps, coefficients, sizeof(c_taps));
    fir<<<std::min((n + 127) / 128, 2048), 128>>>(d_in, d_out, n);
}
