// Wrong answer: uses unified memory
// Rejected by: makes all five moves
// Message: cudaMallocManaged was called
#include "exercises/1_basics_and_pi/five_moves/five_moves.h"

#include <cstring>

__global__ void scale_elements(const float* d_in, float* d_out, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d_out[i] = factor * d_in[i];
}

cudaError_t scale(const float* in, float* out, int n, float factor) {
    if (n == 0) return cudaSuccess;
    float* values = nullptr;
    cudaError_t status = cudaMallocManaged(&values, n * sizeof(float));
    if (status != cudaSuccess) return status;
    status = cudaMemcpy(values, in, n * sizeof(float), cudaMemcpyDefault);
    if (status == cudaSuccess) {
        scale_elements<<<(n + 255) / 256, 256>>>(values, values, n, factor);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) {
        status = cudaMemcpy(out, values, n * sizeof(float), cudaMemcpyDefault);
    }
    cudaFree(values);
    return status;
}
