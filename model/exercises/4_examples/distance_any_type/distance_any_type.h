// The functions that the grader calls.
#pragma once

#include <cstddef>

/// Most blocks whose sums fit into d_block_sums, which has 64 * 8 bytes.
constexpr int most_blocks = 64;

/// Euclidean distance of two vectors: *d_distance = sqrt((a[0] - b[0])^2 + (a[1] - b[1])^2
/// + ...), 0 for a count of 0. d_a and d_b are device arrays of `count` elements that are
/// neither NaN nor infinite. d_block_sums is room for the kernels; what it holds before and
/// after does not matter.
///
/// float: right to 5 digits, provided that no square and no sum of squares leaves the range
/// of float. double: right to 12 digits, provided the same for the range of double. int:
/// right to 12 digits for all ints.
void euclidean_distance(const float* d_a, const float* d_b, std::size_t count,
                        void* d_block_sums, double* d_distance);
void euclidean_distance(const double* d_a, const double* d_b, std::size_t count,
                        void* d_block_sums, double* d_distance);
void euclidean_distance(const int* d_a, const int* d_b, std::size_t count,
                        void* d_block_sums, double* d_distance);
