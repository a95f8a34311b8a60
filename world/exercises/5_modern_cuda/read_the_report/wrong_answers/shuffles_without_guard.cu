// Wrong answer: the first lanes add what the shuffle leaves unchanged
// Rejected by: adds up one histogram
// Message: wrong
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    __shared__ unsigned totals[bins / 32];
    const size_t i = blockIdx.x * size_t{bins} + threadIdx.x;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = counts[i];
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned before = __shfl_up_sync(0xFFFFFFFFu, sum, distance);
        sum += before;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    for (unsigned w = 0; w < warp; ++w) sum += totals[w];
    sums[i] = sum;
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, bins>>>(d_counts, d_sums);
}
