#pragma once

#include "chapters/4_examples/sparse_matrix_vector/csr.cuh"

namespace examples {
namespace {

// Slices of 32 rows, padded to the longest row of each: element j of lane l of a slice is
// values[begin[slice] + 32 * j + l]. The rows are sorted by their lengths, within windows,
// so that rows of a slice are about as long; `rows[32 * slice + l]` is the row of a lane,
// and -1 where there is none. Rows of more than kLongest elements are left
// out.
struct Slices {
    int slices;
    const int* begin;
    const int* rows;
    const int* lengths;  // of each lane's row
    const int* cols;
    const float* values;
};

// Step 6, one thread per row again, but in a format that is made for it (SELL-C-sigma:
// M. Kreutzer and others, 2014): the j-th elements of 32 rows stand beside each other.
// Faster because loads touch whole sectors, and no shuffles, shared memory, or searches are
// needed. Slow for rows of very different lengths: the longest row of a slice decides.
__global__ void sliced_ell(Slices a, const float* x, float* y) {
    const int slice = (blockIdx.x * kThreads + threadIdx.x) / kLanes;
    if (slice >= a.slices) return;
    const int lane = threadIdx.x % kLanes, place = slice * kLanes + lane;
    const int row = a.rows[place], length = a.lengths[place];
    const int begin = a.begin[slice] + lane;
    float sum = 0;
    for (int j = 0; j < length; ++j) {
        const int k = begin + j * kLanes;
        sum += a.values[k] * x[a.cols[k]];
    }
    if (row >= 0) y[row] = sum;
}

// The rows that are too long for slices, one per block.
__global__ void long_rows(Csr a, const int* rows, const float* x, float* y) {
    __shared__ float sums[kWarps];
    const int row = rows[blockIdx.x], end = a.first[row + 1];
    float sum = 0;
    for (int k = a.first[row] + threadIdx.x; k < end; k += kThreads)
        sum += product(a, x, k);
    sum = sum_over_lanes<kLanes>(sum);
    if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int warp = 1; warp < kWarps; ++warp) sum += sums[warp];
    y[row] = sum;
}

}  // namespace
}  // namespace examples
