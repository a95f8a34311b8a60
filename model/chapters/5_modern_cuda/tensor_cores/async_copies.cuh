// Copies from global to shared memory by cp.async, which every GPU since sm_80 has.
#pragma once

#include <cuda_runtime.h>

#include "chapters/5_modern_cuda/tensor_cores/operands.cuh"

namespace modern_cuda {
namespace {

// Starts a copy of 16 bytes to shared memory, or of as many zeros.
__device__ void copy_chunk(unsigned to, const unsigned char* from, bool inside) {
#if __CUDA_ARCH__ >= 800
    const unsigned bytes = inside ? kChunk : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(bytes)
                 : "memory");
#endif
}

// Ends a group of copies, which may be empty.
__device__ void close_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until no more than the last `pending` groups are in flight.
template <unsigned pending>
__device__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

}  // namespace
}  // namespace modern_cuda
