#pragma once

#include "chapters/5_modern_cuda/tensor_cores/memory_access.cuh"
#include "chapters/5_modern_cuda/tensor_cores/tiles.cuh"
#include "chapters/5_modern_cuda/tensor_cores/warpgroups.cuh"

namespace modern_cuda {
namespace {

constexpr unsigned kBlocks = 2;  // of a cluster

// Step 7: multicast. A cluster of two blocks computes two tiles, one above the other. Both
// need the same slices of B, so each block loads half of a slice for both. A slot is empty
// when sixteen warps have read it, eight of them in the other block. Therefore each warp
// arrives at two barriers.
// The L2 cache delivers 32 KiB per slice and block instead of 48. The price is that each
// block now also waits for the other one, and on an H200 nothing is gained. Still slow
// because the tensor cores wait between two tiles, as in step 6.
template <class Format>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
    wgmma_multicast(const __grid_constant__ CUtensorMap map_of_a,
                    const __grid_constant__ CUtensorMap map_of_b,
                    Result<typename Format::Sum> c, unsigned slices, int slice_elements) {
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
            barrier_init(empty(slot), kBlocks * kMultiplyingWarps);
        }
        barriers_are_initialized();
    }
    sync_cluster();

    // Tiles are counted in pairs here.
    const unsigned block = blockIdx.x % kBlocks;
    const TilePlace pair = place_of(blockIdx.x / kBlocks, tiles_of(c.rows, kBlocks * BM),
                                    tiles_of(c.cols, BN), kBandRows / BM / kBlocks);
    const TilePlace tile = {pair.row * kBlocks + block, pair.col};
    RingPlace<kSlots> place;
    if (threadIdx.x < kGroup) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            constexpr unsigned own_half = kSlotOfB / kBlocks, own_cols = BN / kBlocks;
            const int row = static_cast<int>(tile.row * BM),
                      col = static_cast<int>(tile.col * BN + block * own_cols);
            for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
                const unsigned slot = ring + place.slot * kSlot;
                const int element = static_cast<int>(slice) * slice_elements;
                barrier_wait(empty(place.slot), place.parity ^ 1);
                barrier_arrive_and_expect(full(place.slot), kSlot);
                load_box(slot, map_of_a, element, row, full(place.slot));
                load_box_in((1 << kBlocks) - 1, slot + kSlotOfA + block * own_half,
                            map_of_b, element, col, full(place.slot));
            }
            // The block next door may still have to arrive at barriers of this one: stay
            // until it has.
            for (unsigned slot = 0; slot < kSlots; ++slot, place.advance())
                barrier_wait(empty(place.slot), place.parity ^ 1);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const unsigned group = threadIdx.x / kGroup - 1, warp = threadIdx.x % kGroup / 32,
                       lane = threadIdx.x % 32;
        typename Format::Sum sums[1][128];
        const auto release = [&](unsigned slot) {
            if (lane < kBlocks) barrier_arrive_in(lane, empty(slot));
        };
        unsigned before = 0;  // the slot of the slice before
        for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
            const unsigned slot = ring + place.slot * kSlot;
            barrier_wait(full(place.slot), place.parity);
            multiply_slice<Format>(sums, slot + group * (kSlotOfA / 2), slot + kSlotOfA,
                                   slice == 0);
            wait_for_groups<1>(
                sums);  // this slice is being multiplied, the one before is done
            if (slice != 0) release(before);
            before = place.slot;
        }
        wait_for_groups<0>(sums);
        release(before);
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
