// Wrong answer: a lane loads eight neighboring counts, one after the other
// Rejected by: still reads and writes whole sectors
// Message: of the 32-byte sectors that were touched are needed
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    const unsigned lane = threadIdx.x;
    const size_t first = blockIdx.x * size_t{bins} + 8 * lane;
    unsigned own[8];
    unsigned total = 0;
    for (unsigned k = 0; k < 8; ++k) own[k] = total += counts[first + k];
    unsigned sum = total;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned before = __shfl_up_sync(0xFFFFFFFFu, sum, distance);
        if (lane >= distance) sum += before;
    }
    for (unsigned k = 0; k < 8; ++k) sums[first + k] = sum - total + own[k];
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, 32>>>(d_counts, d_sums);
}
