// Step 8 of the lesson sort: other numbers, and the same kernel for floats and for pairs.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "chapters/4_examples/sort/step_07_masks.cuh"

namespace examples {
namespace {

// How a warp finds the lanes with the same digit: by __match_any_sync, by one __ballot_sync
// for each bit of the digit, or by masks in shared memory.
enum class Match { any, ballots, masks };

template <unsigned Threads, unsigned Keys, unsigned Looks, Match How>
struct Tuning {
    static constexpr unsigned threads = Threads, warps = Threads / 32;  // per block
    static constexpr unsigned keys = Keys;                              // per thread
    static constexpr unsigned tile = Threads * Keys;                    // keys
    static constexpr unsigned looks = Looks;  // words that a thread asks for at once
    static constexpr Match how = How;
    // The counters of the warps, and their masks; later the sorted keys.
    static constexpr unsigned tables = How == Match::masks ? 2 : 1;
    static constexpr unsigned room = std::max(tile, tables* warps* kDigits);
    // As many as leave each thread 2 registers per key and 40 more.
    static constexpr unsigned blocks_per_sm = 65536 / (2 * Keys + 40) / Threads;
    static_assert(Threads >= kDigits && Threads % 32 == 0);
};
using Tuned = Tuning<384, 20, 4, Match::masks>;

// In which order keys stand. `ordered` turns the bits of a key into a number whose order as
// an unsigned integer is that of the keys, and `bits` turns it back.
struct Unsigned {
    static __host__ __device__ unsigned ordered(unsigned bits) { return bits; }
    static __host__ __device__ unsigned bits(unsigned ordered) { return ordered; }
};
// Floats in the total order of IEEE 754-2019 (section 5.10): NaNs with the sign bit set,
// -infinity, ..., -0.0, +0.0, ..., infinity, and NaNs without it. The bits of positive
// floats have the right order already, and lie above all negative ones once the sign bit is
// set. Those of negative floats have the opposite order, so all of their bits change.
struct Float {
    static constexpr unsigned sign = 1u << 31;
    static __host__ __device__ unsigned ordered(unsigned bits) {
        return (bits & sign) != 0 ? ~bits : bits | sign;
    }
    static __host__ __device__ unsigned bits(unsigned ordered) {
        return (ordered & sign) != 0 ? ordered & ~sign : ~ordered;
    }
};

// `mask`: the word of this digit in shared memory, zero where masks are used. The caller
// clears it again.
template <Match How>
__device__ unsigned lanes_with(unsigned digit, [[maybe_unused]] unsigned* mask) {
    if constexpr (How == Match::any) {
        return __match_any_sync(~0u, digit);
    } else if constexpr (How == Match::masks) {
        atomicOr(mask, 1u << threadIdx.x % 32);
        __syncwarp();
        return *mask;
    } else {
        unsigned same = ~0u;
#pragma unroll
        for (unsigned bit = 0; bit < kBits; ++bit) {
            const bool is_set = (digit >> bit & 1) != 0;
            const unsigned set = __ballot_sync(~0u, is_set);
            same &= is_set ? set : ~set;
        }
        return same;
    }
}

// Asks for several words at once. A word without news ends the turn, and the next turn asks
// for it again. Words of tiles before tile 0 do not exist: tile 0 stands in for them, but
// is never added twice, because its own word ends the look-back.
template <unsigned Looks>
__device__ unsigned look_back_ahead(unsigned* words, unsigned tile, unsigned digit) {
    unsigned place = 0;
    for (unsigned end = tile;;) {
        unsigned found[Looks];
#pragma unroll
        for (unsigned k = 0; k < Looks; ++k) {
            const unsigned other = end - 1 - min(k, end - 1);
            found[k] = look_at(words + std::size_t{other} * kDigits + digit);
        }
#pragma unroll
        for (unsigned k = 0; k < Looks; ++k) {
            if (found[k] == 0) break;
            place += found[k] & kNumber;
            if (found[k] >= kPrefix) return place;
            --end;
        }
    }
}

// The histogram of all passes with 16 bytes per load, four loads at once. A block counts
// 32,768 keys. It has four copies of each counter, side by side, so lanes with the same
// digit use the same word only if they are a multiple of four lanes apart.
constexpr unsigned kCopies = 4;
constexpr unsigned kTurns = 8, kAhead = 4;  // loads of four keys: turns, and loads per turn
constexpr unsigned kCountTile = kThreads * kTurns * kAhead * 4;

template <class Key>
__global__ void count_all_digits_uint4(const unsigned* keys, std::size_t count,
                                       unsigned* counts) {
    __shared__ unsigned counters[kPasses * kDigits * kCopies];
    for (unsigned c = threadIdx.x; c < kPasses * kDigits * kCopies; c += kThreads)
        counters[c] = 0;
    __syncthreads();
    unsigned* const own = counters + threadIdx.x % kCopies;
    const auto add = [own](unsigned bits) {
        const unsigned key = Key::ordered(bits);
#pragma unroll
        for (unsigned pass = 0; pass < kPasses; ++pass) {
            const unsigned digit = digit_of<kBits>(key, pass * kBits);
            atomicAdd(&own[(pass * kDigits + digit) * kCopies], 1u);
        }
    };
    std::size_t i = std::size_t{blockIdx.x} * kCountTile + 4 * threadIdx.x;
    for (unsigned turn = 0; turn < kTurns; ++turn) {
        if (i + 4 * (kAhead - 1) * kThreads + 4 <= count) {
            uint4 fours[kAhead];
#pragma unroll
            for (unsigned k = 0; k < kAhead; ++k)
                fours[k] = *reinterpret_cast<const uint4*>(keys + i + 4 * k * kThreads);
#pragma unroll
            for (unsigned k = 0; k < kAhead; ++k) {
                add(fours[k].x);
                add(fours[k].y);
                add(fours[k].z);
                add(fours[k].w);
            }
        } else {
            for (unsigned k = 0; k < 4 * kAhead; ++k) {
                const std::size_t j = i + 4 * (k / 4) * kThreads + k % 4;
                if (j < count) add(keys[j]);
            }
        }
        i += 4 * kAhead * kThreads;
    }
    __syncthreads();
    for (unsigned c = threadIdx.x; c < kPasses * kDigits; c += kThreads) {
        unsigned sum = 0;
#pragma unroll
        for (unsigned copy = 0; copy < kCopies; ++copy) sum += counters[c * kCopies + copy];
        if (sum != 0) atomicAdd(&counts[c], sum);
    }
}

// Step 8, tuning: step 7 with other numbers of threads and of keys. The counters and masks
// of the warps are not needed any more once each key knows its place in the tile, so the
// sorted keys take the same room, and more blocks fit on an SM. A thread that looks back
// asks for four words at once, because each look is a trip to the L2 cache. The histogram
// loads 16 bytes at a time. (The passes cannot: with four neighboring keys per lane, the
// keys of a row would not be neighbors, and lower lanes would no longer have the earlier
// keys.) Faster if waiting for memory was what took long. What is left are two words per
// key and pass, and in shared memory two wide scatters and two accesses to counters per
// key. With `Pairs`, each key brings a value along, which moves to the same place.
template <class Numbers, class Key, bool Pairs>
__global__ void __launch_bounds__(Numbers::threads, Numbers::blocks_per_sm)
    sort_by_digit_tuned(const unsigned* in, unsigned* out, const unsigned* in_values,
                        unsigned* out_values, unsigned count, unsigned shift,
                        const unsigned* starts, unsigned* words, unsigned* drawn) {
    constexpr unsigned per_thread = Numbers::keys;
    __shared__ unsigned room[Numbers::room];
    __shared__ unsigned shift_of_run[kDigits];
    __shared__ unsigned warp_sums[Numbers::warps];
    __shared__ unsigned drawn_tile;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned lanes_below = (1u << lane) - 1;
    if (threadIdx.x == 0) drawn_tile = atomicAdd(drawn, 1u);
    __syncthreads();
    const unsigned tile = drawn_tile, tile_begin = tile * Numbers::tile;
    const unsigned first = tile_begin + warp * (32 * per_thread) + lane;
    unsigned keys[per_thread], ranks[per_thread];
#pragma unroll
    for (unsigned k = 0; k < per_thread; ++k)
        keys[k] = first + k * 32 < count ? Key::ordered(in[first + k * 32]) : ~0u;

    unsigned* const counters = room + warp * kDigits;
    unsigned* const masks = counters + Numbers::warps * kDigits;  // where there are any
#pragma unroll
    for (unsigned d = 0; d < kDigits; d += 32) {
        counters[d + lane] = 0;
        if constexpr (Numbers::how == Match::masks) masks[d + lane] = 0;
    }
    __syncwarp();
#pragma unroll
    for (unsigned k = 0; k < per_thread; ++k) {
        const unsigned digit = digit_of<kBits>(keys[k], shift);
        const unsigned same = lanes_with<Numbers::how>(digit, masks + digit);
        const unsigned before = counters[digit];
        ranks[k] = before + __popc(same & lanes_below);
        __syncwarp();
        if ((same & lanes_below) == 0) {
            counters[digit] = before + __popc(same);
            if constexpr (Numbers::how == Match::masks) masks[digit] = 0;
        }
        __syncwarp();
    }
    __syncthreads();
    const bool has_digit = threadIdx.x < kDigits;  // whole warps have one, or have none
    unsigned* const own_word = words + std::size_t{tile} * kDigits + threadIdx.x;
    unsigned of_tile = 0;
    if (has_digit) {
#pragma unroll
        for (unsigned w = 0; w < Numbers::warps; ++w) {
            const unsigned of_warp = room[w * kDigits + threadIdx.x];
            room[w * kDigits + threadIdx.x] = of_tile;
            of_tile += of_warp;
        }
        if (tile > 0) tell(own_word, kSum, of_tile);
    }
    const unsigned run = scan_of_block<Numbers::warps>(of_tile, warp_sums).before;
    if (has_digit) {
#pragma unroll
        for (unsigned w = 0; w < Numbers::warps; ++w)
            room[w * kDigits + threadIdx.x] += run;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < per_thread; ++k)
        ranks[k] += counters[digit_of<kBits>(keys[k], shift)];  // now the place in the tile
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < per_thread; ++k) room[ranks[k]] = keys[k];
    if (has_digit) {
        const unsigned place =
            tile == 0 ? starts[threadIdx.x]
                      : look_back_ahead<Numbers::looks>(words, tile, threadIdx.x);
        tell(own_word, kPrefix, place + of_tile);
        shift_of_run[threadIdx.x] = place - run;
    }
    __syncthreads();
    const unsigned in_tile = min(count - min(count, tile_begin), Numbers::tile);
    unsigned places[per_thread];  // for the values
#pragma unroll
    for (unsigned k = 0; k < per_thread; ++k) {
        const unsigned i = threadIdx.x + k * Numbers::threads;
        const unsigned key = room[i];
        places[k] = shift_of_run[digit_of<kBits>(key, shift)] + i;
        if (i < in_tile) out[places[k]] = Key::bits(key);
    }
    if constexpr (Pairs) {
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < per_thread; ++k)
            room[ranks[k]] = first + k * 32 < count ? in_values[first + k * 32] : 0;
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < per_thread; ++k) {
            const unsigned i = threadIdx.x + k * Numbers::threads;
            if (i < in_tile) out_values[places[k]] = room[i];
        }
    }
}

}  // namespace
}  // namespace examples
