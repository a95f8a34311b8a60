// Wrong answer: each thread counts 64 neighboring bytes
// Rejected by: moves little more than the bytes
// Message: of global memory moved, at most 524 kB allowed
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

constexpr int bins = 256;
constexpr int threads = 256;
constexpr int bytes_of_block = 16384;  // at least

__global__ void count_in_shared_memory(const unsigned char* bytes, unsigned* counts,
                                       int count) {
    __shared__ unsigned own[bins];
    for (int bin = threadIdx.x; bin < bins; bin += threads) own[bin] = 0;
    __syncthreads();

    const int first = (blockIdx.x * threads + threadIdx.x) * 64;
    for (int i = first; i < first + 64 && i < count; ++i) atomicAdd(&own[bytes[i]], 1u);
    __syncthreads();

    for (int bin = threadIdx.x; bin < bins; bin += threads)
        atomicAdd(&counts[bin], own[bin]);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    if (count == 0) return;
    const int blocks = (count - 1) / bytes_of_block + 1;
    count_in_shared_memory<<<blocks, threads>>>(d_bytes, d_counts, count);
}
