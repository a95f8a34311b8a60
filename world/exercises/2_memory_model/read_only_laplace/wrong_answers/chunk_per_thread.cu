// Wrong answer: each thread takes eight elements side by side
// Rejected by: reads neighbors side by side
// Message: of the 32-byte sectors that were touched are needed
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void laplace_on_ring(const float* __restrict__ x, float* __restrict__ y,
                                int count) {
    const int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + 8 && i < count; ++i) {
        const int left = i == 0 ? count - 1 : i - 1;
        const int right = i == count - 1 ? 0 : i + 1;
        y[i] = __ldg(&x[left]) - 2 * __ldg(&x[i]) + __ldg(&x[right]);
    }
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    laplace_on_ring<<<(count + 1023) / 1024, 128>>>(d_x, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
