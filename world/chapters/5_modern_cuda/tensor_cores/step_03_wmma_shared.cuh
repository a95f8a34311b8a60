#pragma once

#include "chapters/5_modern_cuda/tensor_cores/step_01_wmma_global.cuh"
#include "chapters/5_modern_cuda/tensor_cores/tiles.cuh"

namespace modern_cuda {
namespace {

// A row of a slice in shared memory, with 16 bytes added. Without them, the rows of a
// fragment would begin at the same bank.
constexpr unsigned kPaddedRow = kSliceBytes + kChunk;
constexpr unsigned kPaddedSlice = (BM + BN) * kPaddedRow;

// Copies a slice of an operand: all threads of the block, 16 bytes at a time.
template <unsigned rows>
__device__ void copy_padded(unsigned char* to, const Operand& from, std::size_t first_row,
                            std::size_t first_byte) {
    constexpr unsigned chunks = kSliceBytes / kChunk;
    const unsigned chunk = threadIdx.x % chunks;
#pragma unroll
    for (unsigned i = 0; i < rows; i += kTileThreads / chunks) {
        const unsigned row = threadIdx.x / chunks + i;
        *reinterpret_cast<uint4*>(to + row * kPaddedRow + chunk * kChunk) =
            chunk_of(from, first_row + row, first_byte + chunk * kChunk);
    }
}

// Step 3: tiles in shared memory, as in the matrix product of floats. A block of eight
// warps computes 128 x 256 elements of C, and a warp 64 x 64 of them, in 4 x 4 fragments.
// Faster because each byte of a slice serves 128 rows or 256 columns, and each fragment
// serves four multiplications. Still slow because the rows of shared memory carry padding,
// wmma loads fragments with several instructions each, and nobody multiplies while a slice
// is copied.
template <class Format>
__global__ void __launch_bounds__(kTileThreads)
    wmma_shared(Operand a, Operand b, Result<float> c) {
    extern __shared__ __align__(128) unsigned char shared_memory[];
    unsigned char* const slice_of_a = shared_memory;
    unsigned char* const slice_of_b = shared_memory + BM * kPaddedRow;
    const TilePlace tile =
        place_of(blockIdx.x, tiles_of(c.rows, BM), tiles_of(c.cols, BN),  //
                 kBandRows / BM);
    const std::size_t first_row = std::size_t{tile.row} * BM,
                      first_col = std::size_t{tile.col} * BN;
    const unsigned warp = threadIdx.x / 32;
    const unsigned warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;

    using Element = typename Format::Element;
    constexpr unsigned leading = kPaddedRow / sizeof(Element);
    FragmentOfC<Format> sums[WM / kFragment][WN / kFragment];
#pragma unroll
    for (auto& row_of_sums : sums) {
#pragma unroll
        for (auto& part : row_of_sums) wmma::fill_fragment(part, 0.0f);
    }
    for (std::size_t byte = 0; byte < a.row_bytes; byte += kSliceBytes) {
        __syncthreads();  // all have multiplied the slice before
        copy_padded<BM>(slice_of_a, a, first_row, byte);
        copy_padded<BN>(slice_of_b, b, first_col, byte);
        __syncthreads();  // the slice is here for all
#pragma unroll
        for (unsigned step = 0; step < kSliceBytes; step += kStepBytes) {
            FragmentOfA<Format> a_parts[WM / kFragment];
#pragma unroll
            for (unsigned i = 0; i < WM / kFragment; ++i)
                wmma::load_matrix_sync(
                    a_parts[i],
                    reinterpret_cast<const Element*>(
                        slice_of_a + (warp_row + i * kFragment) * kPaddedRow + step),
                    leading);
#pragma unroll
            for (unsigned j = 0; j < WN / kFragment; ++j) {
                FragmentOfB<Format> b_part;
                wmma::load_matrix_sync(
                    b_part,
                    reinterpret_cast<const Element*>(
                        slice_of_b + (warp_col + j * kFragment) * kPaddedRow + step),
                    leading);
#pragma unroll
                for (unsigned i = 0; i < WM / kFragment; ++i)
                    wmma::mma_sync(sums[i][j], a_parts[i], b_part, sums[i][j]);
            }
        }
    }
    __syncthreads();  // shared memory is free: 1 KiB for each warp
    float* const staging =
        reinterpret_cast<float*>(shared_memory) + warp * kFragment * kFragment;
#pragma unroll
    for (unsigned i = 0; i < WM / kFragment; ++i) {
#pragma unroll
        for (unsigned j = 0; j < WN / kFragment; ++j)
            store_fragment(c, first_row + warp_row + i * kFragment,
                           first_col + warp_col + j * kFragment, sums[i][j], staging);
    }
}

}  // namespace
}  // namespace modern_cuda
