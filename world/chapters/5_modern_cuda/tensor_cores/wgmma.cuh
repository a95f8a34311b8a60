// wgmma, by the format of its operands. sm_90a alone has it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "chapters/5_modern_cuda/tensor_cores/formats.h"
#include "common/helpers/tensor_core.cuh"

namespace modern_cuda {
namespace {

// Whether the device code of this program was compiled for sm_90a. Device code itself tells
// the host, because the host code is compiled only once, for all architectures.
__constant__ const int d_compiled_for_sm_90a = WARPWISE_SM_90A;

#if WARPWISE_SM_90A

// wgmma wants its sums by name, one register each: 64 or 128 per thread.
// clang-format off
#define SUMS_8(c, d, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), \
                        c(d[i + 4]), c(d[i + 5]), c(d[i + 6]), c(d[i + 7])
#define SUMS_32(c, d, i) SUMS_8(c, d, i), SUMS_8(c, d, i + 8), \
                         SUMS_8(c, d, i + 16), SUMS_8(c, d, i + 24)
#define SUMS_64(c, d) SUMS_32(c, d, 0), SUMS_32(c, d, 32)
#define SUMS_128(c, d) SUMS_64(c, d), SUMS_32(c, d, 64), SUMS_32(c, d, 96)
#define NAMES_64 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, " \
    "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, " \
    "%26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, " \
    "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, " \
    "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define NAMES_128 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, " \
    "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, " \
    "%26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, " \
    "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, " \
    "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, " \
    "%65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, " \
    "%78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, " \
    "%91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, " \
    "%104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, " \
    "%117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define WGMMA_64(c, instruction, scales) \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n" \
                 "wgmma.mma_async.sync.aligned.m64n128" instruction " " NAMES_64 \
                 ", %64, %65, add" scales ";\n}" \
                 : SUMS_64(c, d) : "l"(a), "l"(b), "r"(int{add}))
#define WGMMA_128(c, instruction, scales) \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n" \
                 "wgmma.mma_async.sync.aligned.m64n256" instruction " " NAMES_128 \
                 ", %128, %129, add" scales ";\n}" \
                 : SUMS_128(c, d) : "l"(a), "l"(b), "r"(int{add}))
// clang-format on

// d = a b, or d += a b: 64 rows of A with 2 `registers` rows of B transposed, 32 bytes of
// each, by 128 threads. Asynchronous. Warp w of the four holds rows 16 w to 16 w + 15, as
// fragments of C side by side, each as mma.sync has it.
template <class Format, class Sum, unsigned registers>
__device__ void wgmma(Sum (&d)[registers], std::uint64_t a, std::uint64_t b, bool add) {
    static_assert(registers == 64 || registers == 128);
#define WGMMA(c, instruction, scales)      \
    if constexpr (registers == 64) {       \
        WGMMA_64(c, instruction, scales);  \
    } else {                               \
        WGMMA_128(c, instruction, scales); \
    }
    if constexpr (std::is_same_v<Format, Fp16>) {
        WGMMA("+f", "k16.f32.f16.f16", ", 1, 1, 0, 0")
    } else if constexpr (std::is_same_v<Format, Bf16>) {
        WGMMA("+f", "k16.f32.bf16.bf16", ", 1, 1, 0, 0")
    } else if constexpr (std::is_same_v<Format, Tf32>) {
        WGMMA("+f", "k8.f32.tf32.tf32", ", 1, 1")
    } else if constexpr (std::is_same_v<Format, Int8>) {
        WGMMA("+r", "k32.s32.s8.s8", "")
    } else {
        WGMMA("+f", "k32.f32.e4m3.e4m3", ", 1, 1")
    }
#undef WGMMA
}

// Keeps what reads the sums after this place, and what writes them before it.
template <class Sum, unsigned registers>
__device__ void keep_in_place(Sum (&d)[registers]) {
    if constexpr (std::is_same_v<Sum, int>) {
#pragma unroll
        for (unsigned i = 0; i < registers; ++i) asm volatile("" : "+r"(d[i])::"memory");
    } else {
#pragma unroll
        for (unsigned i = 0; i < registers; ++i) asm volatile("" : "+f"(d[i])::"memory");
    }
}

// Waits until no more than the last `pending` groups are in flight.
template <unsigned pending, class Sum, unsigned parts, unsigned registers>
__device__ void wait_for_groups(Sum (&sums)[parts][registers]) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#pragma unroll
    for (unsigned part = 0; part < parts; ++part) keep_in_place(sums[part]);
}

#endif

}  // namespace
}  // namespace modern_cuda
