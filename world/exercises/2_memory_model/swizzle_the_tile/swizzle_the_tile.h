// The function that the grader calls.
#pragma once

#include <cuda_runtime.h>  // for float2

constexpr int side = 32;  // of a tile, in numbers

/// The adjoint of a matrix of complex numbers: transposed, and each number conjugated.
/// d_adjoint[col * rows + row] is the conjugate of d_matrix[row * cols + col], for all
/// row < rows and col < cols. A float2 is a complex number: x is its real part, y its
/// imaginary part. Both matrices are in device memory. Without numbers it does nothing.
void make_adjoint(const float2* d_matrix, float2* d_adjoint, int rows, int cols);
