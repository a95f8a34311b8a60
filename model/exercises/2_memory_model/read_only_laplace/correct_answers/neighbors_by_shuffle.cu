// Correct answer: lanes pass their elements on; only those at the edges load twice
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void laplace_shuffled(const float* __restrict__ x, float* __restrict__ y,
                                 int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    const float own = i < count ? __ldg(&x[i]) : 0.0f;
    float left = __shfl_up_sync(0xffffffff, own, 1);
    float right = __shfl_down_sync(0xffffffff, own, 1);
    if (i >= count) return;
    if (lane == 0 || i == 0) left = __ldg(&x[i == 0 ? count - 1 : i - 1]);
    if (lane == 31 || i == count - 1) right = __ldg(&x[i == count - 1 ? 0 : i + 1]);
    y[i] = left - 2 * own + right;
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    laplace_shuffled<<<(count + 255) / 256, 256>>>(d_x, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
