// Solution: tiles that the tensor memory accelerator fetches and stores
//
// The barrier's phase waits for one arrival and for the 4096 bytes of the box. The swizzle
// exchanged the chunks of each row, so chunk c of row r is found at place c ^ (r % 8). What
// the threads write has to be made visible to the store by a fence, before the barrier, and
// the block may only end when the store has read it.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/helpers/ptx.cuh"
#include "common/helpers/tensor_map.h"
#include "exercises/5_modern_cuda/tile_by_tensor_map/tile_by_tensor_map.h"

namespace ptx = warpwise::ptx;  // cuda::ptx

constexpr unsigned side = 32;  // of a tile, in floats
constexpr unsigned threads_per_block = 256;

__global__ void transpose_tile(const __grid_constant__ CUtensorMap in,
                               const __grid_constant__ CUtensorMap out) {
    __shared__ alignas(1024) float tile[side][side];
    __shared__ alignas(128) float turned[side][side];
    __shared__ std::uint64_t filled;
    const int row = static_cast<int>(blockIdx.y * side);
    const int col = static_cast<int>(blockIdx.x * side);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &filled, sizeof tile);
        const std::int32_t at[2] = {col, row};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at,
                                  &filled);
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    const unsigned x = threadIdx.x % side;      // the row of the tile
    const unsigned chunk = threadIdx.x / side;  // of eight chunks of four floats
    const float4 four = reinterpret_cast<const float4*>(tile[x])[chunk ^ x % 8];
    turned[4 * chunk][x] = four.x;
    turned[4 * chunk + 1][x] = four.y;
    turned[4 * chunk + 2][x] = four.z;
    turned[4 * chunk + 3][x] = four.w;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const std::int32_t at[2] = {row, col};
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, turned);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
}

void transpose(const float* d_in, std::size_t pitch_in, float* d_out, std::size_t pitch_out,
               unsigned rows, unsigned cols) {
    if (rows == 0 || cols == 0) return;
    const CUtensorMap in = warpwise::tensor_map({.data = d_in,
                                                 .rows = rows,
                                                 .cols = cols,
                                                 .pitch = pitch_in * sizeof(float),
                                                 .box_rows = side,
                                                 .box_cols = side,
                                                 .swizzle = CU_TENSOR_MAP_SWIZZLE_128B});
    const CUtensorMap out = warpwise::tensor_map({.data = d_out,
                                                  .rows = cols,
                                                  .cols = rows,
                                                  .pitch = pitch_out * sizeof(float),
                                                  .box_rows = side,
                                                  .box_cols = side});
    const dim3 grid((cols + side - 1) / side, (rows + side - 1) / side);
    transpose_tile<<<grid, threads_per_block>>>(in, out);
}
