// What the steps with wgmma share: the roles of the warpgroups, the ring of slots,
// and the multiplications of one slice.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "chapters/5_modern_cuda/tensor_cores/tiles.cuh"
#include "chapters/5_modern_cuda/tensor_cores/wgmma.cuh"

namespace modern_cuda {
namespace {

// Three warpgroups of 128 threads. The first one only loads, the other two multiply 64 rows
// of the tile each.
constexpr unsigned kGroup = 128;
constexpr unsigned kWgmmaThreads = 3 * kGroup;
constexpr unsigned kMultiplyingWarps = 2 * kGroup / 32;
constexpr unsigned kSlots = 4;
constexpr unsigned kAlignment = 1024;  // of slots: eight rows of a slice

#if WARPWISE_SM_90A

// A place in a ring of `slots`, and the parity of the round.
template <unsigned slots>
struct RingPlace {
    unsigned slot = 0, parity = 0;
    __device__ void advance() {
        if (++slot == slots) {
            slot = 0;
            parity ^= 1;
        }
    }
    __device__ void advance(unsigned places) {
        const unsigned to = slot + places;
        slot = to % slots;
        parity ^= to / slots & 1;
    }
};

// Describes a slice to wgmma, by the address of its first row. From bit 0: address / 16;
// from 16: not used with this swizzle; from 32: distance of two groups of eight rows / 16;
// from 62: 1 for the 128-byte swizzle. Slots begin at multiples of 1024 bytes. For the next
// 32 bytes of each row, the address is 32 bytes higher: the hardware swizzles the sum.
__device__ std::uint64_t rows_at(unsigned address) {
    constexpr std::uint64_t eight_rows = 8 * kSliceBytes;
    return std::uint64_t{1} << 62 | eight_rows / 16 << 32 | std::uint64_t{1} << 16 |
           (address & 0x3FFFF) / 16;
}
constexpr unsigned kStepInDescriptor = kStepBytes / 16;

// The multiplications of one slice, 128 bytes of each row, as one group: `parts` times 64
// rows of A, with all of B.
template <class Format, class Sum, unsigned parts, unsigned registers>
__device__ void multiply_slice(Sum (&sums)[parts][registers], unsigned slot_of_a,
                               unsigned slot_of_b, bool first) {
    const std::uint64_t a = rows_at(slot_of_a), b = rows_at(slot_of_b);
    constexpr unsigned part_in_descriptor = 64 * kSliceBytes / 16;
    warpwise::wgmma_fence();
#pragma unroll
    for (unsigned step = 0; step < kSliceBytes / kStepBytes; ++step) {
#pragma unroll
        for (unsigned part = 0; part < parts; ++part)
            wgmma<Format>(sums[part],
                          a + part * part_in_descriptor + step * kStepInDescriptor,
                          b + step * kStepInDescriptor, !first || step != 0);
    }
    warpwise::wgmma_commit_group();
}

#endif

}  // namespace
}  // namespace modern_cuda
