// Exercise: a filter whose coefficients are read by lane.
// The task: ./warpwise task constant_coefficients
#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

__constant__ float filter[taps];

constexpr int warp_size = 32;
constexpr int warps_in_block = 4;

// A warp takes one output, and each of its lanes one coefficient; the 32 products are added
// up with shuffles.
// TODO 1: how many wavefronts does a warp's read of `filter` take, and how many outputs
// does it get for them?
// TODO 2: let the lanes of a warp take something else side by side, so that all of them
// need the same coefficient.
__global__ void filter_by_warps(const float* in, float* out, int n) {
    const int lane = threadIdx.x % warp_size;
    const int i = blockIdx.x * warps_in_block + threadIdx.x / warp_size;
    if (i >= n) return;  // the whole warp
    float sum = filter[lane] * in[i + lane];
    for (int distance = warp_size / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xFFFFFFFF, sum, distance);
    }
    if (lane == 0) out[i] = sum;
}

void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, coefficients, taps * sizeof(float));
    const int blocks = (n + warps_in_block - 1) / warps_in_block;
    filter_by_warps<<<blocks, warps_in_block * warp_size>>>(d_in, d_out, n);
}
