// Wrong answer: half a warp for each output, two coefficients a lane: fewer addresses at a time, still 16
// Rejected by: reads one coefficient at a time in a warp
// Message: 16 passes
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

constexpr int lanes_of_output = 16;
constexpr int outputs_in_block = 8;

__global__ void filter_by_half_warps(const float* in, float* out, int n) {
    const int lane = threadIdx.x % lanes_of_output;
    const int i = blockIdx.x * outputs_in_block + threadIdx.x / lanes_of_output;
    float sum = 0;
    if (i < n) sum = filter[lane] * in[i + lane] + filter[lane + 16] * in[i + lane + 16];
    for (int distance = lanes_of_output / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFF, sum, distance, lanes_of_output);
    }
    if (i < n && lane == 0) out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    const int blocks = (n + outputs_in_block - 1) / outputs_in_block;
    filter_by_half_warps<<<blocks, outputs_in_block * lanes_of_output>>>(d_in, d_out, n);
}
