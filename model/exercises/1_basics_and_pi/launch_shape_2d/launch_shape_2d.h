// The functions that the grader calls.
#pragma once

#include <cuda_runtime.h>

/// The smallest grid of blocks of shape `block` that covers a matrix of `rows` x `cols`
/// elements: x runs along the rows, from column to column, y from row to row. `rows` and
/// `cols` are at least 1, `cols` is less than 2^25, and `rows` is at most 65,535 * block.y,
/// because a grid has at most 65,535 blocks in y.
dim3 grid_for(unsigned rows, unsigned cols, dim3 block);

/// Fills the device matrix with the multiplication table: d_table[row * cols + col] = (row
/// + 1) * (col + 1). Launches one kernel with blocks of shape `block` and the grid that
/// `grid_for` returns.
void fill_multiplication_table(int* d_table, unsigned rows, unsigned cols, dim3 block);
