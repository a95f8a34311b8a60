// The function that the grader calls.
#pragma once

/// Counts bytes: d_counts[v] becomes how many of the `count` bytes of d_bytes have the
/// value v, for v from 0 to 255, whatever d_counts held before. Both are device arrays,
/// d_counts of 256 elements; d_bytes begins at a multiple of 256 bytes. With a count of 0
/// all counts are 0.
void count_bytes(const unsigned char* d_bytes, unsigned* d_counts, int count);
