// The kernels of the second part of the lesson: every block needs the same table. How far
// is each query from all values of a table? out[query] = sum of |table[i] - query|.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/helpers/ptx.cuh"
#include "common/helpers/this_cluster.cuh"

namespace modern_cuda {
namespace {

namespace ptx = warpwise::ptx;  // cuda::ptx

constexpr unsigned kReaders = 256;  // threads per block
constexpr unsigned kPart = 4096;    // floats of the table that are in shared memory: 16 KiB
constexpr unsigned kParts = 3;      // in flight, or being read

__host__ __device__ constexpr unsigned parts_of(unsigned count) {
    return (count + kPart - 1) / kPart;
}
// Floats of a part, rounded up to whole groups of 16 bytes.
__device__ unsigned floats_of(unsigned part, unsigned count) {
    const unsigned left = count - part * kPart;
    return left < kPart ? (left + 3) / 4 * 4 : kPart;
}

struct Reader {
    alignas(128) float parts[kParts][kPart];
    float sums[kReaders / 32];
    std::uint64_t filled[kParts];
};

// The distance of the query to what a thread has of a part.
__device__ float add_up_part(const float* part, unsigned number, unsigned count,
                             float query) {
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kPart / 4 / kReaders; ++k) {
        const unsigned quad = k * kReaders + threadIdx.x;
        const unsigned first = number * kPart + 4 * quad;
        if (first >= count) continue;
        const float4 four = reinterpret_cast<const float4*>(part)[quad];
        sum += fabsf(four.x - query);
        if (first + 1 < count) sum += fabsf(four.y - query);
        if (first + 2 < count) sum += fabsf(four.z - query);
        if (first + 3 < count) sum += fabsf(four.w - query);
    }
    return sum;
}

// Adds up what the threads have, and writes it.
__device__ void finish(float sum, float* sums, float* out) {
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, distance);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0 || out == nullptr) return;
    float all = 0;
    for (unsigned warp = 0; warp < kReaders / 32; ++warp) all += sums[warp];
    *out = all;
}

// Step 1, each block for itself: it copies the whole table, part by part, by bulk copies
// that are kParts ahead.
// Slow because the table comes from the L2 cache once for each block, although all blocks
// want the same.
__global__ void distances_alone(const float* table, unsigned count, const float* queries,
                                unsigned query_count, float* out) {
    extern __shared__ __align__(128) unsigned char reader_memory[];
    Reader& shared = *reinterpret_cast<Reader*>(reader_memory);
    const auto load = [&](unsigned part) {
        const unsigned floats = floats_of(part, count);
        const unsigned bytes = floats * static_cast<unsigned>(sizeof(float));
        std::uint64_t* const filled = &shared.filled[part % kParts];
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       filled, bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global,
                           shared.parts[part % kParts], table + part * kPart, bytes,
                           filled);
    };
    if (threadIdx.x == 0) {
        for (std::uint64_t& filled : shared.filled) ptx::mbarrier_init(&filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        for (unsigned part = 0; part < kParts && part < parts_of(count); ++part) load(part);
    }
    __syncthreads();
    const bool has_query = blockIdx.x < query_count;
    const float query = has_query ? queries[blockIdx.x] : 0;
    float sum = 0;
    for (unsigned part = 0; part < parts_of(count); ++part) {
        const unsigned parity = part / kParts % 2;
        while (!ptx::mbarrier_try_wait_parity(&shared.filled[part % kParts], parity)) {
        }
        sum += add_up_part(shared.parts[part % kParts], part, count, query);
        __syncthreads();  // all have read the part
        if (threadIdx.x == 0 && part + kParts < parts_of(count)) load(part + kParts);
    }
    finish(sum, shared.sums, has_query ? out + blockIdx.x : nullptr);
}

// Steps 2 and on, multicast: each block of a cluster copies its share of a part, and the
// copy goes to the same place in the shared memory of all blocks, whose barriers count the
// bytes. So a block still waits for the whole part, but the L2 cache delivers it once for
// each cluster. A part may only be overwritten when all blocks have read it, so the barrier
// is now one of the cluster.
// This should be faster where the L2 cache is what everybody waits for. The price is that
// the blocks wait for each other, and on an H200 the price is higher than what is saved.
template <unsigned Blocks>
__global__ void distances_multicast(const float* table, unsigned count,
                                    const float* queries, unsigned query_count,
                                    float* out) {
    extern __shared__ __align__(128) unsigned char reader_memory[];
    Reader& shared = *reinterpret_cast<Reader*>(reader_memory);
    const auto cluster = warpwise::this_cluster();
    constexpr unsigned share = kPart / Blocks;  // floats that a block copies of a part
    const unsigned first = cluster.block_rank() * share;
    const auto load = [&](unsigned part) {
        const unsigned floats = floats_of(part, count);
        std::uint64_t* const filled = &shared.filled[part % kParts];
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       filled,
                                       floats * static_cast<unsigned>(sizeof(float)));
        if (first >= floats) return;
#if defined(__CPU_DEVICE__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
        const unsigned own = floats - first < share ? floats - first : share;
        constexpr std::uint16_t all_blocks = (1u << Blocks) - 1;
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global,
                           shared.parts[part % kParts] + first,
                           table + part * kPart + first,
                           own * static_cast<unsigned>(sizeof(float)), filled, all_blocks);
#endif
    };
    if (threadIdx.x == 0) {
        for (std::uint64_t& filled : shared.filled) ptx::mbarrier_init(&filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();  // copies must not come before all barriers are initialized
    if (threadIdx.x == 0)
        for (unsigned part = 0; part < kParts && part < parts_of(count); ++part) load(part);
    const bool has_query = blockIdx.x < query_count;
    const float query = has_query ? queries[blockIdx.x] : 0;
    float sum = 0;
    for (unsigned part = 0; part < parts_of(count); ++part) {
        const unsigned parity = part / kParts % 2;
        while (!ptx::mbarrier_try_wait_parity(&shared.filled[part % kParts], parity)) {
        }
        sum += add_up_part(shared.parts[part % kParts], part, count, query);
        cluster.sync();  // all blocks have read the part
        if (threadIdx.x == 0 && part + kParts < parts_of(count)) load(part + kParts);
    }
    finish(sum, shared.sums, has_query ? out + blockIdx.x : nullptr);
}

}  // namespace
}  // namespace modern_cuda
