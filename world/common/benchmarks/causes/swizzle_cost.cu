// bank_conflicts.md: why is the swizzled tile (step 4) slower than the padded one (step 3), without any conflict?
#include "experiment.cuh"

constexpr unsigned kSide = 32, kWarps = 4, kLanes = 32, kThreads = kWarps * kLanes;
constexpr std::size_t kRows = std::size_t{1} << 23;  // 1 GiB in, 1 GiB out

// place(row, col) of the tile's element, in floats. `zero` is an argument that is 0, which nvcc cannot know.
struct Padded {
    static constexpr unsigned size = kSide * (kSide + 1);
    static __device__ unsigned move(unsigned row, unsigned lane, unsigned) { return row * (kSide + 1) + lane; }
    static __device__ unsigned walk(unsigned lane, unsigned col, unsigned) { return lane * (kSide + 1) + col; }
};
struct PaddedXorInWalk : Padded {
    static __device__ unsigned walk(unsigned lane, unsigned col, unsigned zero) {
        return lane * (kSide + 1) + (col ^ zero);
    }
};
struct PaddedXorInMoves : Padded {  // the exclusive-or cannot be put into the address in advance: row ^ zero differs
    static __device__ unsigned move(unsigned row, unsigned lane, unsigned zero) {
        return row * (kSide + 1) + (lane ^ (row & zero));
    }
};
struct PaddedXorInBoth : PaddedXorInMoves {
    static __device__ unsigned walk(unsigned lane, unsigned col, unsigned zero) {
        return lane * (kSide + 1) + (col ^ zero);
    }
};
struct Swizzled {
    static constexpr unsigned size = kSide * kSide;
    static __device__ unsigned move(unsigned row, unsigned lane, unsigned) { return row * kSide + (lane ^ row); }
    static __device__ unsigned walk(unsigned lane, unsigned col, unsigned) { return lane * kSide + (col ^ lane); }
};

// unroll: of the walk. early: all 32 loads of a tile are made before the first store to it (asked for by a compiler
// barrier), so that the bytes in flight do not depend on what nvcc makes of the addresses.
template <class Tile, unsigned unroll, bool early>
__device__ void sums(const float* in, float* out, std::size_t rows, unsigned zero) {
    __shared__ float tiles[kWarps][Tile::size];
    float* tile = tiles[threadIdx.x / kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    const std::size_t first = std::size_t{blockIdx.x} * kThreads + threadIdx.x - lane;
    if constexpr (early) {
        float values[kSide];
#pragma unroll
        for (unsigned row = 0; row < kSide; ++row)
            values[row] = first + row < rows ? in[(first + row) * kSide + lane] : 0;
        asm volatile("" ::: "memory");
#pragma unroll
        for (unsigned row = 0; row < kSide; ++row) tile[Tile::move(row, lane, zero)] = values[row];
    } else {
#pragma unroll
        for (unsigned row = 0; row < kSide; ++row) {
            if (first + row < rows) tile[Tile::move(row, lane, zero)] = in[(first + row) * kSide + lane];
        }
    }
    __syncwarp();
    if (first + lane < rows) {
        float sum = 0;
#pragma unroll unroll
        for (unsigned col = 0; col < kSide; ++col) {
            sum += tile[Tile::walk(lane, col, zero)];
            tile[Tile::walk(lane, col, zero)] = sum;
        }
    }
    __syncwarp();
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) out[(first + row) * kSide + lane] = tile[Tile::move(row, lane, zero)];
    }
}
#define KERNEL(NAME, ...)                                                                \
    __global__ void NAME(const float* in, float* out, std::size_t rows, unsigned zero) { \
        sums<__VA_ARGS__>(in, out, rows, zero);                                          \
    }
KERNEL(x_padded, Padded, 1, false)
KERNEL(x_padded_xor_walk, PaddedXorInWalk, 1, false)
KERNEL(x_padded_xor_moves, PaddedXorInMoves, 1, false)
KERNEL(x_padded_xor_both, PaddedXorInBoth, 1, false)
KERNEL(x_padded_unrolled, Padded, kSide, false)
KERNEL(x_padded_early, Padded, 1, true)
KERNEL(x_swizzled, Swizzled, 1, false)
KERNEL(x_swizzled_unrolled, Swizzled, kSide, false)
KERNEL(x_swizzled_early, Swizzled, 1, true)
KERNEL(x_swizzled_early_unrolled, Swizzled, kSide, true)

struct IsSum {  // numbers below 2^20, 32 of them: a sum may be above 2^24 and rounded
    __device__ bool operator()(std::size_t i, float v) const {
        double sum = 0;
        for (std::size_t k = i / kSide * kSide; k <= i; ++k) sum += value_at(k);
        return fabs(v - sum) <= 4e-6 * sum;
    }
};

int main(int argc, char** argv) {
    start(argc, argv, "swizzle_cost: running sums of 2^23 rows of 32 floats");
    const std::size_t count = kRows * kSide;
    float *in = device_array<float>(count), *out = device_array<float>(count);
    fill_numbers(in, count);
    std::vector<Variant> variants;
    const auto add = [&](const char* name, auto kernel, std::size_t dynamic_shared = 0) {
        variants.push_back(
            {name,
             [=] { kernel<<<static_cast<unsigned>(kRows / kThreads), kThreads, dynamic_shared>>>(in, out, kRows, 0u); },
             8.0 * count, [=] { return is_right(out, count, IsSum{}); }, resources(kernel, kThreads, dynamic_shared),
             [=] { CHECK(cudaMemset(out, 0xFF, 4 * count)); }});
    };
    add("padded (step 3)", x_padded);
    add("swizzled (step 4)", x_swizzled);
    add("padded, idle xor in the walk", x_padded_xor_walk);
    add("padded, idle xor in fill and empty", x_padded_xor_moves);
    add("padded, idle xor in both", x_padded_xor_both);
    add("padded, walk unrolled", x_padded_unrolled);
    add("swizzled, walk unrolled", x_swizzled_unrolled);
    add("padded, 32 loads first", x_padded_early);
    add("swizzled, 32 loads first", x_swizzled_early);
    add("swizzled, 32 loads first, unrolled", x_swizzled_early_unrolled);
    for (auto kernel : {x_padded, x_swizzled}) {
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
    }
    if (!counters_only) {  // the same blocks on an SM for both: more shared memory than is needed, which nobody uses
        for (const unsigned blocks : {6u, 5u, 4u, 3u}) {
            static char names[8][48];
            static int next = 0;
            for (const bool padded : {true, false}) {
                const std::size_t own = kWarps * (padded ? Padded::size : Swizzled::size) * sizeof(float);
                const std::size_t each = (228 * 1024 / blocks - 1024) / 128 * 128;
                if (each < own) continue;
                char* name = names[next++ % 8];
                std::snprintf(name, 48, "%s, room for %u blocks per SM", padded ? "padded" : "swizzled", blocks);
                if (padded)
                    add(name, x_padded, each - own);
                else
                    add(name, x_swizzled, each - own);
            }
        }
    }
    measure("Padding, swizzle, and what they differ in", variants, "GB/s", 21);
    return finish();
}
