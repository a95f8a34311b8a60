// Wrong answer: reads a tile of inputs that other threads may not have filled
// Rejected by: filters signals of any length
// Message: data race: two lanes of a warp use the same memory, one of them writes it, and
//     nothing orders them
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void filter_tile(const float* in, float* out, int n) {
    __shared__ float tile[256 + taps];
    const int i = blockIdx.x * 256 + threadIdx.x;
    for (int t = threadIdx.x; t < 256 + taps - 1; t += 256) {
        const int from = blockIdx.x * 256 + t;
        tile[t] = from < n + taps - 1 ? in[from] : 0.0f;
    }
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += filter[k] * tile[threadIdx.x + k];
    out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    filter_tile<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
}
