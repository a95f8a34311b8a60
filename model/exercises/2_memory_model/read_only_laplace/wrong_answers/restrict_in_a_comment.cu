// Wrong answer: speaks of __ldg(x) and const float* __restrict__ in comments only
// Rejected by: reads x by the read-only path
// Message: Your source has neither __ldg(
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

/* const float* __restrict__ x */
__global__ void laplace_on_ring(const float* x, float* __restrict__ y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    y[i] = x[i == 0 ? count - 1 : i - 1] - 2 * x[i] +
           x[i == count - 1 ? 0 : i + 1];  // __ldg(&x[i])
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count > 0) laplace_on_ring<<<(count + 255) / 256, 256>>>(d_x, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
