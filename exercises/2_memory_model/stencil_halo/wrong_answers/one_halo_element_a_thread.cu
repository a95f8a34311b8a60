// Wrong answer: each thread loads at most one element of either halo, too few when the radius is larger than the block
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
        const int right = i + blockDim.x;
        tile[thread] = left >= 0 && left < count ? in[left] : 0.0f;
        tile[radius + blockDim.x + thread] = right < count ? in[right] : 0.0f;
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
