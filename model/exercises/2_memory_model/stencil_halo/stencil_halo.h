// The function that the grader calls.
#pragma once

/// Sums over a sliding window: d_out[i] = d_in[i - radius] + ... + d_in[i + radius], where
/// elements before the first and after the last count as 0. Both are device arrays of
/// `count` floats. Every block has exactly `threads_per_block` threads in x, from 1 to
/// 1024. `radius` is at least 0 and at most 5000, so it may be larger than a block, and the
/// largest tile still fits into the 48 KiB of shared memory that every block can have. With
/// a count of 0 the function does nothing.
void sum_windows(const float* d_in, float* d_out, int count, int radius,
                 int threads_per_block);
