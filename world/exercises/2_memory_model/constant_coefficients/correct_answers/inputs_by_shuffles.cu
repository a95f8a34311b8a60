// Correct answer: a warp loads its 63 inputs once and passes them on by shuffles
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

__global__ void filter_shuffled(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32;
    if (i - lane >= n) return;  // the whole warp
    const int inputs = n + taps - 1;
    const float low = i < inputs ? in[i] : 0.0f;
    const float high = i + 32 < inputs ? in[i + 32] : 0.0f;
    float sum = 0;
    for (int k = 0; k < taps; ++k) {
        const int from = lane + k;
        const float a = __shfl_sync(0xffffffffu, low, from % 32);
        const float b = __shfl_sync(0xffffffffu, high, from % 32);
        sum += filter[k] * (from < 32 ? a : b);
    }
    if (i < n) out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    filter_shuffled<<<(n + 255) / 256, 256>>>(d_in, d_out, n);
}
