// What steps 4 to 7 do with tensor cores, each in a function: multiply fragments
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

// What each lane of the warp brought. (CPU_DEVICE_UNSEEN: what only stands for the hardware
// is not counted.)
template <class T>
CPU_DEVICE_UNSEEN __device__ cpu_device::Gathered<T> from_all_lanes(const T& own) {
    return cpu_device::gather(cpu_device::Collective::shuffle, ~0u, own,
                              cpu_device::Site{__FILE__, __LINE__});
}

// Adds the products of two pairs.
CPU_DEVICE_UNSEEN __device__ float with_products(float sum, unsigned a, unsigned b) {
    return sum + low_of(a) * low_of(b) + high_of(a) * high_of(b);
}

CPU_DEVICE_UNSEEN __device__ void multiply_fragments(float (&d)[4], const unsigned (&a)[4],
                                                     unsigned b0, unsigned b1) {
    struct Fragments {
        unsigned a[4], b[2];
    };
    struct Words {
        unsigned of[2];
    };
    const Fragments own = {{a[0], a[1], a[2], a[3]}, {b0, b1}};
    const unsigned lane = threadIdx.x % kLanes, g = lane / 4, col = lane % 4 * 2;
    // Of 8 bytes at a time, the words of the four lanes that hold a row of a, and of the
    // eight that hold two columns of b.
    Words rows[3][4], columns[8];
    cpu_device::exchange(
        cpu_device::Collective::shuffle, ~0u, own, cpu_device::Site{__FILE__, __LINE__},
        [&](std::size_t offset, std::size_t, const cpu_device::LaneValues& values) {
            for (unsigned t = 0; t < 4; ++t)
                rows[offset / 8][t] = __builtin_bit_cast(Words, values.value[4 * g + t]);
            for (unsigned t = 0; t < 8; ++t)
                columns[t] = __builtin_bit_cast(Words, values.value[4 * col + t]);
        });
    for (unsigned half = 0; half < 2; ++half) {
        for (unsigned t = 0; t < 4; ++t) {
            const Words& pair = rows[half][t];
            d[0] = with_products(d[0], pair.of[0], columns[t].of[half]);
            d[1] = with_products(d[1], pair.of[0], columns[4 + t].of[half]);
            d[2] = with_products(d[2], pair.of[1], columns[t].of[half]);
            d[3] = with_products(d[3], pair.of[1], columns[4 + t].of[half]);
        }
    }
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
    multiply_fragments(d, a, b0, b1);
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
