// The functions that the grader calls.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// A matrix of floats in device memory. Row r begins r * pitch bytes after `first`. Its
/// elements lie side by side, and the bytes after them, up to the next row, are padding,
/// which is not to be touched.
struct PitchedMatrix {
    float* first = nullptr;
    std::size_t pitch = 0;  ///< in bytes, at least cols * sizeof(float)
    int rows = 0;
    int cols = 0;
};

/// Allocates memory for matrix.rows x matrix.cols floats, at least one, with rows that
/// begin at multiples of 32 bytes, and sets `first` and `pitch`. The caller frees `first`.
/// Returns an error if there is not enough memory.
cudaError_t allocate(PitchedMatrix& matrix);

/// Copies a matrix from the host, where its rows have no padding. Leaves the padding alone.
/// Done when it returns.
cudaError_t copy_in(PitchedMatrix matrix, const float* tight);

/// Copies a matrix to the host, where its rows have no padding. Done when it returns.
cudaError_t copy_out(float* tight, PitchedMatrix matrix);

/// Adds to every element the number of its row. Leaves the padding alone.
void add_row_numbers(PitchedMatrix matrix);
