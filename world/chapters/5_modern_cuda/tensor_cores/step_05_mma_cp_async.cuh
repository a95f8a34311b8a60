#pragma once

#include "chapters/5_modern_cuda/tensor_cores/async_copies.cuh"
#include "chapters/5_modern_cuda/tensor_cores/step_04_mma_ldmatrix.cuh"
#include "chapters/5_modern_cuda/tensor_cores/tiles.cuh"

namespace modern_cuda {
namespace {

template <unsigned rows>
__device__ void copy_slice_async(unsigned to, const Operand& from, std::size_t first_row,
                                 std::size_t first_byte) {
    constexpr unsigned chunks = kSliceBytes / kChunk;
    const unsigned chunk = threadIdx.x % chunks;
    const std::size_t byte = first_byte + chunk * kChunk;
#pragma unroll
    for (unsigned i = 0; i < rows; i += kTileThreads / chunks) {
        const unsigned row = threadIdx.x / chunks + i;
        const bool inside = first_row + row < from.rows && byte < from.row_bytes;
        copy_chunk(to + swizzled(row, chunk),
                   from.data + (inside ? (first_row + row) * from.row_bytes + byte : 0),
                   inside);
    }
}

// Step 5: a ring of slots. cp.async copies the next slices while the warps multiply this
// one, and one barrier per slice is enough.
// Faster because the copies are in flight while the tensor cores work. Still slow because
// all words pass through registers. Addresses, copies, fragments, and barriers take the
// warps longer than the multiplications take the tensor cores.
template <class Format, unsigned slots>
__global__ void __launch_bounds__(kTileThreads)
    mma_cp_async(Operand a, Operand b, Result<typename Format::Sum> c) {
    extern __shared__ __align__(128) unsigned char shared_memory[];
    const unsigned ring = shared_address(shared_memory);
    const TilePlace tile =
        place_of(blockIdx.x, tiles_of(c.rows, BM), tiles_of(c.cols, BN),  //
                 kBandRows / BM);
    const std::size_t first_row = std::size_t{tile.row} * BM,
                      first_col = std::size_t{tile.col} * BN;
    const WarpPlace place = warp_place();
    const std::size_t slices = parts_of(a.row_bytes, kSliceBytes);
    const auto fetch = [&](std::size_t slice) {
        const unsigned slot = ring + static_cast<unsigned>(slice % slots) * kSlot;
        if (slice < slices) {
            copy_slice_async<BM>(slot, a, first_row, slice * kSliceBytes);
            copy_slice_async<BN>(slot + kSlotOfA, b, first_col, slice * kSliceBytes);
        }
        close_copies();  // an empty group, too: so that groups can be counted
    };

    typename Format::Sum sums[WM / 16][WN / 8][4] = {};
    for (unsigned slice = 0; slice + 1 < slots; ++slice) fetch(slice);
    for (std::size_t slice = 0; slice < slices; ++slice) {
        wait_for_copies<slots - 2>();
        __syncthreads();  // slice is here for all; all are done with the slot that the next
                          // fetch writes to
        fetch(slice + slots - 1);
        const unsigned slot = ring + static_cast<unsigned>(slice % slots) * kSlot;
        multiply_fragments<Format>(sums, slot, slot + kSlotOfA, place);
    }
    store_sums(c, sums, first_row + place.row, first_col + place.col);
}

}  // namespace
}  // namespace modern_cuda
