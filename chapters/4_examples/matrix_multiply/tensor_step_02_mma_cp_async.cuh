#pragma once

#include "chapters/4_examples/matrix_multiply/tensor_instructions.cuh"
#include "chapters/4_examples/matrix_multiply/tensor_memory_access.cuh"
#include "chapters/4_examples/matrix_multiply/tensor_tiles.cuh"

namespace examples {
namespace {

constexpr unsigned kMmaThreads = 256;
constexpr unsigned WM = 64, WN = 64;

template <unsigned rows>
__device__ void copy_slice(unsigned to, const Operand& from, std::size_t first_row,
                           std::size_t first_byte) {
    constexpr unsigned chunks = kSliceBytes / kChunk;
    const unsigned chunk = threadIdx.x % chunks;
    const std::size_t byte = first_byte + chunk * kChunk;
#pragma unroll
    for (unsigned i = 0; i < rows; i += kMmaThreads / chunks) {
        const unsigned row = threadIdx.x / chunks + i;
        const bool inside = first_row + row < from.rows && byte < from.row_bytes;
        copy_chunk(to + swizzled(row, chunk),
                   from.data + (inside ? (first_row + row) * from.row_bytes + byte : 0),
                   inside);
    }
}

// Step 2 on tensor cores: tiles in shared memory, as in the table of floats. cp.async
// copies the next slices while the warps multiply this one. Each of eight warps computes
// 64 x 64 elements of the tile. `ldmatrix` loads fragments from shared memory: a lane gives
// the address of 16 bytes of one row, and receives words of other lanes' rows.
// Faster because each byte of a slice serves 128 rows or 256 columns. Of 32 bytes per row,
// a warp loads 4 fragments of A and 8 of B, and they serve 32 instructions. Still slow
// because all words pass through registers. Addresses, copies, fragments, and barriers take
// the warps longer than the multiplications take the tensor cores. On an H200 this step
// reaches about a third of the peak.
template <Precision precision, unsigned slots>
__global__ void __launch_bounds__(kMmaThreads)
    mma_cp_async(Operand a, Operand b, Result c) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const unsigned ring = shared_address(shared_memory);
    const TilePlace tile =
        place_of(blockIdx.x, tiles_of(c.rows, BM), tiles_of(c.cols, BN),  //
                 kBandRows / BM);
    const std::size_t first_row = std::size_t{tile.row} * BM,
                      first_col = std::size_t{tile.col} * BN;
    const std::size_t slices = parts_of(a.row_bytes, kSliceBytes);
    const auto fetch = [&](std::size_t slice) {
        const unsigned slot = ring + static_cast<unsigned>(slice % slots) * kSlot;
        if (slice < slices) {
            copy_slice<BM>(slot, a, first_row, slice * kSliceBytes);
            copy_slice<BN>(slot + kSlotOfA, b, first_col, slice * kSliceBytes);
        }
        close_copies();  // an empty group, too: so that groups can be counted
    };

    constexpr unsigned warps_across = BN / WN;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned warp_row = warp / warps_across * WM, warp_col = warp % warps_across * WN;
    // The row that this lane names to ldmatrix. Matrices of A: rows 0-7 and 8-15 of the
    // first chunk, then of the second; of B: first and second chunk of columns 0-7, then of
    // columns 8-15.
    const unsigned a_row = warp_row + lane % 16, a_chunk = lane / 16;
    const unsigned b_row = warp_col + lane % 8 + lane / 16 * 8, b_chunk = lane / 8 % 2;

    float sums[WM / 16][WN / 8][4] = {};
    for (unsigned slice = 0; slice + 1 < slots; ++slice) fetch(slice);
    for (std::size_t slice = 0; slice < slices; ++slice) {
        wait_for_copies<slots - 2>();
        __syncthreads();  // slice is here for all; all are done with the slot that the next
                          // fetch writes to
        fetch(slice + slots - 1);
        const unsigned slot_of_a = ring + static_cast<unsigned>(slice % slots) * kSlot;
        const unsigned slot_of_b = slot_of_a + kSlotOfA;
#pragma unroll
        for (unsigned step = 0; step < kSliceBytes / kStepBytes; ++step) {
            unsigned a_fragments[WM / 16][4], b_fragments[WN / 16][4];
#pragma unroll
            for (unsigned i = 0; i < WM / 16; ++i)
                load_matrices(a_fragments[i],
                              slot_of_a + swizzled(a_row + 16 * i, 2 * step + a_chunk));
#pragma unroll
            for (unsigned j = 0; j < WN / 16; ++j)
                load_matrices(b_fragments[j],
                              slot_of_b + swizzled(b_row + 16 * j, 2 * step + b_chunk));
#pragma unroll
            for (unsigned i = 0; i < WM / 16; ++i) {
#pragma unroll
                for (unsigned j = 0; j < WN / 8; ++j) {
                    const unsigned* const pair = &b_fragments[j / 2][j % 2 * 2];
                    mma<precision>(sums[i][j], a_fragments[i], {pair[0], pair[1]});
                }
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (unsigned j = 0; j < WN / 8; ++j) {
            const std::size_t row = first_row + warp_row + 16 * i + lane / 4;
            const std::size_t col = first_col + warp_col + 8 * j + lane % 4 * 2;
            store_pair(c, row, col, sums[i][j][0], sums[i][j][1]);
            store_pair(c, row + 8, col, sums[i][j][2], sums[i][j][3]);
        }
    }
}

}  // namespace
}  // namespace examples
