// The function that the grader calls.
#pragma once

#include <cstddef>

/// d_out[row][col] = (x - mean) / sqrt(variance + 1e-5) for each element x of d_in, with
/// the mean of its row and the mean of the squares of (x - mean). d_in and d_out are device
/// arrays of rows * cols floats, row after row without padding. With 0 rows or 0 columns it
/// does nothing.
void normalize(const float* d_in, size_t rows, size_t cols, float* d_out);
