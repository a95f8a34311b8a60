// Wrong answer: each thread adds up all counts before its own
// Rejected by: lets all threads add
// Message: requests of shared memory per histogram
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    __shared__ unsigned row[bins];
    const size_t i = blockIdx.x * size_t{bins} + threadIdx.x;
    row[threadIdx.x] = counts[i];
    __syncthreads();
    unsigned sum = 0;
    for (unsigned b = 0; b <= threadIdx.x; ++b) sum += row[b];
    sums[i] = sum;
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, bins>>>(d_counts, d_sums);
}
