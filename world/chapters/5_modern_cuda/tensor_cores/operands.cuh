// What all steps share: the matrices as rows of bytes, the kernel that pads the rows of
// those that need it, and how C is stored.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace modern_cuda {
namespace {

// Bytes of the smallest copy that cp.async (as used here) and the tensor memory accelerator
// make.
constexpr unsigned kChunk = 16;

// A, or B transposed: rows of whole chunks that begin at multiples of 16 bytes. Elements
// past column k are 0.
struct Operand {
    const unsigned char* data;
    std::size_t rows, row_bytes;
};

template <class Sum>
struct Result {
    Sum* data;
    std::size_t rows, cols;
};

// Copies a matrix to a place where it has `pitch` elements per row and `out_rows` rows. The
// added ones are 0. Only for matrices whose rows are not whole chunks, or whole tiles.
template <class Word>
__global__ void pad_rows(const Word* in, Word* out, std::size_t rows, std::size_t cols,
                         std::size_t out_rows, std::size_t pitch) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
         i < out_rows * pitch; i += stride) {
        const std::size_t row = i / pitch, col = i % pitch;
        out[i] = row < rows && col < cols ? in[row * cols + col] : Word{0};
    }
}

// How many parts an extent is cut into. The last part may be shorter.
__host__ __device__ constexpr std::size_t parts_of(std::size_t extent, std::size_t part) {
    return (extent + part - 1) / part;
}

// Stores two neighbors of a row, the first in an even column. Elements outside of C are
// dropped.
template <class Sum>
__device__ void store_pair(const Result<Sum>& c, std::size_t row, std::size_t col,
                           Sum first, Sum second) {
    struct alignas(2 * sizeof(Sum)) Pair {
        Sum first, second;
    };
    if (row >= c.rows || col >= c.cols) return;
    Sum* const place = c.data + row * c.cols + col;
    if (c.cols % 2 == 0) {
        *reinterpret_cast<Pair*>(place) = {first, second};
    } else {
        place[0] = first;
        if (col + 1 < c.cols) place[1] = second;
    }
}

}  // namespace
}  // namespace modern_cuda
