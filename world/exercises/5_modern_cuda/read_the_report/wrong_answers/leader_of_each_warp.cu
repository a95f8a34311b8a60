// Wrong answer: the first lane of each warp adds up 32 counts
// Rejected by: lets all threads add
// Message: active lanes of a warp, on average
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    __shared__ unsigned row[bins];
    const size_t i = blockIdx.x * size_t{bins} + threadIdx.x;
    row[threadIdx.x] = counts[i];
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        unsigned sum = 0;
        for (unsigned b = threadIdx.x; b < threadIdx.x + 32; ++b) {
            sum += row[b];
            row[b] = sum;
        }
    }
    __syncthreads();
    unsigned sum = row[threadIdx.x];
    for (unsigned end = 31; end < threadIdx.x / 32 * 32; end += 32) sum += row[end];
    sums[i] = sum;
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, bins>>>(d_counts, d_sums);
}
