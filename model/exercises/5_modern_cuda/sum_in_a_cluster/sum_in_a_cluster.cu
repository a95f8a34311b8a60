// Exercise: the four blocks of a cluster add up one long recording
// The task: ./warpwise task sum_in_a_cluster
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

    // TODO 1: wait until all blocks of the cluster have added up their samples.
    // TODO 2: let one thread of the cluster add up the sums of its blocks, and store the
    //         result in energies[recording].
    // TODO 3: see to it that no block ends while another one still reads its sum.
    (void)energies;
}

void add_up_energies(const int* d_samples, unsigned count, unsigned length,
                     int* d_energies) {
    if (count == 0) return;
    cudaLaunchAttribute attribute{};
    // TODO 4: make it the attribute that asks for clusters of blocks_per_recording blocks.
    attribute.id = cudaLaunchAttributeIgnore;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(count * blocks_per_recording);
    config.blockDim = dim3(threads_per_block);
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, energy_kernel, d_samples, length, d_energies);
}
