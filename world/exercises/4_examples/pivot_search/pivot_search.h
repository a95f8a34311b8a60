// The function that the grader calls.
#pragma once

#include <cstddef>

/// Finds the pivot of a column: among the rows `column` to rows - 1, the one whose element
/// in this column has the largest magnitude, and of equal magnitudes the lowest row. NaN
/// counts as larger than any number, infinity included, so that it comes to light and is
/// not passed over; of several NaN the lowest row is the pivot. Row r of the matrix begins
/// r * pitch floats after its first element; 0 <= column < rows, column < pitch. The number
/// of the row goes to d_pivot_row[0], whatever that held before. Both are device arrays.
void find_pivot(const float* d_matrix, size_t pitch, int rows, int column,
                int* d_pivot_row);
