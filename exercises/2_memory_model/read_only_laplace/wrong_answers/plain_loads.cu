// Wrong answer: reads x by a pointer that is neither __restrict__ nor given to __ldg
// Rejected by: reads x by the read-only path
// Message: your source has neither __ldg(
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void laplace_on_ring(const volatile float* x, float* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int left = i == 0 ? count - 1 : i - 1;
    const int right = i == count - 1 ? 0 : i + 1;
    y[i] = x[left] - 2 * x[i] + x[right];
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    const int threads = 256;
    laplace_on_ring<<<(count + threads - 1) / threads, threads>>>(d_x, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
