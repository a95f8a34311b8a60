#pragma once

#include "chapters/4_examples/matrix_multiply/step_01_row_per_block.cuh"

namespace examples {
namespace {

// Elements of a row of A that are in shared memory together.
constexpr unsigned kPiece = 1024;

// Step 2, the row of A in shared memory. All threads of the block read the same row of A,
// so the block copies it to shared memory first: one piece at a time, because a row may be
// longer than shared memory.
// Faster because a multiply-add takes one load from global memory instead of two. Still
// slow because the other load goes to global memory as before, and an element of A is one
// load per multiply-add, although from a nearer memory.
__global__ void product_row_in_shared(const float* a, const float* b, float* c, Extents x) {
    __shared__ float piece[kPiece];
    const std::size_t row = blockIdx.x;
    for (std::size_t first_col = 0; first_col < x.n; first_col += kRowThreads) {
        const std::size_t col = first_col + threadIdx.x;
        float sum = 0;
        for (std::size_t first = 0; first < x.k; first += kPiece) {
            const unsigned length =
                static_cast<unsigned>(min(std::size_t{kPiece}, x.k - first));
            for (unsigned p = threadIdx.x; p < length; p += kRowThreads)
                piece[p] = a[row * x.k + first + p];
            __syncthreads();
            if (col < x.n) {
                for (unsigned p = 0; p < length; ++p)
                    sum += piece[p] * b[(first + p) * x.n + col];
            }
            __syncthreads();  // all threads have read this piece: the next one may
                              // overwrite it
        }
        if (col < x.n) c[row * x.n + col] = sum;
    }
}

}  // namespace
}  // namespace examples
