// Wrong answer: each thread adds up a histogram by itself
// Rejected by: still reads and writes whole sectors
// Message: of the 32-byte sectors that were touched are needed
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned histograms, unsigned* sums) {
    const unsigned h = blockIdx.x * 256 + threadIdx.x;
    if (h >= histograms) return;
    unsigned sum = 0;
    for (unsigned b = 0; b < bins; ++b) {
        sum += counts[h * size_t{bins} + b];
        sums[h * size_t{bins} + b] = sum;
    }
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<(histograms + 255) / 256, 256>>>(d_counts, histograms, d_sums);
}
