// Wrong answer: the host adds, and an empty kernel is launched
// Rejected by: adds up blocks of one warp
// Message: copied from host memory; kernels have to write the result
#include <cuda_runtime.h>

#include "exercises/3_optimization/shuffle_reduction/shuffle_reduction.h"

#include <vector>

__global__ void sum_one_tile() {}

void sum_tiles(const float* d_values, int count, float* d_sums, int threads_per_block) {
    if (count == 0) return;
    const int tiles = (count + threads_per_block - 1) / threads_per_block;
    std::vector<float> values(count), sums(tiles, 0.0f);
    cudaMemcpy(values.data(), d_values, sizeof(float) * count, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; ++i) sums[i / threads_per_block] += values[i];
    cudaMemcpy(d_sums, sums.data(), sizeof(float) * tiles, cudaMemcpyHostToDevice);
    sum_one_tile<<<tiles, threads_per_block>>>();
}
