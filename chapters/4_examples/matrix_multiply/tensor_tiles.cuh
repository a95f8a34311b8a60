// What steps 2 to 4 on tensor cores share: the tile of a block, the slices of its operands
// in shared memory, and the order of the tiles.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/4_examples/matrix_multiply/tensor_operands.cuh"

namespace examples {
namespace {

// A block computes BM x BN = 128 x 256 elements of C. At a time it takes 128 bytes (64
// bf16, 32 TF32) of each row of its operands. These form a slice: 16 KB of A and 32 KB of
// B. Several slices are in shared memory, in a ring of slots.
constexpr unsigned BM = 128, BN = 256;
constexpr unsigned kSliceBytes = 128;  // of a row
constexpr unsigned kStepBytes = 32;    // of a row, in one instruction
constexpr unsigned kSlotOfA = BM * kSliceBytes, kSlotOfB = BN * kSliceBytes;
constexpr unsigned kSlot = kSlotOfA + kSlotOfB;

// Where chunk i of row r of a slice is: at place i ^ (r % 8). A row has 128 bytes, so each
// row begins at bank 0. Thanks to the swizzle the same chunk of eight rows is at eight
// different places, without bank conflicts. The tensor memory accelerator can do the same
// by itself (128-byte swizzle); in step 2 the threads do it.
__device__ unsigned swizzled(unsigned row, unsigned chunk) {
    return row * kSliceBytes + (chunk ^ row % 8) * kChunk;
}

// The order of the tiles: a band of `band` tile rows from left to right, column by column,
// then the next band. Tiles that are computed at the same time lie in a square rather than
// in a row, and share more of A and B in the L2 cache.
struct TilePlace {
    unsigned row, col;
};

__device__ TilePlace place_of(unsigned tile, unsigned tile_rows, unsigned tile_cols,
                              unsigned band) {
    const unsigned first_row = tile / (band * tile_cols) * band;
    const unsigned height = min(band, tile_rows - first_row);
    const unsigned within = tile % (band * tile_cols);
    return {first_row + within % height, within / height};
}

// Rows of C in a band: about as many as make a square of what the 132 SMs of an H200
// compute at a time.
constexpr unsigned kBandRows = 2048;

__host__ __device__ constexpr unsigned tiles_of(std::size_t extent, unsigned tile) {
    return static_cast<unsigned>(parts_of(extent, tile));
}

}  // namespace
}  // namespace examples
