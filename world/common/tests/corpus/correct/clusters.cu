// Thread block clusters that are used as they should be.
#include "common/helpers/this_cluster.cuh"

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

using warpwise::launch_in_clusters;
using warpwise::this_cluster;

std::vector<int> ascending(int count) {
    return sequence<int>(count, [](int i) { return i; });
}

__device__ int place() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

/// Blocks of 64 threads; the kernel leaves in `out` what `expected(i)` says.
template <class Kernel, class Expected>
void expect(Kernel kernel, unsigned blocks, unsigned cluster, Expected expected) {
    const int count = static_cast<int>(64 * blocks);
    DeviceBuffer<int> d_in(ascending(count)), d_out(static_cast<std::size_t>(count));
    check(launch_in_clusters(kernel, {.blocks = blocks, .cluster = cluster, .threads = 64}, d_in.data(), d_out.data()));
    check_finished();
    expect_equal(d_out.download(), sequence<int>(count, expected));
}

__global__ void neighbors_tile(const int* in, int* out) {
    __shared__ int tile[64];
    const auto cluster = this_cluster();
    tile[threadIdx.x] = in[place()];
    cluster.sync();
    const auto next = static_cast<int>((cluster.block_rank() + 1) % cluster.num_blocks());
    out[place()] = cluster.map_shared_rank(tile, next)[63 - threadIdx.x];
    cluster.sync();
}

void tile_of_the_next_block() {
    expect(neighbors_tile, 12, 4, [](int i) { return (i / 256 * 4 + (i / 64 + 1) % 4) * 64 + 63 - i % 64; });
}

__global__ void divided_counters(const int* in, int* out) {
    __shared__ int counters[64];
    const auto cluster = this_cluster();
    counters[threadIdx.x] = 0;
    cluster.sync();
    const int bin = 7 * in[place()] % 128;  // of 128, 64 in each of two blocks
    atomicAdd(&cluster.map_shared_rank(counters, bin / 64)[bin % 64], 1);
    cluster.sync();
    out[place()] = counters[threadIdx.x];
}

void counters_divided_among_two_blocks() {
    expect(divided_counters, 6, 2, [](int) { return 1; });
}

__global__ void two_tiles(const int* in, int* out) {
    __shared__ int tiles[2][64];
    const auto cluster = this_cluster();
    const int other = 1 - static_cast<int>(cluster.block_rank());
    int value = in[place()];
    for (int round = 0; round < 5; ++round) {  // one barrier per round, because the tiles take turns
        tiles[round % 2][threadIdx.x] = value + 1;
        cluster.sync();
        value = cluster.map_shared_rank(tiles[round % 2], other)[threadIdx.x];
    }
    out[place()] = value;
    cluster.sync();
}

void rounds_with_two_tiles() {
    expect(two_tiles, 4, 2, [](int i) { return (i ^ 64) + 5; });
}

__global__ void written_into_the_neighbor(const int* in, int* out) {
    __shared__ int inbox[64];
    const auto cluster = this_cluster();
    cluster.sync();  // the other blocks have started
    const int next = static_cast<int>((cluster.block_rank() + 1) % cluster.num_blocks());
    cluster.map_shared_rank(inbox, next)[threadIdx.x] = in[place()];
    cluster.barrier_arrive();
    int sum = 0;  // of something else, meanwhile
    for (int k = 0; k < 3; ++k) sum += in[place()];
    cluster.barrier_wait();
    out[place()] = inbox[threadIdx.x] + sum;
}

void inbox_with_arrive_and_wait() {
    expect(written_into_the_neighbor, 8, 8, [](int i) { return (i + 512 - 64) % 512 + 3 * i; });
}

__global__ void sums_of_all_blocks(const int* in, int* out) {
    __shared__ int sum;
    const auto cluster = this_cluster();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[place()]);
    cluster.sync();
    int all = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
        all += *cluster.map_shared_rank(&sum, static_cast<int>(rank));
    out[place()] = all;
    cluster.sync();
}

void sum_of_a_cluster_of_sixteen() {
    check(cudaFuncSetAttribute(sums_of_all_blocks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    expect(sums_of_all_blocks, 16, 16, [](int) { return 1024 * 1023 / 2; });
}

void cluster_of_one_block() {
    expect(sums_of_all_blocks, 2, 1, [](int i) { return 64 * 63 / 2 + i / 64 * 4096; });
}

__global__ void through_global_memory(const int* in, int* out) {
    const auto cluster = this_cluster();
    out[place()] = in[place()];
    cluster.sync();
    const unsigned first = blockIdx.x - cluster.block_rank();
    const unsigned other = first + (cluster.block_rank() + 1) % cluster.num_blocks();
    const int theirs = out[other * 64 + threadIdx.x];
    cluster.sync();
    out[place()] = theirs;
}

void exchange_in_global_memory() {
    expect(through_global_memory, 8, 4, [](int i) { return i / 256 * 256 + (i % 256 + 64) % 256; });
}

__device__ unsigned tickets;

__global__ void last_cluster_adds_up(const int* in, int* out, int* sums) {
    __shared__ int sum;
    __shared__ bool is_last;
    const auto cluster = this_cluster();
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[place()]);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    cluster.sync();  // both blocks have written, before the first one fences for both
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        __threadfence();
        is_last = atomicAdd(&tickets, 1u) == gridDim.x / cluster.num_blocks() - 1;
        __threadfence();
    }
    __syncthreads();
    if (cluster.block_rank() != 0 || !is_last) return;
    int all = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) all += sums[block];
    out[threadIdx.x] = all;
}

void last_cluster_of_the_grid() {
    constexpr unsigned blocks = 8;
    const unsigned none = 0;
    check(cudaMemcpyToSymbol(tickets, &none, sizeof none));
    DeviceBuffer<int> d_in(ascending(64 * blocks)), d_out(64), d_sums(blocks);
    check(launch_in_clusters(last_cluster_adds_up, {.blocks = blocks, .cluster = 2, .threads = 64}, d_in.data(),
                             d_out.data(), d_sums.data()));
    check_finished();
    expect_equal(d_out.download(), sequence<int>(64, [](int) { return 512 * 511 / 2; }));
}

}  // namespace

CaseList correct_clusters() {
    return {__FILE__,
            {{"tile_of_the_next_block", "both barriers are there", tile_of_the_next_block},
             {"counters_divided_among_two_blocks", "remote atomics", counters_divided_among_two_blocks},
             {"rounds_with_two_tiles", "one barrier per round is enough", rounds_with_two_tiles},
             {"inbox_with_arrive_and_wait", "works between arrival and wait", inbox_with_arrive_and_wait},
             {"sum_of_a_cluster_of_sixteen", "each block reads all others", sum_of_a_cluster_of_sixteen},
             {"cluster_of_one_block", "the same without others", cluster_of_one_block},
             {"exchange_in_global_memory", "the cluster's barrier orders it, too", exchange_in_global_memory},
             {"last_cluster_of_the_grid", "one thread fences for two blocks", last_cluster_of_the_grid}}};
}

}  // namespace corpus
