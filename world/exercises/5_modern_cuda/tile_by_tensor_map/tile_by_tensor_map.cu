// Exercise: transpose tiles that the tensor memory accelerator fetches and stores
// The task: ./warpwise task tile_by_tensor_map
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
    __shared__ alignas(1024) float tile[side][side];   // a tile of the input, swizzled
    __shared__ alignas(128) float turned[side][side];  // the same, transposed
    __shared__ std::uint64_t filled;
    const int row = static_cast<int>(blockIdx.y * side);
    const int col = static_cast<int>(blockIdx.x * side);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        // TODO 1: announce the bytes of the tile to the barrier, and have the box of the
        // map
        //         `in` copied to it that begins in this row and column.
    }
    __syncthreads();
    // TODO 2: wait for the first phase of the barrier.

    const unsigned x = threadIdx.x % side;      // the row of the tile
    const unsigned chunk = threadIdx.x / side;  // of eight chunks of four floats
    // TODO 3: take the four floats of this chunk from row x of the tile, where the swizzle
    //         has put them, and write them to column x of `turned`.
    (void)x, (void)chunk, (void)tile;

    // TODO 4: make what the threads have written visible to the store, and wait for all
    //         threads of the block.
    // TODO 5: let one thread store `turned` by the map `out`, and wait until it was read.
    (void)row, (void)col, (void)turned;
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
