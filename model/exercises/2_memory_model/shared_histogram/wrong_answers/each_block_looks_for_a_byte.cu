// Wrong answer: a block for each value reads all bytes and counts that one
// Rejected by: shares the bytes among many threads
// Message: of 1 block read
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

__global__ void count_one_value(const unsigned char* bytes, unsigned* counts, int count) {
    __shared__ unsigned found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    unsigned mine = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) mine += bytes[i] == blockIdx.x;
    if (mine > 0) atomicAdd(&found, mine);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = found;
}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    count_one_value<<<256, 256>>>(d_bytes, d_counts, count);
}
