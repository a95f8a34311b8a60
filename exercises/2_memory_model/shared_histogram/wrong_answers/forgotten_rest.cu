// Wrong answer: reads 16 bytes at a time, and forgets those behind the last 16
// Rejected by: counts bytes of any number
// Message: is every byte counted
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>

constexpr int bins = 256;
constexpr int threads = 256;

__device__ void count_word(unsigned* own, unsigned word) {
    for (int shift = 0; shift < 32; shift += 8) atomicAdd(&own[word >> shift & 0xFF], 1u);
}

__global__ void count_in_shared_memory(const unsigned char* bytes, unsigned* counts, int count) {
    __shared__ unsigned own[bins];
    for (int bin = threadIdx.x; bin < bins; bin += threads) own[bin] = 0;
    __syncthreads();
    const uint4* vectors = reinterpret_cast<const uint4*>(bytes);
    for (int i = blockIdx.x * threads + threadIdx.x; i < count / 16; i += gridDim.x * threads) {
        const uint4 vector = vectors[i];
        count_word(own, vector.x);
        count_word(own, vector.y);
        count_word(own, vector.z);
        count_word(own, vector.w);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < bins; bin += threads) atomicAdd(&counts[bin], own[bin]);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    if (count == 0) return;
    const int blocks = std::min((count - 1) / 16384 + 1, 64);
    count_in_shared_memory<<<blocks, threads>>>(d_bytes, d_counts, count);
}
