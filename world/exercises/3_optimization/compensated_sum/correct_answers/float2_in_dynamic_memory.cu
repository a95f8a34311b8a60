// Correct answer: a total is a float2; dynamic shared memory; the grid's stride as size_t
#include <cuda_runtime.h>

#include "exercises/3_optimization/compensated_sum/compensated_sum.h"

constexpr int block_size = 128;

/// x: the sum, y: what it has lost.
__device__ float2 added(float2 total, float value) {
    const float next = total.x + value;
    const bool value_is_smaller = fabsf(value) <= fabsf(total.x);
    const float large = value_is_smaller ? total.x : value;
    const float small = value_is_smaller ? value : total.x;
    return make_float2(next, total.y + ((large - next) + small));
}

__device__ float2 block_total(float2 mine) {
    extern __shared__ float2 part[];
    const int t = threadIdx.x;
    part[t] = mine;
    __syncthreads();
    for (int s = block_size >> 1; s > 0; s >>= 1) {
        if (t < s) {
            const float2 other = part[t + s];
            mine = added(mine, other.x);
            mine.y += other.y;
            part[t] = mine;
        }
        __syncthreads();
    }
    return part[0];
}

__global__ void sum_blocks(const float* values, size_t count, float* block_sums,
                           float* block_lost) {
    float2 mine = make_float2(0.0f, 0.0f);
    const size_t first = static_cast<size_t>(blockIdx.x) * block_size + threadIdx.x;
    const size_t stride = static_cast<size_t>(gridDim.x) * block_size;
    for (size_t i = first; i < count; i += stride) mine = added(mine, values[i]);
    const float2 total = block_total(mine);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = total.x;
        block_lost[blockIdx.x] = total.y;
    }
}

__global__ void add_blocks(const float* block_sums, const float* block_lost, int blocks,
                           float* sum) {
    float2 mine = make_float2(0.0f, 0.0f);
    for (int b = threadIdx.x; b < blocks; b += block_size) {
        mine = added(mine, block_sums[b]);
        mine.y += block_lost[b];
    }
    const float2 total = block_total(mine);
    if (threadIdx.x == 0) *sum = total.x + total.y;
}

void add_up(const float* d_values, int count, float* d_block_sums, float* d_block_lost,
            float* d_sum, int blocks) {
    const size_t shared = block_size * sizeof(float2);
    sum_blocks<<<blocks, block_size, shared>>>(d_values, count, d_block_sums, d_block_lost);
    add_blocks<<<1, block_size, shared>>>(d_block_sums, d_block_lost, blocks, d_sum);
}
