// Correct answer: the ring is closed by remainders of unsigned numbers
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void ring(const float* __restrict__ x, float* __restrict__ y, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(i + n - 1) % n] - 2.0f * x[i] + x[(i + 1) % n];
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count <= 0) return;
    ring<<<(count + 127) / 128, 128>>>(d_x, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
