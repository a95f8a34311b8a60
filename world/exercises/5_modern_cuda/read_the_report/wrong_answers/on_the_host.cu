// Wrong answer: the host adds up
// Rejected by: adds up one histogram
// Message: were not read by any kernel
#include <vector>

#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    std::vector<unsigned> row(histograms * size_t{bins});
    cudaMemcpy(row.data(), d_counts, row.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < row.size(); ++i)
        if (i % bins != 0) row[i] += row[i - 1];
    cudaMemcpy(d_sums, row.data(), row.size() * sizeof(unsigned), cudaMemcpyHostToDevice);
}
