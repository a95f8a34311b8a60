// What steps 3 and 4 on tensor cores share: the roles of the warpgroups, the ring of slots,
// and the multiplications of one slice.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "chapters/4_examples/matrix_multiply/tensor_instructions.cuh"
#include "chapters/4_examples/matrix_multiply/tensor_tiles.cuh"

namespace examples {
namespace {

// Three warpgroups of 128 threads. The first one only loads, the other two multiply 64 rows
// of the tile each.
constexpr unsigned kGroup = 128;
constexpr unsigned kWgmmaThreads = 3 * kGroup;
constexpr unsigned kMultiplyingWarps = 2 * kGroup / 32;
constexpr unsigned kSlots = 4;
constexpr unsigned kAlignment = 1024;  // of slots: eight rows of a slice

#if COMPILED_FOR_SM_90A

// A place in the ring, and the parity of the round.
struct RingPlace {
    unsigned slot = 0, parity = 0;
    __device__ void advance() {
        if (++slot == kSlots) {
            slot = 0;
            parity ^= 1;
        }
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

// The multiplications of one slice, 128 bytes of each row, as one group.
template <Precision precision>
__device__ void multiply_slice(float (&sums)[128], unsigned slot_of_a, unsigned slot_of_b,
                               bool first) {
    const std::uint64_t a = rows_at(slot_of_a), b = rows_at(slot_of_b);
    open_group();
#pragma unroll
    for (unsigned step = 0; step < kSliceBytes / kStepBytes; ++step)
        wgmma<precision>(sums, a + step * kStepInDescriptor, b + step * kStepInDescriptor,
                         !first || step != 0);
    close_group();
}

#endif

}  // namespace
}  // namespace examples
