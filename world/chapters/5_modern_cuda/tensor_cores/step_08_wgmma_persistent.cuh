#pragma once

#include "chapters/5_modern_cuda/tensor_cores/memory_access.cuh"
#include "chapters/5_modern_cuda/tensor_cores/step_07_wgmma_multicast.cuh"
#include "chapters/5_modern_cuda/tensor_cores/tiles.cuh"
#include "chapters/5_modern_cuda/tensor_cores/warpgroups.cuh"

namespace modern_cuda {
namespace {

constexpr unsigned kBoxRows = 16, kBoxBytes = kBoxRows * kSliceBytes;

// Step 8: two changes that shorten the time in which the tensor cores wait between tiles.
//   - Persistent blocks: only as many blocks as are resident at a time are launched, and
//     each computes one tile after another.
//   - Stores by TMA: a warp writes 16 x 32 sums to shared memory, swizzled, and TMA stores
//     them. While one box is stored, the warp fills the other.
// Faster because the loading thread is up to four slices ahead in the next tile while the
// others store C, in full lines of 128 bytes, without guards. Still slow because the tensor
// cores wait while sums go from registers to shared memory, and in the last round of tiles
// not every block has one.
template <class Format>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
    wgmma_persistent(const __grid_constant__ CUtensorMap map_of_a,
                     const __grid_constant__ CUtensorMap map_of_b,
                     const __grid_constant__ CUtensorMap map_of_c, unsigned tile_rows,
                     unsigned tile_cols, unsigned slices, int slice_elements) {
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

    // Tiles are counted in pairs here: tile_rows is half of what it was.
    const unsigned block = blockIdx.x % kBlocks, tiles = tile_rows * tile_cols;
    const auto row_of = [&](const TilePlace& tile) {
        return static_cast<int>((tile.row * kBlocks + block) * BM);
    };
    const auto col_of = [&](const TilePlace& tile) {
        return static_cast<int>(tile.col * BN);
    };
    constexpr unsigned band = kBandRows / BM / kBlocks;
    RingPlace<kSlots> place;
    if (threadIdx.x < kGroup) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            constexpr unsigned own_half = kSlotOfB / kBlocks, own_cols = BN / kBlocks;
            for (unsigned i = blockIdx.x / kBlocks; i < tiles; i += gridDim.x / kBlocks) {
                const TilePlace tile = place_of(i, tile_rows, tile_cols, band);
                const int row = row_of(tile),
                          col = col_of(tile) + static_cast<int>(block * own_cols);
                for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
                    const unsigned slot = ring + place.slot * kSlot;
                    const int element = static_cast<int>(slice) * slice_elements;
                    barrier_wait(empty(place.slot), place.parity ^ 1);
                    barrier_arrive_and_expect(full(place.slot), kSlot);
                    load_box(slot, map_of_a, element, row, full(place.slot));
                    load_box_in((1 << kBlocks) - 1, slot + kSlotOfA + block * own_half,
                                map_of_b, element, col, full(place.slot));
                }
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
        constexpr unsigned box_cols = kSliceBytes / sizeof(float);
        const unsigned boxes = ring + kSlots * kSlot + (group * 4 + warp) * 2 * kBoxBytes;
        const auto release = [&](unsigned slot) {
            if (lane < kBlocks) barrier_arrive_in(lane, empty(slot));
        };
        typename Format::Sum sums[1][128];
        for (unsigned i = blockIdx.x / kBlocks; i < tiles; i += gridDim.x / kBlocks) {
            unsigned before = 0;
            for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
                const unsigned slot = ring + place.slot * kSlot;
                barrier_wait(full(place.slot), place.parity);
                multiply_slice<Format>(sums, slot + group * (kSlotOfA / 2), slot + kSlotOfA,
                                       slice == 0);
                wait_for_groups<1>(sums);
                if (slice != 0) release(before);
                before = place.slot;
            }
            wait_for_groups<0>(sums);
            release(before);

            const TilePlace tile = place_of(i, tile_rows, tile_cols, band);
            const int row = row_of(tile) + static_cast<int>(64 * group + 16 * warp),
                      col = col_of(tile);
#pragma unroll
            for (unsigned box = 0; box < BN / box_cols; ++box) {
                const unsigned to = boxes + box % 2 * kBoxBytes;
                // Lane 0 has sent all boxes: the last may still be read, the one before it
                // has left this place.
                if (lane == 0)
                    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
                __syncwarp();
#pragma unroll
                for (unsigned j = 0; j < box_cols / 8; ++j) {
                    const unsigned n = (box * (box_cols / 8) + j) * 4;
                    const unsigned chunk = 2 * j + lane % 4 / 2, within = lane % 2 * 8;
                    put_pair(to + swizzled(lane / 4, chunk) + within, sums[0][n],
                             sums[0][n + 1]);
                    put_pair(to + swizzled(lane / 4 + 8, chunk) + within, sums[0][n + 2],
                             sums[0][n + 3]);
                }
                asm volatile("fence.proxy.async.shared::cta;" ::
                                 : "memory");  // stores above, accelerator below
                __syncwarp();
                if (lane == 0)
                    store_box(map_of_c, col + static_cast<int>(box * box_cols), row, to);
            }
        }
        if (lane == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
#endif
}

}  // namespace
}  // namespace modern_cuda
