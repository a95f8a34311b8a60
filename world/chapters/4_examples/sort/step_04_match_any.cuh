// Step 4 of the lesson sort: lanes find those with the same digit by one instruction.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "chapters/4_examples/sort/step_03_scan_per_digit.cuh"

namespace examples {
namespace {

constexpr unsigned kBits = 8, kDigits = 1 << kBits;  // per digit; one thread for each
static_assert(kDigits == kThreads);

// Step 4, ranks by __match_any_sync. It tells each lane which lanes of the warp have the
// same value. The number of those below is the rank in the row, for any number of digits.
// So a digit can have 8 bits, and four passes are enough. The counts of 256 digits do not
// fit into one register per lane: each warp has counters in shared memory. All lanes read
// the counter of their digit, and then the lowest lane of each digit adds. __syncwarp()
// stands between the reads and the addition, and again before the next row, because
// shuffles and matches do not order accesses to memory. Faster because there are half as
// many passes, and one match in place of 16 ballots. Still slow because the lanes of a row
// store to up to 32 different runs, so that a store touches up to 32 sectors, where 4 would
// be enough.
__global__ void scatter_by_match(const unsigned* in, unsigned* out, std::size_t count,
                                 unsigned shift, const unsigned* counts,
                                 const unsigned* totals) {
    __shared__ unsigned warp_counts[kWarps][kDigits];
    __shared__ unsigned warp_sums[kWarps];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned lanes_below = (1u << lane) - 1;
    const std::size_t first = std::size_t{blockIdx.x} * kTile + warp * kWarpKeys + lane;
    unsigned keys[kKeys], ranks[kKeys];
    load_keys(in, first, count, keys);

    unsigned* const counters = warp_counts[warp];
    for (unsigned d = lane; d < kDigits; d += 32) counters[d] = 0;
    __syncwarp();
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const unsigned digit = digit_of<kBits>(keys[k], shift);
        const unsigned same = __match_any_sync(~0u, digit);
        const unsigned before = counters[digit];
        ranks[k] = before + __popc(same & lanes_below);
        __syncwarp();
        if ((same & lanes_below) == 0) counters[digit] = before + __popc(same);
        __syncwarp();
    }
    const unsigned digit_of_thread = threadIdx.x;
    const Sums sums = scan_of_block(totals[digit_of_thread], warp_sums);
    unsigned place =
        sums.before + counts[std::size_t{digit_of_thread} * gridDim.x + blockIdx.x];
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
        const unsigned of_warp = warp_counts[w][digit_of_thread];
        warp_counts[w][digit_of_thread] = place;
        place += of_warp;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const unsigned digit = digit_of<kBits>(keys[k], shift);
        if (first + k * 32 < count) out[counters[digit] + ranks[k]] = keys[k];
    }
}

}  // namespace
}  // namespace examples
