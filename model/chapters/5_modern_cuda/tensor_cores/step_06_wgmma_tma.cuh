#pragma once

#include "chapters/5_modern_cuda/tensor_cores/memory_access.cuh"
#include "chapters/5_modern_cuda/tensor_cores/tiles.cuh"
#include "chapters/5_modern_cuda/tensor_cores/warpgroups.cuh"

namespace modern_cuda {
namespace {

// Step 6: wgmma and the tensor memory accelerator (TMA), which Hopper has.
// wgmma reads both operands from shared memory, is asynchronous, and computes 64 x 256 sums
// at a time. One thread starts the loads by TMA, which needs no addresses of chunks, no
// guards, and no swizzling of ours. There is no __syncthreads in the loop. Instead, each
// slot has two barriers:
//   - full[slot]: its phase ends when the bytes of a slice have come. The eight warps that
//     multiply wait for it.
//   - empty[slot]: its phase ends when these eight warps have read the slice. The thread
//     that loads waits for it.
// setmaxnreg takes registers from the warpgroup that loads and gives them to the two that
// keep 128 sums per thread: from 168 per thread at the launch to 40 and 232.
// Faster because the operands do not pass through registers, four warps share what is read
// of B, and only one thread spends instructions on copies. Still slow because at the end of
// a tile the tensor cores wait while C is stored, and again while the next block on this SM
// initializes its barriers and waits for its first slice. The L2 cache delivers 48 KB per
// slice.
template <class Format>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
    wgmma_tma(const __grid_constant__ CUtensorMap map_of_a,
              const __grid_constant__ CUtensorMap map_of_b, Result<typename Format::Sum> c,
              unsigned slices, int slice_elements) {
#if WARPWISE_SM_90A
    extern __shared__ __align__(128) unsigned char shared_memory[];
    __shared__ std::uint64_t barriers[2][kSlots];
    const unsigned ring =
        (shared_address(shared_memory) + kAlignment - 1) / kAlignment * kAlignment;
    const auto full = [&](unsigned slot) { return shared_address(&barriers[0][slot]); };
    const auto empty = [&](unsigned slot) { return shared_address(&barriers[1][slot]); };
    if (threadIdx.x == 0) {
        for (unsigned slot = 0; slot < kSlots; ++slot) {
            barrier_init(full(slot), 1);
            barrier_init(empty(slot), kMultiplyingWarps);
        }
        barriers_are_initialized();
    }
    __syncthreads();

    const TilePlace tile =
        place_of(blockIdx.x, tiles_of(c.rows, BM), tiles_of(c.cols, BN),  //
                 kBandRows / BM);
    RingPlace<kSlots> place;
    if (threadIdx.x < kGroup) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            const int row = static_cast<int>(tile.row * BM),
                      col = static_cast<int>(tile.col * BN);
            for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
                const unsigned slot = ring + place.slot * kSlot;
                const int element = static_cast<int>(slice) * slice_elements;
                barrier_wait(empty(place.slot), place.parity ^ 1);
                barrier_arrive_and_expect(full(place.slot), kSlot);
                load_box(slot, map_of_a, element, row, full(place.slot));
                load_box(slot + kSlotOfA, map_of_b, element, col, full(place.slot));
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const unsigned group = threadIdx.x / kGroup - 1, warp = threadIdx.x % kGroup / 32,
                       lane = threadIdx.x % 32;
        typename Format::Sum sums[1][128];
        unsigned before = 0;  // the slot of the slice before
        for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
            const unsigned slot = ring + place.slot * kSlot;
            barrier_wait(full(place.slot), place.parity);
            multiply_slice<Format>(sums, slot + group * (kSlotOfA / 2), slot + kSlotOfA,
                                   slice == 0);
            wait_for_groups<1>(
                sums);  // this slice is being multiplied, the one before is done
            if (slice != 0 && lane == 0) barrier_arrive(empty(before));
            before = place.slot;
        }
        wait_for_groups<0>(sums);
        const std::size_t row =
            std::size_t{tile.row} * BM + 64 * group + 16 * warp + lane / 4;
        const std::size_t col = std::size_t{tile.col} * BN + lane % 4 * 2;
#pragma unroll
        for (unsigned j = 0; j < BN / 8; ++j) {
            store_pair(c, row, col + 8 * j, sums[0][4 * j], sums[0][4 * j + 1]);
            store_pair(c, row + 8, col + 8 * j, sums[0][4 * j + 2], sums[0][4 * j + 3]);
        }
    }
#endif
}

}  // namespace
}  // namespace modern_cuda
