// Wrong answer: passes the coefficients as a kernel parameter, which cannot be counted
// Rejected by: reads one coefficient at a time in a warp
// Message: No kernel read a __constant__ variable
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

struct Coefficients {
    float value[taps];
};

__global__ void filter_by_threads(const Coefficients filter, const float* in, float* out,
                                  int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += filter.value[k] * in[i + k];
    out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    Coefficients filter;
    for (int k = 0; k < taps; ++k) filter.value[k] = coefficients[k];
    filter_by_threads<<<(n + 255) / 256, 256>>>(filter, d_in, d_out, n);
}
