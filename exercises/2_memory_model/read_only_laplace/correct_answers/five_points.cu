// Correct answer: laplace_twice is one kernel that reads five points and does without d_work
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void laplace_on_ring(const float* __restrict__ x, float* __restrict__ y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int left = i == 0 ? count - 1 : i - 1;
    const int right = i == count - 1 ? 0 : i + 1;
    y[i] = __ldg(&x[left]) - 2 * __ldg(&x[i]) + __ldg(&x[right]);
}

__device__ float at(const float* __restrict__ x, int i, int count) {
    const int left = i == 0 ? count - 1 : i - 1;
    const int right = i == count - 1 ? 0 : i + 1;
    return __ldg(&x[left]) - 2 * __ldg(&x[i]) + __ldg(&x[right]);
}

__global__ void laplace_of_laplace(const float* __restrict__ x, float* __restrict__ y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float left = at(x, i == 0 ? count - 1 : i - 1, count);
    const float right = at(x, i == count - 1 ? 0 : i + 1, count);
    y[i] = left - 2 * at(x, i, count) + right;
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    const int threads = 256;
    laplace_on_ring<<<(count + threads - 1) / threads, threads>>>(d_x, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    (void)d_work;
    if (count == 0) return;
    laplace_of_laplace<<<(count + 255) / 256, 256>>>(d_x, d_y, count);
}
