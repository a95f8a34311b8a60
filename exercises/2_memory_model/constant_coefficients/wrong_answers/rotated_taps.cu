// Wrong answer: each lane begins with another coefficient, so the lanes do not agree
// Rejected by: reads one coefficient at a time in a warp
// Message: 32 passes for each of
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void filter_by_threads(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int step = 0; step < taps; ++step) {
        const int k = (step + threadIdx.x) % taps;
        sum += filter[k] * in[i + k];
    }
    out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    const int threads = 256;
    filter_by_threads<<<(n + threads - 1) / threads, threads>>>(d_in, d_out, n);
}
