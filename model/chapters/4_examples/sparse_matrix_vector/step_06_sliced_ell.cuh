#pragma once

#include "chapters/4_examples/sparse_matrix_vector/csr.cuh"

namespace examples {
namespace {

constexpr int kWindow = 4096;  // rows that are sorted together
constexpr int kLongest = 256;  // elements of a row that a slice takes
constexpr int kPart = 4096;    // elements of a longer row that a block takes

// Slices of 32 rows. Element j of the row of lane l is values[begin[slice] + 32 * j + l],
// so a slice has room for 32 rows as long as its longest one. Rows are sorted by their
// lengths before they are put into slices, in windows of kWindow rows, so that the rows of
// a slice are about as long. rows[32 * slice + l] is the row of lane l, and -1 where there
// is none. Rows of more than kLongest elements have length 0 here.
struct Slices {
    int slices;
    const int* begin;
    const int* rows;
    const int* lengths;
    const int* cols;
    const float* values;
};

// Step 6, one thread per row again, in a format that is made for it (SELL-C-sigma, M.
// Kreutzer and others, 2014): the j-th elements of 32 rows are neighbors in memory.
// Faster because loads touch whole sectors although each thread has a row of its own, so no
// shuffles, shared memory, or searches are needed. Still slow where the rows of a slice
// have different lengths: its warp takes as long as its longest row. And the matrix has to
// be brought into this format first, which takes longer than many products.
__global__ void sliced_ell(Slices a, const float* x, float* y) {
    const int slice = (blockIdx.x * kThreads + threadIdx.x) / kLanes;
    if (slice >= a.slices) return;
    const int lane = threadIdx.x % kLanes, place = slice * kLanes + lane;
    const int row = a.rows[place], length = a.lengths[place];
    const int begin = a.begin[slice] + lane;
    float sum = 0;
#pragma unroll 4
    for (int j = 0; j < length; ++j) {
        const int k = begin + j * kLanes;
        sum += __ldcs(a.values + k) * x[__ldcs(a.cols + k)];
    }
    if (row >= 0) y[row] = sum;
}

// Rows that are too long for slices, in parts of at most kPart elements, one per block.
// sliced_ell has set their sums to 0 before.
__global__ void parts_of_long_rows(Csr a, const int* part_rows, const int* part_begins,
                                   const float* x, float* y) {
    __shared__ float sums[kWarps];
    const int row = part_rows[blockIdx.x], begin = part_begins[blockIdx.x];
    const int end = min(begin + kPart, a.first[row + 1]);
    float sum = 0;
    for (int k = begin + threadIdx.x; k < end; k += kThreads) sum += product(a, x, k);
    sum = sum_over_block(sum, sums);
    if (threadIdx.x == 0) atomicAdd(&y[row], sum);
}

}  // namespace
}  // namespace examples
