// Correct answer: the block as a group, places of the tile by thread_rank
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ float element_or_zero(const float* in, int k, int count) {
    return static_cast<unsigned>(k) < static_cast<unsigned>(count) ? in[k] : 0.0f;
}

__global__ void windows(const float* in, float* out, int count, int radius) {
    extern __shared__ float shared[];
    const cg::thread_block block = cg::this_thread_block();
    const int threads = block.size(), rank = block.thread_rank();
    const int begin = blockIdx.x * threads;
    for (int p = rank; p < threads + 2 * radius; p += threads)
        shared[p] = element_or_zero(in, begin + p - radius, count);
    block.sync();
    if (begin + rank < count) {
        float sum = shared[rank];
        for (int p = 1; p <= 2 * radius; ++p) sum += shared[rank + p];
        out[begin + rank] = sum;
    }
}

void sum_windows(const float* d_in, float* d_out, int count, int radius,
                 int threads_per_block) {
    if (count <= 0) return;
    const dim3 block(threads_per_block), grid((count - 1) / threads_per_block + 1);
    windows<<<grid, block, sizeof(float) * (block.x + 2 * radius)>>>(d_in, d_out, count,
                                                                     radius);
}
