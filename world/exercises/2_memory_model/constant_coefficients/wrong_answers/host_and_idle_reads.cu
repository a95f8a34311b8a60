// Wrong answer: the host filters; the kernel reads constants and copies what the host has
//     computed
// Rejected by: filters signals of any length
// Message: were not read by any kernel
#include <vector>

#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void copy_results(const float* results, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float nothing = 0;
    for (int k = 0; k < taps; ++k) nothing += 0 * filter[k];
    out[i] = results[i] + nothing;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    std::vector<float> in(n + taps - 1), out(n);
    cudaMemcpy(in.data(), d_in, in.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < taps; ++k) out[i] += coefficients[k] * in[i + k];
    }
    float* results = nullptr;
    cudaMalloc(&results, n * sizeof(float));
    cudaMemcpy(results, out.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    copy_results<<<(n + 255) / 256, 256>>>(results, d_out, n);
    cudaFree(results);
}
