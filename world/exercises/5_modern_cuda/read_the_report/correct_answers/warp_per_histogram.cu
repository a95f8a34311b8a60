// Correct answer: a warp has a histogram, and needs no shared memory
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    const unsigned lane = threadIdx.x;
    unsigned carry = 0;
    for (unsigned first = 0; first < bins; first += 32) {
        const size_t i = blockIdx.x * size_t{bins} + first + lane;
        unsigned sum = counts[i];
        for (unsigned distance = 1; distance < 32; distance *= 2) {
            const unsigned before = __shfl_up_sync(0xFFFFFFFFu, sum, distance);
            if (lane >= distance) sum += before;
        }
        sum += carry;
        sums[i] = sum;
        carry = __shfl_sync(0xFFFFFFFFu, sum, 31);
    }
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, 32>>>(d_counts, d_sums);
}
