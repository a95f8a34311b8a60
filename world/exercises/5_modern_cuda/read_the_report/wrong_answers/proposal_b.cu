// Wrong answer: carries out proposal B: another layout
// Rejected by: lets all threads add
// Message: active lanes of a warp, on average
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    __shared__ unsigned row[bins + bins / 16];
    const auto place_of = [](unsigned bin) { return bin + bin / 16; };
    const size_t i = blockIdx.x * size_t{bins} + threadIdx.x;
    row[place_of(threadIdx.x)] = counts[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned b = 0; b < bins; ++b) {
            sum += row[place_of(b)];
            row[place_of(b)] = sum;
        }
    }
    __syncthreads();
    sums[i] = row[place_of(threadIdx.x)];
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, bins>>>(d_counts, d_sums);
}
