// The function that the grader calls.
#pragma once

/// Adds up `count` floats: *d_sum = d_values[0] + d_values[1] + ... It takes at most two
/// launches; the first one has `blocks` blocks of 128 threads. d_block_sums and
/// d_block_lost have room for one float per block; what they hold before and after does not
/// matter.
///
/// With u = 2^-24 and n = count, the error is at most 2 u |sum| + 4 n u^2 times the sum of
/// the magnitudes: as if the values had been added with 48 bits and the sum had been
/// rounded to a float once. Where all digits that additions lose fit into one float, only
/// that last rounding is left, so the error is at most u |sum|. All totals are floats:
/// double, with its 53 bits, is not enough for all tests.
void add_up(const float* d_values, int count, float* d_block_sums, float* d_block_lost,
            float* d_sum, int blocks);
