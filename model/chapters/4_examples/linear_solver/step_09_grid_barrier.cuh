#pragma once

#include <cooperative_groups.h>

#include "chapters/4_examples/linear_solver/step_07_triangle_in_registers.cuh"

namespace examples {
namespace {

// The warps of a block that look at the candidates, one thread for each number of the pivot
// row.
constexpr unsigned kListeners = (kPanel + kLanes - 1) / kLanes * kLanes;
static_assert(tuning.panel_threads % kLanes == 0 && tuning.panel_threads >= kListeners &&
              kPanel % 4 == 0);
constexpr unsigned kWordsPerBlock = tuning.words_per_block;
static_assert(kWordsPerBlock == 2 + kPanel, "value, position, row");

// Step 9, the panel in all blocks. Each thread has one row of the panel, in registers. No
// row moves: a thread knows at which position its row stands by now, and writes it there at
// the end. For each column:
//   - each block looks for its best candidate, and stores that whole row for all blocks;
//   - all blocks wait for each other: a barrier of the whole grid, which takes a
//     cooperative launch, because all blocks have to be resident;
//   - each block finds the best of all candidates by itself, so that all find the same one;
//   - each thread subtracts a multiple of that row from its own.
// The row is kept rotated like the columns in step 7: the column to be eliminated is always
// row[0], and row[i] becomes row[i + 1] less something. After the panel's last column come
// the multipliers, from which nothing is subtracted: there the pivot row holds zeros.
// Faster because the panel is read and written once, and every SM takes part. Still slow
// because each column takes a barrier of the grid: all blocks report to one counter, and
// then all learn that it is complete.
//
// `candidates`: two sets in turn, so that one barrier per column is enough: a fast block
// may store for the next column while a slow one still reads for this one, but it cannot be
// two columns ahead. A set has the value and the position of each block's candidate, and
// then their rows.
__global__ void __launch_bounds__(tuning.panel_threads)
    factor_with_grid_barrier(float* a, std::size_t pitch, unsigned n, unsigned first,
                             unsigned width, unsigned* candidates, unsigned* origins,
                             unsigned* targets, float* pivots) {
    __shared__ PivotKey warp_maxima[tuning.panel_threads / kLanes];
    __shared__ __align__(16) float pivot_row[kPanel];
    __shared__ unsigned pivot_position;
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned origin = first + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned position = origin;
    bool active = origin < n;  // until the row is a pivot row

    float row[kPanel];
#pragma unroll
    for (unsigned i = 0; i < kPanel; i += 4) {
        float4 four = make_float4(0, 0, 0, 0);
        if (active && i < width) four = load4(a + origin * pitch + first + i);
        row[i] = i < width ? four.x : 0;
        row[i + 1] = i + 1 < width ? four.y : 0;
        row[i + 2] = i + 2 < width ? four.z : 0;
        row[i + 3] = i + 3 < width ? four.w : 0;
    }

    for (unsigned j = 0; j < width; ++j) {
        unsigned* const keys = candidates + std::size_t{j % 2} * gridDim.x * kWordsPerBlock;
        unsigned* const rows = keys + 2 * gridDim.x;
        const PivotKey own = active ? pivot_key(row[0], position) : 0;
        const PivotKey best_of_block = block_max(own, warp_maxima);
        const bool none = best_of_block == 0;  // all rows of this block are pivot rows
        if (none ? threadIdx.x == 0 : own == best_of_block) {
            keys[2 * blockIdx.x] = none ? 0 : __float_as_uint(row[0]);
            keys[2 * blockIdx.x + 1] = none ? kNobody : position;
            if (!none) {
#pragma unroll
                for (unsigned i = 0; i < kPanel; ++i)
                    rows[blockIdx.x * kPanel + i] = __float_as_uint(row[i]);
            }
        }
        cooperative_groups::this_grid().sync();
        if (threadIdx.x <
            kListeners) {  // lane k looks at the candidates of blocks k, k + 32 ...
            PivotKey best_of_lane = 0;
            unsigned sender = 0;
            for (unsigned block = lane; block < gridDim.x; block += kLanes) {
                const PivotKey key =
                    pivot_key(__uint_as_float(keys[2 * block]), keys[2 * block + 1]);
                if (key > best_of_lane) {
                    best_of_lane = key;
                    sender = block;
                }
            }
            const PivotKey best = warp_max(best_of_lane);
            const unsigned lanes_with_best =
                __ballot_sync(0xFFFFFFFF, best_of_lane == best);
            sender = __shfl_sync(0xFFFFFFFF, sender,
                                 __ffs(static_cast<int>(lanes_with_best)) - 1);
            if (threadIdx.x < kPanel) {
                const bool to_be_eliminated = threadIdx.x < kPanel - j;
                const float value = __uint_as_float(rows[sender * kPanel + threadIdx.x]);
                pivot_row[threadIdx.x] = to_be_eliminated ? value : 0;
            }
            if (threadIdx.x == 0) pivot_position = row_of(best);
        }
        __syncthreads();

        const float pivot = pivot_row[0];
        if (blockIdx.x == 0 && threadIdx.x == 0) pivots[first + j] = pivot;
        if (active && position == pivot_position) {
            position = first + j;
            active = false;
        } else if (position == first + j) {
            position = pivot_position;
        }
        const float multiplier = active ? row[0] / pivot : 0;
        const float last = active ? multiplier : row[0];
#pragma unroll
        for (unsigned i = 0; i + 1 < kPanel; ++i)
            row[i] = row[i + 1] - multiplier * pivot_row[i + 1];
        row[kPanel - 1] = last;
    }
    for (unsigned j = width; j < kPanel;
         ++j) {  // the last panel may be narrow: rotate on, once around in all
        const float front = row[0];
#pragma unroll
        for (unsigned i = 0; i + 1 < kPanel; ++i) row[i] = row[i + 1];
        row[kPanel - 1] = front;
    }

    if (origin >= n) return;
    float* const to = a + position * pitch + first;
#pragma unroll
    for (unsigned i = 0; i < kPanel; i += 4) {
        if (i + 4 <= width) {
            store4(to + i, make_float4(row[i], row[i + 1], row[i + 2], row[i + 3]));
        } else {
            if (i < width) to[i] = row[i];
            if (i + 1 < width) to[i + 1] = row[i + 1];
            if (i + 2 < width) to[i + 2] = row[i + 2];
        }
    }
    if (origin - first < width) targets[origin - first] = position;
    if (position - first < width) origins[position - first] = origin;
}

}  // namespace
}  // namespace examples
