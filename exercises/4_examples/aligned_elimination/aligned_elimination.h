// The functions that the grader calls.
#pragma once

#include <cstddef>

/// Floats from the beginning of a row to that of the next, for rows of `cols` floats: at least `cols`, and at most 32
/// more.
size_t floats_from_row_to_row(int cols);

/// A step of Gauss-Jordan elimination: subtracts from every row but row `column` the multiple of row `column` that
/// would make its element in this column zero, for all columns behind it:
///     a[row][col] -= a[row][column] / a[column][column] * a[column][col]    for col > column
/// The column itself, and all that is left of it, stay as they are. d_a is a device array of rows * pitch floats, with
/// the pitch of floats_from_row_to_row(cols), and begins at a multiple of 256 bytes. What is behind the columns of a
/// row belongs to nobody. 0 <= column < rows, column < cols.
void eliminate(float* d_a, size_t pitch, int rows, int cols, int column);
