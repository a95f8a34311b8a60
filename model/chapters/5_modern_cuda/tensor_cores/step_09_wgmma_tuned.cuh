#pragma once

#include "chapters/5_modern_cuda/tensor_cores/formats.h"
#include "chapters/5_modern_cuda/tensor_cores/memory_access.cuh"
#include "chapters/5_modern_cuda/tensor_cores/tiles.cuh"
#include "chapters/5_modern_cuda/tensor_cores/warpgroups.cuh"

namespace modern_cuda {
namespace {

// Who computes a tile: both multiplying warpgroups, half of the rows each, or one of them,
// while the other is busy with the next tile ("ping-pong").
enum class Turns { together, ping_pong };

// What can be chosen for a kernel.
template <unsigned rows_, unsigned cols_, unsigned slots_, unsigned blocks_down_,
          unsigned blocks_across_, Turns turns_ = Turns::together, unsigned boxes_ = 2>
struct Shape {
    static constexpr unsigned rows = rows_, cols = cols_;  // of a tile
    static constexpr unsigned slots = slots_;              // of the ring
    // Blocks of a cluster: those on top of each other share B, those side by side share A.
    static constexpr unsigned blocks_down = blocks_down_, blocks_across = blocks_across_;
    static constexpr unsigned blocks = blocks_down * blocks_across;
    static constexpr Turns turns = turns_;
    static constexpr unsigned boxes = boxes_;  // per warp, for stores

    static constexpr unsigned slot_of_a = rows * kSliceBytes,
                              slot_of_b = cols * kSliceBytes;
    static constexpr unsigned slot_bytes = slot_of_a + slot_of_b;
    // Rows that a warpgroup multiplies, in parts of 64, and the warps that read a slice.
    static constexpr unsigned group_rows = turns == Turns::together ? rows / 2 : rows;
    static constexpr unsigned parts = group_rows / 64;
    static constexpr unsigned readers =
        turns == Turns::together ? kMultiplyingWarps : kMultiplyingWarps / 2;
    static constexpr unsigned box_rows = 16, box_bytes = box_rows * kSliceBytes;
    static constexpr unsigned shared_bytes =
        slots * slot_bytes + kMultiplyingWarps * boxes * box_bytes + kAlignment;

    static_assert(cols == 128 || cols == 256, "wgmma takes 128 or 256 columns here");
    static_assert(parts * (cols / 2) <= 128, "128 sums per thread");
    static_assert(rows % (8 * blocks_across) == 0 && cols % (8 * blocks_down) == 0,
                  "a box has whole groups of eight rows");
};

// Step 9: ping-pong, and the other numbers as parameters. A tile belongs to one of the two
// multiplying warpgroups. While one of them multiplies, the other stores, so the tensor
// cores do not wait at the end of a tile. Two more barriers say whose turn it is to
// multiply. The sums of a tile have to fit into the registers of one warpgroup, so a tile
// is half as large as before, with more traffic for each of its elements: a block then
// loads 256 rows of A and B together for 128 x 128 sums, and before it was 384 rows for
// 128 x 256. Blocks side by side can share A, as those on top of each other share B.
template <class Format, class Shape>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
    wgmma_tuned(const __grid_constant__ CUtensorMap map_of_a,
                const __grid_constant__ CUtensorMap map_of_b,
                const __grid_constant__ CUtensorMap map_of_c, unsigned tile_rows,
                unsigned tile_cols, unsigned band, unsigned slices, int slice_elements) {
#if WARPWISE_SM_90A
    using Sum = typename Format::Sum;
    constexpr bool ping_pong = Shape::turns == Turns::ping_pong;
    constexpr unsigned down = Shape::blocks_down, across = Shape::blocks_across;
    // Whom the loads of a block reach, itself included.
    constexpr unsigned receivers = down + across - 1;
    extern __shared__ __align__(128) unsigned char shared_memory[];
    __shared__ std::uint64_t barriers[2][Shape::slots], turns[2];
    const unsigned ring =
        (shared_address(shared_memory) + kAlignment - 1) / kAlignment * kAlignment;
    const auto full = [&](unsigned slot) { return shared_address(&barriers[0][slot]); };
    const auto empty = [&](unsigned slot) { return shared_address(&barriers[1][slot]); };
    const auto turn_of = [&](unsigned group) { return shared_address(&turns[group]); };
    if (threadIdx.x == 0) {
        for (unsigned slot = 0; slot < Shape::slots; ++slot) {
            barrier_init(full(slot), 1);
            barrier_init(empty(slot), receivers * Shape::readers);
        }
        barrier_init(turn_of(0), kMultiplyingWarps / 2);
        barrier_init(turn_of(1), kMultiplyingWarps / 2);
        barriers_are_initialized();
    }
    sync_cluster();

    // Tiles are counted by clusters here: tile_rows is the number of rows of clusters.
    const unsigned block = blockIdx.x % Shape::blocks;
    const unsigned block_row = block % down, block_col = block / down;
    const unsigned clusters = gridDim.x / Shape::blocks, tiles = tile_rows * tile_cols;
    const auto row_of = [&](const TilePlace& tile) {
        return static_cast<int>((tile.row * down + block_row) * Shape::rows);
    };
    const auto col_of = [&](const TilePlace& tile) {
        return static_cast<int>((tile.col * across + block_col) * Shape::cols);
    };
    RingPlace<Shape::slots> place;
    if (threadIdx.x < kGroup) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            // The part of A that this block loads for its row of the cluster, and the part
            // of B for its column; a bit for each receiver.
            constexpr unsigned a_rows = Shape::rows / across, b_cols = Shape::cols / down;
            unsigned row_mask = 0;
            for (unsigned i = 0; i < across; ++i) row_mask |= 1u << (block_row + i * down);
            const unsigned col_mask = ((1u << down) - 1) << (block_col * down);
            for (unsigned i = blockIdx.x / Shape::blocks; i < tiles; i += clusters) {
                const TilePlace tile = place_of(i, tile_rows, tile_cols, band);
                const int row = row_of(tile) + static_cast<int>(block_col * a_rows),
                          col = col_of(tile) + static_cast<int>(block_row * b_cols);
                for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
                    const unsigned to_a = ring + place.slot * Shape::slot_bytes +
                                          block_col * a_rows * kSliceBytes;
                    const unsigned to_b = ring + place.slot * Shape::slot_bytes +
                                          Shape::slot_of_a +
                                          block_row * b_cols * kSliceBytes;
                    const int element = static_cast<int>(slice) * slice_elements;
                    barrier_wait(empty(place.slot), place.parity ^ 1);
                    barrier_arrive_and_expect(full(place.slot), Shape::slot_bytes);
                    if constexpr (across == 1) {
                        load_box(to_a, map_of_a, element, row, full(place.slot));
                    } else {
                        load_box_in(row_mask, to_a, map_of_a, element, row,
                                    full(place.slot));
                    }
                    if constexpr (down == 1) {
                        load_box(to_b, map_of_b, element, col, full(place.slot));
                    } else {
                        load_box_in(col_mask, to_b, map_of_b, element, col,
                                    full(place.slot));
                    }
                }
            }
            // Other blocks of the cluster may still have to arrive at barriers of this one:
            // stay until they have.
            for (unsigned slot = 0; slot < Shape::slots; ++slot, place.advance())
                barrier_wait(empty(place.slot), place.parity ^ 1);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const unsigned group = threadIdx.x / kGroup - 1, warp = threadIdx.x % kGroup / 32,
                       lane = threadIdx.x % 32;
        constexpr unsigned box_cols = kSliceBytes / sizeof(Sum);
        const unsigned boxes = ring + Shape::slots * Shape::slot_bytes +
                               (group * 4 + warp) * Shape::boxes * Shape::box_bytes;
        // Each lane below `receivers` tells one of the blocks that load for this one.
        const unsigned sender =
            lane < down ? block_col * down + lane
                        : block_row + (block_col + lane - down + 1) % across * down;
        const auto release = [&](unsigned slot) {
            if constexpr (receivers == 1) {
                if (lane == 0) barrier_arrive(empty(slot));
            } else {
                if (lane < receivers) barrier_arrive_in(sender, empty(slot));
            }
        };
        const unsigned first = ping_pong ? group : 0, every = ping_pong ? 2 : 1;
        if (ping_pong && group == 1) place.advance(slices);
        unsigned parity = group ^ 1;  // of the turns: the first one of group 0 is free
        Sum sums[Shape::parts][Shape::cols / 2];
        for (unsigned i = blockIdx.x / Shape::blocks + first * clusters; i < tiles;
             i += every * clusters) {
            if (ping_pong) barrier_wait(turn_of(group), parity);
            unsigned before = 0;
            for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
                const unsigned slot = ring + place.slot * Shape::slot_bytes;
                barrier_wait(full(place.slot), place.parity);
                multiply_slice<Format>(
                    sums, slot + (ping_pong ? 0 : group * Shape::group_rows * kSliceBytes),
                    slot + Shape::slot_of_a, slice == 0);
                wait_for_groups<1>(sums);
                if (slice != 0) release(before);
                before = place.slot;
            }
            if (ping_pong) {
                if (lane == 0) barrier_arrive(turn_of(group ^ 1));
                parity ^= 1;
                place.advance(slices);  // those of the other group's tile
            }
            wait_for_groups<0>(sums);
            release(before);

            const TilePlace tile = place_of(i, tile_rows, tile_cols, band);
            const int row = row_of(tile) + static_cast<int>(16 * warp) +
                            (ping_pong ? 0 : static_cast<int>(group * Shape::group_rows));
            const int col = col_of(tile);
#pragma unroll
            for (unsigned part = 0; part < Shape::parts; ++part) {
#pragma unroll
                for (unsigned box = 0; box < Shape::cols / box_cols; ++box) {
                    const unsigned to = boxes + box % Shape::boxes * Shape::box_bytes;
                    // Lane 0 has sent all boxes: some may still be read, but not the one
                    // that was here.
                    if (lane == 0)
                        asm volatile(
                            "cp.async.bulk.wait_group.read %0;" ::"n"(Shape::boxes - 1)
                            : "memory");
                    __syncwarp();
#pragma unroll
                    for (unsigned j = 0; j < box_cols / 8; ++j) {
                        const unsigned n = (box * (box_cols / 8) + j) * 4;
                        const unsigned chunk = 2 * j + lane % 4 / 2, within = lane % 2 * 8;
                        put_pair(to + swizzled(lane / 4, chunk) + within, sums[part][n],
                                 sums[part][n + 1]);
                        put_pair(to + swizzled(lane / 4 + 8, chunk) + within,
                                 sums[part][n + 2], sums[part][n + 3]);
                    }
                    asm volatile("fence.proxy.async.shared::cta;" ::
                                     : "memory");  // stores above, accelerator below
                    __syncwarp();
                    if (lane == 0)
                        store_box(map_of_c, col + static_cast<int>(box * box_cols),
                                  row + static_cast<int>(64 * part), to);
                }
            }
        }
        if (lane == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
#endif
}

}  // namespace
}  // namespace modern_cuda
