// Solution: a histogram in which three things were wrong.
//
// Shared memory holds anything when a block begins: often what the block before it on the
// same SM has left there. So the block clears its counters, and waits, before it counts.
//
// A thread merges values that other threads have counted. So all threads of the block have
// to be done with counting before any of them merges.
//
// The ticket counter keeps its value from call to call. The block that draws the last
// ticket knows that nobody else will draw one, so it can set the counter back to 0. Without
// that, no block of the second call is the last one, and nobody writes the mode.
#include <cuda_runtime.h>

#include "exercises/2_memory_model/hunt_in_a_histogram/hunt_in_a_histogram.h"

constexpr int bins = 256;
constexpr int threads_per_block = 128;
constexpr int most_blocks = 16;

/// Counts the bytes of this block in its own counters, which are in shared memory.
__device__ void count_own_bytes(const unsigned char* bytes, int n, unsigned* own_counts) {
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        atomicAdd(&own_counts[bytes[i]], 1u);
}

/// Adds the block's counters to those of the grid.
__device__ void merge(const unsigned* own_counts, unsigned* counts) {
    for (int v = threadIdx.x; v < bins; v += blockDim.x) {
        if (own_counts[v] > 0) atomicAdd(&counts[v], own_counts[v]);
    }
}

/// Draws a ticket for the block. True, for all of its threads, if it is the last one: then
/// all blocks have merged their counters.
__device__ bool is_last_block(unsigned* ticket) {
    __shared__ bool is_last;
    // What this thread has added is there before the ticket is drawn.
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned drawn = atomicAdd(ticket, 1u);
        is_last = drawn == gridDim.x - 1;
        if (is_last) *ticket = 0;  // for the next call
        // What is read below is not older than the ticket.
        __threadfence();
    }
    __syncthreads();
    return is_last;
}

/// The value with the largest count, of several the lowest, for the first thread.
__device__ unsigned mode_of(const unsigned* counts) {
    // The count in the upper bits decides, then how far the value is from the end.
    __shared__ unsigned long long best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    for (int v = threadIdx.x; v < bins; v += blockDim.x) {
        const unsigned long long count = counts[v];
        atomicMax(&best, count << 8 | static_cast<unsigned long long>(bins - 1 - v));
    }
    __syncthreads();
    return bins - 1 - static_cast<unsigned>(best & (bins - 1));
}

__global__ void histogram(const unsigned char* bytes, int n, unsigned* counts,
                          unsigned* mode, unsigned* ticket) {
    __shared__ unsigned own_counts[bins];
    for (int v = threadIdx.x; v < bins; v += blockDim.x) own_counts[v] = 0;
    __syncthreads();
    count_own_bytes(bytes, n, own_counts);
    __syncthreads();
    merge(own_counts, counts);

    if (!is_last_block(ticket)) return;
    const unsigned most_frequent = mode_of(counts);
    if (threadIdx.x == 0) *mode = most_frequent;
}

void count_and_find_mode(const unsigned char* d_bytes, int n, unsigned* d_counts,
                         unsigned* d_mode, unsigned* d_ticket) {
    cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    const int wanted = n / 1024 + 1;  // about eight bytes per thread
    const int blocks = wanted < most_blocks ? wanted : most_blocks;
    histogram<<<blocks, threads_per_block>>>(d_bytes, n, d_counts, d_mode, d_ticket);
}
