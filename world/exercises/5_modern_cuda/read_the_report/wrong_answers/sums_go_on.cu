// Wrong answer: one block takes all histograms, and the sums go on
// Rejected by: adds up several histograms
// Message: Where does a histogram begin, and what is the sum there?
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned histograms, unsigned* sums) {
    __shared__ unsigned totals[bins / 32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned carry = 0;
    for (unsigned h = 0; h < histograms; ++h) {
        unsigned sum = counts[h * size_t{bins} + threadIdx.x];
        for (unsigned distance = 1; distance < 32; distance *= 2) {
            const unsigned before = __shfl_up_sync(0xFFFFFFFFu, sum, distance);
            if (lane >= distance) sum += before;
        }
        if (lane == 31) totals[warp] = sum;
        __syncthreads();
        sum += carry;
        for (unsigned w = 0; w < warp; ++w) sum += totals[w];
        for (unsigned w = 0; w < bins / 32; ++w) carry += totals[w];
        sums[h * size_t{bins} + threadIdx.x] = sum;
        __syncthreads();
    }
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<1, bins>>>(d_counts, histograms, d_sums);
}
