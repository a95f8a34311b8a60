// Wrong answer: d_counts is cleared in the first call only
// Rejected by: counts bytes of any number
// Message: 256 elements: 256 wrong
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>

constexpr int bins = 256;
constexpr int threads = 256;
constexpr int bytes_of_block = 16384;  // at least

__global__ void count_in_shared_memory(const unsigned char* bytes, unsigned* counts,
                                       int count) {
    __shared__ unsigned own[bins];
    for (int bin = threadIdx.x; bin < bins; bin += threads) own[bin] = 0;
    __syncthreads();

    const size_t stride = size_t{gridDim.x} * threads;
    const size_t end = count;
    for (size_t i = size_t{blockIdx.x} * threads + threadIdx.x; i < end; i += stride) {
        atomicAdd(&own[bytes[i]], 1u);
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < bins; bin += threads)
        atomicAdd(&counts[bin], own[bin]);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    static bool cleared = false;
    if (!cleared) cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    cleared = true;
    if (count == 0) return;
    const int blocks = std::min((count - 1) / bytes_of_block + 1, 512);
    count_in_shared_memory<<<blocks, threads>>>(d_bytes, d_counts, count);
}
