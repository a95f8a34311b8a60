// The function that the grader calls.
#pragma once

#include <cstddef>

/// y = A x. Row r of the matrix begins r * pitch floats after the first element and has
/// `cols` columns, which may be fewer than `pitch`; the floats after them are not part of
/// the matrix. d_matrix, d_x (cols floats) and d_y (rows floats) are device arrays. With 0
/// columns every y is 0; with 0 rows it does nothing.
void multiply(const float* d_matrix, size_t pitch, int rows, int cols, const float* d_x,
              float* d_y);
