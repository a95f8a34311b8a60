// The kernels of the lesson cooperative_groups, in the order of the steps. All of them keep
// the positive floats of an array, and leave out the others. There may be up to 2^32 - 1 of
// them, because their number has to fit into 32 bits.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cuda/atomic>

namespace modern_cuda {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kThreads = 256;          // per block
constexpr unsigned kWarps = kThreads / 32;  // per block

// Step 2, an atomic per element that is kept: it tells the element its place in the output.
// `kept` has to be 0 before the launch, and then counts them all.
// Slow because all additions go to one word, so they are serialized, and because the places
// are drawn in any order: neighbors that are kept need not become neighbors.
__global__ void compact_by_atomics(const float* in, std::size_t count, float* out,
                                   unsigned* kept) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float value = in[i];
    if (value > 0) out[atomicAdd(kept, 1u)] = value;
}

// Step 3, an atomic per warp. coalesced_threads() is the group of those lanes that are
// here: inside of the branch, the lanes that keep their element. Lane 0 of the group draws
// places for all of them, and each lane takes the one that belongs to its rank.
// This should be faster because there is one addition where there were up to 32, and
// because the places of a warp are neighbors, so its stores are coalesced. On an H200 it
// takes as long as step 2, whose additions seem to be combined without our help. Still slow
// because there is one addition per warp, and because a thread has a single load in flight.
__global__ void compact_by_coalesced_groups(const float* in, std::size_t count, float* out,
                                            unsigned* kept) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const float value = in[i];
    if (value > 0) {
        const cg::coalesced_group keeping = cg::coalesced_threads();
        unsigned first = 0;
        if (keeping.thread_rank() == 0) first = atomicAdd(kept, keeping.num_threads());
        first = keeping.shfl(first, 0);
        out[first + keeping.thread_rank()] = value;
    }
}

// What the steps from 4 on share: a thread has eight floats of a warp's part, in two loads
// of 16 bytes. Lane k has the floats 4 k to 4 k + 3 of 128 (a row), and of the next 128.
// `in` has to begin at a multiple of 16 bytes. Places past the end count as 0, which is not
// kept.
constexpr unsigned kRow = 4 * 32;           // floats
constexpr unsigned kRows = 2;               // of a warp
constexpr unsigned kPart = kRows * kRow;    // floats of a warp
constexpr unsigned kTile = kWarps * kPart;  // floats of a block

template <unsigned Rows>
__device__ void load_part(const float* in, std::size_t begin, std::size_t count,
                          float (&values)[Rows][4]) {
    const std::size_t place = begin + 4 * (threadIdx.x % 32);
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
        const std::size_t i = place + row * kRow;
        if (i + 3 < count) {
            const float4 four = *reinterpret_cast<const float4*>(in + i);
            values[row][0] = four.x;
            values[row][1] = four.y;
            values[row][2] = four.z;
            values[row][3] = four.w;
        } else {
#pragma unroll
            for (unsigned k = 0; k < 4; ++k)
                values[row][k] = i + k < count ? in[i + k] : 0.0f;
        }
    }
}

__device__ unsigned kept_of(const float (&four)[4]) {
    unsigned kept = 0;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) kept += four[k] > 0 ? 1 : 0;
    return kept;
}

// Step 4, tiles of 32 threads, all of whose lanes take part. cg::exclusive_scan gives each
// lane the number of floats that the lanes before it keep.
// Faster because there is one addition for 256 elements instead of one for 32, and because
// a thread has 32 bytes in flight. Still slow because a lane stores its floats one after
// the other, so a store of the warp touches places that are several floats apart.
__global__ void compact_by_tiles(const float* in, std::size_t count, float* out,
                                 unsigned* kept) {
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    const std::size_t begin =
        std::size_t{blockIdx.x} * kTile + tile.meta_group_rank() * kPart;
    float values[kRows][4];
    load_part(in, begin, count, values);
    unsigned mine = 0;
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) mine += kept_of(values[row]);
    const unsigned before = cg::exclusive_scan(tile, mine);
    unsigned first = 0;
    if (tile.thread_rank() == 31) first = atomicAdd(kept, before + mine);
    unsigned place = tile.shfl(first, 31) + before;
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
#pragma unroll
        for (unsigned k = 0; k < 4; ++k)
            if (values[row][k] > 0) out[place++] = values[row][k];
    }
}

// What the steps from 5 on share: the places of a lane's rows among all that its warp
// keeps, in the order of the array. Returns how many the warp keeps. A row keeps at most
// 128 floats, which fit into a byte, so that one scan of words does four rows at once.
template <unsigned Rows>
__device__ unsigned places_in_warp(const cg::thread_block_tile<32>& tile,
                                   const float (&values)[Rows][4],
                                   unsigned (&places)[Rows]) {
    unsigned all = 0;
#pragma unroll
    for (unsigned first = 0; first < Rows; first += 4) {
        unsigned mine = 0;
#pragma unroll
        for (unsigned row = first; row < Rows && row < first + 4; ++row)
            mine |= kept_of(values[row]) << 8 * (row - first);
        const unsigned before = cg::exclusive_scan(tile, mine);
        const unsigned of_warp = tile.shfl(before + mine, 31);
#pragma unroll
        for (unsigned row = first; row < Rows && row < first + 4; ++row) {
            places[row] = all + (before >> 8 * (row - first) & 0xFF);
            all += of_warp >> 8 * (row - first) & 0xFF;
        }
    }
    return all;
}

// Stores the floats that a lane keeps. `to` is where those of its warp begin.
template <unsigned Rows>
__device__ void store_rows(float* to, const float (&values)[Rows][4],
                           const unsigned (&places)[Rows]) {
#pragma unroll
    for (unsigned row = 0; row < Rows; ++row) {
        unsigned place = places[row];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k)
            if (values[row][k] > 0) to[place++] = values[row][k];
    }
}

// Step 5, an atomic per block. The warps leave their counts in shared memory, each adds up
// those before its own, and one thread draws places for the whole block. The floats are
// packed in shared memory first, and then stored by neighboring threads.
// Faster because stores are coalesced, and because there is one addition for 2048 elements.
// Within a block the order is now that of the array. The blocks still draw their places in
// the order in which they come, so the output may differ from run to run.
__global__ void compact_by_blocks(const float* in, std::size_t count, float* out,
                                  unsigned* kept) {
    __shared__ float packed[kTile];
    __shared__ unsigned warp_kept[kWarps];
    __shared__ unsigned first;
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    const unsigned warp = tile.meta_group_rank();
    float values[kRows][4];
    load_part(in, std::size_t{blockIdx.x} * kTile + warp * kPart, count, values);
    unsigned places[kRows];
    const unsigned of_warp = places_in_warp(tile, values, places);
    if (tile.thread_rank() == 0) warp_kept[warp] = of_warp;
    block.sync();
    unsigned before = 0, all = 0;
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
        if (w < warp) before += warp_kept[w];
        all += warp_kept[w];
    }
    if (block.thread_rank() == 0) first = atomicAdd(kept, all);
    store_rows(packed + before, values, places);
    block.sync();
    for (unsigned i = block.thread_rank(); i < all; i += kThreads)
        out[first + i] = packed[i];
}

// Steps 6 and 7 keep the order of the array. As many blocks as are resident share the
// tiles: each block has a chunk of neighboring ones. It counts what its chunk keeps. When
// all blocks have counted, a block adds up the counts of those before it, and then knows
// where its own floats begin.
struct Chunk {
    std::size_t first, end;  // tiles
};
__device__ Chunk chunk_of_block(std::size_t count) {
    const std::size_t tiles = (count + kTile - 1) / kTile;
    const std::size_t share = (tiles + gridDim.x - 1) / gridDim.x;
    const std::size_t first = blockIdx.x * share, end = first + share;
    return {first < tiles ? first : tiles, end < tiles ? end : tiles};
}

// The sum over all threads of the block, in each of them. Before the next call, the block
// has to pass a barrier.
__device__ unsigned sum_of_block(const cg::thread_block& block, unsigned value) {
    __shared__ unsigned warp_sums[kWarps];
    const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    const unsigned of_warp = cg::reduce(tile, value, cg::plus<unsigned>());
    if (tile.thread_rank() == 0) warp_sums[tile.meta_group_rank()] = of_warp;
    block.sync();
    unsigned sum = 0;
    for (unsigned w = 0; w < kWarps; ++w) sum += warp_sums[w];
    return sum;
}

__device__ void count_chunk(const cg::thread_block& block, const float* in,
                            std::size_t count, unsigned* sums) {
    const Chunk chunk = chunk_of_block(count);
    const unsigned warp = block.thread_rank() / 32;
    unsigned mine = 0;
    for (std::size_t t = chunk.first; t < chunk.end; ++t) {
        float values[kRows][4];
        load_part(in, t * kTile + warp * kPart, count, values);
#pragma unroll
        for (unsigned row = 0; row < kRows; ++row) mine += kept_of(values[row]);
    }
    const unsigned of_block = sum_of_block(block, mine);
    if (block.thread_rank() == 0) sums[blockIdx.x] = of_block;
}

__device__ void store_chunk(const cg::thread_block& block, const float* in,
                            std::size_t count, float* out, const unsigned* sums,
                            unsigned* kept) {
    __shared__ unsigned warp_kept[kWarps];
    const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    const unsigned warp = tile.meta_group_rank();
    unsigned earlier = 0;
    for (unsigned b = block.thread_rank(); b < blockIdx.x; b += kThreads)
        earlier += sums[b];
    unsigned first = sum_of_block(block, earlier);
    if (blockIdx.x == gridDim.x - 1 && block.thread_rank() == 0)
        *kept = first + sums[blockIdx.x];

    const Chunk chunk = chunk_of_block(count);
    for (std::size_t t = chunk.first; t < chunk.end; ++t) {
        float values[kRows][4];
        load_part(in, t * kTile + warp * kPart, count, values);
        unsigned places[kRows];
        const unsigned of_warp = places_in_warp(tile, values, places);
        if (tile.thread_rank() == 0) warp_kept[warp] = of_warp;
        block.sync();
        unsigned before = first;
        for (unsigned w = 0; w < kWarps; ++w) {
            if (w < warp) before += warp_kept[w];
            first += warp_kept[w];
        }
        block.sync();  // before warp_kept is written again
        store_rows(out + before, values, places);
    }
}

// Step 6, two launches: one counts, and the next one stores. The end of the first launch is
// a barrier of the whole grid.
// Better because the output is in the order of the array, in every run, and because no
// counter has to be cleared. Slower because each float is read twice.
__global__ void count_kept(const float* in, std::size_t count, unsigned* sums) {
    count_chunk(cg::this_thread_block(), in, count, sums);
}
__global__ void store_kept(const float* in, std::size_t count, float* out,
                           const unsigned* sums, unsigned* kept) {
    store_chunk(cg::this_thread_block(), in, count, out, sums, kept);
}

// Step 7, one cooperative launch: grid.sync() is a barrier of all blocks, which have to be
// resident at the same time. It also makes visible what they have written before.
// Faster where the time of a launch counts, that is for small arrays. For large ones
// little changes: each float is still read twice.
__global__ void compact_with_grid_barrier(const float* in, std::size_t count, float* out,
                                          unsigned* sums, unsigned* kept) {
    const cg::thread_block block = cg::this_thread_block();
    count_chunk(block, in, count, sums);
    cg::this_grid().sync();
    store_chunk(block, in, count, out, sums, kept);
}

// What a tile tells the tiles after it, as in the lesson scan: nothing yet, how many of its
// own floats it keeps, or how many are kept up to its end (its prefix). State and number
// share one word of 64 bits, so whoever finds the state has the number, too, and relaxed
// order is enough.
using Word = unsigned long long;
using SharedWord = cuda::atomic_ref<Word, cuda::thread_scope_device>;

constexpr unsigned kNothing = 0, kSum = 1, kPrefix = 2;  // words are zeroed before a launch

__device__ void tell(Word* word, unsigned state, unsigned number) {
    SharedWord(*word).store(Word{state} << 32 | number, cuda::memory_order_relaxed);
}
__device__ Word look_at(Word* word) {
    return SharedWord(*word).load(cuda::memory_order_relaxed);
}
__device__ unsigned state_of(Word word) { return static_cast<unsigned>(word >> 32); }
__device__ unsigned number_of(Word word) { return static_cast<unsigned>(word); }

// How many floats the tiles before tile `index` keep, found by the 32 lanes together. Lane
// k looks at the tile that is k + 1 places before. The nearest prefix counts, with the
// numbers of the tiles after it. If there is none, the lanes go on with the 32 tiles
// before.
template <unsigned Pause>  // nanoseconds before a lane looks again
__device__ unsigned look_back(const cg::thread_block_tile<32>& tile, Word* words,
                              unsigned index) {
    const unsigned lane = tile.thread_rank();
    unsigned before = 0;
    for (unsigned end = index;; end -= 32) {
        Word found = Word{kPrefix} << 32;  // before the first tile: a prefix of 0
        if (lane < end) {
            found = look_at(words + end - 1 - lane);
            while (state_of(found) == kNothing) {
                if (Pause > 0) __nanosleep(Pause);
                found = look_at(words + end - 1 - lane);
            }
        }
        const unsigned prefixes = tile.ballot(state_of(found) == kPrefix);
        const unsigned nearest = prefixes == 0 ? 31 : __ffs(static_cast<int>(prefixes)) - 1;
        before +=
            cg::reduce(tile, lane <= nearest ? number_of(found) : 0u, cg::plus<unsigned>());
        if (prefixes != 0) return before;
    }
}

// Step 8, a single pass. It is step 5 with one difference: instead of drawing places from a
// counter, the first warp of the block looks back at the tiles before its own. A block
// draws the number of its tile when it starts, so that the tiles it waits for have started.
// Better because each float is read once, and yet the order of the array is kept. On an
// H200 it is slower than step 7 all the same, probably because a tile is small: there are
// many to look at, and few loads in flight while a block waits for the tiles before.
// `drawn` and the words of all tiles have to be zero before the launch.
__global__ void compact_look_back(const float* in, std::size_t count, float* out,
                                  Word* words, Word* drawn, unsigned* kept) {
    __shared__ float packed[kTile];
    __shared__ unsigned warp_kept[kWarps];
    __shared__ unsigned drawn_tile, first;
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    const unsigned warp = tile.meta_group_rank();
    if (block.thread_rank() == 0)
        drawn_tile = static_cast<unsigned>(atomicAdd(drawn, Word{1}));
    block.sync();
    const unsigned index = drawn_tile;
    float values[kRows][4];
    load_part(in, std::size_t{index} * kTile + warp * kPart, count, values);
    unsigned places[kRows];
    const unsigned of_warp = places_in_warp(tile, values, places);
    if (tile.thread_rank() == 0) warp_kept[warp] = of_warp;
    block.sync();
    unsigned before = 0, all = 0;
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
        if (w < warp) before += warp_kept[w];
        all += warp_kept[w];
    }
    if (block.thread_rank() == 0 && index > 0) tell(words + index, kSum, all);
    store_rows(packed + before, values, places);
    if (warp == 0) {
        const unsigned earlier = look_back<0>(tile, words, index);
        if (tile.thread_rank() == 0) {
            tell(words + index, kPrefix, earlier + all);
            first = earlier;
            if (index == gridDim.x - 1) *kept = earlier + all;
        }
    }
    block.sync();
    for (unsigned i = block.thread_rank(); i < all; i += kThreads)
        out[first + i] = packed[i];
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr unsigned kThreadsPerSm = 1024;  // there is no room for more
#else
constexpr unsigned kThreadsPerSm = 1536;
#endif

// Step 9, tuning: step 8 with other numbers. Eight loads per thread make tiles of 8192
// floats, so there are a quarter as many tiles to look at, and four times as many bytes in
// flight per thread. __launch_bounds__ asks for four resident blocks per SM, so that some
// load while others look back. A lane that finds nothing looks again only after a pause.
// Faster mostly because of the loads per thread: see the table of other numbers. Still
// slower than step 5, whose blocks do not wait for the tiles before theirs.
template <unsigned Threads, unsigned Rows, unsigned Pause>
struct Tuning {
    static constexpr unsigned threads = Threads, warps = Threads / 32;  // per block
    static constexpr unsigned rows = Rows;                              // loads per thread
    static constexpr unsigned tile = warps * Rows * kRow;               // floats
    static constexpr unsigned pause = Pause;                            // nanoseconds
    // As many as leave each thread 4 registers per load and 32 more.
    static constexpr unsigned threads_per_sm =
        std::min(65536 / (4 * Rows + 32), kThreadsPerSm);
    static constexpr unsigned blocks_per_sm = threads_per_sm / Threads;
};
using Tuned = Tuning<256, 8, 100>;

template <class Numbers>
__global__ void __launch_bounds__(Numbers::threads, Numbers::blocks_per_sm)
    compact_tuned(const float* in, std::size_t count, float* out, Word* words, Word* drawn,
                  unsigned* kept) {
    __shared__ float packed[Numbers::tile];
    __shared__ unsigned warp_kept[Numbers::warps];
    __shared__ unsigned drawn_tile, first;
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    const unsigned warp = tile.meta_group_rank();
    if (block.thread_rank() == 0)
        drawn_tile = static_cast<unsigned>(atomicAdd(drawn, Word{1}));
    block.sync();
    const unsigned index = drawn_tile;
    const std::size_t begin =
        std::size_t{index} * Numbers::tile + warp * (Numbers::rows * kRow);
    float values[Numbers::rows][4];
    load_part(in, begin, count, values);
    unsigned places[Numbers::rows];
    const unsigned of_warp = places_in_warp(tile, values, places);
    if (tile.thread_rank() == 0) warp_kept[warp] = of_warp;
    block.sync();
    unsigned before = 0, all = 0;
#pragma unroll
    for (unsigned w = 0; w < Numbers::warps; ++w) {
        if (w < warp) before += warp_kept[w];
        all += warp_kept[w];
    }
    if (block.thread_rank() == 0 && index > 0) tell(words + index, kSum, all);
    store_rows(packed + before, values, places);
    if (warp == 0) {
        const unsigned earlier = look_back<Numbers::pause>(tile, words, index);
        if (tile.thread_rank() == 0) {
            tell(words + index, kPrefix, earlier + all);
            first = earlier;
            if (index == gridDim.x - 1) *kept = earlier + all;
        }
    }
    block.sync();
    for (unsigned i = block.thread_rank(); i < all; i += Numbers::threads)
        out[first + i] = packed[i];
}

}  // namespace
}  // namespace modern_cuda
