// Solution: two places.
//
// The comparison in add() was the wrong way round. An addition keeps the leading digits of
// the larger number and drops the last digits of the smaller one. (larger - next) + smaller
// is exactly what was dropped, since the first difference is exact. (smaller - next) +
// larger rounds in the first difference, and loses the same digits again.
//
// And total_of_block() made one float of each thread's two before it added them up. The
// lost digits are those that have no room in the sum: in the sum of the two they are
// rounded away. Both parts have to go through the tree, and the tree's own additions lose
// digits as any others do: add() is the way to make them.
//
// `lost` itself is added up in plain float. Its errors are errors of errors, relative to it
// as its own are to the sum.
#include <cuda_runtime.h>

#include "exercises/3_optimization/compensated_sum/compensated_sum.h"

constexpr unsigned threads_per_block = 128;

/// A sum in two parts: the true one is near sum + lost, and `lost` is too small to find
/// room in `sum`.
struct Total {
    float sum;
    float lost;
};

/// Adds one value (Neumaier): what the addition loses goes into `lost`.
__device__ void add(Total& total, float value) {
    const float next = total.sum + value;
    if (fabsf(total.sum) >= fabsf(value)) {
        total.lost += (total.sum - next) + value;  // the last digits of the value
    } else {
        total.lost += (value - next) + total.sum;  // the last digits of the sum
    }
    total.sum = next;
}

/// Total of the threads of the block, for every thread of it.
__device__ Total total_of_block(Total mine) {
    __shared__ Total part[threads_per_block];
    part[threadIdx.x] = mine;
    for (unsigned half = threads_per_block / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            const Total other = part[threadIdx.x + half];
            add(mine, other.sum);
            mine.lost += other.lost;
            part[threadIdx.x] = mine;
        }
    }
    __syncthreads();
    return part[0];
}

__global__ void sum_blocks(const float* values, int count, float* block_sums,
                           float* block_lost) {
    Total mine = {0, 0};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x)
        add(mine, values[i]);
    const Total total = total_of_block(mine);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = total.sum;
        block_lost[blockIdx.x] = total.lost;
    }
}

__global__ void add_blocks(const float* block_sums, const float* block_lost, int blocks,
                           float* sum) {
    Total mine = {0, 0};
    for (int i = threadIdx.x; i < blocks; i += blockDim.x) {
        add(mine, block_sums[i]);
        mine.lost += block_lost[i];
    }
    const Total total = total_of_block(mine);
    if (threadIdx.x == 0) *sum = total.sum + total.lost;
}

void add_up(const float* d_values, int count, float* d_block_sums, float* d_block_lost,
            float* d_sum, int blocks) {
    sum_blocks<<<blocks, threads_per_block>>>(d_values, count, d_block_sums, d_block_lost);
    add_blocks<<<1, threads_per_block>>>(d_block_sums, d_block_lost, blocks, d_sum);
}
