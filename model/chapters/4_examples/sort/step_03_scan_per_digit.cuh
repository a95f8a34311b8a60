// Step 3 of the lesson sort: by one digit after the other, and what the later steps share.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace examples {
namespace {

constexpr unsigned kThreads = 256;            // per block
constexpr unsigned kWarps = kThreads / 32;    // per block
constexpr unsigned kKeys = 16;                // per thread
constexpr unsigned kWarpKeys = 32 * kKeys;    // the part of a tile that one warp has
constexpr unsigned kTile = kThreads * kKeys;  // 4096 keys

template <unsigned Bits>
__device__ unsigned digit_of(unsigned key, unsigned shift) {
    return key >> shift & ((1u << Bits) - 1);
}

// First launch of a pass: how often does each digit occur in each tile? The counts of one
// digit lie side by side, tile after tile.
template <unsigned Bits>
__global__ void count_digits(const unsigned* keys, std::size_t count, unsigned shift,
                             unsigned* counts) {
    __shared__ unsigned counters[1 << Bits];
    if (threadIdx.x < 1 << Bits) counters[threadIdx.x] = 0;
    __syncthreads();
    const std::size_t first = std::size_t{blockIdx.x} * kTile + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const std::size_t i = first + k * kThreads;
        if (i < count) atomicAdd(&counters[digit_of<Bits>(keys[i], shift)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 1 << Bits)
        counts[std::size_t{threadIdx.x} * gridDim.x + blockIdx.x] = counters[threadIdx.x];
}

// The sum of the values of all threads of the block before this one, and of all of them.
struct Sums {
    unsigned before, all;
};

template <unsigned Warps = kWarps>
__device__ Sums scan_of_block(unsigned value, unsigned* warp_sums) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = value;
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned below = __shfl_up_sync(~0u, sum, distance);
        if (lane >= distance) sum += below;
    }
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();
    Sums sums{sum - value, 0};
#pragma unroll
    for (unsigned w = 0; w < Warps; ++w) {
        if (w < warp) sums.before += warp_sums[w];
        sums.all += warp_sums[w];
    }
    return sums;
}

// Second launch: a scan per digit. One block per digit replaces the count of each tile by
// the number of keys with this digit in all tiles before, and leaves the total.
__global__ void scan_counts(unsigned* counts, unsigned tiles, unsigned* totals) {
    __shared__ unsigned warp_sums[kWarps];
    unsigned* const row = counts + std::size_t{blockIdx.x} * tiles;
    unsigned before = 0;
    for (unsigned first = 0; first < tiles; first += kThreads) {
        const unsigned tile = first + threadIdx.x;
        const Sums sums = scan_of_block(tile < tiles ? row[tile] : 0, warp_sums);
        if (tile < tiles) row[tile] = before + sums.before;
        before += sums.all;
        __syncthreads();  // all have read warp_sums, which the next turn overwrites
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

// A lane has every 32nd key of its warp's part, so neighboring lanes load neighboring keys,
// and the keys of a row come before those of the next row. Past the end there is the
// largest key: it comes after all others in the order of places, so it changes no rank.
__device__ void load_keys(const unsigned* in, std::size_t first, std::size_t count,
                          unsigned (&keys)[kKeys]) {
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const std::size_t i = first + k * 32;
        keys[k] = i < count ? in[i] : ~0u;
    }
}

// Step 3, a radix sort from the least significant digit, here with eight digits of 4 bits
// each. A pass sorts by one digit, and keeps the order of keys whose digit is the same (it
// is stable). So after the last pass the keys are sorted by all digits. This is the third
// launch of a pass. The place of a key is the number of keys with a smaller digit, plus
// that of keys with the same digit before it: in earlier tiles (scan_counts), in earlier
// warps of the tile, in earlier rows of the warp, and in lower lanes of its row. The latter
// is a scan of flags for each of the 16 digits: __ballot_sync collects a flag per lane, and
// __popc counts those of the lanes below. Lane d keeps the count of digit d. Faster because
// there are 8 passes in place of 190 launches (for 2^28 keys). Still slow because each row
// takes 16 ballots, whatever its keys are, and more bits per digit would double them with
// each bit.
constexpr unsigned kFewBits = 4, kFewDigits = 1 << kFewBits;

__global__ void scatter_by_flags(const unsigned* in, unsigned* out, std::size_t count,
                                 unsigned shift, const unsigned* counts,
                                 const unsigned* totals) {
    __shared__ unsigned warp_counts[kWarps][kFewDigits];
    __shared__ unsigned warp_sums[kWarps];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned lanes_below = (1u << lane) - 1;
    const std::size_t first = std::size_t{blockIdx.x} * kTile + warp * kWarpKeys + lane;
    unsigned keys[kKeys], ranks[kKeys];
    load_keys(in, first, count, keys);

    unsigned counter = 0;  // lane d: keys of this warp with digit d so far
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const unsigned digit = digit_of<kFewBits>(keys[k], shift);
        ranks[k] = __shfl_sync(~0u, counter, static_cast<int>(digit));
#pragma unroll
        for (unsigned d = 0; d < kFewDigits; ++d) {
            const unsigned flags = __ballot_sync(~0u, digit == d);
            if (digit == d) ranks[k] += __popc(flags & lanes_below);
            if (lane == d) counter += __popc(flags);
        }
    }
    if (lane < kFewDigits) warp_counts[warp][lane] = counter;
    const Sums sums =
        scan_of_block(threadIdx.x < kFewDigits ? totals[threadIdx.x] : 0, warp_sums);
    if (threadIdx.x < kFewDigits) {
        unsigned place =
            sums.before + counts[std::size_t{threadIdx.x} * gridDim.x + blockIdx.x];
        for (unsigned w = 0; w < kWarps; ++w) {
            const unsigned of_warp = warp_counts[w][threadIdx.x];
            warp_counts[w][threadIdx.x] = place;
            place += of_warp;
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kKeys; ++k) {
        const unsigned digit = digit_of<kFewBits>(keys[k], shift);
        if (first + k * 32 < count) out[warp_counts[warp][digit] + ranks[k]] = keys[k];
    }
}

}  // namespace
}  // namespace examples
