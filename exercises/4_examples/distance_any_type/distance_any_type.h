// The functions that the grader calls.
#pragma once

#include <cstddef>

/// Blocks of threads that d_block_sums has room for: 64 * 8 bytes.
constexpr int most_blocks = 64;

/// Euclidean distance of two vectors: *d_distance = sqrt((a[0] - b[0])^2 + (a[1] - b[1])^2 + ...), 0 for a count of 0.
/// d_a and d_b are device arrays of `count` elements of any values that are not NaN or infinite; d_block_sums is room
/// for the kernels, and what it holds before and after does not matter.
///
/// float: right to 5 digits, if no square overflows. double: to 12 digits, likewise. int: to 12 digits for all ints.
void euclidean_distance(const float* d_a, const float* d_b, std::size_t count, void* d_block_sums, double* d_distance);
void euclidean_distance(const double* d_a, const double* d_b, std::size_t count, void* d_block_sums,
                        double* d_distance);
void euclidean_distance(const int* d_a, const int* d_b, std::size_t count, void* d_block_sums, double* d_distance);
