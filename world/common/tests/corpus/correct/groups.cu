// Cooperative groups: blocks, tiles, threads that happen to run together, and what they exchange.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "common/tests/corpus/correct/expect.h"

namespace cg = cooperative_groups;

namespace corpus {
namespace {

__global__ void reverse_block(int* values) {
    __shared__ int copies[96];
    const cg::thread_block block = cg::this_thread_block();
    const int rank = block.thread_rank();
    copies[rank] = values[rank];
    block.sync();
    values[rank] = copies[95 - rank];
    cg::sync(block);
    copies[rank] = values[95 - rank];
    block.sync();
    values[rank] += 100 * copies[rank];
}

void block_synchronized_by_its_group() {
    DeviceBuffer<int> d_values(sequence<int>(96, [](int i) { return i; }));
    reverse_block<<<1, dim3(8, 4, 3)>>>(d_values.data());
    check_finished();
    expect_equal(d_values.download(), sequence<int>(96, [](int i) { return 95 - i + 100 * i; }));
}

template <unsigned Size>
__global__ void sums_of_tiles(const int* values, int* sums) {
    const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    int sum = values[threadIdx.x];
    for (unsigned distance = Size / 2; distance > 0; distance /= 2) sum += tile.shfl_down(sum, distance);
    if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
}

template <unsigned Size>
void check_sums_of_tiles() {
    const std::vector<int> values = scrambled(128, 100);
    DeviceBuffer<int> d_values(values), d_sums(128 / Size);
    sums_of_tiles<Size><<<1, 128>>>(d_values.data(), d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), sequence<int>(128 / Size, [&](int tile) {
                     const auto first = values.begin() + tile * static_cast<int>(Size);
                     return std::accumulate(first, first + Size, 0);
                 }));
}

void tiles_of_8_16_and_32_add_up() {
    check_sums_of_tiles<8>();
    check_sums_of_tiles<16>();
    check_sums_of_tiles<32>();
}

/// Tiles loop a different number of times: a tile's sync() concerns its own threads only.
__global__ void rotate_in_tiles(int* values) {
    __shared__ int copies[64];
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int rank = tile.thread_rank(), first = threadIdx.x - rank;
    const int rounds = tile.meta_group_rank();
    int own = values[threadIdx.x];
    for (int round = 0; round < rounds; ++round) {
        copies[threadIdx.x] = own;
        tile.sync();
        own = copies[first + (rank + 1) % 8];
        tile.sync();
    }
    values[threadIdx.x] = own;
}

void tiles_loop_a_different_number_of_times() {
    DeviceBuffer<int> d_values(sequence<int>(64, [](int i) { return i; }));
    rotate_in_tiles<<<1, 64>>>(d_values.data());
    check_finished();
    expect_equal(d_values.download(), sequence<int>(64, [](int i) { return i / 8 * 8 + (i % 8 + i / 8) % 8; }));
}

/// A tile a row: the row's threads talk to each other through shared memory, ordered by the tile.
__global__ void normalize_rows(const float* in, float* out) {
    __shared__ float largest[8];
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int row = tile.meta_group_rank();
    const float value = in[threadIdx.x];
    const float maximum = cg::reduce(tile, value, cg::greater<float>());
    if (tile.thread_rank() == 3) largest[row] = maximum;
    tile.sync();
    out[threadIdx.x] = value / largest[row];
}

void one_thread_of_a_tile_writes_for_all() {
    const auto values = sequence<float>(128, [](int i) { return 1 << i * 5 % 16; });
    DeviceBuffer<float> d_in(values), d_out(128);
    normalize_rows<<<1, 128>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<float>(128, [&](int i) { return values[i] / 32768; }));
}

/// The threads that run together ask for places at once: one of them adds for all.
__device__ int add_together(int* counter) {
    const cg::coalesced_group active = cg::coalesced_threads();
    int start = 0;
    if (active.thread_rank() == 0) start = atomicAdd(counter, static_cast<int>(active.num_threads()));
    return active.shfl(start, 0) + static_cast<int>(active.thread_rank());
}

__global__ void keep_multiples(const int* values, int n, int divisor, int* kept, int* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && values[i] % divisor == 0) kept[add_together(count)] = values[i];
}

void running_threads_add_together() {
    constexpr int n = 200;
    DeviceBuffer<int> d_values(sequence<int>(n, [](int i) { return i; })), d_kept(std::vector<int>(n, -1));
    DeviceBuffer<int> d_count(std::vector<int>{0});
    keep_multiples<<<2, 128>>>(d_values.data(), n, 3, d_kept.data(), d_count.data());
    check_finished();
    expect_equal(d_count.download(), {67});
    std::vector<int> kept = d_kept.download();
    kept.resize(67);
    std::sort(kept.begin(), kept.end());
    expect_equal(kept, sequence<int>(67, [](int i) { return 3 * i; }));
}

__global__ void scan_tiles(const int* values, int* inclusive, int* exclusive) {
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    inclusive[threadIdx.x] = cg::inclusive_scan(tile, values[threadIdx.x]);
    exclusive[threadIdx.x] = cg::exclusive_scan(tile, values[threadIdx.x], cg::plus<int>());
}

void scans_of_a_tile() {
    const std::vector<int> values = scrambled(64, 100);
    std::vector<int> inclusive(64), exclusive(64);
    for (int first = 0; first < 64; first += 32) {
        std::partial_sum(&values[first], &values[first] + 32, &inclusive[first]);
        std::exclusive_scan(&values[first], &values[first] + 32, &exclusive[first], 0);
    }
    DeviceBuffer<int> d_values(values), d_inclusive(64), d_exclusive(64);
    scan_tiles<<<1, 64>>>(d_values.data(), d_inclusive.data(), d_exclusive.data());
    check_finished();
    expect_equal(d_inclusive.download(), inclusive);
    expect_equal(d_exclusive.download(), exclusive);
}

/// Threads with the same label form a group of their own and add up without the others.
__global__ void sums_by_label(const int* labels, int* sums) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const cg::coalesced_group same = cg::labeled_partition(warp, labels[threadIdx.x]);
    sums[threadIdx.x] = cg::reduce(same, static_cast<int>(threadIdx.x), cg::plus<int>());
}

void threads_with_equal_labels_add_up() {
    const std::vector<int> labels = scrambled(64, 4);
    DeviceBuffer<int> d_labels(labels), d_sums(64);
    sums_by_label<<<1, 64>>>(d_labels.data(), d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), sequence<int>(64, [&](int i) {
                     int sum = 0;
                     for (int other = i / 32 * 32; other < i / 32 * 32 + 32; ++other) {
                         if (labels[other] == labels[i]) sum += other;
                     }
                     return sum;
                 }));
}

/// Both parts write to one shared array, each to its end of it.
__global__ void partition_warp(const int* in, int* out) {
    __shared__ int parted[32];
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int value = in[threadIdx.x];
    const bool is_even = value % 2 == 0;
    const cg::coalesced_group part = cg::binary_partition(warp, is_even);
    parted[is_even ? part.thread_rank() : 31 - part.thread_rank()] = value;
    warp.sync();
    out[threadIdx.x] = parted[threadIdx.x];
}

void two_parts_of_a_warp_fill_one_array() {
    const std::vector<int> values = scrambled(32, 100);
    DeviceBuffer<int> d_in(values), d_out(32);
    partition_warp<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
    std::vector<int> expected;
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected), [](int value) { return value % 2 == 0; });
    std::copy_if(values.rbegin(), values.rend(), std::back_inserter(expected),
                 [](int value) { return value % 2 != 0; });
    expect_equal(d_out.download(), expected);
}

/// Works for any group: `scratch` has a place for each thread of the group.
__device__ int sum_of_group(const cg::thread_group& group, int* scratch, int value) {
    const int rank = group.thread_rank();
    for (int width = static_cast<int>(group.size()) / 2; width > 0; width /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < width) value += scratch[rank + width];
        group.sync();
    }
    return value;
}

__global__ void sums_of_block_and_tiles(const int* values, int* sums) {
    __shared__ int scratch[64];
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_group tile = cg::tiled_partition(block, 16);
    const int of_tile = sum_of_group(tile, scratch + threadIdx.x / 16 * 16, values[threadIdx.x]);
    if (tile.thread_rank() == 0) sums[threadIdx.x / 16] = of_tile;
    block.sync();
    const int of_block = sum_of_group(block, scratch, values[threadIdx.x]);
    if (block.thread_rank() == 0) sums[4] = of_block;
}

void one_function_for_groups_of_any_kind() {
    DeviceBuffer<int> d_values(sequence<int>(64, [](int i) { return i; })), d_sums(5);
    sums_of_block_and_tiles<<<1, 64>>>(d_values.data(), d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), {120, 376, 632, 888, 2016});
}

/// Nobody reads the copy before cg::wait.
__global__ void copy_then_reverse(const int* in, int* out, int n) {
    extern __shared__ int copies[];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, copies, in, sizeof(int) * n);
    cg::wait(block);
    for (int i = block.thread_rank(); i < n; i += block.num_threads()) out[i] = copies[n - 1 - i];
}

void asynchronous_copy_is_waited_for() {
    DeviceBuffer<int> d_in(sequence<int>(300, [](int i) { return i; })), d_out(300);
    copy_then_reverse<<<1, 64, 300 * sizeof(int)>>>(d_in.data(), d_out.data(), 300);
    check_finished();
    expect_equal(d_out.download(), sequence<int>(300, [](int i) { return 299 - i; }));
}

/// Tiles of a tile; the part of a warp that returned before takes part in nothing.
__global__ void quarter_warps(int* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto quarter = cg::tiled_partition<8>(warp);
    if (quarter.meta_group_rank() == 2) return;
    out[threadIdx.x] = quarter.shfl_xor(static_cast<int>(threadIdx.x), 7) + 100 * quarter.any(threadIdx.x == 17);
}

void a_quarter_of_a_warp_leaves_early() {
    DeviceBuffer<int> d_out(std::vector<int>(64, -1));
    quarter_warps<<<1, 64>>>(d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(64, [](int i) { return i % 32 / 8 == 2 ? -1 : i ^ 7; }));
}

}  // namespace

CaseList groups() {
    return {
        __FILE__,
        {
            {"block_synchronized_by_its_group", "block.sync() is a barrier", block_synchronized_by_its_group},
            {"tiles_of_8_16_and_32_add_up", "shuffles inside tiles", tiles_of_8_16_and_32_add_up},
            {"tiles_loop_a_different_number_of_times", "tile.sync() waits for the tile only",
             tiles_loop_a_different_number_of_times},
            {"one_thread_of_a_tile_writes_for_all", "tile.sync() before the others read",
             one_thread_of_a_tile_writes_for_all},
            {"running_threads_add_together", "one atomicAdd for all threads that are there",
             running_threads_add_together},
            {"scans_of_a_tile", "inclusive_scan and exclusive_scan", scans_of_a_tile},
            {"threads_with_equal_labels_add_up", "labeled_partition and reduce", threads_with_equal_labels_add_up},
            {"two_parts_of_a_warp_fill_one_array", "no element belongs to both", two_parts_of_a_warp_fill_one_array},
            {"one_function_for_groups_of_any_kind", "thread_group knows what to wait for",
             one_function_for_groups_of_any_kind},
            {"asynchronous_copy_is_waited_for", "cg::wait before the first read", asynchronous_copy_is_waited_for},
            {"a_quarter_of_a_warp_leaves_early", "a whole tile returns, the others stay",
             a_quarter_of_a_warp_leaves_early},
        }};
}

}  // namespace corpus
