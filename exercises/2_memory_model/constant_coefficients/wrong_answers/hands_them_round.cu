// Wrong answer: each lane reads one coefficient and hands it round: the one read left takes as many passes as all 32
// Rejected by: reads one coefficient at a time in a warp
// Message: 32 passes
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void filter_with_shuffles(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float mine = filter[threadIdx.x % 32];
    float sum = 0;
    for (int k = 0; k < taps; ++k) {
        const float coefficient = __shfl_sync(0xFFFFFFFF, mine, k);
        if (i < n) sum += coefficient * in[i + k];
    }
    if (i < n) out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    const int threads = 256;
    filter_with_shuffles<<<(n + threads - 1) / threads, threads>>>(d_in, d_out, n);
}
