#pragma once

#include "chapters/4_examples/linear_solver/step_06_panel_in_one_block.cuh"

namespace examples {
namespace {

constexpr unsigned kNobody = 0xFFFFFFFF;  // the position of a row that does not exist

// From a list of exchanges to places. `targets`: where the row went that was row first + i.
// `origins`: where the row stood that is now row first + i, for which the exchanges are
// followed backwards.
__global__ void follow_rows(const unsigned* swaps, unsigned first, unsigned width,
                            unsigned* origins, unsigned* targets) {
    if (threadIdx.x >= width) return;
    unsigned target = first + threadIdx.x, origin = target;
    for (unsigned j = 0; j < width; ++j) {
        const unsigned top = first + j;
        target = target == top ? swaps[j] : target == swaps[j] ? top : target;
    }
    for (unsigned j = width; j-- > 0;) {
        const unsigned top = first + j;
        origin = origin == top ? swaps[j] : origin == swaps[j] ? top : origin;
    }
    targets[threadIdx.x] = target;
    origins[threadIdx.x] = origin;
}

// Step 7, the triangular solve in registers. Still one thread per column. The rows go from
// their origins to their targets at once: at most 128 rows move, and many elements are
// loaded before the first one is stored, which takes a few trips to memory instead of one
// for each exchange. The multipliers are in shared memory. The 64 elements of the column
// are in registers, whose index has to be known to the compiler. So the column is kept
// rotated: u[0] is ready, and subtracting its part from the others moves each of them one
// place towards the front.
// Faster because each element of the 64 rows is read once and written once. Still slow
// because one thread per column is only a few warps per SM. But this kernel
// should be a small part of the whole now. Elements of displaced rows that a thread holds
// at a time.
constexpr unsigned kDisplaced = kPanel / 4;

__global__ void __launch_bounds__(kColumnsPerBlock)
    solve_block_row(float* a, std::size_t pitch, unsigned n, unsigned first, unsigned width,
                    const unsigned* origins, const unsigned* targets) {
    // below[j][i]: the multiplier in column j and row j + 1 + i, and after the last row 0.
    __shared__ __align__(16) float below[kPanel][kPanel];
    __shared__ unsigned from[kPanel], to[kPanel];
    for (unsigned i = threadIdx.x; i < kPanel; i += kColumnsPerBlock) {
        from[i] = i < width ? origins[i] : kNobody;
        to[i] = i < width ? targets[i] : 0;
    }
    for (unsigned k = threadIdx.x; k < kPanel * kPanel; k += kColumnsPerBlock) {
        const unsigned row = k / kPanel, j = k % kPanel;
        const bool is_multiplier = j < row && row < width;
        const float value = is_multiplier ? a[(first + row) * pitch + first + j] : 0;
        below[j][(row + kPanel - 1 - j) % kPanel] = value;
    }
    __syncthreads();
    const unsigned behind = first + width;
    const std::size_t col =
        std::size_t{behind} + blockIdx.x * kColumnsPerBlock + threadIdx.x;
    if (col > n) return;

    float u[kPanel];
#pragma unroll
    for (unsigned i = 0; i < kPanel; ++i)
        u[i] = from[i] != kNobody ? a[from[i] * pitch + col] : 0;
#pragma unroll 1
    for (unsigned begin = 0; begin < kPanel; begin += kDisplaced) {
        float displaced[kDisplaced];
#pragma unroll
        for (unsigned i = 0; i < kDisplaced; ++i) {
            displaced[i] =
                to[begin + i] >= behind ? a[(first + begin + i) * pitch + col] : 0;
        }
#pragma unroll
        for (unsigned i = 0; i < kDisplaced; ++i) {
            if (to[begin + i] >= behind) a[to[begin + i] * pitch + col] = displaced[i];
        }
    }
    for (unsigned j = 0; j < width; ++j) {
        const float ready = u[0];
        a[(first + j) * pitch + col] = ready;
#pragma unroll
        for (unsigned i = 0; i + 1 < kPanel; ++i) u[i] = u[i + 1] - below[j][i] * ready;
    }
}

}  // namespace
}  // namespace examples
