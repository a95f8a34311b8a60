// The instructions of the tensor cores, each in a function: mma.sync and ldmatrix, which
// every GPU since sm_80 has, and wgmma, which sm_90a alone has.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "chapters/4_examples/matrix_multiply/product.h"

// wgmma is an instruction of sm_90a: of this chip, and of no later one. `nvcc -arch=sm_90`
// does not know it.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define COMPILED_FOR_SM_90A 1
#else
#define COMPILED_FOR_SM_90A 0
#endif

namespace examples {
namespace {

// Whether the device code of this program was compiled for sm_90a. Device code itself tells
// the host, because the host code is compiled only once, for all architectures.
__constant__ const int d_compiled_for_sm_90a = COMPILED_FOR_SM_90A;

// d += a b for 16 x 8 sums, by one warp: a holds 32 bytes of each of 16 rows of A, b of 8
// columns of B.
template <Precision precision>
__device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    if constexpr (precision == Precision::bf16) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
#endif
}

// Loads four matrices of 8 rows of 16 bytes from shared memory. Lanes 8 i to 8 i + 7 give
// the addresses of the rows of matrix i, which goes to word i of the fragment.
__device__ void load_matrices(unsigned (&fragment)[4], unsigned from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]),
                   "=r"(fragment[3])
                 : "r"(from)
                 : "memory");
#endif
}

#if COMPILED_FOR_SM_90A

// 128 sums in 128 registers, which the instruction wants by name.
// clang-format off
#define SUMS_8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                     "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS_32(d, i) SUMS_8(d, i), SUMS_8(d, i + 8), SUMS_8(d, i + 16), SUMS_8(d, i + 24)
#define SUMS_128(d) SUMS_32(d, 0), SUMS_32(d, 32), SUMS_32(d, 64), SUMS_32(d, 96)
#define NAMES_128 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, " \
    "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, " \
    "%124, %125, %126, %127}"
// clang-format on

// d = a b, or d += a b: 64 rows of A with 256 rows of B transposed, 32 bytes of each, by
// 128 threads. Asynchronous. Warp w of the four holds rows 16 w to 16 w + 15, as 32
// fragments of C side by side, each as in step 1.
template <Precision precision>
__device__ void wgmma(float (&d)[128], std::uint64_t a, std::uint64_t b, bool add) {
    if constexpr (precision == Precision::bf16) {
        asm volatile(
            "{\n"
            ".reg .pred add;\n"
            "setp.ne.b32 add, %130, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " NAMES_128
            ", %128, %129, add, 1, 1, 0, 0;\n"
            "}"
            : SUMS_128(d)
            : "l"(a), "l"(b), "r"(int{add}));
    } else {
        asm volatile(
            "{\n"
            ".reg .pred add;\n"
            "setp.ne.b32 add, %130, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " NAMES_128
            ", %128, %129, add, 1, 1;\n"
            "}"
            : SUMS_128(d)
            : "l"(a), "l"(b), "r"(int{add}));
    }
}

// Before the first wgmma of a group: orders it after earlier writes to its registers.
__device__ void open_group() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ void close_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until no more than the last `pending` groups are in flight. The sums are operands
// so that the compiler does not read them earlier.
template <unsigned pending>
__device__ void wait_for_groups(float (&d)[128]) {
    asm volatile("wgmma.wait_group.sync.aligned %128;"
                 : SUMS_128(d)
                 : "n"(pending)
                 : "memory");
}

#endif

}  // namespace
}  // namespace examples
