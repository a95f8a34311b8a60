// What steps 4 to 7 need beside the instructions of tensor cores, which are in
// common/helpers/tensor_core.cuh: copies to shared memory (cp.async), a fast exponential,
// and pairs of bf16.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "chapters/4_examples/attention/heads.cuh"
#include "common/helpers/tensor_core.cuh"

namespace examples {
namespace {

using warpwise::ldmatrix;
using warpwise::ldmatrix_trans;
using warpwise::mma_m16n8k16_bf16;
using warpwise::shared_address;

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
