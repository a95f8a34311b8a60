// Wrong answer: the right halo is loaded by threads from number 32 on, which small blocks do not have
// Rejected by: works with blocks smaller than a window
// Message: read of uninitialized memory
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

__global__ void sum_windows_of_block(const float* in, float* out, int count, int radius) {
    extern __shared__ float tile[];  // blockDim.x + 2 * radius elements: left halo, the block's own, right halo
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[radius + threadIdx.x] = i < count ? in[i] : 0.0f;

    const int thread = threadIdx.x;
    if (thread < radius) {
        const int left = i - radius;
        tile[thread] = left >= 0 ? in[left] : 0.0f;
    }
    if (thread >= 32 && thread < 32 + radius) {
        const int k = thread - 32;
        const int right = (blockIdx.x + 1) * blockDim.x + k;
        tile[radius + blockDim.x + k] = right < count ? in[right] : 0.0f;
    }
    __syncthreads();

    if (i >= count) return;
    float sum = 0;
    for (int place = 0; place <= 2 * radius; ++place) sum += tile[threadIdx.x + place];
    out[i] = sum;
}

void sum_windows(const float* d_in, float* d_out, int count, int radius, int threads_per_block) {
    if (count == 0) return;
    const int blocks = (count + threads_per_block - 1) / threads_per_block;
    const size_t shared_bytes = (threads_per_block + 2 * radius) * sizeof(float);
    sum_windows_of_block<<<blocks, threads_per_block, shared_bytes>>>(d_in, d_out, count, radius);
}
