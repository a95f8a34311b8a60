// Correct answer: a helper reads from anywhere on the ring; ends are moved with ifs
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__device__ float on_ring(const float* __restrict__ x, int k, int count) {
    if (k < 0) k += count;
    if (k >= count) k -= count;
    return __ldg(x + k);
}

__global__ void apply(const float* __restrict__ x, float* __restrict__ y, int count) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < count) {
        float sum = -2.0f * on_ring(x, i, count);
        sum += on_ring(x, i - 1, count);
        sum += on_ring(x, i + 1, count);
        y[i] = sum;
    }
}

static void launch(const float* from, float* to, int count) {
    const dim3 block(64);
    const dim3 grid((count + block.x - 1) / block.x);
    if (grid.x > 0) apply<<<grid, block>>>(from, to, count);
}

void laplace(const float* d_x, float* d_y, int count) { launch(d_x, d_y, count); }

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    launch(d_x, d_work, count);
    launch(d_work, d_y, count);
}
