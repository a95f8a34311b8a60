// Cooperative groups: blocks, tiles, coalesced threads, grids, and what they compute together.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "common/tests/device/results_of.h"
#include "common/tests/device_or_skip.h"

namespace cg = cooperative_groups;

namespace {

struct Place {
    unsigned rank, size, index_x, index_y, index_z, block_x, block_y, dim_x, dim_z;

    bool operator==(const Place&) const = default;
};

__global__ void describe_block(Place* out) {
    const cg::thread_block block = cg::this_thread_block();
    const dim3 index = block.thread_index();
    const dim3 dim = block.group_dim();
    Place place{block.thread_rank(),   block.size(),          index.x, index.y, index.z, block.group_index().x,
                block.group_index().y, block.dim_threads().x, dim.z};
    if (block.num_threads() != block.size() || cg::thread_rank(block) != block.thread_rank()) place.rank = 12345;
    const unsigned block_rank = blockIdx.x + gridDim.x * blockIdx.y;
    out[block_rank * block.size() + block.thread_rank()] = place;
}

__global__ void reverse_through_block(int* out) {
    __shared__ int values[256];
    const cg::thread_block block = cg::this_thread_block();
    values[block.thread_rank()] = static_cast<int>(block.thread_rank());
    block.sync();
    const int seen = values[block.size() - 1 - block.thread_rank()];
    cg::sync(block);
    values[block.thread_rank()] = 2 * seen;
    cg::thread_block::sync();
    out[block.thread_rank()] = values[(block.thread_rank() + 1) % block.size()];
}

struct TilePlace {
    unsigned rank, size, meta_rank, meta_size;

    bool operator==(const TilePlace&) const = default;
};

template <unsigned Size>
__global__ void describe_tiles(TilePlace* out) {
    const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    const cg::thread_block_tile<Size> any_parent = tile;
    out[2 * threadIdx.x] = {tile.thread_rank(), tile.size(), tile.meta_group_rank(), tile.meta_group_size()};
    out[2 * threadIdx.x + 1] = {any_parent.thread_rank(), any_parent.num_threads(), any_parent.meta_group_rank(),
                                any_parent.meta_group_size()};
}

__global__ void describe_nested_tiles(TilePlace* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto eight = cg::tiled_partition<8>(warp);
    const auto two = cg::tiled_partition<2>(eight);
    out[2 * threadIdx.x] = {eight.thread_rank(), eight.size(), eight.meta_group_rank(), eight.meta_group_size()};
    out[2 * threadIdx.x + 1] = {two.thread_rank(), two.size(), two.meta_group_rank(), two.meta_group_size()};
}

struct TileExchange {
    int broadcast, up, down, exclusive_or, any, all;
    unsigned ballot, match_any, match_all;
    int match_all_predicate;
};

template <unsigned Size>
__global__ void exchange_in_tiles(TileExchange* out) {
    const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    const int value = static_cast<int>(threadIdx.x);
    TileExchange e;
    e.broadcast = tile.shfl(value, Size - 1);
    e.up = tile.shfl_up(value, 1);
    e.down = tile.shfl_down(value, 1);
    e.exclusive_or = tile.shfl_xor(value, Size / 2);
    e.any = tile.any(value % 8 == 0);
    e.all = tile.all(value < 32);
    e.ballot = tile.ballot(value % 3 == 0);
    e.match_any = tile.match_any(value % 3);
    e.match_all = tile.match_all(value / static_cast<int>(Size), e.match_all_predicate);
    out[threadIdx.x] = e;
}

/// Takes any group, as library functions do.
__device__ int sum_in_shared_memory(const cg::thread_group& group, int* scratch, int value) {
    const unsigned rank = static_cast<unsigned>(group.thread_rank());
    for (unsigned width = static_cast<unsigned>(group.size()) / 2; width > 0; width /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < width) value += scratch[rank + width];
        group.sync();
    }
    return value;
}

__global__ void sum_by_type_erased_groups(int* out, int tile_size) {
    __shared__ int scratch[128];
    const cg::thread_block block = cg::this_thread_block();
    const int of_block = sum_in_shared_memory(block, scratch, static_cast<int>(threadIdx.x));
    block.sync();
    const cg::thread_group tile = cg::tiled_partition(block, static_cast<unsigned>(tile_size));
    int* own = scratch + threadIdx.x / static_cast<unsigned>(tile_size) * static_cast<unsigned>(tile_size);
    const int of_tile = sum_in_shared_memory(tile, own, static_cast<int>(threadIdx.x));
    if (threadIdx.x == 0) out[0] = of_block;
    if (tile.thread_rank() == 0) out[1 + threadIdx.x / static_cast<unsigned>(tile_size)] = of_tile;
}

struct Coalesced {
    unsigned rank, size, part_rank, part_size;
    int first, up, down, all;
    unsigned ballot;
};

/// Lanes whose rank modulo 3 is 1 form a group; cut into tiles of 4.
__global__ void coalesce(Coalesced* out) {
    if (threadIdx.x % 3 != 1) return;
    const cg::coalesced_group group = cg::coalesced_threads();
    const int value = static_cast<int>(threadIdx.x);
    Coalesced c;
    c.rank = group.thread_rank();
    c.size = group.size();
    c.first = group.shfl(value, 0);
    c.up = group.shfl_up(value, 2);
    c.down = group.shfl_down(value, 2);
    c.all = group.all(value % 3 == 1);
    c.ballot = group.ballot(c.rank % 2 == 0);
    const cg::coalesced_group part = cg::tiled_partition(group, 4);
    c.part_rank = part.thread_rank();
    c.part_size = part.size();
    group.sync();
    out[threadIdx.x] = c;
}

/// One addition for all threads that come: the use that coalesced groups were made for.
__global__ void count_matches(const int* values, int* counter, int* tickets) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (values[thread] > 0) {
        const cg::coalesced_group group = cg::coalesced_threads();
        int first = 0;
        if (group.thread_rank() == 0) first = atomicAdd(counter, static_cast<int>(group.size()));
        tickets[thread] = group.shfl(first, 0) + static_cast<int>(group.thread_rank());
    }
}

struct Part {
    unsigned rank, size, meta_rank, meta_size;
    int sum;

    bool operator==(const Part&) const = default;
};

__global__ void partition(Part* by_label, Part* by_predicate) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int lane = static_cast<int>(warp.thread_rank());
    const cg::coalesced_group label = cg::labeled_partition(warp, (lane + 2) % 3);
    by_label[threadIdx.x] = {label.thread_rank(), label.size(), label.meta_group_rank(), label.meta_group_size(),
                             cg::reduce(label, lane, cg::plus<int>())};
    const cg::coalesced_group two = cg::binary_partition(warp, lane >= 20);
    by_predicate[threadIdx.x] = {two.thread_rank(), two.size(), two.meta_group_rank(), two.meta_group_size(),
                                 cg::reduce(two, lane, cg::plus<int>())};
}

struct Reductions {
    int add, min, max;
    unsigned bits_and, bits_or, bits_xor;
    double sum;
    long long wide;
    int product;
};

template <class Group>
__device__ Reductions reduce_all(const Group& group, int value) {
    Reductions r;
    const auto bits = static_cast<unsigned>(value) * 2654435761u | 0x100u;
    r.add = cg::reduce(group, value, cg::plus<int>());
    r.min = cg::reduce(group, value - 7, cg::less<int>());
    r.max = cg::reduce(group, value - 7, cg::greater<int>());
    r.bits_and = cg::reduce(group, bits, cg::bit_and<unsigned>());
    r.bits_or = cg::reduce(group, bits, cg::bit_or<unsigned>());
    r.bits_xor = cg::reduce(group, bits, cg::bit_xor<unsigned>());
    r.sum = cg::reduce(group, 0.5 * value, cg::plus<double>());
    r.wide = cg::reduce(group, static_cast<long long>(value) << 33, cg::plus<long long>());
    r.product = cg::reduce(group, value % 3 == 0 ? 2 : 1, [](int a, int b) { return a * b; });
    return r;
}

template <unsigned Size>
__global__ void reduce_tiles(Reductions* out) {
    out[threadIdx.x] = reduce_all(cg::tiled_partition<Size>(cg::this_thread_block()), static_cast<int>(threadIdx.x));
}

__global__ void reduce_coalesced(unsigned lanes, Reductions* out) {
    if ((lanes >> threadIdx.x % 32 & 1) == 0) return;
    out[threadIdx.x] = reduce_all(cg::coalesced_threads(), static_cast<int>(threadIdx.x));
}

Reductions reduce_on_host(const std::vector<int>& values) {
    Reductions r{0, values[0] - 7, values[0] - 7, ~0u, 0, 0, 0, 0, 1};
    for (const int value : values) {
        const auto bits = static_cast<unsigned>(value) * 2654435761u | 0x100u;
        r.add += value;
        r.min = value - 7 < r.min ? value - 7 : r.min;
        r.max = value - 7 > r.max ? value - 7 : r.max;
        r.bits_and &= bits;
        r.bits_or |= bits;
        r.bits_xor ^= bits;
        r.sum += 0.5 * value;
        r.wide += static_cast<long long>(value) << 33;
        r.product *= value % 3 == 0 ? 2 : 1;
    }
    return r;
}

void check_same(const Reductions& got, const Reductions& expected) {
    REQUIRE(got.add == expected.add);
    REQUIRE(got.min == expected.min);
    REQUIRE(got.max == expected.max);
    REQUIRE(got.bits_and == expected.bits_and);
    REQUIRE(got.bits_or == expected.bits_or);
    REQUIRE(got.bits_xor == expected.bits_xor);
    REQUIRE(got.sum == expected.sum);
    REQUIRE(got.wide == expected.wide);
    REQUIRE(got.product == expected.product);
}

/// 24 bytes: more than any shuffle instruction carries.
struct Extremes {
    double low, high;
    int low_at, high_at;
};

struct MergeExtremes {
    __device__ Extremes operator()(Extremes a, Extremes b) const {
        Extremes merged = a;
        if (b.low < a.low) merged.low = b.low, merged.low_at = b.low_at;
        if (b.high > a.high) merged.high = b.high, merged.high_at = b.high_at;
        return merged;
    }
};

__global__ void find_extremes(Extremes* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int lane = static_cast<int>(warp.thread_rank());
    const double value = (lane * 37 + 11) % 101;
    const Extremes extremes = cg::reduce(warp, Extremes{value, value, lane, lane}, MergeExtremes());
    out[lane] = warp.shfl(extremes, 31 - lane);
}

struct Scans {
    int inclusive, exclusive, running_max;
    double sum;
};

template <class Group>
__device__ Scans scan_all(const Group& group, int value) {
    Scans s;
    s.inclusive = cg::inclusive_scan(group, value);
    s.exclusive = cg::exclusive_scan(group, value, cg::plus<int>());
    s.running_max = cg::inclusive_scan(group, value * 7 % 32, cg::greater<int>());
    s.sum = cg::exclusive_scan(group, 0.25 * value);
    return s;
}

template <unsigned Size>
__global__ void scan_tiles(Scans* out) {
    out[threadIdx.x] = scan_all(cg::tiled_partition<Size>(cg::this_thread_block()), static_cast<int>(threadIdx.x));
}

__global__ void scan_coalesced(unsigned lanes, Scans* out) {
    if ((lanes >> threadIdx.x % 32 & 1) == 0) return;
    out[threadIdx.x] = scan_all(cg::coalesced_threads(), static_cast<int>(threadIdx.x));
}

/// `group_of[i]` is the group of thread i, or -1 if it takes no part.
void check_scans(const std::vector<Scans>& got, const std::vector<int>& group_of) {
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (group_of[i] < 0) continue;
        int before = 0;
        int highest = 0;
        for (std::size_t j = 0; j <= i; ++j) {
            if (group_of[j] != group_of[i]) continue;
            if (j < i) before += static_cast<int>(j);
            const int candidate = static_cast<int>(j) * 7 % 32;
            highest = candidate > highest ? candidate : highest;
        }
        CAPTURE(i);
        REQUIRE(got[i].inclusive == before + static_cast<int>(i));
        REQUIRE(got[i].exclusive == before);
        REQUIRE(got[i].running_max == highest);
        REQUIRE(got[i].sum == 0.25 * before);
    }
}

__global__ void invoke_in_one_thread(int* counts) {
    const cg::thread_block block = cg::this_thread_block();
    cg::invoke_one(block, [&] { atomicAdd(&counts[0], 1); });
    const auto tile = cg::tiled_partition<8>(block);
    cg::invoke_one(
        tile, [&](int by) { atomicAdd(&counts[1], by); }, 3);
    const int ticket = cg::invoke_one_broadcast(tile, [&] { return atomicAdd(&counts[2], 1); });
    atomicAdd(&counts[3], ticket);
}

__global__ void copy_by_groups(const int* from, int count, int* to) {
    extern __shared__ int staged[];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, staged, from, sizeof(int) * static_cast<std::size_t>(count));
    cg::wait(block);
    for (int i = static_cast<int>(block.thread_rank()); i < count; i += static_cast<int>(block.size())) {
        to[i] = staged[count - 1 - i];
    }
}

/// Every block adds its neighbor's sum of the turn before: wrong unless the whole grid waits.
__global__ void pass_around_the_grid(int* sums, int turns) {
    const cg::grid_group grid = cg::this_grid();
    const unsigned blocks = gridDim.x;
    for (int turn = 0; turn < turns; ++turn) {
        const int* now = sums + turn % 2 * blocks;
        int* next = sums + (turn + 1) % 2 * blocks;
        if (threadIdx.x == 0) next[blockIdx.x] = now[(blockIdx.x + 1) % blocks] + 1;
        grid.sync();
    }
}

struct GridPlace {
    unsigned long long rank, size, block_rank, blocks;
    unsigned x, y;
};

__global__ void describe_grid(GridPlace* out) {
    const cg::grid_group grid = cg::this_grid();
    out[grid.thread_rank()] = {grid.thread_rank(), grid.size(),           grid.block_rank(),
                               grid.num_blocks(),  grid.thread_index().x, grid.thread_index().y};
}

template <unsigned Size>
void check_tiles() {
    constexpr unsigned threads = 96;
    const auto out =
        results_of<TilePlace>(2 * threads, [](TilePlace* d_out) { describe_tiles<Size><<<1, threads>>>(d_out); });
    for (unsigned thread = 0; thread < threads; ++thread) {
        const TilePlace expected{thread % Size, Size, thread / Size, threads / Size};
        REQUIRE(out[2 * thread] == expected);
        REQUIRE(out[2 * thread + 1] == expected);
    }

    const auto exchanged =
        results_of<TileExchange>(threads, [](TileExchange* d_out) { exchange_in_tiles<Size><<<1, threads>>>(d_out); });
    for (unsigned thread = 0; thread < threads; ++thread) {
        const unsigned first = thread / Size * Size;
        unsigned thirds = 0;
        unsigned like_me = 0;
        bool any = false;
        for (unsigned rank = 0; rank < Size; ++rank) {
            if ((first + rank) % 3 == 0) thirds |= 1u << rank;
            if ((first + rank) % 3 == thread % 3) like_me |= 1u << rank;
            any = any || (first + rank) % 8 == 0;
        }
        const TileExchange& e = exchanged[thread];
        CAPTURE(thread);
        REQUIRE(e.broadcast == static_cast<int>(first + Size - 1));
        REQUIRE(e.up == static_cast<int>(thread == first ? thread : thread - 1));
        REQUIRE(e.down == static_cast<int>(thread == first + Size - 1 ? thread : thread + 1));
        REQUIRE(e.exclusive_or == static_cast<int>(thread ^ (Size / 2)));
        REQUIRE((e.any != 0) == any);
        REQUIRE((e.all != 0) == (thread < 32));
        REQUIRE(e.ballot == thirds);
        REQUIRE(e.match_any == like_me);
        REQUIRE(e.match_all == (Size == 32 ? ~0u : (1u << Size % 32) - 1));
        REQUIRE(e.match_all_predicate != 0);
    }

    const auto reduced =
        results_of<Reductions>(threads, [](Reductions* d_out) { reduce_tiles<Size><<<1, threads>>>(d_out); });
    std::vector<int> group_of;
    for (unsigned thread = 0; thread < threads; ++thread) {
        std::vector<int> values;
        for (unsigned rank = 0; rank < Size; ++rank) values.push_back(static_cast<int>(thread / Size * Size + rank));
        check_same(reduced[thread], reduce_on_host(values));
        group_of.push_back(static_cast<int>(thread / Size));
    }
    check_scans(results_of<Scans>(threads, [](Scans* d_out) { scan_tiles<Size><<<1, threads>>>(d_out); }), group_of);
}

bool can_launch_cooperatively() {
    int supported = 0;
    return cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0) == cudaSuccess && supported != 0;
}

}  // namespace

TEST_CASE("a block knows its threads") {
    device_or_skip();
    const dim3 grid(3, 2);
    const dim3 block(5, 4, 2);
    const auto out = results_of<Place>(6 * 40, [&](Place* d_out) { describe_block<<<grid, block>>>(d_out); });
    for (unsigned i = 0; i < 6 * 40; ++i) {
        const unsigned rank = i % 40;
        CHECK(out[i] == Place{rank, 40, rank % 5, rank / 5 % 4, rank / 20, i / 40 % 3, i / 120, 5, 2});
    }
}

TEST_CASE("a block synchronizes in three spellings") {
    device_or_skip();
    const auto out = results_of<int>(200, [](int* d_out) { reverse_through_block<<<1, 200>>>(d_out); });
    for (int i = 0; i < 200; ++i) REQUIRE(out[static_cast<std::size_t>(i)] == 2 * (199 - (i + 1) % 200));
}

TEST_CASE("tiles of every size exchange, reduce and scan") {
    device_or_skip();
    SECTION("1") { check_tiles<1>(); }
    SECTION("2") { check_tiles<2>(); }
    SECTION("4") { check_tiles<4>(); }
    SECTION("8") { check_tiles<8>(); }
    SECTION("16") { check_tiles<16>(); }
    SECTION("32") { check_tiles<32>(); }
}

TEST_CASE("tiles can be cut into tiles") {
    device_or_skip();
    const auto out = results_of<TilePlace>(128, [](TilePlace* d_out) { describe_nested_tiles<<<1, 64>>>(d_out); });
    for (unsigned thread = 0; thread < 64; ++thread) {
        REQUIRE(out[2 * thread] == TilePlace{thread % 8, 8, thread % 32 / 8, 4});
        REQUIRE(out[2 * thread + 1] == TilePlace{thread % 2, 2, thread % 8 / 2, 4});
    }
}

TEST_CASE("functions take any group as a thread_group") {
    device_or_skip();
    const int size = GENERATE(1, 2, 4, 8, 16, 32);
    const auto tiles = static_cast<std::size_t>(128 / size);
    const auto out =
        results_of<int>(1 + tiles, [&](int* d_out) { sum_by_type_erased_groups<<<1, 128>>>(d_out, size); });
    CHECK(out[0] == 127 * 64);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        CHECK(out[1 + tile] == static_cast<int>(tile) * size * size + size * (size - 1) / 2);
    }
}

TEST_CASE("coalesced threads form a group with ranks of its own") {
    device_or_skip();
    const auto out = results_of<Coalesced>(32, [](Coalesced* d_out) { coalesce<<<1, 32>>>(d_out); });
    // The compiler may split a branch, but neither the hardware nor the CPU device does so here: lanes 1, 4, ..., 31.
    for (unsigned lane = 1; lane < 32; lane += 3) {
        const unsigned rank = lane / 3;
        const Coalesced& c = out[lane];
        CAPTURE(lane);
        REQUIRE(c.rank == rank);
        REQUIRE(c.size == 11);
        REQUIRE(c.first == 1);
        REQUIRE(c.up == static_cast<int>(rank >= 2 ? lane - 6 : lane));
        REQUIRE(c.down == static_cast<int>(rank + 2 < 11 ? lane + 6 : lane));
        REQUIRE(c.all != 0);
        REQUIRE(c.ballot == 0x555);
        REQUIRE(c.part_rank == rank % 4);
        REQUIRE(c.part_size == (rank < 8 ? 4u : 3u));
    }
}

TEST_CASE("coalesced threads share one atomic addition") {
    device_or_skip();
    constexpr int threads = 4 * 200;
    std::vector<int> values(threads);
    int expected = 0;
    for (int i = 0; i < threads; ++i) {
        values[static_cast<std::size_t>(i)] = i * 31 % 7 - 3;
        expected += values[static_cast<std::size_t>(i)] > 0;
    }
    int* d_values = nullptr;
    int* d_counter = nullptr;
    REQUIRE(cudaMalloc(&d_values, threads * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMalloc(&d_counter, sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemset(d_counter, 0, sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemcpy(d_values, values.data(), threads * sizeof(int), cudaMemcpyHostToDevice) == cudaSuccess);
    const auto tickets =
        results_of<int>(threads, [&](int* d_out) { count_matches<<<4, 200>>>(d_values, d_counter, d_out); });
    int counted = 0;
    REQUIRE(cudaMemcpy(&counted, d_counter, sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(cudaFree(d_values) == cudaSuccess);
    REQUIRE(cudaFree(d_counter) == cudaSuccess);
    CHECK(counted == expected);
    std::vector<int> drawn(static_cast<std::size_t>(expected), 0);
    for (int i = 0; i < threads; ++i) {
        if (values[static_cast<std::size_t>(i)] <= 0) continue;
        const int ticket = tickets[static_cast<std::size_t>(i)];
        REQUIRE(ticket >= 0);
        REQUIRE(ticket < expected);
        ++drawn[static_cast<std::size_t>(ticket)];
    }
    CHECK(drawn == std::vector<int>(drawn.size(), 1));
}

TEST_CASE("groups are cut by label and by predicate") {
    device_or_skip();
    Part* d_by_predicate = nullptr;
    REQUIRE(cudaMalloc(&d_by_predicate, 32 * sizeof(Part)) == cudaSuccess);
    const auto by_label = results_of<Part>(32, [&](Part* d_out) { partition<<<1, 32>>>(d_out, d_by_predicate); });
    std::vector<Part> by_predicate(32);
    REQUIRE(cudaMemcpy(by_predicate.data(), d_by_predicate, 32 * sizeof(Part), cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(cudaFree(d_by_predicate) == cudaSuccess);
    for (unsigned lane = 0; lane < 32; ++lane) {
        unsigned size = 0;
        int sum = 0;
        for (unsigned other = lane % 3; other < 32; other += 3) {
            ++size;
            sum += static_cast<int>(other);
        }
        CHECK(by_label[lane] == Part{lane / 3, size, lane % 3, 3, sum});
        CHECK(by_predicate[lane] == (lane < 20 ? Part{lane, 20, 0, 2, 190} : Part{lane - 20, 12, 1, 2, 496 - 190}));
    }
}

TEST_CASE("coalesced groups reduce and scan") {
    device_or_skip();
    const unsigned lanes = GENERATE(0xFFFFFFFFu, 0x00000001u, 0x0000FFFFu, 0x842173C6u);
    const auto reduced =
        results_of<Reductions>(64, [&](Reductions* d_out) { reduce_coalesced<<<1, 64>>>(lanes, d_out); });
    std::vector<int> group_of;
    for (unsigned thread = 0; thread < 64; ++thread) {
        std::vector<int> values;
        for (unsigned lane = 0; lane < 32; ++lane) {
            if ((lanes >> lane & 1) != 0) values.push_back(static_cast<int>(thread / 32 * 32 + lane));
        }
        const bool takes_part = (lanes >> thread % 32 & 1) != 0;
        if (takes_part) check_same(reduced[thread], reduce_on_host(values));
        group_of.push_back(takes_part ? static_cast<int>(thread / 32) : -1);
    }
    check_scans(results_of<Scans>(64, [&](Scans* d_out) { scan_coalesced<<<1, 64>>>(lanes, d_out); }), group_of);
}

TEST_CASE("groups reduce and shuffle structures") {
    device_or_skip();
    const auto out = results_of<Extremes>(32, [](Extremes* d_out) { find_extremes<<<1, 32>>>(d_out); });
    double low = 1000;
    double high = -1;
    int low_at = 0;
    int high_at = 0;
    for (int lane = 0; lane < 32; ++lane) {
        const double value = (lane * 37 + 11) % 101;
        if (value < low) low = value, low_at = lane;
        if (value > high) high = value, high_at = lane;
    }
    for (const Extremes& extremes : out) {
        REQUIRE(extremes.low == low);
        REQUIRE(extremes.high == high);
        REQUIRE(extremes.low_at == low_at);
        REQUIRE(extremes.high_at == high_at);
    }
}

TEST_CASE("a group lets one of its threads do something") {
    device_or_skip();
    int* d_counts = nullptr;
    REQUIRE(cudaMalloc(&d_counts, 4 * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemset(d_counts, 0, 4 * sizeof(int)) == cudaSuccess);
    invoke_in_one_thread<<<1, 64>>>(d_counts);
    std::vector<int> counts(4);
    REQUIRE(cudaMemcpy(counts.data(), d_counts, 4 * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(cudaFree(d_counts) == cudaSuccess);
    CHECK(counts == std::vector<int>{1, 8 * 3, 8, 8 * 28});
}

TEST_CASE("the threads of a block copy together") {
    device_or_skip();
    const int count = GENERATE(1, 3, 64, 1000, 4096);
    std::vector<int> from(static_cast<std::size_t>(count));
    std::vector<int> expected(from.size());
    for (int i = 0; i < count; ++i) {
        from[static_cast<std::size_t>(i)] = 3 * i + 1;
        expected[static_cast<std::size_t>(count - 1 - i)] = 3 * i + 1;
    }
    int* d_from = nullptr;
    REQUIRE(cudaMalloc(&d_from, from.size() * sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemcpy(d_from, from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice) == cudaSuccess);
    const auto to = results_of<int>(
        from.size(), [&](int* d_out) { copy_by_groups<<<1, 96, from.size() * sizeof(int)>>>(d_from, count, d_out); });
    REQUIRE(cudaFree(d_from) == cudaSuccess);
    CHECK(to == expected);
}

TEST_CASE("a grid knows its threads") {
    device_or_skip();
    const dim3 grid(3, 2);
    const dim3 block(4, 8);
    const auto out = results_of<GridPlace>(6 * 32, [&](GridPlace* d_out) { describe_grid<<<grid, block>>>(d_out); });
    for (unsigned i = 0; i < 6 * 32; ++i) {
        REQUIRE(out[i].rank == i);
        REQUIRE(out[i].size == 6 * 32);
        REQUIRE(out[i].block_rank == i / 32);
        REQUIRE(out[i].blocks == 6);
        REQUIRE(out[i].x == i / 32 % 3 * 4 + i % 4);
        REQUIRE(out[i].y == i / 96 * 8 + i % 32 / 4);
    }
}

TEST_CASE("the blocks of a cooperative launch wait for each other") {
    device_or_skip();
    if (!can_launch_cooperatively()) SKIP("no cooperative launches");
    constexpr int blocks = 7;
    int turns = 20;
    const auto out = results_of<int>(2 * blocks, [&](int* d_sums) {
        REQUIRE(cudaMemset(d_sums, 0, 2 * blocks * sizeof(int)) == cudaSuccess);
        void* arguments[] = {&d_sums, &turns};
        REQUIRE(cudaLaunchCooperativeKernel((void*)pass_around_the_grid, dim3(blocks), dim3(64), arguments, 0,
                                            nullptr) == cudaSuccess);
    });
    for (std::size_t block = 0; block < blocks; ++block) CHECK(out[block] == turns);
}
