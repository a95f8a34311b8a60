// Correct answer: rounds in shared memory, with two rows that take turns
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    __shared__ unsigned rows[2][bins];
    const size_t i = blockIdx.x * size_t{bins} + threadIdx.x;
    unsigned sum = counts[i];
    unsigned now = 0;
    rows[now][threadIdx.x] = sum;
    for (unsigned distance = 1; distance < bins; distance *= 2) {
        __syncthreads();
        if (threadIdx.x >= distance) sum += rows[now][threadIdx.x - distance];
        now = 1 - now;
        rows[now][threadIdx.x] = sum;
    }
    sums[i] = sum;
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, bins>>>(d_counts, d_sums);
}
