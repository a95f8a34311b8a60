// Correct answer: one array, which the kernel overwrites
#include "exercises/1_basics_and_pi/five_moves/five_moves.h"

__global__ void scale_in_place(float* values, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= factor;
}

cudaError_t scale(const float* in, float* out, int n, float factor) {
    if (n == 0) return cudaSuccess;
    float* d_values = nullptr;
    cudaError_t status = cudaMalloc(&d_values, n * sizeof(float));
    if (status != cudaSuccess) return status;
    status = cudaMemcpy(d_values, in, n * sizeof(float), cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        scale_in_place<<<(n + 255) / 256, 256>>>(d_values, n, factor);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) {
        status = cudaMemcpy(out, d_values, n * sizeof(float), cudaMemcpyDeviceToHost);
    }
    const cudaError_t freed = cudaFree(d_values);
    return status != cudaSuccess ? status : freed;
}
