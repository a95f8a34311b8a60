// The function that the grader calls.
#pragma once

/// Adds up `count` floats with `blocks` blocks of 128 threads: *d_sum = d_values[0] + d_values[1] ... d_block_sums
/// and d_block_lost: room for one float a block each; what they hold before and after does not matter.
///
/// With u = 2^-24 and n = count, the error is at most 2 u |sum| + 4 n^2 u^2 times the sum of the magnitudes: as if it
/// had been added with 48 bits and rounded once. In float: double, with its 53 bits, is not enough for all tests.
void add_up(const float* d_values, int count, float* d_block_sums, float* d_block_lost, float* d_sum, int blocks);
