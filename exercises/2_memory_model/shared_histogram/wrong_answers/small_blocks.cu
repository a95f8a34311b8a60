// Wrong answer: a block for every 256 bytes: as many additions to global memory as before
// Rejected by: adds to the counts in global memory only now and then
// Message: atomic operations on global memory
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

constexpr int bins = 256;
constexpr int threads = 256;

__global__ void count_in_shared_memory(const unsigned char* bytes, unsigned* counts, int count) {
    __shared__ unsigned own[bins];
    own[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) atomicAdd(&own[bytes[i]], 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    cudaMemset(d_counts, 0, bins * sizeof(unsigned));
    if (count == 0) return;
    count_in_shared_memory<<<(count + threads - 1) / threads, threads>>>(d_bytes, d_counts, count);
}
