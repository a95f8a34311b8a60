// The kernels of the lesson scan that need several launches: steps 2 to 7, in their order.
// Step 1 is a loop on the host, and the steps with a single pass are in look_back.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace examples {
namespace {

constexpr unsigned kThreads = 256;          // per block
constexpr unsigned kWarps = kThreads / 32;  // per block

// Step 2, the scan of Hillis and Steele (1986). One block per tile of 256 floats, one
// thread per float. In each round a thread adds the value that stands 1, 2, 4, ... 128
// places before its own, so after eight rounds each place holds the sum of the tile up to
// itself. A value must not change while a neighbor still reads it. Therefore there are two
// arrays: each round reads one and writes the other, and one barrier per round is enough.
// The last thread also leaves the sum of its tile in `sums`. A second launch of this kernel
// scans those sums, and a third launch adds them (add_sums).
// Slow because a tile of 256 floats takes 1793 additions, where a loop takes 255, because
// each round waits at a barrier, and because every float is read and written twice.
__global__ void scan_rounds(const float* in, float* out, std::size_t count, float* sums) {
    __shared__ float values[2][kThreads];
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    float value = i < count ? in[i] : 0.0f;
    unsigned now = 0;
    values[now][threadIdx.x] = value;
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
        __syncthreads();
        if (threadIdx.x >= distance) value += values[now][threadIdx.x - distance];
        now = 1 - now;
        values[now][threadIdx.x] = value;
    }
    if (i < count) out[i] = value;
    if (threadIdx.x == kThreads - 1) sums[blockIdx.x] = value;
}

// The third launch of steps 2 to 5: each tile but the first adds the sum of all tiles
// before it. `sums` has been scanned, so that is a single number.
template <unsigned Tile>
__global__ void add_sums(float* out, std::size_t count, const float* sums) {
    if (blockIdx.x == 0) return;
    const float before = sums[blockIdx.x - 1];
    const std::size_t first = std::size_t{blockIdx.x} * Tile + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < Tile; k += kThreads) {
        const std::size_t i = first + k;
        if (i < count) out[i] += before;
    }
}

// Step 3, a tree, which needs fewer additions (Blelloch, 1990). On the way up, pairs of
// sums are added as in a reduction, and the tree keeps the sum of each of its parts in the
// part's last place. On the way down, each part learns the sum of everything before it: its
// left half gets that sum, too, and its right half gets that sum plus the sum of the left
// half. In the end each place holds the sum of all places *before* it (an exclusive scan),
// and its own value is added. A round has at most half as many additions as there are
// floats, so a block takes a tile of 512.
// This could be faster because there are about two additions per float instead of seven.
// Still slow because there are 19 barriers now, few threads have work in most rounds, and
// their words are 2, 4, 8, ... apart, which causes bank conflicts.
constexpr unsigned kTreeTile = 2 * kThreads;

__global__ void scan_tree(const float* in, float* out, std::size_t count, float* sums) {
    __shared__ float tree[kTreeTile];
    const std::size_t i = std::size_t{blockIdx.x} * kTreeTile + threadIdx.x;
    const std::size_t j = i + kThreads;
    const float low = i < count ? in[i] : 0.0f, high = j < count ? in[j] : 0.0f;
    tree[threadIdx.x] = low;
    tree[threadIdx.x + kThreads] = high;
    for (unsigned distance = 1; distance < kTreeTile; distance *= 2) {
        __syncthreads();
        const unsigned right = 2 * distance * (threadIdx.x + 1) - 1;
        if (right < kTreeTile) tree[right] += tree[right - distance];
    }
    if (threadIdx.x == 0) {  // has made the last addition itself, and needs no barrier
        sums[blockIdx.x] = tree[kTreeTile - 1];
        tree[kTreeTile - 1] = 0.0f;
    }
    for (unsigned distance = kThreads; distance > 0; distance /= 2) {
        __syncthreads();
        const unsigned right = 2 * distance * (threadIdx.x + 1) - 1;
        if (right < kTreeTile) {
            const float before = tree[right], of_left = tree[right - distance];
            tree[right - distance] = before;
            tree[right] = before + of_left;
        }
    }
    __syncthreads();
    if (i < count) out[i] = tree[threadIdx.x] + low;
    if (j < count) out[j] = tree[threadIdx.x + kThreads] + high;
}

// Step 4, the same tree with one unused word after every 32 words (Harris, Sengupta, and
// Owens, GPU Gems 3, chapter 39, 2007).
// Faster because words that are 2, 4, 8, ... apart lie in 32 different banks now. Still
// slow because the 19 barriers are left, and threads without work wait at them.
__device__ constexpr unsigned padded(unsigned place) { return place + place / 32; }

__global__ void scan_tree_padded(const float* in, float* out, std::size_t count,
                                 float* sums) {
    __shared__ float tree[padded(kTreeTile)];
    const std::size_t i = std::size_t{blockIdx.x} * kTreeTile + threadIdx.x;
    const std::size_t j = i + kThreads;
    const float low = i < count ? in[i] : 0.0f, high = j < count ? in[j] : 0.0f;
    tree[padded(threadIdx.x)] = low;
    tree[padded(threadIdx.x + kThreads)] = high;
    for (unsigned distance = 1; distance < kTreeTile; distance *= 2) {
        __syncthreads();
        const unsigned right = 2 * distance * (threadIdx.x + 1) - 1;
        if (right < kTreeTile) tree[padded(right)] += tree[padded(right - distance)];
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = tree[padded(kTreeTile - 1)];
        tree[padded(kTreeTile - 1)] = 0.0f;
    }
    for (unsigned distance = kThreads; distance > 0; distance /= 2) {
        __syncthreads();
        const unsigned right = 2 * distance * (threadIdx.x + 1) - 1;
        if (right < kTreeTile) {
            const float before = tree[padded(right)],
                        of_left = tree[padded(right - distance)];
            tree[padded(right - distance)] = before;
            tree[padded(right)] = before + of_left;
        }
    }
    __syncthreads();
    if (i < count) out[i] = tree[padded(threadIdx.x)] + low;
    if (j < count) out[j] = tree[padded(threadIdx.x + kThreads)] + high;
}

// Step 5, shuffles. A warp scans its 32 floats from register to register, in the rounds of
// step 2. Only the eight sums of the warps go through shared memory, and each warp adds up
// those before its own.
// Faster because there is one barrier instead of 19, and shared memory holds 8 floats.
// Still slow because a thread has a single float: a warp asks for 128 bytes, and then
// waits for them.
__device__ float scan_of_warp(float value) {  // the sum of the lanes up to this one
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const float before = __shfl_up_sync(~0u, value, distance);
        if (lane >= distance) value += before;
    }
    return value;
}

__global__ void scan_shuffles(const float* in, float* out, std::size_t count, float* sums) {
    __shared__ float warp_sums[kWarps];
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const unsigned warp = threadIdx.x / 32;
    float value = scan_of_warp(i < count ? in[i] : 0.0f);
    if (threadIdx.x % 32 == 31) warp_sums[warp] = value;
    __syncthreads();
    float before = 0.0f;
    for (unsigned w = 0; w < warp; ++w) before += warp_sums[w];
    value += before;
    if (i < count) out[i] = value;
    if (threadIdx.x == kThreads - 1) sums[blockIdx.x] = value;
}

// What the steps from 6 on share: the part of a tile that one warp has. It consists of
// `Rows` rows of 128 floats, and each lane has four neighboring floats of every row: one
// load of 16 bytes. (Neighboring lanes load neighboring 16 bytes. If each thread took 16
// neighboring floats instead, a warp's load would touch twice as many sectors as it needs.)
// Both arrays have to begin at multiples of 16 bytes. A part that reaches past the end of
// the array is loaded float by float, and filled up with zeros.
constexpr unsigned kRow = 4 * 32;  // floats

template <unsigned Rows>
__device__ void load_rows(const float* in, std::size_t begin, std::size_t count,
                          float4 (&rows)[Rows]) {
    const std::size_t place = begin + 4 * (threadIdx.x % 32);
    if (begin + Rows * kRow <= count) {
        const auto* fours = reinterpret_cast<const float4*>(in + place);
#pragma unroll
        for (unsigned k = 0; k < Rows; ++k) rows[k] = fours[k * 32];
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < Rows; ++k) {
        const std::size_t i = place + k * kRow;
        rows[k].x = i < count ? in[i] : 0.0f;
        rows[k].y = i + 1 < count ? in[i + 1] : 0.0f;
        rows[k].z = i + 2 < count ? in[i + 2] : 0.0f;
        rows[k].w = i + 3 < count ? in[i + 3] : 0.0f;
    }
}

// Adds `before` to all floats of a warp's part, and stores them.
template <unsigned Rows>
__device__ void store_rows(float* out, std::size_t begin, std::size_t count,
                           const float4 (&rows)[Rows], float before) {
    const std::size_t place = begin + 4 * (threadIdx.x % 32);
    if (begin + Rows * kRow <= count) {
        auto* fours = reinterpret_cast<float4*>(out + place);
#pragma unroll
        for (unsigned k = 0; k < Rows; ++k) {
            fours[k * 32] = make_float4(rows[k].x + before, rows[k].y + before,
                                        rows[k].z + before, rows[k].w + before);
        }
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < Rows; ++k) {
        const std::size_t i = place + k * kRow;
        if (i < count) out[i] = rows[k].x + before;
        if (i + 1 < count) out[i + 1] = rows[k].y + before;
        if (i + 2 < count) out[i + 2] = rows[k].z + before;
        if (i + 3 < count) out[i + 3] = rows[k].w + before;
    }
}

// Scans a warp's part: a lane its own four floats, the warp the sums of its lanes, and then
// one row after the other. Returns the sum of the part, in all lanes. The shuffles of
// different rows do not depend on each other. Only `before_row` goes from row to row.
template <unsigned Rows>
__device__ float scan_rows_of_warp(float4 (&rows)[Rows]) {
    float before_row = 0.0f;
#pragma unroll
    for (unsigned k = 0; k < Rows; ++k) {
        float4& four = rows[k];
        four.y += four.x;
        four.z += four.y;
        four.w += four.z;
        const float up_to_lane = scan_of_warp(four.w);
        float before = __shfl_up_sync(~0u, up_to_lane, 1);
        before = before_row + (threadIdx.x % 32 == 0 ? 0.0f : before);
        four.x += before;
        four.y += before;
        four.z += before;
        four.w += before;
        before_row += __shfl_sync(~0u, up_to_lane, 31);
    }
    return before_row;
}

// Step 6, sixteen floats per thread in four loads of 16 bytes, all issued before the first
// value is used. A tile has 4096 floats, and so there are 1/16 as many block sums and
// barriers.
// Faster because a thread has 64 bytes in flight instead of 4, and most additions are made
// within a thread. Still slow because every float is read and written twice.
constexpr unsigned kRows = 4;
constexpr unsigned kTile = kWarps * kRows * kRow;  // 4096 floats

__global__ void scan_float4(const float* in, float* out, std::size_t count, float* sums) {
    __shared__ float warp_sums[kWarps];
    const unsigned warp = threadIdx.x / 32;
    const std::size_t begin = std::size_t{blockIdx.x} * kTile + warp * (kRows * kRow);
    float4 rows[kRows];
    load_rows(in, begin, count, rows);
    const float warp_sum = scan_rows_of_warp(rows);
    if (threadIdx.x % 32 == 31) warp_sums[warp] = warp_sum;
    __syncthreads();
    float before = 0.0f;
    for (unsigned w = 0; w < warp; ++w) before += warp_sums[w];
    store_rows(out, begin, count, rows, before);
    if (threadIdx.x == kThreads - 1) sums[blockIdx.x] = before + warp_sum;
}

__global__ void add_sums_float4(float* out, std::size_t count, const float* sums) {
    if (blockIdx.x == 0) return;
    const std::size_t begin =
        std::size_t{blockIdx.x} * kTile + threadIdx.x / 32 * (kRows * kRow);
    float4 rows[kRows];
    load_rows(out, begin, count, rows);
    store_rows(out, begin, count, rows, sums[blockIdx.x - 1]);
}

// Step 7, reduce, then scan. The first launch only adds up each tile, and writes nothing
// but the sums. They are scanned. The last launch then knows what to add, so it reads the
// floats a second time, scans them, and writes each result once.
// Faster because three words per float move instead of four: the unfinished results are
// neither written nor read. Still slow because the floats are read twice, and because the
// second launch, for a few sums, makes the whole GPU wait.
__global__ void sum_tiles(const float* in, std::size_t count, float* sums) {
    __shared__ float warp_sums[kWarps];
    const unsigned warp = threadIdx.x / 32;
    const std::size_t begin = std::size_t{blockIdx.x} * kTile + warp * (kRows * kRow);
    float4 rows[kRows];
    load_rows(in, begin, count, rows);
    float sum = 0.0f;
#pragma unroll
    for (unsigned k = 0; k < kRows; ++k)
        sum += (rows[k].x + rows[k].y) + (rows[k].z + rows[k].w);
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0) warp_sums[warp] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    float of_tile = 0.0f;
    for (unsigned w = 0; w < kWarps; ++w) of_tile += warp_sums[w];
    sums[blockIdx.x] = of_tile;
}

__global__ void scan_after_sums(const float* in, float* out, std::size_t count,
                                const float* sums) {
    __shared__ float warp_sums[kWarps];
    const unsigned warp = threadIdx.x / 32;
    const std::size_t begin = std::size_t{blockIdx.x} * kTile + warp * (kRows * kRow);
    float4 rows[kRows];
    load_rows(in, begin, count, rows);
    float before = blockIdx.x == 0 ? 0.0f : sums[blockIdx.x - 1];
    const float warp_sum = scan_rows_of_warp(rows);
    if (threadIdx.x % 32 == 31) warp_sums[warp] = warp_sum;
    __syncthreads();
    for (unsigned w = 0; w < warp; ++w) before += warp_sums[w];
    store_rows(out, begin, count, rows, before);
}

}  // namespace
}  // namespace examples
