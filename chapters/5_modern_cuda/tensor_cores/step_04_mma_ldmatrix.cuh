#pragma once

#include "chapters/5_modern_cuda/tensor_cores/instructions.cuh"
#include "chapters/5_modern_cuda/tensor_cores/tiles.cuh"
#include "common/helpers/tensor_core.cuh"

namespace modern_cuda {
namespace {

using warpwise::shared_address;

// Copies a slice of an operand, swizzled: all threads of the block, 16 bytes at a time.
template <unsigned rows>
__device__ void copy_swizzled(unsigned char* to, const Operand& from, std::size_t first_row,
                              std::size_t first_byte) {
    constexpr unsigned chunks = kSliceBytes / kChunk;
    const unsigned chunk = threadIdx.x % chunks;
#pragma unroll
    for (unsigned i = 0; i < rows; i += kTileThreads / chunks) {
        const unsigned row = threadIdx.x / chunks + i;
        *reinterpret_cast<uint4*>(to + swizzled(row, chunk)) =
            chunk_of(from, first_row + row, first_byte + chunk * kChunk);
    }
}

// Where a warp is in the tile of its block, and the rows that this lane names to ldmatrix.
// Matrices of A: rows 0-7 and 8-15 of the first chunk, then of the second. Of B: first and
// second chunk of columns 0-7, then of columns 8-15.
struct WarpPlace {
    unsigned row, col;  // of the warp
    unsigned a_row, a_chunk, b_row, b_chunk;
};

__device__ WarpPlace warp_place() {
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;
    return {row,
            col,  //
            row + lane % 16,
            lane / 16,
            col + lane % 8 + lane / 16 * 8,
            lane / 8 % 2};
}

// Adds the products of one slice to the 64 x 64 sums of a warp.
template <class Format, class Sum>
__device__ void multiply_fragments(Sum (&sums)[WM / 16][WN / 8][4], unsigned slice_of_a,
                                   unsigned slice_of_b, const WarpPlace& place) {
#pragma unroll
    for (unsigned step = 0; step < kSliceBytes / kStepBytes; ++step) {
        unsigned a_fragments[WM / 16][4], b_fragments[WN / 16][4];
#pragma unroll
        for (unsigned i = 0; i < WM / 16; ++i)
            warpwise::ldmatrix(
                a_fragments[i],
                slice_of_a + swizzled(place.a_row + 16 * i, 2 * step + place.a_chunk));
#pragma unroll
        for (unsigned j = 0; j < WN / 16; ++j)
            warpwise::ldmatrix(
                b_fragments[j],
                slice_of_b + swizzled(place.b_row + 16 * j, 2 * step + place.b_chunk));
#pragma unroll
        for (unsigned i = 0; i < WM / 16; ++i) {
#pragma unroll
            for (unsigned j = 0; j < WN / 8; ++j) {
                const unsigned* const pair = &b_fragments[j / 2][j % 2 * 2];
                mma<Format>(sums[i][j], a_fragments[i], {pair[0], pair[1]});
            }
        }
    }
}

// Stores the sums of a warp: two neighbors of a row at a time.
template <class Sum>
__device__ void store_sums(const Result<Sum>& c, const Sum (&sums)[WM / 16][WN / 8][4],
                           std::size_t first_row, std::size_t first_col) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (unsigned j = 0; j < WN / 8; ++j) {
            const std::size_t row = first_row + 16 * i + lane / 4;
            const std::size_t col = first_col + 8 * j + lane % 4 * 2;
            store_pair(c, row, col, sums[i][j][0], sums[i][j][1]);
            store_pair(c, row + 8, col, sums[i][j][2], sums[i][j][3]);
        }
    }
}

// Step 4: the same tiles with mma.sync, whose fragments ldmatrix loads from shared memory.
// For ldmatrix, a fragment consists of matrices of 8 rows of 16 bytes. A lane names the
// address of one row, and gets words of other lanes' rows, as mma.sync wants them. Four
// matrices come with one instruction. Their rows may be anywhere in shared memory, so they
// are swizzled instead of padded.
// Better because a warp takes 4 + 4 loads for 32 instructions of mma.sync. An H200 is
// faster by it with bf16 and TF32, but not with FP16. Still slow because nobody multiplies
// while a slice is copied.
template <class Format>
__global__ void __launch_bounds__(kTileThreads)
    mma_ldmatrix(Operand a, Operand b, Result<typename Format::Sum> c) {
    extern __shared__ __align__(128) unsigned char shared_memory[];
    const TilePlace tile =
        place_of(blockIdx.x, tiles_of(c.rows, BM), tiles_of(c.cols, BN),  //
                 kBandRows / BM);
    const std::size_t first_row = std::size_t{tile.row} * BM,
                      first_col = std::size_t{tile.col} * BN;
    const WarpPlace place = warp_place();
    const unsigned slice = shared_address(shared_memory);
    typename Format::Sum sums[WM / 16][WN / 8][4] = {};
    for (std::size_t byte = 0; byte < a.row_bytes; byte += kSliceBytes) {
        __syncthreads();  // all have multiplied the slice before
        copy_swizzled<BM>(shared_memory, a, first_row, byte);
        copy_swizzled<BN>(shared_memory + kSlotOfA, b, first_col, byte);
        __syncthreads();  // the slice is here for all
        multiply_fragments<Format>(sums, slice, slice + kSlotOfA, place);
    }
    store_sums(c, sums, first_row + place.row, first_col + place.col);
}

}  // namespace
}  // namespace modern_cuda
