// Wrong answer: takes (i - 1) % count, which is -1 for the first element
// Rejected by: closes the ring
// Message: out of bounds: a thread reads
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void laplace_on_ring(const float* __restrict__ x, float* __restrict__ y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int left = (i - 1) % count;
    const int right = (i + 1) % count;
    y[i] = __ldg(&x[left]) - 2 * __ldg(&x[i]) + __ldg(&x[right]);
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
