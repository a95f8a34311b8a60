// Solution: a filter whose coefficients are read by lane.
//
// There are two loops, over outputs and over coefficients, and the question is which of
// them the lanes of a warp share. With a coefficient for each lane, constant memory is
// asked for 32 addresses at once and serves them one after the other: 32 wavefronts for a
// single output. Here the lanes share the outputs, and go through the coefficients
// together: each read is one address, one wavefront, for 32 outputs. It is 32 wavefronts
// for 32 outputs, and the shuffles are gone as well.
//
// The input is read side by side either way; neighboring outputs read nearly the same of
// it, which the L1 cache holds.
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void filter_by_threads(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += filter[k] * in[i + k];
    out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    const int threads = 256;
    filter_by_threads<<<(n + threads - 1) / threads, threads>>>(d_in, d_out, n);
}
