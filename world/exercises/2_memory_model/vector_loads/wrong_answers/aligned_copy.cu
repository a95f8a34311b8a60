// Wrong answer: copies the samples to an array that begins at a multiple of 256, and back
// Rejected by: adjusts arrays that begin at a multiple of 16 bytes
// Message: in place
#include "exercises/2_memory_model/vector_loads/vector_loads.h"

__global__ void adjust(float* samples, int n, float gain, float offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 4 <= n) {
        float4 four = reinterpret_cast<float4*>(samples)[i];
        four = make_float4(gain * four.x + offset, gain * four.y + offset,
                           gain * four.z + offset, gain * four.w + offset);
        reinterpret_cast<float4*>(samples)[i] = four;
    } else {
        for (int k = 4 * i; k < n; ++k) samples[k] = gain * samples[k] + offset;
    }
}

void adjust_samples(float* d_samples, int n, float gain, float offset) {
    if (n == 0) return;
    float* d_aligned;
    cudaMalloc(&d_aligned, n * sizeof(float));
    cudaMemcpy(d_aligned, d_samples, n * sizeof(float), cudaMemcpyDeviceToDevice);
    adjust<<<(n + 1023) / 1024, 256>>>(d_aligned, n, gain, offset);
    cudaMemcpy(d_samples, d_aligned, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(d_aligned);
}
