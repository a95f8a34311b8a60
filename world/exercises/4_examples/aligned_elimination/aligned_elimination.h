// The functions that the grader calls.
#pragma once

#include <cstddef>

/// Floats from the beginning of a row to that of the next, for rows of `cols` floats: at
/// least `cols`, and at most 32 more.
size_t floats_from_row_to_row(int cols);

/// A step of Gauss-Jordan elimination: subtracts from every row but row `column` the
/// multiple of row `column` that would make its element in this column zero, for all
/// columns to the right of it:
///     a[row][col] -= a[row][column] / a[column][column] * a[column][col]    for col >
///     column
/// The column itself, and all columns to the left of it, stay as they are. d_a is a device
/// array of rows * pitch floats, with the pitch of floats_from_row_to_row(cols), and begins
/// at a multiple of 256 bytes. The floats after the columns of a row are not part of the
/// matrix, and stay as they are. 0 <= column < rows <= 500,000, column < cols <= 2,100,000.
void eliminate(float* d_a, size_t pitch, int rows, int cols, int column);
