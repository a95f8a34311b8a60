// Copies by the tensor memory accelerator that are used as they should be. On a GPU without one they do nothing.
#include <cuda/barrier>
#include <utility>

#include "common/helpers/ptx.cuh"
#include "common/helpers/tensor_map.h"
#include "common/helpers/this_cluster.cuh"
#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

namespace ptx = warpwise::ptx;
using warpwise::launch_in_clusters;
using warpwise::this_cluster;

using Map = CUtensorMap;
using Bar = std::uint64_t;

constexpr int kRows = 40, kCols = 45, kPitch = 52;

std::vector<float> ascending(int count) {
    return sequence<float>(count, [](int i) { return i + 1; });
}

Map map_of(const DeviceBuffer<float>& matrix, unsigned box_cols = 32,
           CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE) {
    return warpwise::tensor_map({.data = matrix.data(),
                                 .rows = kRows,
                                 .cols = kCols,
                                 .pitch = kPitch * sizeof(float),
                                 .box_rows = 32,
                                 .box_cols = box_cols,
                                 .swizzle = swizzle});
}

__device__ void begin(Bar* filled) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
}
__device__ void expect(Bar* filled, unsigned bytes) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, filled, bytes);
}

/// A box that begins in any row and in every fourth column, also before the first ones.
__global__ void box_at(const __grid_constant__ Map in, int row, int col, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, sizeof tile);
        const std::int32_t at[2] = {col, row};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at, &filled);
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    for (unsigned i = threadIdx.x; i < 32 * 32; i += blockDim.x) out[i] = tile[i / 32][i % 32];
}

void boxes_across_the_edges() {
    if (!warpwise::has_tensor_memory_accelerator()) return;
    DeviceBuffer<float> d_in(ascending(kRows * kPitch)), d_out(32 * 32);
    for (const int row : {-3, 0, 20, 39, 64}) {
        for (const int col : {-4, 0, 16, 44, 48}) {
            box_at<<<1, 64>>>(map_of(d_in), row, col, d_out.data());
            check_finished();
            expect_equal(d_out.download(), sequence<float>(32 * 32, [&](int i) {
                             const int r = row + i / 32, c = col + i % 32;
                             return r >= 0 && r < kRows && c >= 0 && c < kCols ? r * kPitch + c + 1 : 0;
                         }));
        }
    }
}

/// Boxes of so many bytes in a row, with the swizzle of as many bytes.
template <unsigned floats>
__global__ void box_with_swizzle(const __grid_constant__ Map in, float* out) {
    __shared__ alignas(1024) float tile[32][floats];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, sizeof tile);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at, &filled);
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    for (unsigned i = threadIdx.x; i < 32 * floats; i += blockDim.x) {
        const unsigned row = i / floats, col = i % floats;
        const unsigned of_128 = row * floats * 4 / 128;  // the row of 128 bytes that decides
        const unsigned chunk = col / 4 ^ of_128 % (floats / 4);
        out[i] = tile[row][chunk * 4 + col % 4];
    }
}

template <unsigned floats>
void expect_unswizzled(CUtensorMapSwizzle swizzle) {
    DeviceBuffer<float> d_in(ascending(kRows * kPitch)), d_out(32 * floats);
    box_with_swizzle<floats><<<1, 64>>>(map_of(d_in, floats, swizzle), d_out.data());
    check_finished();
    expect_equal(d_out.download(),
                 sequence<float>(32 * floats, [](int i) { return i / int{floats} * kPitch + i % int{floats} + 1; }));
}

void boxes_with_three_swizzles() {
    if (!warpwise::has_tensor_memory_accelerator()) return;
    expect_unswizzled<8>(CU_TENSOR_MAP_SWIZZLE_32B);
    expect_unswizzled<16>(CU_TENSOR_MAP_SWIZZLE_64B);
    expect_unswizzled<32>(CU_TENSOR_MAP_SWIZZLE_128B);
}

/// Nobody but the accelerator touches the tile, so no fence is needed. What lies outside of the matrix stays as it is,
/// but for the chunk of 16 bytes in which a row ends.
__global__ void there_and_back(const __grid_constant__ Map in, const __grid_constant__ Map to) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x > 0) return;
    expect(&filled, sizeof tile);
    const int row = static_cast<int>(32 * blockIdx.y), col = static_cast<int>(32 * blockIdx.x);
    const std::int32_t at[2] = {col, row};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at, &filled);
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, at, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

void copy_by_the_accelerator_alone() {
    if (!warpwise::has_tensor_memory_accelerator()) return;
    DeviceBuffer<float> d_in(ascending(kRows * kPitch)), d_out(std::vector<float>(kRows * kPitch, -1.0f));
    there_and_back<<<dim3(2, 2), 32>>>(map_of(d_in), map_of(d_out));
    check_finished();
    expect_equal(d_out.download(), sequence<float>(kRows * kPitch, [](int i) {
                     const int col = i % kPitch;
                     return col < kCols ? i + 1 : col < (kCols + 3) / 4 * 4 ? 0 : -1;
                 }));
}

/// Three buffers are filled by bulk copies, changed by the threads, and stored. Phases of their barriers go round.
__global__ void ring_of_three(const float* in, float* out, int parts) {
    __shared__ alignas(128) float tiles[3][64];
    __shared__ Bar filled[3];
    const auto load = [&](int part) {
        expect(&filled[part % 3], sizeof tiles[0]);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tiles[part % 3], in + 64 * part, sizeof tiles[0],
                           &filled[part % 3]);
    };
    if (threadIdx.x == 0) {
        for (int i = 0; i < 3; ++i) ptx::mbarrier_init(&filled[i], 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        for (int part = 0; part < 2 && part < parts; ++part) load(part);
    }
    __syncthreads();
    for (int part = 0; part < parts; ++part) {
        while (!ptx::mbarrier_try_wait_parity(&filled[part % 3], part / 3 % 2)) {
        }
        tiles[part % 3][threadIdx.x] += 0.5f;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x > 0) continue;
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + 64 * part, tiles[part % 3], sizeof tiles[0]);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});  // the buffer of the part before this one is free
        if (part + 2 < parts) load(part + 2);
    }
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

void ring_of_three_bulk_buffers() {
    if (!warpwise::has_tensor_memory_accelerator()) return;
    DeviceBuffer<float> d_in(ascending(64 * 11)), d_out(64 * 11);
    ring_of_three<<<1, 64>>>(d_in.data(), d_out.data(), 11);
    check_finished();
    expect_equal(d_out.download(), sequence<float>(64 * 11, [](int i) { return i + 1.5f; }));
}

/// The thread that stores fences for all: after the barrier it knows what the others have written.
__global__ void fence_after_the_barrier(float* out) {
    __shared__ alignas(16) float tile[64];
    tile[threadIdx.x] = static_cast<float>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x > 0) return;
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

void one_fence_after_the_barrier() {
    if (!warpwise::has_tensor_memory_accelerator()) return;
    DeviceBuffer<float> d_out(64);
    fence_after_the_barrier<<<1, 64>>>(d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<float>(64, [](int i) { return i; }));
}

/// Every block copies its share of each part, for all of the cluster.
__global__ void shares_of_all(const float* in, float* out, int parts) {
    __shared__ alignas(128) float tile[256];
    __shared__ Bar filled;
    const auto cluster = this_cluster();
    begin(&filled);
    cluster.sync();
    for (int part = 0; part < parts; ++part) {
        if (threadIdx.x == 0) {
            expect(&filled, sizeof tile);
#if defined(__CPU_DEVICE__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
            constexpr std::uint16_t all = 0xF;
            const unsigned first = 64 * cluster.block_rank();
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile + first, in + 256 * part + first, 256,
                               &filled, all);
#endif
        }
        while (!ptx::mbarrier_try_wait_parity(&filled, part % 2)) {
        }
        for (unsigned i = threadIdx.x; i < 256; i += 64) {
            out[(blockIdx.x * parts + part) * 256 + i] = tile[255 - i];
        }
        cluster.sync();
    }
}

/// A GPU of compute capability 9.0 for which the program was not compiled by its own name has no multicast.
__global__ void has_multicast(int* has) {
#if defined(__CPU_DEVICE__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    *has = 1;
#else
    *has = 0;
#endif
}

void multicast_of_shares() {
    if (!warpwise::has_tensor_memory_accelerator()) return;
    DeviceBuffer<int> d_has(1);
    has_multicast<<<1, 1>>>(d_has.data());
    check_finished();
    if (d_has.download()[0] == 0) return;
    constexpr int parts = 5, blocks = 8;
    DeviceBuffer<float> d_in(ascending(256 * parts)), d_out(256 * parts * blocks);
    check(launch_in_clusters(shares_of_all, {.blocks = blocks, .cluster = 4, .threads = 64},
                             static_cast<const float*>(d_in.data()), d_out.data(), parts));
    check_finished();
    expect_equal(d_out.download(), sequence<float>(256 * parts * blocks,
                                                   [](int i) { return i / 256 % parts * 256 + 255 - i % 256 + 1; }));
}

#if defined(__CPU_DEVICE__) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define HAS_TRANSACTIONS 1
#else
#define HAS_TRANSACTIONS 0
#endif

#ifndef __CPU_DEVICE__
// A cuda::barrier has a constructor, which does not run in shared memory.
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

/// The same by cuda::barrier and its transactions.
__global__ void barrier_with_transactions([[maybe_unused]] const float* in, [[maybe_unused]] float* out) {
#if HAS_TRANSACTIONS
    __shared__ alignas(16) float tile[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> filled;
    if (threadIdx.x == 0) init(&filled, blockDim.x);
    __syncthreads();
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(sizeof tile), filled);
        token = cuda::device::barrier_arrive_tx(filled, 1, sizeof tile);
    } else {
        token = filled.arrive();
    }
    filled.wait(std::move(token));
    out[threadIdx.x] = tile[63 - threadIdx.x];
#endif
}

void cuda_barrier_with_transactions() {
    if (!warpwise::has_tensor_memory_accelerator()) return;
    DeviceBuffer<float> d_in(ascending(64)), d_out(64);
    barrier_with_transactions<<<1, 64>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<float>(64, [](int i) { return 64 - i; }));
}

}  // namespace

CaseList correct_bulk_copies() {
    return {__FILE__,
            {{"boxes_across_the_edges", "zeros outside, and negative coordinates", boxes_across_the_edges},
             {"boxes_with_three_swizzles", "chunks by the address", boxes_with_three_swizzles},
             {"copy_by_the_accelerator_alone", "no fence is needed", copy_by_the_accelerator_alone},
             {"ring_of_three_bulk_buffers", "loads and stores in flight", ring_of_three_bulk_buffers},
             {"one_fence_after_the_barrier", "by the thread that stores", one_fence_after_the_barrier},
             {"multicast_of_shares", "every block copies for all", multicast_of_shares},
             {"cuda_barrier_with_transactions", "memcpy_async_tx", cuda_barrier_with_transactions}}};
}

}  // namespace corpus
