// Solution: three launches that could be one.
//
// Three launches move 28 bytes per element: 8 for the first step, 8 for the second, and 12
// for the third. 16 of them are intermediate values on their way to memory and back, which
// only the thread that made them needs. In one kernel they stay in registers, and 12 bytes
// are left: two elements in, one out. Where memory bandwidth limits all of these kernels,
// the fused one takes 12/28 of the time. It saves two launches and two allocations as well.
//
// In place: a thread reads both of its elements before it writes, and no other thread reads
// them. So d_y may be d_x or d_skip. The parameters have no __restrict__, because that
// would promise the contrary.
#include "exercises/2_memory_model/fuse_the_kernels/fuse_the_kernels.h"

__global__ void fused_layer(const float* x, const float* skip, float* y, int n, float scale,
                            float bias, float weight) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float s = scale * x[i] + bias;
    const float a = s / (1 + expf(-s));
    y[i] = skip[i] + weight * a;
}

void run_layer(const float* d_x, const float* d_skip, float* d_y, int n, float scale,
               float bias, float weight) {
    if (n == 0) return;
    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    fused_layer<<<blocks, threads>>>(d_x, d_skip, d_y, n, scale, bias, weight);
}
