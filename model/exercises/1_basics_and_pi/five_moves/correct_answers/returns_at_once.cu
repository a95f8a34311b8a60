// Correct answer: returns at once after an error, and leaves memory behind then
#include "exercises/1_basics_and_pi/five_moves/five_moves.h"

#define TRY(call)                                 \
    do {                                          \
        const cudaError_t status = (call);        \
        if (status != cudaSuccess) return status; \
    } while (false)

__global__ void scale_elements(const float* d_in, float* d_out, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d_out[i] = factor * d_in[i];
}

cudaError_t scale(const float* in, float* out, int n, float factor) {
    if (n == 0) return cudaSuccess;
    float *d_in, *d_out;
    TRY(cudaMalloc((void**)&d_in, n * sizeof(float)));
    TRY(cudaMalloc((void**)&d_out, n * sizeof(float)));
    TRY(cudaMemcpy(d_in, in, n * sizeof(float), cudaMemcpyHostToDevice));
    scale_elements<<<ceil(n / 256.0), 256>>>(d_in, d_out, n, factor);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
    TRY(cudaFree(d_in));
    TRY(cudaFree(d_out));
    return cudaSuccess;
}
