// Correct answer: a template fills the tile with what a function says of each place
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

template <class Function>
__device__ void fill(float* tile, int places, Function value_at) {
    for (int p = threadIdx.x; p < places; p += blockDim.x) tile[p] = value_at(p);
    __syncthreads();
}

__global__ void box_filter(const float* in, float* out, int count, int radius) {
    extern __shared__ float s_data[];
    const int gid = blockIdx.x * blockDim.x + threadIdx.x;
    const int offset = blockIdx.x * blockDim.x - radius;
    const int width = 2 * radius + 1;
    fill(s_data, blockDim.x + width - 1, [=](int p) {
        const int k = offset + p;
        return k < 0 || k >= count ? 0.0f : in[k];
    });
    if (gid >= count) return;
    float total = 0.0f;
    int p = threadIdx.x;
    for (int left = width; left > 0; --left) total += s_data[p++];
    out[gid] = total;
}

void sum_windows(const float* d_in, float* d_out, int count, int radius,
                 int threads_per_block) {
    if (count == 0) return;
    const int grid = count / threads_per_block + (count % threads_per_block != 0);
    const size_t bytes = sizeof(float) * (threads_per_block + 2 * radius);
    box_filter<<<grid, threads_per_block, bytes>>>(d_in, d_out, count, radius);
}
