// Exercise: load the halo of a tile, with blocks of any size.
// The task: ./warpwise task stencil_halo
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

__global__ void sum_windows_of_block(const float* in, float* out, int count, int radius) {
    extern __shared__ float
        tile[];  // blockDim.x + 2 * radius elements: left halo, the block's own, right halo
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[radius + threadIdx.x] = i < count ? in[i] : 0.0f;

    // TODO 1: load the halo: the `radius` elements before the block's own into tile[0] to
    // tile[radius - 1], and
    //         the `radius` elements after them into tile[radius + blockDim.x] and so on.
    //         Outside of the array they are 0. The block may have fewer threads than the
    //         halo has elements.

    // TODO 2: no thread may read the tile before all of it has been written.

    if (i >= count) return;
    float sum = 0;
    for (int place = 0; place <= 2 * radius; ++place) sum += tile[threadIdx.x + place];
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
