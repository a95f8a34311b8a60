// Exercise: a histogram whose threads all queue at the same counters.
// The task: ./warpwise task shared_histogram
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

constexpr int bins = 256;
constexpr int threads = 256;

// TODO 1: give each block counters of its own in shared memory. What has to happen before
// the first byte is counted, and what after the last?
// TODO 2: a block adds its counters to d_counts once. How many bytes should it count
// before, and which of them should neighboring threads take?
__global__ void count_each_byte(const unsigned char* bytes, unsigned* counts, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) atomicAdd(&counts[bytes[i]], 1u);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    if (count == 0) return;
    count_each_byte<<<(count + threads - 1) / threads, threads>>>(d_bytes, d_counts, count);
}
