// Correct answer: one warp scans the row, with eight bins per lane
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    __shared__ unsigned row[bins + bins / 32];
    const size_t i = blockIdx.x * size_t{bins} + threadIdx.x;
    const unsigned lane = threadIdx.x;
    const auto place_of = [](unsigned bin) { return bin + bin / 32; };
    row[place_of(threadIdx.x)] = counts[i];
    __syncthreads();
    if (threadIdx.x < 32) {
        unsigned own[8];
        unsigned total = 0;
        for (unsigned k = 0; k < 8; ++k) own[k] = total += row[place_of(8 * lane + k)];
        unsigned sum = total;
        for (unsigned distance = 1; distance < 32; distance *= 2) {
            const unsigned before = __shfl_up_sync(0xFFFFFFFFu, sum, distance);
            if (lane >= distance) sum += before;
        }
        for (unsigned k = 0; k < 8; ++k) row[place_of(8 * lane + k)] = sum - total + own[k];
    }
    __syncthreads();
    sums[i] = row[place_of(threadIdx.x)];
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, bins>>>(d_counts, d_sums);
}
