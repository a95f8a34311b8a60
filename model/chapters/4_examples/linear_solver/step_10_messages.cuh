#pragma once

#include <cooperative_groups.h>

#include "chapters/4_examples/linear_solver/messages.cuh"
#include "chapters/4_examples/linear_solver/step_09_grid_barrier.cuh"

namespace examples {
namespace {

// Step 10, messages between blocks instead of a barrier. The words of a candidate carry a
// tag, so a block need not know that *all* blocks have arrived: it waits for each word that
// it needs. Fewer threads that ask get their answers sooner, so only some warps of a block
// do.
// Faster because an exchange costs one trip through the L2 cache, where the barrier needs
// at least three: to the counter, back, and then to the candidates. Still slow because each
// column takes one exchange, and during it nothing else goes on. The next panel could be
// factored while the product for this one is still being computed.
//
// `words`: two sets in turn, as in step 9. A fast block cannot be two columns ahead,
// because for that it needs the slow one's candidate.
__global__ void __launch_bounds__(tuning.panel_threads)
    factor_panel(float* a, std::size_t pitch, unsigned n, unsigned first, unsigned width,
                 Word* words, unsigned* origins, unsigned* targets, float* pivots) {
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
    __threadfence();  // all rows are read before one is written to the place of another

    for (unsigned j = 0; j < width; ++j) {
        const unsigned tag = first + j + 1;
        Word* const keys = words + std::size_t{j % 2} * gridDim.x * tuning.words_per_block;
        Word* const rows = keys + 2 * gridDim.x;
        const PivotKey own = active ? pivot_key(row[0], position) : 0;
        const PivotKey best_of_block = block_max(own, warp_maxima);
        const bool none = best_of_block == 0;  // all rows of this block are pivot rows
        if (none ? threadIdx.x == 0 : own == best_of_block) {
            send(keys + 2 * blockIdx.x, none ? 0 : __float_as_uint(row[0]), tag);
            send(keys + 2 * blockIdx.x + 1, none ? kNobody : position, tag);
            if (!none) {
#pragma unroll
                for (unsigned i = 0; i < kPanel; ++i)
                    send(rows + blockIdx.x * kPanel + i, __float_as_uint(row[i]), tag);
            }
        }
#ifdef __CPU_DEVICE__  // its blocks take turns, and none could wait for a word that another
                       // one has yet to send
        cooperative_groups::this_grid().sync();
#endif
        if (threadIdx.x <
            kListeners) {  // lane k looks at the candidates of blocks k, k + 32 ...
            PivotKey best_of_lane = 0;
            unsigned sender = 0;
            for (unsigned block = lane; block < gridDim.x; block += kLanes) {
                const PivotKey key = receive_key(keys + 2 * block, tag);
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
                Word* const word = rows + sender * kPanel + threadIdx.x;
                pivot_row[threadIdx.x] =
                    to_be_eliminated ? __uint_as_float(receive(word, tag)) : 0;
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

    __threadfence();
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
