// Wrong answer: a single block goes through the whole ring
// Rejected by: shares the elements among many threads
// Message: the task asks for at least 4 blocks
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void laplace_in_one_block(const float* __restrict__ x, float* __restrict__ y,
                                     int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        y[i] = __ldg(&x[i == 0 ? count - 1 : i - 1]) - 2 * __ldg(&x[i]) +
               __ldg(&x[i == count - 1 ? 0 : i + 1]);
    }
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count > 0) laplace_in_one_block<<<1, 1024>>>(d_x, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
