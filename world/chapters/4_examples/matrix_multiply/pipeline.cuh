// What steps 14 to 23 share: asynchronous copies, and what follows from the sizes of the
// tiles.
#pragma once

#include <cuda_runtime.h>

#ifndef __CPU_DEVICE__
#include <cuda_pipeline_primitives.h>
#endif

#include <type_traits>

#include "chapters/4_examples/matrix_multiply/tiles.cuh"

namespace examples {
namespace {

// Copies `bytes` (4 or 16) from global to shared memory while the thread goes on. Since
// compute capability 8.0 that is an instruction of its own, cp.async, which needs no
// registers on the way. An older GPU and the CPU device copy at once. Copies are committed
// in groups, and a thread waits until all but the last `pending` groups of its own copies
// have arrived. A barrier after that wait makes it all copies of the block.
template <unsigned bytes>
__device__ void copy_async(float* shared, const float* global) {
#ifdef __CPU_DEVICE__
    using Bytes = std::conditional_t<bytes == 16, float4, float>;
    *reinterpret_cast<Bytes*>(shared) = *reinterpret_cast<const Bytes*>(global);
#else
    __pipeline_memcpy_async(shared, global, bytes);
#endif
}

__device__ void commit_copies() {
#ifndef __CPU_DEVICE__
    __pipeline_commit();
#endif
}

template <unsigned pending>
__device__ void wait_for_copies() {
#ifndef __CPU_DEVICE__
    __pipeline_wait_prior(pending);
#endif
}

// Adds left * right to `sum`. `lost` is what rounding has taken from it so far, as in step
// 5.
__device__ void add_product(float& sum, float& lost, float left, float right) {
    const float term = fmaf(left, right, -lost);
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
}

// `Sizes` has BM, BN, BK (the block's tile), WM, WN (the warp's), TM, TN (the thread's),
// and blocks_per_sm. A thread's rows and columns come in groups of four, as in steps 12 and
// 13.
template <class Sizes>
struct Tiling : Sizes {
    static constexpr unsigned warps_across = Sizes::BN / Sizes::WN;
    static constexpr unsigned threads = Sizes::BM / Sizes::WM * warps_across * kLanes;
    static constexpr unsigned lanes_across = Sizes::WN / Sizes::TN;
    // From a group to the next one.
    static constexpr unsigned next_rows = 4 * (kLanes / lanes_across);
    static constexpr unsigned next_cols = 4 * lanes_across;

    static_assert(Sizes::BM % Sizes::WM == 0 && Sizes::BN % Sizes::WN == 0);
    static_assert(Sizes::TM % 4 == 0 && Sizes::TN % 4 == 0);
    static_assert(Sizes::TM * Sizes::TN * kLanes == Sizes::WM * Sizes::WN);
    static_assert(lanes_across == 4 || lanes_across == 8);
    static_assert(Sizes::BK % 8 == 0);
    static_assert(Sizes::BM % (threads / 8) == 0, "8 lanes copy a row of A");
    static_assert(threads % Sizes::BN == 0, "the threads copy whole rows of B");
};

}  // namespace
}  // namespace examples
