// The function that the grader calls.
#pragma once

/// *d_sum = d_values[0] + ... + d_values[count - 1], in one launch with `blocks` blocks of
/// 128 threads. d_block_sums: room for one float per block; what it holds before the call
/// does not matter. d_done: a counter. The caller has set it to 0 once, before the first
/// call, and each call leaves it at 0.
void add_up_in_one_launch(const float* d_values, int count, float* d_block_sums,
                          unsigned* d_done, float* d_sum, int blocks);
