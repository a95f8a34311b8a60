// The kernels of registers_and_local, in the order of its steps. They compute moving sums:
// one thread per sensor adds each new sample and subtracts the one of 64 rows before. They
// differ in where a thread keeps the samples that it has to remember.
#pragma once

#include <cstddef>

namespace memory_model {
namespace {

constexpr unsigned kWindow = 64;    // samples per sum
constexpr unsigned kThreads = 128;  // per block

// Step 2, one thread per sensor, and the last 64 samples in an array, used as a ring: the
// sample of row r is at place r % 64.
// Slow because the place is known at run time only, so the array cannot be in registers. It
// is in local memory, and each access to it is a load or a store of device memory, through
// the caches. Local memory is laid out so that lanes which use the same index are
// neighbors, 4 sectors per request. But 256 bytes for each of the SM's threads do not fit
// into its cache.
__global__ void sums_index_at_run_time(const int* __restrict__ samples,
                                       int* __restrict__ sums, std::size_t rows,
                                       std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= cols) return;
    int recent[kWindow] = {};
    int sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        const int sample = samples[row * cols + col];
        const std::size_t place = row % kWindow;
        sum += sample - recent[place];
        recent[place] = sample;
        sums[row * cols + col] = sum;
    }
}

// Step 3, the ring in shared memory, one column per thread. Shared memory has addresses, so
// any index is possible, and the column of lane k is in bank k: there are no conflicts. No
// barrier is needed either, since no two threads share a column.
// Faster because no remembered sample leaves the SM. Still slow because 256 bytes per
// thread are 32 KiB per block: few blocks fit on an SM, and few threads have few loads in
// flight, whose latency is then not hidden.
__global__ void sums_in_shared_memory(const int* __restrict__ samples,
                                      int* __restrict__ sums, std::size_t rows,
                                      std::size_t cols) {
    __shared__ int recent[kWindow][kThreads];
    const std::size_t col = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= cols) return;
    for (unsigned place = 0; place < kWindow; ++place) recent[place][threadIdx.x] = 0;
    int sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        const int sample = samples[row * cols + col];
        const std::size_t place = row % kWindow;
        sum += sample - recent[place][threadIdx.x];
        recent[place][threadIdx.x] = sample;
        sums[row * cols + col] = sum;
    }
}

// Step 4, the loop over the rows in rounds of 64, and each round unrolled: `place` is 0, 1,
// 2 ... in 64 copies of the loop's body. It is a constant in each copy, so every sample has
// a register of its own. #pragma unroll asks for that. The number of iterations per round
// must be a constant, which is why rows past the end are skipped inside the loop instead of
// ending it.
// This could be faster because reading a remembered sample costs nothing, and the loads of
// a round can start before its sums are stored. Still slow because each thread takes so
// many registers that the SM has room for less than half of its threads, and for half of
// step 3's.
__global__ void __launch_bounds__(kThreads)
    sums_unrolled(const int* __restrict__ samples, int* __restrict__ sums, std::size_t rows,
                  std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= cols) return;
    int recent[kWindow] = {};
    int sum = 0;
    for (std::size_t first = 0; first < rows; first += kWindow) {
#pragma unroll
        for (unsigned place = 0; place < kWindow; ++place) {
            const std::size_t row = first + place;
            const int sample = row < rows ? samples[row * cols + col] : 0;
            sum += sample - recent[place];
            recent[place] = sample;
            if (row < rows) sums[row * cols + col] = sum;
        }
    }
}

// Step 5, the same code with a limit on registers: __launch_bounds__(1024) promises that no
// block has more than 1024 threads, so a thread may have 65,536 / 1024 = 64 registers, of
// which the 64 samples alone would take all. (-maxrregcount=64 on nvcc's command line does
// that to every kernel of a file.) What does not fit is spilled: stored to local memory and
// loaded again.
// This could be faster because more threads fit on an SM. Still slow because spilled
// samples are in device memory again. Which of the two effects is stronger can only be
// measured. (On an H200 it is the spills.)
constexpr unsigned kCappedThreads = 1024;

__global__ void __launch_bounds__(kCappedThreads)
    sums_unrolled_capped(const int* __restrict__ samples, int* __restrict__ sums,
                         std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= cols) return;
    int recent[kWindow] = {};
    int sum = 0;
    for (std::size_t first = 0; first < rows; first += kWindow) {
#pragma unroll
        for (unsigned place = 0; place < kWindow; ++place) {
            const std::size_t row = first + place;
            const int sample = row < rows ? samples[row * cols + col] : 0;
            sum += sample - recent[place];
            recent[place] = sample;
            if (row < rows) sums[row * cols + col] = sum;
        }
    }
}

}  // namespace
}  // namespace memory_model
