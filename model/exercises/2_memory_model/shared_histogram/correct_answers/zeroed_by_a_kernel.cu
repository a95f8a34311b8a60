// Correct answer: a kernel of its own sets the counts to 0; four bytes per load
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>

constexpr int bins = 256;
constexpr int threads = 256;
constexpr int bytes_of_block = 16384;  // at least

__global__ void clear(unsigned* counts) { counts[threadIdx.x] = 0; }

__global__ void count_words(const uchar4* words, const unsigned char* tail, int n_words,
                            int n_tail, unsigned* counts) {
    __shared__ unsigned bin_of_block[bins];
    bin_of_block[threadIdx.x] = 0;
    __syncthreads();
    for (int w = threadIdx.x + blockIdx.x * blockDim.x; w < n_words;
         w += blockDim.x * gridDim.x) {
        const uchar4 b = words[w];
        atomicAdd(&bin_of_block[b.x], 1u);
        atomicAdd(&bin_of_block[b.y], 1u);
        atomicAdd(&bin_of_block[b.z], 1u);
        atomicAdd(&bin_of_block[b.w], 1u);
    }
    if (blockIdx.x == 0 && static_cast<int>(threadIdx.x) < n_tail)
        atomicAdd(&bin_of_block[tail[threadIdx.x]], 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bin_of_block[threadIdx.x]);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    clear<<<1, bins>>>(d_counts);
    if (count == 0) return;
    const int n_words = count / 4;
    const int blocks = std::min(std::max(n_words / 4096, 1), 256);
    count_words<<<blocks, threads>>>(reinterpret_cast<const uchar4*>(d_bytes),
                                     d_bytes + 4 * n_words, n_words, count % 4, d_counts);
}
