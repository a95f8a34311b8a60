// Wrong answer: the operator is applied to a copy of x that is made in the first call
// Rejected by: applies the operator twice
// Message: These are the results of applying the operator once.
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

#include <vector>

__global__ void laplace_on_ring(const float* __restrict__ x, float* __restrict__ y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    y[i] = x[i == 0 ? count - 1 : i - 1] - 2 * x[i] + x[i == count - 1 ? 0 : i + 1];
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    static float* copy = nullptr;
    static int length = 0;
    if (length != count) {
        cudaFree(copy);
        cudaMalloc(&copy, count * sizeof(float));
        cudaMemcpy(copy, d_x, count * sizeof(float), cudaMemcpyDeviceToDevice);
        length = count;
    }
    laplace_on_ring<<<(count + 255) / 256, 256>>>(copy, d_y, count);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
