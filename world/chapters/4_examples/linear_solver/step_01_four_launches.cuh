#pragma once

#include "chapters/4_examples/linear_solver/pivots.cuh"

namespace examples {
namespace {

// The pivot search takes two launches. In the first, each of many blocks looks at a part of
// the column and leaves the key of the best row that it found (pivot_key and block_max are
// in pivots.cuh): of equal magnitudes the lowest row wins, in whatever order the blocks
// run. Neighboring elements of a column are a whole row apart, so each costs a sector of
// its own.
__global__ void find_block_maxima(const float* a, std::size_t pitch, unsigned n,
                                  unsigned column, PivotKey* maxima) {
    __shared__ PivotKey warp_maxima[kWarps];
    const unsigned row = column + blockIdx.x * kThreads + threadIdx.x;
    const PivotKey key = row < n ? pivot_key(a[row * pitch + column], row) : 0;
    const PivotKey largest = block_max(key, warp_maxima);
    if (threadIdx.x == 0) maxima[blockIdx.x] = largest;
}

// One block finds the best of all.
__global__ void choose_pivot(const PivotKey* maxima, unsigned blocks, unsigned column,
                             PivotKey* keys) {
    __shared__ PivotKey warp_maxima[kWarps];
    PivotKey key = 0;
    for (unsigned block = threadIdx.x; block < blocks; block += kThreads)
        key = max(key, maxima[block]);
    const PivotKey largest = block_max(key, warp_maxima);
    if (threadIdx.x == 0) keys[column] = largest;
}

// The pivot row changes places with row `column`. What stands left of the column is needed
// no more.
__global__ void swap_rows(float* a, std::size_t pitch, unsigned n, unsigned column,
                          const PivotKey* keys) {
    const unsigned col = column + blockIdx.x * kThreads + threadIdx.x;
    const unsigned pivot_row = row_of(keys[column]);
    if (col > n || pivot_row == column) return;
    const float kept = a[column * pitch + col];
    a[column * pitch + col] = a[pivot_row * pitch + col];
    a[pivot_row * pitch + col] = kept;
}

// Step 1, four launches per column: search, choose, swap, eliminate. Blocks of 32 x 8
// threads, a warp along a row, from the column after the pivot to the right-hand side,
// which is column n. The column itself would become zero. No thread will read it again, so
// it stays as it is.
// Slow because rows of n + 1 floats begin anywhere, and so does the first column of the
// warps, so that most requests touch five sectors instead of four. And each of the four
// launches waits for the one before it.
__global__ void eliminate(float* a, std::size_t pitch, unsigned n, unsigned column) {
    const unsigned col = column + 1 + blockIdx.x * kLanes + threadIdx.x;
    if (col > n) return;
    const float pivot = a[column * pitch + column];
    const float above = a[column * pitch + col];
    for (std::size_t row = blockIdx.y * kWarps + threadIdx.y; row < n;
         row += std::size_t{gridDim.y} * kWarps) {
        if (row != column) a[row * pitch + col] -= a[row * pitch + column] / pivot * above;
    }
}

// After the last column, row r says: pivot times x[r] is the right-hand side.
__global__ void divide(const float* a, std::size_t pitch, unsigned n, float* x,
                       float* pivots) {
    const unsigned row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= n) return;
    const float pivot = a[row * pitch + row];
    pivots[row] = pivot;
    x[row] = a[row * pitch + n] / pivot;
}

}  // namespace
}  // namespace examples
