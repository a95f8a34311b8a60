// The function that the grader calls.
#pragma once

/// The largest radius that a filter has here.
constexpr int largest_radius = 12;

/// Filters an image of `rows` x `cols` floats, row after row without padding. With
/// side = 2 radius + 1, out(r, c) is the sum over i and j, from 0 to side - 1, of
/// weights[i * side + j] * in(r + i - radius, c + j - radius). A row before the first one
/// is the first row, one past the last is the last row, and the same holds for columns.
/// `d_in` and `d_out` are device arrays, `weights` is an array of the host. There is one
/// launch, with blocks of 32 x 8 threads. Without pixels nothing happens.
void filter_image(const float* d_in, float* d_out, int rows, int cols, const float* weights,
                  int radius);
