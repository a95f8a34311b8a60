// mma.sync, by the format of its operands. Every GPU since sm_80 has it (for FP8 since
// sm_89).
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "chapters/5_modern_cuda/tensor_cores/formats.h"
#include "common/helpers/tensor_core.cuh"

namespace modern_cuda {
namespace {

// d += a b for 16 x 8 sums, by one warp: a holds 32 bytes of each of 16 rows of A, b of 8
// columns of B.
template <class Format>
__device__ void mma(typename Format::Sum (&d)[4], const unsigned (&a)[4],
                    const unsigned (&b)[2]) {
    if constexpr (std::is_same_v<Format, Fp16>) {
        warpwise::mma_m16n8k16_f16(d, a, b);
    } else if constexpr (std::is_same_v<Format, Bf16>) {
        warpwise::mma_m16n8k16_bf16(d, a, b);
    } else if constexpr (std::is_same_v<Format, Tf32>) {
        warpwise::mma_m16n8k8_tf32(d, a, b);
    } else if constexpr (std::is_same_v<Format, Int8>) {
        warpwise::mma_m16n8k32_s8(d, a, b);
    } else {
        warpwise::mma_m16n8k32_e4m3(d, a, b);
    }
}

}  // namespace
}  // namespace modern_cuda
