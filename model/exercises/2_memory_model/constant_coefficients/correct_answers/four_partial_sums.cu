// Correct answer: four sums per thread, added up in the end; a template
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

template <int N>
__device__ float dot(const float* signal) {
    static_assert(N % 4 == 0);
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int k = 0; k < N; k += 4) {
        s0 += filter[k] * signal[k];
        s1 += filter[k + 1] * signal[k + 1];
        s2 += filter[k + 2] * signal[k + 2];
        s3 += filter[k + 3] * signal[k + 3];
    }
    return (s0 + s1) + (s2 + s3);
}

__global__ void apply(const float* in, float* out, int n) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) out[i] = dot<taps>(in + i);
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    apply<<<(n + 511) / 512, 512>>>(d_in, d_out, n);
}
