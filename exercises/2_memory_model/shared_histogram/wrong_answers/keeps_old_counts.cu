// Wrong answer: adds to what d_counts held before
// Rejected by: handles no bytes
// Message: Before the call, d_counts held 1000 everywhere.
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>

constexpr int bins = 256;
constexpr int threads = 256;

__global__ void count_in_shared_memory(const unsigned char* bytes, unsigned* counts, int count) {
    __shared__ unsigned own[bins];
    for (int bin = threadIdx.x; bin < bins; bin += threads) own[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        atomicAdd(&own[bytes[i]], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += threads) atomicAdd(&counts[bin], own[bin]);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    if (count == 0) return;
    const int blocks = std::min((count - 1) / 16384 + 1, 64);
    count_in_shared_memory<<<blocks, threads>>>(d_bytes, d_counts, count);
}
