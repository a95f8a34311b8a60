// Wrong answer: leaves the halo to global memory: right, but each window is read anew
// Rejected by: reads each input little more than once
// Message: Is the window read from the tile?
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

__global__ void sum_windows_of_block(const float* in, float* out, int count, int radius) {
    extern __shared__ float tile[];  // blockDim.x + 2 * radius elements, of which only the block's own are used
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[radius + threadIdx.x] = i < count ? in[i] : 0.0f;
    __syncthreads();
    if (i >= count) return;
    float sum = 0;
    for (int k = -radius; k <= radius; ++k) {
        const int element = i + k;
        if (element >= 0 && element < count) sum += in[element];
    }
    out[i] = sum;
}

void sum_windows(const float* d_in, float* d_out, int count, int radius, int threads_per_block) {
    if (count == 0) return;
    const int blocks = (count + threads_per_block - 1) / threads_per_block;
    const size_t shared_bytes = (threads_per_block + 2 * radius) * sizeof(float);
    sum_windows_of_block<<<blocks, threads_per_block, shared_bytes>>>(d_in, d_out, count, radius);
}
