// Wrong answer: both applications in one kernel, with a barrier of the block between
// Rejected by: applies the operator twice
// Message: data race: threads of two blocks use the same memory, one of them writes it, and
//     nothing orders them
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__device__ void laplace_on_ring(const float* x, float* y, int i, int count) {
    const int left = i == 0 ? count - 1 : i - 1;
    const int right = i == count - 1 ? 0 : i + 1;
    y[i] = __ldg(&x[left]) - 2 * __ldg(&x[i]) + __ldg(&x[right]);
}

__global__ void once(const float* x, float* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) laplace_on_ring(x, y, i, count);
}

__global__ void twice(const float* x, float* work, float* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) laplace_on_ring(x, work, i, count);
    __syncthreads();
    if (i < count) laplace_on_ring(work, y, i, count);
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    once<<<(count + 255) / 256, 256>>>(d_x, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    if (count == 0) return;
    twice<<<(count + 255) / 256, 256>>>(d_x, d_work, d_y, count);
}
