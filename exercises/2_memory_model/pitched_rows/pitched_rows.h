// The functions that the grader calls.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// A matrix of floats in device memory. Row r begins r * pitch bytes behind `first`; its elements lie side by side, and
/// what is left of the pitch behind them is padding that belongs to nobody.
struct PitchedMatrix {
    float* first = nullptr;
    std::size_t pitch = 0;  ///< in bytes, at least cols * sizeof(float)
    int rows = 0;
    int cols = 0;
};

/// Allocates memory for matrix.rows x matrix.cols floats, at least one, such that rows begin where a request likes to
/// begin, and sets `first` and `pitch`. Whoever calls frees `first`.
cudaError_t allocate(PitchedMatrix& matrix);

/// Copies a matrix from the host, where its rows lie right behind each other. Leaves the padding alone.
cudaError_t copy_in(PitchedMatrix matrix, const float* tight);

/// Copies a matrix to the host, where its rows lie right behind each other. Leaves the padding behind.
cudaError_t copy_out(float* tight, PitchedMatrix matrix);

/// Adds to every element the number of its row. Leaves the padding alone.
void add_row_numbers(PitchedMatrix matrix);
