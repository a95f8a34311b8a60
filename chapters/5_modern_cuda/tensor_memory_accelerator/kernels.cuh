// The kernels of the lesson tensor_memory_accelerator, in the order of the steps. Steps 1
// to 8 transpose a matrix of floats, out[col][row] = in[row][col]. Both matrices have rows
// that begin at multiples of 16 bytes, which the tensor memory accelerator requires: the
// pitch is how many floats lie between the beginnings of two rows.
#pragma once

#include <cuda.h>  // CUtensorMap
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/helpers/ptx.cuh"

namespace modern_cuda {
namespace {

namespace ptx = warpwise::ptx;  // cuda::ptx

constexpr unsigned kTile = 32;      // floats: 128 bytes, the width of a box
constexpr unsigned kThreads = 256;  // per block
constexpr unsigned kQuad = 4;       // floats: 16 bytes, what a swizzle keeps together

// Tiles are numbered along the rows of the input.
__host__ __device__ constexpr unsigned tiles_across(unsigned floats, unsigned side) {
    return (floats + side - 1) / side;
}
struct Corner {
    int row, col;  // in the input
};
__device__ Corner corner_of(unsigned tile, unsigned cols, unsigned side) {
    const unsigned across = tiles_across(cols, side);
    return {static_cast<int>(tile / across * side), static_cast<int>(tile % across * side)};
}

// Writes an element of the transpose, unless it lies outside.
struct Transposed {
    float* data;
    std::size_t pitch;
    unsigned rows, cols;  // of the input

    __device__ void put(unsigned row, unsigned col, float value) const {
        if (row < rows && col < cols) data[col * pitch + row] = value;
    }
};

// Step 1, as in chapter 3: a tile of 32 x 32 in shared memory, padded by one column. Each
// thread loads four elements into registers, stores them to the tile, waits at a barrier,
// and takes four elements of a column, which it writes to a row of the output.
// Still slow, probably because a block does one thing at a time, and because each of its
// 256 threads computes addresses and conditions for each of its elements.
__global__ void transpose_padded_tile(const float* in, std::size_t pitch, Transposed out) {
    __shared__ float tile[kTile][kTile + 1];
    const Corner corner = corner_of(blockIdx.x, out.cols, kTile);
    const unsigned x = threadIdx.x % kTile, y = threadIdx.x / kTile;
    float values[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
        const unsigned row = corner.row + y + 8 * k, col = corner.col + x;
        const bool inside = row < out.rows && col < out.cols;
        values[k] = inside ? in[row * pitch + col] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) tile[y + 8 * k][x] = values[k];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
        out.put(corner.row + x, corner.col + y + 8 * k, tile[x][y + 8 * k]);
}

// Step 2, bulk copies: one lane per row of the tile hands 128 bytes over to the tensor
// memory accelerator. The copies tell an mbarrier when they have arrived. One phase of it
// waits for one arrival, and for as many bytes as that arrival announces. Everybody waits
// for the phase of parity 0, the first one.
// Better because no thread loads, and nothing passes through registers. Slow because a bulk
// copy needs addresses at multiples of 16 bytes: so a row can be padded by four floats, and
// not by one. The 32 elements of a column lie in 8 banks.
__global__ void transpose_bulk_rows(const float* in, std::size_t pitch, Transposed out) {
    __shared__ alignas(16) float tile[kTile][kTile + kQuad];
    __shared__ std::uint64_t filled;
    const Corner corner = corner_of(blockIdx.x, out.cols, kTile);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    // At the edge of the matrix a copy is shorter. It may take up to three floats of the
    // padding after a row, because its size is a multiple of 16 bytes.
    const unsigned rows = min(kTile, out.rows - corner.row);
    const unsigned quads = min(kTile / kQuad, tiles_across(out.cols - corner.col, kQuad));
    const unsigned bytes = quads * kQuad * sizeof(float);
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &filled, rows * bytes);
    }
    if (threadIdx.x < rows) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[threadIdx.x],
                           in + (corner.row + threadIdx.x) * pitch + corner.col, bytes,
                           &filled);
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    const unsigned x = threadIdx.x % kTile, y = threadIdx.x / kTile;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
        out.put(corner.row + x, corner.col + y + 8 * k, tile[x][y + 8 * k]);
}

// Step 3, a tensor map: it says where the matrix is, how large it is, and how large a box
// is. One thread names the first column and row of a box, and the accelerator does the
// rest: addresses, one copy for all 32 rows, and zeros for what lies outside. So the box
// always brings as many bytes, and the kernel no longer needs the input's address.
// Better because one thread does in one instruction what 32 did. Slow because a box is
// dense in shared memory: there is no room for padding, and the 32 elements of a column lie
// in one bank.
__global__ void transpose_tensor_map(const __grid_constant__ CUtensorMap in,
                                     Transposed out) {
    __shared__ alignas(128) float tile[kTile][kTile];
    __shared__ std::uint64_t filled;
    const Corner corner = corner_of(blockIdx.x, out.cols, kTile);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &filled, sizeof tile);
        const std::int32_t at[2] = {corner.col, corner.row};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at,
                                  &filled);
    }
    __syncthreads();  // the others must not wait at a barrier that is not initialized yet
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    const unsigned x = threadIdx.x % kTile, y = threadIdx.x / kTile;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
        out.put(corner.row + x, corner.col + y + 8 * k, tile[x][y + 8 * k]);
}

// Where the swizzle of 128 bytes puts a float of a tile: the 16-byte chunk of its row is
// exchanged with another one, by the row's number. That needs a tile at a multiple of 1024
// bytes, because the accelerator takes the row from the address.
__device__ unsigned swizzled(unsigned row, unsigned col) {
    return (col / kQuad ^ row % 8) * kQuad + col % kQuad;
}

// Step 4, a swizzle in place of the padding: the tensor map says that the accelerator
// exchanges the chunks of a row while it writes the tile, and the kernel looks for them
// where they are.
// Faster because the elements of a column lie in eight banks, and no longer in one: eight
// rows have their chunks in eight different places. Still slow because a chunk stays whole,
// and a column needs one of its four banks. So four lanes meet in each of the eight banks,
// as with the padding of 16 bytes.
__global__ void transpose_swizzled_tile(const __grid_constant__ CUtensorMap in,
                                        Transposed out) {
    __shared__ alignas(1024) float tile[kTile][kTile];
    __shared__ std::uint64_t filled;
    const Corner corner = corner_of(blockIdx.x, out.cols, kTile);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &filled, sizeof tile);
        const std::int32_t at[2] = {corner.col, corner.row};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at,
                                  &filled);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    const unsigned x = threadIdx.x % kTile, y = threadIdx.x / kTile;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
        out.put(corner.row + x, corner.col + y + 8 * k, tile[x][swizzled(x, y + 8 * k)]);
}

// Step 5, whole chunks: a lane takes 16 bytes of its row, one chunk, and writes its four
// floats to four rows of the output. Eight lanes are served at a time, and their eight
// chunks lie in all 32 banks.
// Better because no bank is asked twice: 512 bytes take four wavefronts, which is the
// least. But an H200 is no faster by it, so the conflicts were not the limit any more.
// Still slow, probably because the stores are the threads' own work: each lane computes
// four addresses and four conditions.
__global__ void transpose_swizzled_quads(const __grid_constant__ CUtensorMap in,
                                         Transposed out) {
    __shared__ alignas(1024) float tile[kTile][kTile];
    __shared__ std::uint64_t filled;
    const Corner corner = corner_of(blockIdx.x, out.cols, kTile);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &filled, sizeof tile);
        const std::int32_t at[2] = {corner.col, corner.row};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at,
                                  &filled);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    const unsigned x = threadIdx.x % kTile, first = threadIdx.x / kTile * kQuad;
    const float4 four = *reinterpret_cast<const float4*>(&tile[x][swizzled(x, first)]);
    out.put(corner.row + x, corner.col + first, four.x);
    out.put(corner.row + x, corner.col + first + 1, four.y);
    out.put(corner.row + x, corner.col + first + 2, four.z);
    out.put(corner.row + x, corner.col + first + 3, four.w);
}

// Step 6, the accelerator stores as well: the threads write the transposed tile to shared
// memory, lane beside lane, so without conflicts. The accelerator reaches shared memory by
// another way than the threads (another proxy), so every thread has to make its writes
// visible to it by a fence, before the barrier. Then one thread has the box stored. Rows
// and chunks of 16 bytes outside of the output are dropped; the chunk in which a row ends
// is written whole. The block must not end before the box has been read.
// Better because the kernel has no condition left and knows neither address nor pitch.
// Still slow because a block has nothing to do until the copy that it began arrives.
__global__ void transpose_tensor_store(const __grid_constant__ CUtensorMap in,
                                       const __grid_constant__ CUtensorMap out,
                                       unsigned cols) {
    __shared__ alignas(1024) float tile[kTile][kTile];
    __shared__ alignas(128) float turned[kTile][kTile];
    __shared__ std::uint64_t filled;
    const Corner corner = corner_of(blockIdx.x, cols, kTile);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &filled, sizeof tile);
        const std::int32_t at[2] = {corner.col, corner.row};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at,
                                  &filled);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    const unsigned x = threadIdx.x % kTile, first = threadIdx.x / kTile * kQuad;
    const float4 four = *reinterpret_cast<const float4*>(&tile[x][swizzled(x, first)]);
    turned[first][x] = four.x;
    turned[first + 1][x] = four.y;
    turned[first + 2][x] = four.z;
    turned[first + 3][x] = four.w;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const std::int32_t at[2] = {corner.row, corner.col};
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, turned);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
}

// What a block of steps 7 and 8 has in shared memory. A tile of Side x Side floats is
// several boxes, because a box with this swizzle is 128 bytes wide.
template <unsigned Side, unsigned Stages>
struct Buffers {
    static constexpr unsigned boxes = Side / kTile;
    alignas(1024) float tiles[Stages][boxes][Side][kTile];
    float turned[2][boxes][Side][kTile];
    std::uint64_t filled[Stages];
};

// Steps 7 and 8, several tiles in flight: as many blocks as are resident take turns at the
// tiles. While a block turns one tile, the next ones are on their way to it, and those
// before it on their way to memory. The barrier of a stage is used again and again: its
// phases have the parities 0, 1, 0 ..., and a thread waits for the parity of the round. Two
// buffers take turns as the source of stores, and before a buffer is written again, the
// thread that began its store waits until all stores but the last one have been read.
// This should be faster because loads and stores of a block are in flight while its threads
// work. On an H200 step 7 gains next to nothing by it. Step 8 is faster, with tiles of
// 64 x 64 floats: a barrier is for four times the bytes, and the rows of a tile are longer.
template <unsigned Side, unsigned Stages>
__global__ void transpose_in_stages(const __grid_constant__ CUtensorMap in,
                                    const __grid_constant__ CUtensorMap out, unsigned rows,
                                    unsigned cols) {
    extern __shared__ __align__(1024) unsigned char memory[];
    auto& shared = *reinterpret_cast<Buffers<Side, Stages>*>(memory);
    constexpr unsigned boxes = Side / kTile;
    constexpr unsigned quads = Side * Side / kQuad / kThreads;  // of a thread
    const unsigned tiles = tiles_across(rows, Side) * tiles_across(cols, Side);
    const auto load = [&](unsigned tile, unsigned stage) {
        const Corner corner = corner_of(tile, cols, Side);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &shared.filled[stage], sizeof shared.tiles[0]);
        for (unsigned box = 0; box < boxes; ++box) {
            const int col = corner.col + static_cast<int>(box * kTile);
            const std::int32_t at[2] = {col, corner.row};
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                                      shared.tiles[stage][box], &in, at,
                                      &shared.filled[stage]);
        }
    };
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < Stages; ++stage)
            ptx::mbarrier_init(&shared.filled[stage], 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        for (unsigned stage = 0; stage < Stages; ++stage) {
            const unsigned tile = blockIdx.x + stage * gridDim.x;
            if (tile < tiles) load(tile, stage);
        }
    }
    __syncthreads();
    unsigned stage = 0, parity = 0, half = 0;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        while (!ptx::mbarrier_try_wait_parity(&shared.filled[stage], parity)) {
        }
        float4 values[quads];
#pragma unroll
        for (unsigned k = 0; k < quads; ++k) {
            const unsigned i = k * kThreads + threadIdx.x;
            const unsigned row = i % Side, col = i / Side * kQuad;
            values[k] = *reinterpret_cast<const float4*>(
                &shared.tiles[stage][col / kTile][row][swizzled(row, col % kTile)]);
        }
        if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
        __syncthreads();  // all have read the tile, and the source of a store is free
        const unsigned next = tile + Stages * gridDim.x;
        if (threadIdx.x == 0 && next < tiles) load(next, stage);
#pragma unroll
        for (unsigned k = 0; k < quads; ++k) {
            const unsigned i = k * kThreads + threadIdx.x;
            const unsigned row = i % Side, col = i / Side * kQuad;
            auto& box = shared.turned[half][row / kTile];
            box[col][row % kTile] = values[k].x;
            box[col + 1][row % kTile] = values[k].y;
            box[col + 2][row % kTile] = values[k].z;
            box[col + 3][row % kTile] = values[k].w;
        }
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            const Corner corner = corner_of(tile, cols, Side);
            for (unsigned box = 0; box < boxes; ++box) {
                const int row = corner.row + static_cast<int>(box * kTile);
                const std::int32_t at[2] = {row, corner.col};
                ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at,
                                          shared.turned[half][box]);
            }
            ptx::cp_async_bulk_commit_group();
        }
        half = 1 - half;
        if (++stage == Stages) {
            stage = 0;
            parity = 1 - parity;
        }
    }
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

}  // namespace
}  // namespace modern_cuda
