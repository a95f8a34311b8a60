// Wrong answer: uses (i - 1) % count, which is -1 for the first element
// Rejected by: closes the ring
// Message: Which element is the left neighbor of element 0?
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void laplace_on_ring(const float* __restrict__ x, float* __restrict__ y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    y[i] = __ldg(&x[(i - 1) % count]) - 2 * __ldg(&x[i]) + __ldg(&x[(i + 1) % count]);
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
