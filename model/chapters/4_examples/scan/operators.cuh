// The single pass of the lesson scan for any associative operator, for example one whose
// operands must not be exchanged.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cuda/atomic>

#include "chapters/4_examples/scan/look_back.cuh"

namespace examples {
namespace {

// A map x -> a x + b of unsigned numbers, which wrap around, so that results are exact. To
// apply one map and then another is such a map again. A scan of maps gives all members of a
// sequence in which each one is computed from the one before, such as random numbers.
struct Map {
    unsigned a, b;
    bool operator==(const Map&) const = default;
};

// Operators: the value that changes nothing, and `combine`, whose first operand is the
// result of earlier elements and whose second is that of later ones. It has to be
// associative, because a scan combines neighbors in any grouping. It need not be
// commutative, because the kernel never exchanges its operands.
struct Add {
    using Value = float;
    static __host__ __device__ Value identity() { return 0.0f; }
    static __host__ __device__ Value combine(Value earlier, Value later) {
        return earlier + later;
    }
};
struct KeepLast {  // the last number that is not 0
    using Value = float;
    static __host__ __device__ Value identity() { return 0.0f; }
    static __host__ __device__ Value combine(Value earlier, Value later) {
        return later != 0.0f ? later : earlier;
    }
};
struct Compose {  // first one map, then another
    using Value = Map;
    static __host__ __device__ Value identity() { return {1, 0}; }
    static __host__ __device__ Value combine(Value earlier, Value later) {
        return {later.a * earlier.a, later.a * earlier.b + later.b};
    }
};

// WRONG for operators that are not commutative: takes the later operand for the earlier.
template <class Operator>
struct Exchanged : Operator {
    using Value = typename Operator::Value;
    static __host__ __device__ Value combine(Value earlier, Value later) {
        return Operator::combine(later, earlier);
    }
};

__device__ float from_lane(float value, unsigned lane) {
    return __shfl_sync(~0u, value, static_cast<int>(lane));
}
__device__ Map from_lane(Map value, unsigned lane) {
    return {__shfl_sync(~0u, value.a, static_cast<int>(lane)),
            __shfl_sync(~0u, value.b, static_cast<int>(lane))};
}

// What tiles tell each other here: a value of any size cannot share a word with the state,
// so it is stored first, and the state after it by a release. Whoever loads the state by an
// acquire can then read the value.
template <class Value>
struct Tiles {
    unsigned* states;  // zeroed before the launch, and the counter with them
    unsigned* drawn;
    Value *sums, *prefixes;
};
using SharedState = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

constexpr unsigned kValues = 4;  // per thread: in each of 4 rows, a lane has one value
constexpr unsigned kValueTile = kThreads * kValues;

// The steps of scan_look_back_warp with `combine` in place of each addition. Every result
// of earlier elements stands to its left. In the look-back, neighboring lanes are combined
// first, then neighboring pairs, and so on, because only neighbors may be combined.
template <class Operator>
__global__ void scan_with(const typename Operator::Value* in, typename Operator::Value* out,
                          std::size_t count, Tiles<typename Operator::Value> tiles) {
    using Value = typename Operator::Value;
    __shared__ Value warp_results[kWarps];
    __shared__ unsigned drawn_tile;
    __shared__ Value before_tile;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) drawn_tile = atomicAdd(tiles.drawn, 1u);
    __syncthreads();
    const unsigned tile = drawn_tile;
    const std::size_t first = std::size_t{tile} * kValueTile + warp * (32 * kValues) + lane;
    Value values[kValues];
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k)
        values[k] = first + k * 32 < count ? in[first + k * 32] : Operator::identity();

    Value of_warp = Operator::identity();
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k) {
        for (unsigned distance = 1; distance < 32; distance *= 2) {
            const Value before = from_lane(values[k], (lane - distance) % 32);
            if (lane >= distance) values[k] = Operator::combine(before, values[k]);
        }
        values[k] = Operator::combine(of_warp, values[k]);
        of_warp = from_lane(values[k], 31);
    }
    if (lane == 31) warp_results[warp] = of_warp;
    __syncthreads();

    if (warp == 0) {
        Value of_tile = Operator::identity(), before = Operator::identity();
        for (unsigned w = 0; w < kWarps; ++w)
            of_tile = Operator::combine(of_tile, warp_results[w]);
        if (lane == 0 && tile > 0) {
            tiles.sums[tile] = of_tile;
            SharedState(tiles.states[tile]).store(kSum, cuda::memory_order_release);
        }
        unsigned prefixes = 0;
        for (unsigned end = tile; prefixes == 0; end -= 32) {
            unsigned state = kPrefix;
            Value found = Operator::identity();
            if (lane < end) {
                const unsigned other = end - 1 - lane;
                do {
                    state =
                        SharedState(tiles.states[other]).load(cuda::memory_order_acquire);
                } while (state == kNothing);
                found = state == kPrefix ? tiles.prefixes[other] : tiles.sums[other];
            }
            prefixes = __ballot_sync(~0u, state == kPrefix);
            const unsigned nearest =
                prefixes == 0 ? 31 : __ffs(static_cast<int>(prefixes)) - 1;
            if (lane > nearest) found = Operator::identity();
            for (unsigned distance = 1; distance < 32; distance *= 2) {
                const Value earlier = from_lane(found, (lane + distance) % 32);
                if (lane + distance < 32) found = Operator::combine(earlier, found);
            }
            before = Operator::combine(from_lane(found, 0), before);
        }
        if (lane == 0) {
            tiles.prefixes[tile] = Operator::combine(before, of_tile);
            SharedState(tiles.states[tile]).store(kPrefix, cuda::memory_order_release);
            before_tile = before;
        }
    }
    __syncthreads();
    Value before = before_tile;
    for (unsigned w = 0; w < warp; ++w) before = Operator::combine(before, warp_results[w]);
#pragma unroll
    for (unsigned k = 0; k < kValues; ++k) {
        if (first + k * 32 < count)
            out[first + k * 32] = Operator::combine(before, values[k]);
    }
}

}  // namespace
}  // namespace examples
