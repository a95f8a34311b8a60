// The function that the grader calls.
#pragma once

/// Turns an image by 90 degrees clockwise: d_rotated[col * rows + (rows - 1 - row)] =
/// d_image[row * cols + col] for all row < rows and col < cols. Both are device arrays of
/// rows * cols floats, row after row; the turned image has `cols` rows of `rows` pixels.
/// Without pixels it does nothing.
void rotate_image(const float* d_image, float* d_rotated, int rows, int cols);
