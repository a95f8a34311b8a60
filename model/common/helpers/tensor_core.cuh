// The tensor core instructions that CUDA C++ has only as PTX, each in a function: mma.sync, ldmatrix, the conversion to
// TF32, and what several files share of wgmma.
//
//     __shared__ __align__(16) __half tile[16][16];
//     unsigned a[4], b[2] = {...};
//     float d[4] = {};
//     const unsigned lane = threadIdx.x % 32;
//     warpwise::ldmatrix(a, warpwise::shared_address(&tile[lane % 16][lane / 16 * 8]));
//     warpwise::mma_m16n8k16_f16(d, a, b);    // d += a b
//
// All 32 lanes of a warp call these functions together. Each lane holds a part of every matrix, its fragment. With
// g = lane / 4 and t = lane % 4, the fragments of d += a b are, in every shape:
//
//     d[0], d[1]    row g,     columns 2 t and 2 t + 1         (of 16 x 8 sums)
//     d[2], d[3]    row g + 8, the same columns
//     a[0], a[1]    rows g and g + 8, bytes 4 t to 4 t + 3 of the row
//     a[2], a[3]    rows g and g + 8, bytes 16 + 4 t to 16 + 4 t + 3
//     b[0], b[1]    column g, bytes 4 t to 4 t + 3, and bytes 16 + 4 t to 16 + 4 t + 3
//
// So a row of a, and a column of b, has 32 bytes in all shapes: 16 elements of 2 bytes, 8 of TF32 (4 bytes), 32 of one
// byte. Elements with a lower k lie in the lower bits of a register. (Sources: "Matrix Fragments for mma.m16n8k16" and
// its neighbors, PTX ISA 9.0.)
//
// mma.sync and ldmatrix need compute capability 8.0, the FP8 forms 8.9. Code for an older GPU compiles, and traps.
// wgmma exists on sm_90a alone. The CPU device runs all but wgmma.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifdef __CPU_DEVICE__
#include "cpu_device/tensor_core.h"
#endif

// wgmma is an instruction of sm_90a: of this chip, and of no later one. `nvcc -arch=sm_90` does not know it.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define WARPWISE_SM_90A 1
#else
#define WARPWISE_SM_90A 0
#endif

namespace warpwise {

/// An address in shared memory as instructions take it: 32 bits, which count from the start of the shared window.
__device__ inline unsigned shared_address(const void* address) {
    return static_cast<unsigned>(__cvta_generic_to_shared(address));
}

#ifndef __CPU_DEVICE__

// ---- mma.sync: d += a b for 16 x 8 sums, by one warp -------------------------------------------------------------

#define WARPWISE_MMA(name, minimum, instruction)                                                            \
    __device__ inline void name(float(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2]) {               \
        WARPWISE_IF_ARCH_##minimum(asm("mma.sync.aligned." instruction                                      \
                                       " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"   \
                                       : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                     \
                                       : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))) \
    }

#if __CUDA_ARCH__ >= 800
#define WARPWISE_IF_ARCH_800(...) __VA_ARGS__;
#else
#define WARPWISE_IF_ARCH_800(...) __trap();
#endif
#if __CUDA_ARCH__ >= 890
#define WARPWISE_IF_ARCH_890(...) __VA_ARGS__;
#else
#define WARPWISE_IF_ARCH_890(...) __trap();
#endif

/// 16 products of FP16 each, added in FP32.
WARPWISE_MMA(mma_m16n8k16_f16, 800, "m16n8k16.row.col.f32.f16.f16.f32")
/// 16 products of bf16 each, added in FP32.
WARPWISE_MMA(mma_m16n8k16_bf16, 800, "m16n8k16.row.col.f32.bf16.bf16.f32")
/// 8 products of TF32 each, added in FP32. The registers hold floats, of which the lower 13 bits are ignored: round
/// with to_tf32 before.
WARPWISE_MMA(mma_m16n8k8_tf32, 800, "m16n8k8.row.col.f32.tf32.tf32.f32")
/// 32 products of FP8 each, added in FP32 (sm_89 and later).
WARPWISE_MMA(mma_m16n8k32_e4m3, 890, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
WARPWISE_MMA(mma_m16n8k32_e5m2, 890, "m16n8k32.row.col.f32.e5m2.e5m2.f32")

/// 16 products of FP16 each, added in FP16: d[0] holds the two sums of row g, d[1] those of row g + 8.
__device__ inline void mma_m16n8k16_f16(unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2]){
    WARPWISE_IF_ARCH_800(asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
                             " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                             : "+r"(d[0]), "+r"(d[1])
                             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))}

/// 32 products of signed bytes each, added exactly, modulo 2^32.
__device__ inline void mma_m16n8k32_s8(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]){
    WARPWISE_IF_ARCH_800(asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
                             " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))}

// ---- ldmatrix: fragments from shared memory ------------------------------------------------------------------------

/// Loads one, two, or four matrices of 8 rows of 16 bytes from shared memory. Lanes 8 i to 8 i + 7 give the addresses
/// of the rows of matrix i, each a multiple of 16 (other lanes' addresses are ignored). Lane 4 g + t gets bytes 4 t to
/// 4 t + 3 of row g of matrix i in fragment[i].
__device__ inline void ldmatrix(unsigned (&fragment)[1], unsigned row){
    WARPWISE_IF_ARCH_800(asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                                      : "=r"(fragment[0])
                                      : "r"(row)
                                      : "memory"))} __device__ inline void ldmatrix(unsigned (&fragment)[2],
                                                                                    unsigned row){
    WARPWISE_IF_ARCH_800(asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                                      : "=r"(fragment[0]), "=r"(fragment[1])
                                      : "r"(row)
                                      : "memory"))} __device__ inline void ldmatrix(unsigned (&fragment)[4],
                                                                                    unsigned row){
    WARPWISE_IF_ARCH_800(asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                                      : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
                                      : "r"(row)
                                      : "memory"))}

/// The same, with each matrix of 8 x 8 elements of 2 bytes transposed: lane 4 g + t gets the elements of column g in
/// rows 2 t (lower half) and 2 t + 1.
__device__ inline void ldmatrix_trans(unsigned (&fragment)[1], unsigned row){
    WARPWISE_IF_ARCH_800(asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                                      : "=r"(fragment[0])
                                      : "r"(row)
                                      : "memory"))} __device__ inline void ldmatrix_trans(unsigned (&fragment)[2],
                                                                                          unsigned row){
    WARPWISE_IF_ARCH_800(asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                                      : "=r"(fragment[0]), "=r"(fragment[1])
                                      : "r"(row)
                                      : "memory"))} __device__ inline void ldmatrix_trans(unsigned (&fragment)[4],
                                                                                          unsigned row){
    WARPWISE_IF_ARCH_800(asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                                      : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
                                      : "r"(row)
                                      : "memory"))}

// ---- conversion ----------------------------------------------------------------------------------------------------

/// Rounds to TF32, 10 bits of fraction: to the nearest, ties away from zero. The lower 13 bits of the result are 0.
__device__ inline unsigned to_tf32(float value) {
    unsigned bits = 0;
    WARPWISE_IF_ARCH_800(asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value)))
    return bits;
}

#undef WARPWISE_MMA
#undef WARPWISE_IF_ARCH_800
#undef WARPWISE_IF_ARCH_890

// ---- wgmma: what all its users share -------------------------------------------------------------------------------

#if WARPWISE_SM_90A

/// Before the first wgmma of a group: orders it after earlier writes to its registers.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// All wgmma of this warpgroup that no group holds yet become one group.
__device__ inline void wgmma_commit_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// 64 or 128 sums as operands, which the instruction wants by name: %0, %1, and so on.
// clang-format off
#define WARPWISE_SUMS_8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                              "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define WARPWISE_SUMS_32(d, i) WARPWISE_SUMS_8(d, i), WARPWISE_SUMS_8(d, i + 8), \
                               WARPWISE_SUMS_8(d, i + 16), WARPWISE_SUMS_8(d, i + 24)
#define WARPWISE_SUMS_64(d) WARPWISE_SUMS_32(d, 0), WARPWISE_SUMS_32(d, 32)
#define WARPWISE_SUMS_128(d) WARPWISE_SUMS_64(d), WARPWISE_SUMS_32(d, 64), WARPWISE_SUMS_32(d, 96)
#define WARPWISE_NAMES_64 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define WARPWISE_NAMES_128 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
// clang-format on

/// Waits until no more than the last `pending` groups are in flight. The sums are operands, so that the compiler does
/// not read them earlier.
template <unsigned pending>
__device__ void wgmma_wait_group(float (&sums)[64]) {
    asm volatile("wgmma.wait_group.sync.aligned %64;" : WARPWISE_SUMS_64(sums) : "n"(pending) : "memory");
}
template <unsigned pending>
__device__ void wgmma_wait_group(float (&sums)[128]) {
    asm volatile("wgmma.wait_group.sync.aligned %128;" : WARPWISE_SUMS_128(sums) : "n"(pending) : "memory");
}

/// wgmma and the tensor memory accelerator read shared memory by another way (the asynchronous proxy) than the threads
/// write it. This makes visible to them what the calling thread has written.
__device__ inline void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

#endif

#else

// The same on the CPU device.
#define WARPWISE_MMA(name, n, k, input)                                                                     \
    CPU_DEVICE_UNSEEN inline void name(float(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2],          \
                                       CPU_DEVICE_CALL_SITE) {                                              \
        using Number = cpu_device::MatrixNumber;                                                            \
        cpu_device::multiply_fragments({16, n, k, Number::input, Number::f32, Number::f32}, d, a, b, site); \
    }
WARPWISE_MMA(mma_m16n8k16_f16, 8, 16, f16)
WARPWISE_MMA(mma_m16n8k16_bf16, 8, 16, bf16)
WARPWISE_MMA(mma_m16n8k8_tf32, 8, 8, tf32)
WARPWISE_MMA(mma_m16n8k32_e4m3, 8, 32, e4m3)
WARPWISE_MMA(mma_m16n8k32_e5m2, 8, 32, e5m2)
#undef WARPWISE_MMA
CPU_DEVICE_UNSEEN inline void mma_m16n8k16_f16(unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2],
                                               CPU_DEVICE_CALL_SITE) {
    using Number = cpu_device::MatrixNumber;
    cpu_device::multiply_fragments({16, 8, 16, Number::f16, Number::f16, Number::f16}, d, a, b, site);
}
CPU_DEVICE_UNSEEN inline void mma_m16n8k32_s8(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                                              CPU_DEVICE_CALL_SITE) {
    using Number = cpu_device::MatrixNumber;
    cpu_device::multiply_fragments({16, 8, 32, Number::s8, Number::s32, Number::s32}, d, a, b, site);
}
using cpu_device::ldmatrix;
using cpu_device::ldmatrix_trans;
inline unsigned to_tf32(float value) { return cpu_device::rounded_to_tf32(value); }

#endif

}  // namespace warpwise
