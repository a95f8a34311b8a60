// What the steps with tiles share: the tile of a block, the slices of its operands in
// shared memory, and the order of the tiles.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/5_modern_cuda/tensor_cores/operands.cuh"

namespace modern_cuda {
namespace {

// A block computes BM x BN = 128 x 256 elements of C. At a time it takes 128 bytes (64
// FP16, 32 TF32, 128 FP8) of each row of its operands. These form a slice: 16 KiB of A and
// 32 KiB of B. Where several slices are in shared memory, they are in a ring of slots.
constexpr unsigned BM = 128, BN = 256;
constexpr unsigned kSliceBytes = 128;  // of a row
constexpr unsigned kStepBytes = 32;    // of a row, in one instruction
constexpr unsigned kSlotOfA = BM * kSliceBytes, kSlotOfB = BN * kSliceBytes;
constexpr unsigned kSlot = kSlotOfA + kSlotOfB;

// Steps 3 to 5: eight warps, each of which computes 64 x 64 elements of the tile.
constexpr unsigned kTileThreads = 256;
constexpr unsigned WM = 64, WN = 64;

// Where chunk i of row r of a slice is: at place i ^ (r % 8). A row has 128 bytes, so each
// row begins at bank 0. Thanks to the swizzle the same chunk of eight rows is at eight
// different places, without bank conflicts. The tensor memory accelerator can do the same
// by itself (128-byte swizzle); in steps 4 and 5 the threads do it.
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

// Loads 16 bytes of a row. Outside of the matrix they are 0.
__device__ uint4 chunk_of(const Operand& operand, std::size_t row, std::size_t byte) {
    if (row >= operand.rows || byte >= operand.row_bytes) return make_uint4(0, 0, 0, 0);
    return *reinterpret_cast<const uint4*>(operand.data + row * operand.row_bytes + byte);
}

}  // namespace
}  // namespace modern_cuda
