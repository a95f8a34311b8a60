// Wrong answer: adds in shared memory without atomics, because the counters are the block's own
// Rejected by: counts bytes of any number
// Message: data race
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>

constexpr int bins = 256;
constexpr int threads = 256;

__global__ void count_in_shared_memory(const unsigned char* bytes, unsigned* counts, int count) {
    __shared__ unsigned own[bins];
    for (int bin = threadIdx.x; bin < bins; bin += threads) own[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) ++own[bytes[i]];
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += threads) atomicAdd(&counts[bin], own[bin]);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    if (count == 0) return;
    const int blocks = std::min((count - 1) / 16384 + 1, 64);
    count_in_shared_memory<<<blocks, threads>>>(d_bytes, d_counts, count);
}
