// Correct answer: lanes with equal bytes elect one that adds for all of them
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>

constexpr int bins = 256;
constexpr int threads = 256;
constexpr int bytes_of_block = 16384;  // at least

__global__ void count_in_shared_memory(const unsigned char* bytes, unsigned* counts,
                                       int count) {
    __shared__ unsigned own[bins];
    own[threadIdx.x] = 0;
    __syncthreads();

    const int lane = threadIdx.x % 32;
    const size_t n = count;
    const size_t stride = size_t{gridDim.x} * threads;
    for (size_t base = size_t{blockIdx.x} * threads; base < n; base += stride) {
        const size_t i = base + threadIdx.x;
        const unsigned busy = __ballot_sync(0xffffffffu, i < n);
        if (i < n) {
            const unsigned byte = bytes[i];
            const unsigned peers = __match_any_sync(busy, byte);
            if (__ffs(peers) - 1 == lane) atomicAdd(&own[byte], __popc(peers));
        }
    }
    __syncthreads();
    if (own[threadIdx.x] != 0) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    if (count == 0) return;
    const int blocks = std::min((count - 1) / bytes_of_block + 1, 512);
    count_in_shared_memory<<<blocks, threads>>>(d_bytes, d_counts, count);
}
