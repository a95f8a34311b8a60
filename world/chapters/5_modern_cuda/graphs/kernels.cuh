// Twenty small kernels that smooth three rows of numbers, and other ways to start the same
// work: as kernels that wait for each other, in a loop on the device, and as one kernel.
//
// All numbers are whole numbers below 2^24, so every way gives exactly the same result.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstddef>

namespace modern_cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kRows = 3;
constexpr unsigned kSweeps = 6;  // of each row; even, so that the last one writes `row`
constexpr unsigned kKernels = 1 + kRows * kSweeps + 1;

// The kernels of steps 2 to 6. Each has one thread per number, and far too few of them to
// keep a GPU busy: a kernel takes about a microsecond.

// The first kernel: each row begins as a copy of the input, divided by 1, 2, and 4.
__global__ void spread(const unsigned* in, std::size_t count, unsigned* rows) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    if (i >= count) return;
    for (unsigned row = 0; row < kRows; ++row) rows[row * count + i] = in[i] >> row;
}

// The mean of a number and its neighbors, of which the number itself counts twice. At both
// ends of the row the neighbor that is missing is the number at the end.
__device__ unsigned smoothed(const unsigned* row, std::size_t count, std::size_t i) {
    const unsigned left = row[i == 0 ? 0 : i - 1];
    const unsigned right = row[i + 1 < count ? i + 1 : i];
    return (left + 2 * row[i] + right + 2) / 4;
}

// One sweep over one row. Sweeps of one row depend on each other; the rows do not.
__global__ void sweep(const unsigned* row, std::size_t count, unsigned* out) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    if (i < count) out[i] = smoothed(row, count, i);
}

// The last kernel: the rows are added, times a factor.
__global__ void gather(const unsigned* rows, std::size_t count, unsigned factor,
                       unsigned* out) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    if (i >= count) return;
    unsigned sum = 0;
    for (unsigned row = 0; row < kRows; ++row) sum += rows[row * count + i];
    out[i] = sum * factor;
}

// Whether this code is for a GPU that has programmatic dependent launches.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define MODERN_CUDA_HAS_DEPENDENT_LAUNCHES 1
#endif

// Step 7, spread_dependent, sweep_dependent, gather_dependent: the next kernel is allowed
// to begin as soon as all blocks of this one have begun, and waits in its own code for this
// one to end. The start of one kernel and the end of the one before can overlap: blocks are
// already resident when their input is ready, and have computed their index. In a stream,
// this is slower than the graphs before, because the host makes as many launches as in
// step 3, and is the limit again. Step 8 replays the same launches as a graph, and is
// faster than step 4. On an H200, both are slower than the other steps for rows of 2^24
// numbers; nobody has examined why.
__device__ void let_the_next_begin() {
#ifdef MODERN_CUDA_HAS_DEPENDENT_LAUNCHES
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
__device__ void wait_for_the_kernel_before() {
#ifdef MODERN_CUDA_HAS_DEPENDENT_LAUNCHES
    cudaGridDependencySynchronize();
#endif
}

__global__ void spread_dependent(const unsigned* in, std::size_t count, unsigned* rows) {
    let_the_next_begin();
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    wait_for_the_kernel_before();  // the last one of the run before still reads `rows`
    if (i >= count) return;
    for (unsigned row = 0; row < kRows; ++row) rows[row * count + i] = in[i] >> row;
}

__global__ void sweep_dependent(const unsigned* row, std::size_t count, unsigned* out) {
    let_the_next_begin();
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    wait_for_the_kernel_before();
    if (i < count) out[i] = smoothed(row, count, i);
}

__global__ void gather_dependent(const unsigned* rows, std::size_t count, unsigned factor,
                                 unsigned* out) {
    let_the_next_begin();
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    wait_for_the_kernel_before();
    if (i >= count) return;
    unsigned sum = 0;
    for (unsigned row = 0; row < kRows; ++row) sum += rows[row * count + i];
    out[i] = sum * factor;
}

// Step 9, persistent: one cooperative kernel does all of it, and a barrier of the grid
// stands where a kernel ended before. Faster because there is one launch, and because all
// three rows are smoothed between two barriers: 8 parts instead of 20 kernels. Still slow
// because a barrier of the whole grid takes about as long as the start of a small kernel in
// a graph, and because the grid may not have more blocks than are resident.
__global__ void persistent(const unsigned* in, std::size_t count, unsigned* rows,
                           unsigned* other_rows, unsigned factor, unsigned* out) {
    const auto grid = cooperative_groups::this_grid();
    const std::size_t first = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = first; i < count; i += stride)
        for (unsigned row = 0; row < kRows; ++row) rows[row * count + i] = in[i] >> row;
    for (unsigned turn = 0; turn < kSweeps; ++turn) {
        grid.sync();
        const unsigned* const from = turn % 2 == 0 ? rows : other_rows;
        unsigned* const to = turn % 2 == 0 ? other_rows : rows;
        for (std::size_t k = first; k < kRows * count; k += stride) {
            const std::size_t row = k / count;
            to[k] = smoothed(from + row * count, count, k - row * count);
        }
    }
    grid.sync();
    for (std::size_t i = first; i < count; i += stride) {
        unsigned sum = 0;
        for (unsigned row = 0; row < kRows; ++row) sum += rows[row * count + i];
        out[i] = sum * factor;
    }
}

// ---- a loop until nothing moves any more ------------------------------------------------

// What the loop is about: how many numbers moved in the last sweep, and the sweeps so far.
struct Progress {
    unsigned moved;
    unsigned sweeps;
};

// A sweep that also counts the numbers that moved by more than `limit`.
__global__ void sweep_and_count(const unsigned* row, std::size_t count, unsigned limit,
                                unsigned* out, Progress* progress) {
    const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    bool moves = false;
    if (i < count) {
        const unsigned before = row[i], after = smoothed(row, count, i);
        out[i] = after;
        moves = (after > before ? after - before : before - after) > limit;
    }
    const int moved = __syncthreads_count(moves);
    if (threadIdx.x == 0 && moved > 0)
        atomicAdd(&progress->moved, static_cast<unsigned>(moved));
}

// The same question as the host's, asked on the device: the last kernel of the body of a
// WHILE node says whether the body runs again.
__global__ void ask_for_another_turn(Progress* progress, unsigned most,
                                     cudaGraphConditionalHandle again) {
    progress->sweeps += 2;
    const bool goes_on = progress->moved > 0 && progress->sweeps < most;
    progress->moved = 0;
    cudaGraphSetConditional(again, goes_on ? 1 : 0);
}

}  // namespace
}  // namespace modern_cuda
