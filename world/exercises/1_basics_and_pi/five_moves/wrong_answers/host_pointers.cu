// Wrong answer: gives the kernel the pointers to host memory
// Rejected by: makes all five moves
// Message: memory of the host
#include "exercises/1_basics_and_pi/five_moves/five_moves.h"

__global__ void scale_elements(const float* d_in, float* d_out, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d_out[i] = factor * d_in[i];
}

cudaError_t scale(const float* in, float* out, int n, float factor) {
    if (n == 0) return cudaSuccess;
    scale_elements<<<(n + 255) / 256, 256>>>(in, out, n, factor);
    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) return launched;
    return cudaDeviceSynchronize();
}
