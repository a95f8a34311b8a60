// What step 6 uses of an H100 or H200: wgmma, with which four warps multiply matrices in
// shared memory. It is an instruction of sm_90a: of this chip, and of no later one.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "chapters/4_examples/attention/tensor_core.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define ATTENTION_COMPILED_FOR_SM_90A 1
#else
#define ATTENTION_COMPILED_FOR_SM_90A 0
#endif

namespace examples {
namespace {

// Whether the device code of this program was compiled for sm_90a. Device code itself tells
// the host, because the host code is compiled only once, for all architectures.
__constant__ const int d_attention_for_sm_90a = ATTENTION_COMPILED_FOR_SM_90A;

constexpr unsigned kGroup = 128;  // threads of a warpgroup

// A tile in shared memory: 128 rows of 128 elements, as two halves of 64 columns. A row of
// a half has 128 bytes, and wgmma wants its chunks swizzled like this.
constexpr unsigned kHalfRow = 128, kHalfTile = 128 * kHalfRow, kWholeTile = 2 * kHalfTile;
__device__ unsigned swizzled_in_halves(unsigned row, unsigned chunk) {
    return chunk / 8 * kHalfTile + row * kHalfRow + (chunk % 8 ^ row % 8) * 16;
}

#if ATTENTION_COMPILED_FOR_SM_90A

// 64 sums in 64 registers, which the instruction wants by name.
// clang-format off
#define SUMS_8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                     "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS_64(d) SUMS_8(d, 0), SUMS_8(d, 8), SUMS_8(d, 16), SUMS_8(d, 24), \
                   SUMS_8(d, 32), SUMS_8(d, 40), SUMS_8(d, 48), SUMS_8(d, 56)
#define NAMES_64 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
// clang-format on

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
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " NAMES_64
        ", %64, %65, add, 1, 1, 0, 0;\n"
        "}"
        : SUMS_64(d)
        : "l"(a), "l"(b), "r"(int{add}));
}

// d += a b for 64 x 128 sums: a is in registers, in fragments as mma has them, and b has 16
// *rows* of 128 columns.
__device__ void multiply_fragments(float (&d)[64], const unsigned (&a)[4],
                                   std::uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " NAMES_64
                 ", {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
                 : SUMS_64(d)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// Before the first wgmma of a group: orders it after earlier writes to its registers.
__device__ void open_group() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ void close_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until no more than the last `pending` groups are in flight. The sums are operands
// so that the compiler does not read them earlier.
template <unsigned pending>
__device__ void wait_for_groups(float (&d)[64]) {
    asm volatile("wgmma.wait_group.sync.aligned %64;"
                 : SUMS_64(d)
                 : "n"(pending)
                 : "memory");
}

// wgmma reads shared memory by another way than the threads write it, so what they have
// written has to be made visible to it.
__device__ void make_visible_to_wgmma() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#endif

}  // namespace
}  // namespace examples
