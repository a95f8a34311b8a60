// The function that the grader calls.
#pragma once

/// Weights in a row and in a column of the filter; it reaches `radius` pixels to each side.
constexpr int radius = 4, taps = 2 * radius + 1;

/// Filters an image of `rows` x `cols` floats, row after row without padding. out(r, c) is
/// the sum over i and j, from 0 to taps - 1, of down[i] * across[j] *
/// in(r + i - radius, c + j - radius). A row before the first one is the first row, one
/// past the last is the last row, and the same holds for columns. `d_in` and `d_out` are
/// device arrays, `down` and `across` are arrays of the host. Without pixels nothing
/// happens.
void filter_separable(const float* d_in, float* d_out, int rows, int cols,
                      const float* down, const float* across);
