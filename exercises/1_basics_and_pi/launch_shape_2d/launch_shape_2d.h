// The functions that the grader calls.
#pragma once

#include <cuda_runtime.h>

/// The smallest grid of blocks of shape `block` that covers a matrix of `rows` x `cols` elements: x runs along the
/// rows, from column to column, y from row to row. `rows` and `cols` are at least 1.
dim3 grid_for(unsigned rows, unsigned cols, dim3 block);

/// Fills the device matrix with the multiplication table: d_table[row * cols + col] = (row + 1) * (col + 1).
void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block);
