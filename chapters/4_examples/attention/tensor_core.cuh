// What steps 4 to 6 do with tensor cores, each in a function: multiply fragments
// (mma.sync), load them from shared memory (ldmatrix), and copy to shared memory
// (cp.async). GPUs from sm_80 on have these instructions.
//
// The CPU device has no tensor cores. There, the functions do the same with the words of
// all lanes of the warp, so the steps can be checked and counted. A load of four matrices
// takes four requests there and one on a GPU, with as many wavefronts.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "chapters/4_examples/attention/heads.cuh"

namespace examples {
namespace {

// An address in shared memory, as instructions take it.
__device__ unsigned shared_address(const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

#ifdef __CPU_DEVICE__

// What each lane of the warp brought.
template <class T>
__device__ cpu_device::Gathered<T> from_all_lanes(const T& own) {
    return cpu_device::gather(cpu_device::Collective::shuffle, ~0u, own,
                              cpu_device::Site{__FILE__, __LINE__});
}

// Adds the products of two pairs.
__device__ float with_products(float sum, unsigned a, unsigned b) {
    return sum + low_of(a) * low_of(b) + high_of(a) * high_of(b);
}

// Words of four matrices: lanes 8 i to 8 i + 7 gave the addresses of the rows of matrix i.
struct Words {
    unsigned of[4];
};
__device__ Words words_of_matrices(unsigned from) {
    const unsigned lane = threadIdx.x % kLanes;
    const auto rows = from_all_lanes(from);
    Words words;
    for (unsigned i = 0; i < 4; ++i) {
        const void* const row = __cvta_shared_to_generic(rows[8 * i + lane / 4]);
        words.of[i] = static_cast<const unsigned*>(row)[lane % 4];
    }
    return words;
}

#endif

// d += a b for 16 x 8 sums, by one warp: a has 16 rows of 16 bf16, b has 8 columns of 16.
// Lane 4 g + t has of a the elements 2 t, 2 t + 1 and 2 t + 8, 2 t + 9 of the rows g and
// g + 8, of b the same elements of column g, and of d the columns 2 t and 2 t + 1 of the
// rows g and g + 8.
__device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#ifdef __CPU_DEVICE__
    struct Fragments {
        unsigned a[4], b[2];
    };
    const auto of = from_all_lanes(Fragments{{a[0], a[1], a[2], a[3]}, {b0, b1}});
    const unsigned lane = threadIdx.x % kLanes, g = lane / 4, col = lane % 4 * 2;
    for (unsigned t = 0; t < 4; ++t) {
        const Fragments rows = of[4 * g + t], left = of[4 * col + t],
                        right = of[4 * (col + 1) + t];
        for (unsigned half = 0; half < 2; ++half) {
            const unsigned upper = rows.a[2 * half], lower = rows.a[2 * half + 1];
            d[0] = with_products(d[0], upper, left.b[half]);
            d[1] = with_products(d[1], upper, right.b[half]);
            d[2] = with_products(d[2], lower, left.b[half]);
            d[3] = with_products(d[3], lower, right.b[half]);
        }
    }
#elif __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// Loads four matrices of 8 rows of 16 bytes from shared memory. Lanes 8 i to 8 i + 7 give
// the addresses of the rows of matrix i. Lane 4 g + t gets word t of row g of each.
__device__ void load_matrices(unsigned (&fragment)[4], unsigned from) {
#ifdef __CPU_DEVICE__
    const Words words = words_of_matrices(from);
    for (unsigned i = 0; i < 4; ++i) fragment[i] = words.of[i];
#elif __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]),
                   "=r"(fragment[3])
                 : "r"(from)
                 : "memory");
#endif
}

// The same, but each matrix is transposed on the way: lane 4 g + t gets the elements 2 t
// and 2 t + 1 of *column* g, the earlier one in the lower half.
__device__ void load_matrices_transposed(unsigned (&fragment)[4], unsigned from) {
#ifdef __CPU_DEVICE__
    const auto words = from_all_lanes(words_of_matrices(from));
    const unsigned lane = threadIdx.x % kLanes, g = lane / 4, t = lane % 4;
    const Words upper = words[4 * (2 * t) + g / 2], lower = words[4 * (2 * t + 1) + g / 2];
    const unsigned shift = g % 2 * 16;
    for (unsigned i = 0; i < 4; ++i)
        fragment[i] = (upper.of[i] >> shift & 0xFFFF) | (lower.of[i] >> shift & 0xFFFF)
                                                            << 16;
#elif __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]),
                   "=r"(fragment[3])
                 : "r"(from)
                 : "memory");
#endif
}

// Starts a copy of 16 bytes to shared memory, or of as many zeros. The CPU device copies at
// once.
__device__ void copy_chunk(unsigned to, const Bf16* from, bool exists) {
#ifdef __CPU_DEVICE__
    *static_cast<uint4*>(__cvta_shared_to_generic(to)) =
        exists ? *reinterpret_cast<const uint4*>(from) : uint4{0, 0, 0, 0};
#elif __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(exists ? 16u : 0u)
                 : "memory");
#endif
}

// Waits for all copies that this thread has started.
__device__ void wait_for_copies() {
#if !defined(__CPU_DEVICE__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// 2^x with the one instruction that computes it, to two units in the last place. (exp2f
// takes three more, for results below 2^-126.)
__device__ float exp2_of(float x) {
#ifdef __CPU_DEVICE__
    return exp2f(x);
#else
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#endif
}

// Two floats, rounded to bf16: the first in the lower half.
__device__ unsigned pair_of(float first, float second) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    return static_cast<unsigned>(__bfloat16_as_ushort(pair.y)) << 16 |
           __bfloat16_as_ushort(pair.x);
}

}  // namespace
}  // namespace examples
