// Wrong answer: the bytes go to the host, and it counts
// Rejected by: counts bytes of any number
// Message: was not read by any kernel
#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <vector>

__global__ void nothing() {}

void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count) {
    std::vector<unsigned char> bytes(count);
    std::vector<unsigned> counts(256);
    if (count > 0) cudaMemcpy(bytes.data(), d_bytes, count, cudaMemcpyDeviceToHost);
    for (const unsigned char byte : bytes) ++counts[byte];
    cudaMemcpy(d_counts, counts.data(), 256 * sizeof(unsigned), cudaMemcpyHostToDevice);
    nothing<<<1, 1>>>();
}
