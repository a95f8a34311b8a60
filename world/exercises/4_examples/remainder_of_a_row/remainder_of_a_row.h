// The function that the grader calls.
#pragma once

/// y = A x for a matrix of which only the elements that are not 0 are stored: element k is
/// d_values[k], in column d_cols[k], and the elements of row r are d_first[r] to
/// d_first[r + 1] - 1. A row may have none. d_first has rows + 1 entries, d_y one for each
/// row, and d_x one for each column; all are device arrays. With 0 rows it does nothing.
void multiply(const int* d_first, const int* d_cols, const float* d_values, int rows,
              const float* d_x, float* d_y);
