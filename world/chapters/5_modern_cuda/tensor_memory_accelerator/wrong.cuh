// Mistakes with the tensor memory accelerator, for the CPU device to find. On a GPU these
// kernels may hang or give wrong results, so they do not run there. All of them have one
// block of 32 threads, and copy a tile of 32 x 32 floats through shared memory.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "common/helpers/ptx.cuh"

namespace modern_cuda {
namespace {

namespace ptx = warpwise::ptx;  // cuda::ptx

// What is right in all of them: the barrier is initialized, and the tile's copy begins.
__device__ void begin(std::uint64_t* filled) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
}
__device__ void expect(std::uint64_t* filled, unsigned bytes) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   filled, bytes);
}

// WRONG: a barrier of the block waits for threads, and not for the copy.
__global__ void barrier_instead_of_phase(const __grid_constant__ CUtensorMap in,
                                         const __grid_constant__ CUtensorMap, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ std::uint64_t filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, sizeof tile);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at,
                                  &filled);
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][0];
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
}

// WRONG: the first phase has parity 0. The phase before it, of parity 1, counts as
// complete.
__global__ void wrong_parity(const __grid_constant__ CUtensorMap in,
                             const __grid_constant__ CUtensorMap, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ std::uint64_t filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, sizeof tile);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at,
                                  &filled);
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 1)) {
    }
    out[threadIdx.x] = tile[threadIdx.x][0];
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
}

// WRONG: at the edge, a box brings fewer elements, but always as many bytes. Two of the 32
// rows are counted only.
__global__ void bytes_of_the_rows_inside(const __grid_constant__ CUtensorMap in,
                                         const __grid_constant__ CUtensorMap, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ std::uint64_t filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, 2 * sizeof tile[0]);
        const std::int32_t at[2] = {0, 30};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at,
                                  &filled);
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    out[threadIdx.x] = tile[0][threadIdx.x];
}

// WRONG: nobody copies the second box whose bytes are announced.
__global__ void bytes_of_two_boxes(const __grid_constant__ CUtensorMap in,
                                   const __grid_constant__ CUtensorMap, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ std::uint64_t filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, 2 * sizeof tile);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at,
                                  &filled);
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    out[threadIdx.x] = tile[threadIdx.x][0];
}

// WRONG: the box begins 16 bytes after a multiple of 128.
__global__ void box_between_rows(const __grid_constant__ CUtensorMap in,
                                 const __grid_constant__ CUtensorMap, float* out) {
    __shared__ alignas(128) float tile[33][32];
    __shared__ std::uint64_t filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, 32 * sizeof tile[0]);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &tile[0][4], &in,
                                  at, &filled);
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    out[threadIdx.x] = tile[0][4 + threadIdx.x];
}

// WRONG: no fence makes what the threads wrote visible to the store.
__global__ void store_without_fence(const __grid_constant__ CUtensorMap,
                                    const __grid_constant__ CUtensorMap map, float*) {
    __shared__ alignas(128) float tile[32][32];
    for (unsigned row = 0; row < 32; ++row) tile[row][threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
}

// WRONG: the threads write the next tile while the store of this one may still read.
__global__ void overwrites_before_it_is_read(const __grid_constant__ CUtensorMap,
                                             const __grid_constant__ CUtensorMap map,
                                             float*) {
    __shared__ alignas(128) float tile[32][32];
    for (int round = 0; round < 2; ++round) {
        for (unsigned row = 0; row < 32; ++row)
            tile[row][threadIdx.x] = static_cast<float>(1 + round);
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            const std::int32_t at[2] = {0, 32 * round};
            ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
            ptx::cp_async_bulk_commit_group();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

// WRONG: the block ends, and nobody has waited until its shared memory was read.
__global__ void ends_before_it_is_read(const __grid_constant__ CUtensorMap,
                                       const __grid_constant__ CUtensorMap map, float*) {
    __shared__ alignas(128) float tile[32][32];
    for (unsigned row = 0; row < 32; ++row) tile[row][threadIdx.x] = 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
        ptx::cp_async_bulk_commit_group();
    }
}

}  // namespace
}  // namespace modern_cuda
