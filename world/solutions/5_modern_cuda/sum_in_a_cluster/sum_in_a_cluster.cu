// Solution: the four blocks of a cluster add up one long recording
//
// One thread of each cluster adds up the sums of its four blocks. It stands between two
// barriers of the cluster: after the first one all sums are complete, and before the second
// one no block ends.
#include <cuda_runtime.h>

#include <cstddef>

#include "common/helpers/this_cluster.cuh"
#include "exercises/5_modern_cuda/sum_in_a_cluster/sum_in_a_cluster.h"

constexpr unsigned threads_per_block = 128;

__global__ void energy_kernel(const int* samples, unsigned length, int* energies) {
    __shared__ int sum;                             // of this block
    const auto cluster = warpwise::this_cluster();  // cooperative_groups::this_cluster()
    const unsigned recording = blockIdx.x / blocks_per_recording;
    const int* const own = samples + std::size_t{recording} * length;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int of_thread = 0;
    for (unsigned i = cluster.thread_rank(); i < length; i += cluster.num_threads())
        of_thread += own[i] * own[i];
    atomicAdd(&sum, of_thread);

    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        int energy = 0;
        for (int rank = 0; rank < static_cast<int>(cluster.num_blocks()); ++rank)
            energy += *cluster.map_shared_rank(&sum, rank);
        energies[recording] = energy;
    }
    cluster.sync();
}

void add_up_energies(const int* d_samples, unsigned count, unsigned length,
                     int* d_energies) {
    if (count == 0) return;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks_per_recording;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(count * blocks_per_recording);
    config.blockDim = dim3(threads_per_block);
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, energy_kernel, d_samples, length, d_energies);
}
