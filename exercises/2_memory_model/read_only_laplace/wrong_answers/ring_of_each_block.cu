// Wrong answer: closes a ring in each block instead of one around the whole array
// Rejected by: takes neighbors from other blocks
// Message: Is the ring closed around the whole array, and only there?
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void laplace_on_ring(const float* __restrict__ x, float* __restrict__ y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int begin = blockIdx.x * blockDim.x;
    const int end = min(static_cast<int>(begin + blockDim.x), count);  // behind the block's last element
    const int left = i == begin ? end - 1 : i - 1;
    const int right = i == end - 1 ? begin : i + 1;
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
