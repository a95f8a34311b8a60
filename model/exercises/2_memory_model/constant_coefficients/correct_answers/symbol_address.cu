// Correct answer: the coefficients are copied by the address of the symbol
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float weights[taps];

__global__ void weigh(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float* window = in + i;
    const float* const end = window + taps;
    float sum = 0;
    for (int k = 0; window != end; ++k, ++window) sum += weights[k] * *window;
    out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    void* address = nullptr;
    cudaGetSymbolAddress(&address, weights);
    cudaMemcpy(address, coefficients, taps * sizeof(float), cudaMemcpyHostToDevice);
    const dim3 block(64);
    const dim3 grid((n + block.x - 1) / block.x);
    weigh<<<grid, block>>>(d_in, d_out, n);
}
