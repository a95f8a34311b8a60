// Wrong answer: adds with atomics to a sum that nobody has set to zero
// Rejected by: adds up any number of squares
// Message: uninitialized
#include "exercises/3_optimization/hunt_in_a_reduction/hunt_in_a_reduction.h"

__global__ void add(const float* values, int n, float* sum) {
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += values[i] * values[i];
    for (int d = 16; d > 0; d /= 2) mine += __shfl_down_sync(0xffffffff, mine, d);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

cudaError_t sum_of_squares(const float* values, int n, float* sum) {
    *sum = 0;
    if (n == 0) return cudaSuccess;
    float* d = nullptr;
    cudaError_t status = cudaMalloc(&d, (n + 1) * sizeof(float));
    if (status == cudaSuccess)
        status = cudaMemcpy(d, values, n * sizeof(float), cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        add<<<256, 256>>>(d, n, d + n);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess)
        status = cudaMemcpy(sum, d + n, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d);
    return status;
}
