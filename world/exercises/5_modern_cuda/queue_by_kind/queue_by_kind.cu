// Exercise: rays of several kinds, each appended to the queue of its kind
// The task: ./warpwise task queue_by_kind
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "exercises/5_modern_cuda/queue_by_kind/queue_by_kind.h"

namespace cg = cooperative_groups;

constexpr unsigned threads_per_block = 128, most_blocks = 8;

/// Appends `ray` to the queue of its kind, whose size is sizes[kind]. Some lanes of a warp
/// call this together, each with a ray of its own.
__device__ void append(unsigned ray, unsigned kind, unsigned* queues, unsigned capacity,
                       unsigned* sizes) {
    // TODO 1: make the group of those lanes that are here with a ray of the same kind.
    // TODO 2: let one of its threads draw places for all of them.
    // TODO 3: store each ray at a place of its own.
    (void)ray, (void)kind, (void)queues, (void)capacity, (void)sizes;
}

__global__ void queue_kernel(const unsigned* ray_kinds, unsigned count, unsigned* queues,
                             unsigned* sizes) {
    const unsigned stride = gridDim.x * blockDim.x;
    for (unsigned ray = blockIdx.x * blockDim.x + threadIdx.x; ray < count; ray += stride)
        append(ray, ray_kinds[ray], queues, count, sizes);
}

void queue_rays(const unsigned* d_kinds, unsigned count, unsigned* d_queues,
                unsigned* d_sizes) {
    cudaMemset(d_sizes, 0, kinds * sizeof(unsigned));
    if (count == 0) return;
    const unsigned blocks =
        std::min(most_blocks, (count + threads_per_block - 1) / threads_per_block);
    queue_kernel<<<blocks, threads_per_block>>>(d_kinds, count, d_queues, d_sizes);
}
