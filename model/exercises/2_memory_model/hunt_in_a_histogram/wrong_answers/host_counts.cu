// Wrong answer: copies the bytes back and counts on the host
// Rejected by: counts bytes of any number
// Message: cudaMemcpyDeviceToHost
#include "exercises/2_memory_model/hunt_in_a_histogram/hunt_in_a_histogram.h"

#include <cuda_runtime.h>

#include <vector>

__global__ void write_results(const unsigned char* bytes, int n, const unsigned* from,
                              unsigned* counts, unsigned* mode) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        volatile unsigned char byte = bytes[i];
        (void)byte;
    }
    counts[threadIdx.x] = from[threadIdx.x];
    if (threadIdx.x == 0) *mode = from[256];
}

void count_and_find_mode(const unsigned char* d_bytes, int n, unsigned* d_counts,
                         unsigned* d_mode, unsigned*) {
    std::vector<unsigned char> bytes(n);
    cudaMemcpy(bytes.data(), d_bytes, n, cudaMemcpyDeviceToHost);
    std::vector<unsigned> counts(257);
    for (const unsigned char byte : bytes) ++counts[byte];
    for (unsigned v = 0; v < 256; ++v)
        if (counts[v] > counts[counts[256]]) counts[256] = v;
    unsigned* d_from;
    cudaMalloc(&d_from, 257 * sizeof(unsigned));
    cudaMemcpy(d_from, counts.data(), 257 * sizeof(unsigned), cudaMemcpyHostToDevice);
    write_results<<<1, 256>>>(d_bytes, n, d_from, d_counts, d_mode);
    cudaFree(d_from);
}
