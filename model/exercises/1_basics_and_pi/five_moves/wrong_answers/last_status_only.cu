// Wrong answer: returns the last error, which is that of a later move
// Rejected by: returns the error of an allocation that fails
// Message: What does your function do with the status
#include "exercises/1_basics_and_pi/five_moves/five_moves.h"

__global__ void scale_elements(const float* d_in, float* d_out, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d_out[i] = factor * d_in[i];
}

cudaError_t scale(const float* in, float* out, int n, float factor) {
    if (n == 0) return cudaSuccess;
    const size_t bytes = n * sizeof(float);
    float *d_in = nullptr, *d_out = nullptr;
    cudaMalloc(&d_in, bytes);
    cudaMalloc(&d_out, bytes);
    cudaMemcpy(d_in, in, bytes, cudaMemcpyHostToDevice);
    scale_elements<<<(n + 255) / 256, 256>>>(d_in, d_out, n, factor);
    cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
    return cudaGetLastError();
}
