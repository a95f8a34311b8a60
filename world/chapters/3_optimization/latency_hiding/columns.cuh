// The kernels that add up the exponentials of columns, in the order in which they are read.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace optimization {
namespace {

// Step 2, one thread per column, and one load at a time. (nvcc would unroll this loop; the
// pragma forbids it.)
// Slow because each row costs the latency of a load and then that of an exponential. Only
// other warps help, and the columns are few: with 33792 of them, an H200's SMs have 8 warps
// each of 64.
__global__ void sum_one_by_one(const float* __restrict__ values, float* __restrict__ sums,
                               std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
#pragma unroll 1
    for (std::size_t row = 0; row < rows; ++row) sum += expf(values[row * cols + col]);
    sums[col] = sum;
}

// Steps 3 to 5, unrolled by hand: kLoads loads, then kLoads exponentials.
// Faster because the loads do not depend on each other, so that all of them
// are in flight when the first value is waited for: one latency for kLoads
// rows. (The remaining rows are done one by one.) Still slow because no load
// is in flight while the exponentials are computed: the memory idles and
// starts anew.
template <unsigned kLoads>
__global__ void sum_in_batches(const float* __restrict__ values, float* __restrict__ sums,
                               std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
    std::size_t row = 0;
#pragma unroll 1
    for (; row + kLoads <= rows; row += kLoads) {
        float batch[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) batch[k] = values[(row + k) * cols + col];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) sum += expf(batch[k]);
    }
    for (; row < rows; ++row) sum += expf(values[row * cols + col]);
    sums[col] = sum;
}

// Step 6, software pipelining: the loads of the next round are issued before this round's
// values are used. The last round has no next, and stands after the loop: with a condition
// around the loads, nvcc puts them after the exponentials, and nothing is gained.
// Faster because a round takes the latency or the arithmetic, whichever is longer, and not
// both. The price is a second set of registers. Still slow because no more loads are in
// flight than in step 5.
template <unsigned kLoads>
__global__ void sum_prefetched(const float* __restrict__ values, float* __restrict__ sums,
                               std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
    std::size_t row = 0;
    if (rows >= kLoads) {
        float next[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) next[k] = values[k * cols + col];
#pragma unroll 1
        for (row = kLoads; row + kLoads <= rows; row += kLoads) {
            float batch[kLoads];
#pragma unroll
            for (unsigned k = 0; k < kLoads; ++k) batch[k] = next[k];
#pragma unroll
            for (unsigned k = 0; k < kLoads; ++k) next[k] = values[(row + k) * cols + col];
#pragma unroll
            for (unsigned k = 0; k < kLoads; ++k) sum += expf(batch[k]);
        }
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) sum += expf(next[k]);
    }
    for (; row < rows; ++row) sum += expf(values[row * cols + col]);
    sums[col] = sum;
}

// Step 7, the other way to have more in flight: more threads. The rows are dealt out to the
// blocks of a column of the grid, as many as fill the device, and each block adds its part
// to the sum.
// Faster because other warps fill the pauses of each warp, and no second
// set of registers is needed. The price is one atomic addition per part
// and column, and sums whose last digits depend on the order of the
// parts.
template <unsigned kLoads>
__global__ void sum_parts(const float* __restrict__ values, float* __restrict__ sums,
                          std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    std::size_t row = rows * blockIdx.y / gridDim.y;
    const std::size_t end = rows * (blockIdx.y + std::size_t{1}) / gridDim.y;
    float sum = 0;
#pragma unroll 1
    for (; row + kLoads <= end; row += kLoads) {
        float batch[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) batch[k] = values[(row + k) * cols + col];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) sum += expf(batch[k]);
    }
    for (; row < end; ++row) sum += expf(values[row * cols + col]);
    atomicAdd(&sums[col], sum);
}

}  // namespace
}  // namespace optimization
