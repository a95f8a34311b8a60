// Solution: all devices work at the same time.
//
// The first loop only launches. A copy to pageable memory waits for its stream, so the
// copies stand in a second loop, after all launches.
#include <cuda_runtime.h>

#include <vector>

#include "exercises/6_several_gpus/launch_before_you_wait/launch_before_you_wait.h"

constexpr unsigned threads_per_block = 256;

/// One block adds up all values.
__global__ void add_up(const int* values, unsigned count, int* sum) {
    __shared__ int partial[threads_per_block];
    int mine = 0;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) mine += values[i];
    partial[threadIdx.x] = mine;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *sum = partial[0];
}

void sums_of_parts(int devices, const int* const* d_parts, const unsigned* counts,
                   int* sums) {
    int before = 0;
    cudaGetDevice(&before);
    std::vector<int*> d_sums(static_cast<unsigned>(devices));
    for (int device = 0; device < devices; ++device) {
        cudaSetDevice(device);
        cudaMalloc(&d_sums[static_cast<unsigned>(device)], sizeof(int));
    }
    for (int device = 0; device < devices; ++device) {
        cudaSetDevice(device);
        add_up<<<1, threads_per_block>>>(d_parts[device], counts[device],
                                         d_sums[static_cast<unsigned>(device)]);
    }
    for (int device = 0; device < devices; ++device) {
        cudaSetDevice(device);
        cudaMemcpy(&sums[device], d_sums[static_cast<unsigned>(device)], sizeof(int),
                   cudaMemcpyDeviceToHost);
        cudaFree(d_sums[static_cast<unsigned>(device)]);
    }
    cudaSetDevice(before);
}
