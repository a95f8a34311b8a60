// Wrong answer: gives each thread a stretch of its own, as one would on a CPU
// Rejected by: moves little more than the bytes
// Message: Do neighboring threads read neighboring bytes?
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>

constexpr int bins = 256;
constexpr int threads = 256;

__global__ void count_in_shared_memory(const unsigned char* bytes, unsigned* counts, int count) {
    __shared__ unsigned own[bins];
    for (int bin = threadIdx.x; bin < bins; bin += threads) own[bin] = 0;
    __syncthreads();
    const int stretch = (count - 1) / (gridDim.x * threads) + 1;
    const int first = (blockIdx.x * threads + threadIdx.x) * stretch;
    for (int i = first; i < min(first + stretch, count); ++i) atomicAdd(&own[bytes[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += threads) atomicAdd(&counts[bin], own[bin]);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    if (count == 0) return;
    const int blocks = std::min((count - 1) / 16384 + 1, 64);
    count_in_shared_memory<<<blocks, threads>>>(d_bytes, d_counts, count);
}
