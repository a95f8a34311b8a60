// Wrong answer: two counters share a word, and one runs over into the other
// Rejected by: shares the bytes among many threads
// Message: of 2 blocks read
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>

constexpr int bins = 256;
constexpr int threads = 256;
constexpr int bytes_of_block = 131072;  // at least

__global__ void count_in_shared_memory(const unsigned char* bytes, unsigned* counts,
                                       int count) {
    __shared__ unsigned own[bins / 2];
    if (threadIdx.x < bins / 2) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        const unsigned byte = bytes[i];
        atomicAdd(&own[byte / 2], byte % 2 == 0 ? 1u : 1u << 16);
    }
    __syncthreads();
    const unsigned both = own[threadIdx.x / 2];
    atomicAdd(&counts[threadIdx.x], threadIdx.x % 2 == 0 ? both & 0xffff : both >> 16);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    if (count == 0) return;
    const int blocks = std::min((count - 1) / bytes_of_block + 1, 512);
    count_in_shared_memory<<<blocks, threads>>>(d_bytes, d_counts, count);
}
