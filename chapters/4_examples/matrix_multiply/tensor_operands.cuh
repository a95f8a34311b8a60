// What all steps on tensor cores share: the matrices as rows of bytes, the kernel that pads
// the rows of those that need it, and how C is stored.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace examples {
namespace {

// Bytes of the smallest copy that cp.async (as used here) and the tensor memory accelerator
// make.
constexpr unsigned kChunk = 16;

// A, or B transposed: rows of whole chunks that begin at multiples of 16 bytes. Elements
// beyond column k are 0.
struct Operand {
    const unsigned char* data;
    std::size_t rows, row_bytes;
};

struct Result {
    float* data;
    std::size_t rows, cols;
};

// Copies a matrix so that its rows consist of whole chunks: only for matrices whose k is
// not a multiple of 4 floats or 8 bf16.
template <class Element>
__global__ void pad_rows(const Element* in, Element* out, std::size_t rows,
                         std::size_t cols, std::size_t pitch) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
         i < rows * pitch; i += stride) {
        const std::size_t row = i / pitch, col = i % pitch;
        out[i] = col < cols ? in[row * cols + col] : static_cast<Element>(0.0f);
    }
}

// How many parts an extent is cut into. The last part may be shorter.
__host__ __device__ constexpr std::size_t parts_of(std::size_t extent, std::size_t part) {
    return (extent + part - 1) / part;
}

// Stores two neighbors of a row, the first in an even column. Elements outside of C are
// dropped.
__device__ void store_pair(const Result& c, std::size_t row, std::size_t col, float first,
                           float second) {
    if (row >= c.rows || col >= c.cols) return;
    float* const place = c.data + row * c.cols + col;
    if (c.cols % 2 == 0) {
        *reinterpret_cast<float2*>(place) = {first, second};
    } else {
        place[0] = first;
        if (col + 1 < c.cols) place[1] = second;
    }
}

}  // namespace
}  // namespace examples
