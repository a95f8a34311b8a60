// The kernels of the lesson, in the order of its steps. Steps that call a library only have
// no kernel: they stand in lesson.cu.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/std/functional>
#include <cuda/std/mdspan>
#include <cuda/std/span>

namespace modern_cuda {
namespace {

constexpr unsigned kThreads = 256;

// Step 2. Each thread adds its value to the sum of its key. The keys are the numbers from 0
// on, so a key is a place in `sums`, which holds zeros at first.
// Slow: all values of a run go to the same word, so their additions are serialized.
__global__ void add_each(const unsigned* keys, const unsigned* values, std::size_t count,
                         unsigned* sums) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < count) atomicAdd(&sums[keys[i]], values[i]);
}

// Step 3, the same with spans. A span is a pointer and a number of elements, so nobody can
// give the kernel the length of another array. An argument less, and neither faster nor
// slower: the compiler makes the same loads of it.
using Numbers = cuda::std::span<const unsigned>;
using Sums = cuda::std::span<unsigned>;

__global__ void add_each_of_span(Numbers keys, Numbers values, Sums sums) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < keys.size()) atomicAdd(&sums[keys[i]], values[i]);
}

// Step 4, a warp adds up first. cub::WarpReduce adds up each segment of a warp's values. A
// segment begins with a flag, and its first lane gets the sum.
// Faster because a warp makes one addition per run, and not 32. Still slow: a run that is
// longer than a warp is added up in several parts.
__global__ void add_by_warps(Numbers keys, Numbers values, Sums sums) {
    using WarpReduce = cub::WarpReduce<unsigned>;
    __shared__ typename WarpReduce::TempStorage storage[kThreads / 32];
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const bool is_element = i < keys.size();
    const unsigned key = is_element ? keys[i] : ~0u;
    const unsigned value = is_element ? values[i] : 0;
    const unsigned key_before = __shfl_up_sync(~0u, key, 1);
    const bool is_head = threadIdx.x % 32 == 0 || key != key_before;
    const unsigned sum =
        WarpReduce(storage[threadIdx.x / 32]).HeadSegmentedSum(value, is_head);
    if (is_head && is_element) atomicAdd(&sums[key], sum);
}

// Step 5, a block adds up a tile of 2048 values. What a scan combines need not be a number:
// here it is a sum, and whether a run began within the elements that it is made of. If the
// right one of two such parts begins a run, then the sum of the left one ends before it.
// Faster: there is one addition per run and tile, and each thread has eight values. The two
// effects were not separated. What keeps it from copy bandwidth was not examined. For runs
// of a single value it is slower than step 2, where adding up first saves nothing. Why it
// takes more than twice as long there was not examined.
struct Part {
    unsigned begins_run;
    unsigned sum;
};

struct AddParts {
    __device__ Part operator()(const Part& left, const Part& right) const {
        return {left.begins_run | right.begins_run,
                right.begins_run ? right.sum : left.sum + right.sum};
    }
};

constexpr int kItems = 8;  // of a thread
constexpr unsigned kTile = kThreads * kItems;

__global__ void add_by_tiles(Numbers keys, Numbers values, Sums sums) {
    using Load = cub::BlockLoad<unsigned, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
    using Flags = cub::BlockDiscontinuity<unsigned, kThreads>;
    using Scan = cub::BlockScan<Part, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Flags::TempStorage flags;
        typename Scan::TempStorage scan;
    } storage;  // one after the other, with a barrier before each change
    const std::size_t first = std::size_t{blockIdx.x} * kTile;
    if (first >= keys.size()) return;
    const std::size_t left = keys.size() - first;
    const int here = static_cast<int>(left < kTile ? left : kTile);
    unsigned key[kItems], value[kItems];
    Load(storage.load).Load(keys.data() + first, key, here, ~0u);
    __syncthreads();
    Load(storage.load).Load(values.data() + first, value, here, 0u);
    __syncthreads();
    int begins[kItems], ends[kItems];
    Flags(storage.flags)
        .FlagHeadsAndTails(begins, ends, key, cuda::std::not_equal_to<unsigned>());
    __syncthreads();
    Part parts[kItems];
    for (int k = 0; k < kItems; ++k)
        parts[k] = {static_cast<unsigned>(begins[k]), value[k]};
    Scan(storage.scan).InclusiveScan(parts, parts, AddParts());
    for (int k = 0; k < kItems; ++k) {
        const bool is_element = static_cast<int>(threadIdx.x) * kItems + k < here;
        if (ends[k] && is_element) atomicAdd(&sums[key[k]], parts[k].sum);
    }
}

// ---- keys in any order ------------------------------------------------------------------

// So many keys that there is a place for each in the shared memory of a block.
constexpr unsigned kKeys = 1024;

// Step 3 of the second list. Each block has sums of its own in shared memory, and adds them
// to those of the grid in the end: the histogram of chapter 2, with values instead of ones.
// Faster because a block adds once per key to global memory, however many values it has.
__global__ void add_in_shared(Numbers keys, Numbers values, Sums sums) {
    __shared__ unsigned of_block[kKeys];
    for (unsigned key = threadIdx.x; key < kKeys; key += kThreads) of_block[key] = 0;
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < keys.size();
         i += stride)
        atomicAdd(&of_block[keys[i]], values[i]);
    __syncthreads();
    for (unsigned key = threadIdx.x; key < kKeys; key += kThreads)
        if (of_block[key] != 0) atomicAdd(&sums[key], of_block[key]);
}

// ---- a key for each row -----------------------------------------------------------------

// An mdspan is a pointer, the numbers of rows and columns, and a layout: where an element
// lies is part of its type. The kernel says which element it means, matrix(row, col), and
// is the same for matrices by rows and by columns. A block adds up a row.
template <class Layout>
using Matrix =
    cuda::std::mdspan<const unsigned, cuda::std::dextents<std::size_t, 2>, Layout>;

template <class Layout>
__global__ void add_rows(Matrix<Layout> matrix, Sums sums) {
    using BlockReduce = cub::BlockReduce<unsigned, kThreads>;
    __shared__ typename BlockReduce::TempStorage storage;
    const std::size_t row = blockIdx.x;
    if (row >= matrix.extent(0)) return;
    unsigned mine = 0;
    for (std::size_t col = threadIdx.x; col < matrix.extent(1); col += kThreads)
        mine += matrix(row, col);
    const unsigned sum = BlockReduce(storage).Sum(mine);
    if (threadIdx.x == 0) sums[row] = sum;
}

}  // namespace
}  // namespace modern_cuda
