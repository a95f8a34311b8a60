#pragma once

#include "chapters/4_examples/linear_solver/step_02_aligned_rows.cuh"

namespace examples {
namespace {

// Step 3, the elimination searches for the next pivot: the threads that compute the
// elements of the next column have them in a register already, so no sector is fetched for
// the search. One atomicMax per block takes the place of the second search launch, since a
// maximum does not depend on the order. keys[column + 1] is 0 until then.
// This could be faster because there are two launches per column instead of four. Still
// slow because the rows change places in a launch of their own, and each thread has 4 bytes
// in flight.
__global__ void eliminate_and_search(float* a, std::size_t pitch, unsigned n,
                                     unsigned column, PivotKey* keys) {
    __shared__ PivotKey warp_keys[kWarps];
    const unsigned col = (column + 1) / kLanes * kLanes + blockIdx.x * kLanes + threadIdx.x;
    PivotKey next = 0;
    if (col > column && col <= n) {
        const float pivot = a[column * pitch + column];
        const float above = a[column * pitch + col];
        for (std::size_t row = blockIdx.y * kWarps + threadIdx.y; row < n;
             row += std::size_t{gridDim.y} * kWarps) {
            if (row == column) continue;
            const float value =
                a[row * pitch + col] - a[row * pitch + column] / pivot * above;
            a[row * pitch + col] = value;
            if (row > column && col == column + 1)
                next = max(next, pivot_key(value, static_cast<unsigned>(row)));
        }
    }
    if (blockIdx.x != 0 || column + 1 == n) return;  // the next column is in these blocks
    if (col == column + 1) warp_keys[threadIdx.y] = next;
    __syncthreads();
    if (threadIdx.x != 0 || threadIdx.y != 0) return;
    PivotKey largest = 0;
    for (unsigned warp = 0; warp < kWarps; ++warp) largest = max(largest, warp_keys[warp]);
    atomicMax(&keys[column + 1], largest);
}

// Finds the pivot of column 0, before which there is no elimination.
__global__ void search_first_column(const float* a, std::size_t pitch, unsigned n,
                                    PivotKey* keys) {
    __shared__ PivotKey warp_maxima[kWarps];
    const unsigned row = blockIdx.x * kThreads + threadIdx.x;
    const PivotKey key = row < n ? pivot_key(a[row * pitch], row) : 0;
    const PivotKey largest = block_max(key, warp_maxima);
    if (threadIdx.x == 0) atomicMax(&keys[0], largest);
}

}  // namespace
}  // namespace examples
