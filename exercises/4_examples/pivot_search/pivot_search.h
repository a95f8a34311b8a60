// The function that the grader calls.
#pragma once

#include <cstddef>

/// Finds the pivot of a column: among the rows `column` to rows - 1, the one whose element in this column has the
/// largest magnitude, and of equal magnitudes the lowest row. NaN counts as larger than any number, so that it comes
/// to light and is not passed over. Row r of the matrix begins r * pitch floats behind the first one; 0 <= column <
/// rows. The number of the row goes to d_pivot_row[0].
void find_pivot(const float* d_matrix, size_t pitch, int rows, int column, int* d_pivot_row);
