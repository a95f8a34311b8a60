// Wrong answer: own elements from the tile, the halo from global memory
// Rejected by: reads each input little more than once
// Message: of global memory moved, at most
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

__global__ void sum_windows_of_block(const float* in, float* out, int count, int radius) {
    extern __shared__ float tile[];
    const int begin = blockIdx.x * blockDim.x, threads = blockDim.x;
    const int i = begin + threadIdx.x;
    tile[threadIdx.x] = i < count ? in[i] : 0.0f;
    __syncthreads();
    if (i >= count) return;
    float sum = 0;
    for (int k = max(0, i - radius); k <= min(count - 1, i + radius); ++k)
        sum += k >= begin && k < begin + threads ? tile[k - begin] : in[k];
    out[i] = sum;
}

void sum_windows(const float* d_in, float* d_out, int count, int radius,
                 int threads_per_block) {
    if (count == 0) return;
    const int blocks = (count + threads_per_block - 1) / threads_per_block;
    const size_t shared_bytes = (threads_per_block + 2 * radius) * sizeof(float);
    sum_windows_of_block<<<blocks, threads_per_block, shared_bytes>>>(d_in, d_out, count,
                                                                      radius);
}
