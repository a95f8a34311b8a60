// The function that the grader calls.
#pragma once

constexpr unsigned bins = 256;  // of a histogram

/// Adds up histograms: d_sums[h * bins + b] is the sum of the counts of the bins 0 to b of
/// histogram h. d_counts and d_sums are device arrays of histograms * bins numbers. Without
/// histograms it does nothing.
void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums);
