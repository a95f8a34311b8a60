// What step 6 uses of an H100 or H200: wgmma, with which four warps multiply matrices in
// shared memory. It is an instruction of sm_90a: of this chip, and of no later one.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "chapters/4_examples/attention/tensor_core.cuh"

namespace examples {
namespace {

// Whether the device code of this program was compiled for sm_90a. Device code itself tells
// the host, because the host code is compiled only once, for all architectures.
__constant__ const int d_attention_for_sm_90a = WARPWISE_SM_90A;

constexpr unsigned kGroup = 128;  // threads of a warpgroup

// A tile in shared memory: 128 rows of 128 elements, as two halves of 64 columns. A row of
// a half has 128 bytes, and wgmma wants its chunks swizzled like this.
constexpr unsigned kHalfRow = 128, kHalfTile = 128 * kHalfRow, kWholeTile = 2 * kHalfTile;
__device__ unsigned swizzled_in_halves(unsigned row, unsigned chunk) {
    return chunk / 8 * kHalfTile + row * kHalfRow + (chunk % 8 ^ row % 8) * 16;
}

#if WARPWISE_SM_90A

// Describes part of a tile to wgmma. From bit 0: address / 16; from 32: distance of groups
// of eight rows / 16; from 62: 1 for the swizzle of 128 bytes. From 16: distance of the two
// halves / 16, which counts only for operands whose columns are what is multiplied out.
__device__ std::uint64_t rows_at(unsigned address) {
    return std::uint64_t{1} << 62 | std::uint64_t{8 * kHalfRow / 16} << 32 |
           std::uint64_t{kHalfTile / 16} << 16 | (address & 0x3FFFF) / 16;
}

// d = a b or d += a b for 64 x 128 sums: a has 16 columns of 64 rows, b 16 columns of 128
// rows. Asynchronous.
__device__ void multiply_rows(float (&d)[64], std::uint64_t a, std::uint64_t b, bool add) {
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.ne.b32 add, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " WARPWISE_NAMES_64
        ", %64, %65, add, 1, 1, 0, 0;\n"
        "}"
        : WARPWISE_SUMS_64(d)
        : "l"(a), "l"(b), "r"(int{add}));
}

// d += a b for 64 x 128 sums: a is in registers, in fragments as mma has them, and b has 16
// *rows* of 128 columns.
__device__ void multiply_fragments(float (&d)[64], const unsigned (&a)[4],
                                   std::uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " WARPWISE_NAMES_64
                 ", {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
                 : WARPWISE_SUMS_64(d)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

using warpwise::fence_proxy_async;
using warpwise::wgmma_commit_group;
using warpwise::wgmma_fence;
using warpwise::wgmma_wait_group;

#endif

}  // namespace
}  // namespace examples
