// Wrong answer: counters for each lane, laid out so that equal bytes meet in a bank
// Rejected by: does not queue at the counters in shared memory
// Message: 32 wavefronts of shared memory for 32 bytes
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>

constexpr int bins = 256;
constexpr int threads = 256;
constexpr int bytes_of_block = 16384;  // at least

__global__ void count_in_shared_memory(const unsigned char* bytes, unsigned* counts,
                                       int count) {
    __shared__ unsigned own[32][bins];
    const int lane = threadIdx.x % 32;
    for (int k = 0; k < 32; ++k) own[k][threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads)
        atomicAdd(&own[lane][bytes[i]], 1u);
    __syncthreads();
    unsigned sum = 0;
    for (int k = 0; k < 32; ++k) sum += own[k][threadIdx.x];
    if (sum != 0) atomicAdd(&counts[threadIdx.x], sum);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    if (count == 0) return;
    const int blocks = std::min((count - 1) / bytes_of_block + 1, 512);
    count_in_shared_memory<<<blocks, threads>>>(d_bytes, d_counts, count);
}
