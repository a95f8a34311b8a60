// Correct answer: a primitive of CUB
#include <cub/block/block_scan.cuh>

#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    using Scan = cub::BlockScan<unsigned, bins>;
    __shared__ typename Scan::TempStorage storage;
    const size_t i = blockIdx.x * size_t{bins} + threadIdx.x;
    unsigned sum;
    Scan(storage).InclusiveSum(counts[i], sum);
    sums[i] = sum;
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, bins>>>(d_counts, d_sums);
}
