// Thread block clusters: who is where, the way into the shared memory of other blocks, and what can be launched. On a
// GPU without clusters these tests are skipped.
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "common/helpers/this_cluster.cuh"

#include "common/tests/device/results_of.h"
#include "common/tests/device_or_skip.h"

namespace {

using warpwise::launch_in_clusters;
using warpwise::this_cluster;

void clusters_or_skip() {
    device_or_skip();
    if (!warpwise::has_clusters()) SKIP("no clusters");
}

template <class T>
struct Buffer {
    T* data = nullptr;
    std::size_t count;

    explicit Buffer(std::size_t elements) : count(elements) {
        REQUIRE(cudaMalloc(&data, count * sizeof(T)) == cudaSuccess);
        REQUIRE(cudaMemset(data, 0xFF, count * sizeof(T)) == cudaSuccess);
    }
    ~Buffer() { cudaFree(data); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    std::vector<T> values() const {
        std::vector<T> all(count);
        REQUIRE(cudaMemcpy(all.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
        return all;
    }
};

/// A launch with clusters of any shape.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, dim3 cluster, Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

struct Place {
    unsigned rank, blocks, x, y, shape_x, shape_y, thread, threads, own_rank;

    bool operator==(const Place&) const = default;
};

__global__ void describe(Place* out) {
    __shared__ int variable;
    const auto cluster = this_cluster();
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    const dim3 index = cluster.block_index(), shape = cluster.dim_blocks();
    out[block * blockDim.x + threadIdx.x] = {cluster.block_rank(),
                                             cluster.num_blocks(),
                                             index.x,
                                             index.y,
                                             shape.x,
                                             shape.y,
                                             cluster.thread_rank(),
                                             cluster.num_threads(),
                                             cluster.query_shared_rank(&variable)};
}

__global__ void rank_of_mapped(unsigned* out) {
    __shared__ int variable[4];
    const auto cluster = this_cluster();
    cluster.sync();
    const int next = static_cast<int>((cluster.block_rank() + 1) % cluster.num_blocks());
    int* const there = cluster.map_shared_rank(&variable[threadIdx.x], next);
    *there = static_cast<int>(10 * cluster.block_rank() + threadIdx.x);
    cluster.sync();
    out[4 * blockIdx.x + threadIdx.x] =
        100 * cluster.query_shared_rank(there) + static_cast<unsigned>(variable[threadIdx.x]);
    cluster.sync();
}

__global__ void dynamic_of_the_others(int* out) {
    extern __shared__ int dynamic[];
    const auto cluster = this_cluster();
    dynamic[threadIdx.x] = static_cast<int>(cluster.thread_rank());
    cluster.sync();
    int sum = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
        sum += cluster.map_shared_rank(dynamic, static_cast<int>(rank))[threadIdx.x];
    cluster.barrier_arrive();
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    cluster.barrier_wait();
}

__global__ void nothing() {}

#if !defined(__CPU_DEVICE__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
__global__ void of_two(unsigned*) {}  // nvcc refuses the attribute for a GPU without clusters
#else
__global__ void __cluster_dims__(2, 1, 1) of_two(unsigned* out) {
    if (threadIdx.x == 0) out[blockIdx.x] = this_cluster().num_blocks() * 10 + this_cluster().block_rank();
}
#endif

__global__ void alone(unsigned* out) {
    const auto cluster = this_cluster();
    cluster.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = cluster.num_blocks() * 10 + cluster.block_rank();
}

cudaError_t forgotten(cudaError_t error) {
    cudaGetLastError();
    return error;
}

}  // namespace

TEST_CASE("a cluster numbers its blocks and threads, x first") {
    clusters_or_skip();
    Buffer<Place> out(6 * 4 * 33);
    REQUIRE(launch(describe, dim3(6, 4), dim3(33), dim3(3, 2), out.data) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<Place> places = out.values();
    for (unsigned y = 0; y < 4; ++y) {
        for (unsigned x = 0; x < 6; ++x) {
            for (const unsigned thread : {0u, 32u}) {
                const unsigned rank = y % 2 * 3 + x % 3;
                const Place expected = {rank, 6, x % 3, y % 2, 3, 2, rank * 33 + thread, 6 * 33, rank};
                CHECK(places[(y * 6 + x) * 33 + thread] == expected);
            }
        }
    }
}

TEST_CASE("map_shared_rank leads to the same variable of another block") {
    clusters_or_skip();
    Buffer<unsigned> out(8 * 4);
    REQUIRE(launch_in_clusters(rank_of_mapped, {.blocks = 8, .cluster = 4, .threads = 4}, out.data) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<unsigned> values = out.values();
    for (unsigned i = 0; i < 32; ++i) {
        const unsigned rank = i / 4 % 4;
        CHECK(values[i] == 100 * ((rank + 1) % 4) + 10 * ((rank + 3) % 4) + i % 4);
    }
}

TEST_CASE("dynamic shared memory is shared by a cluster, too, whatever its size") {
    clusters_or_skip();
    for (const unsigned cluster : {1u, 2u, 3u, 8u}) {
        const unsigned blocks = 2 * cluster, threads = 65;
        Buffer<int> out(blocks * threads);
        REQUIRE(launch_in_clusters(dynamic_of_the_others,
                                   {.blocks = blocks, .cluster = cluster, .threads = threads, .shared_bytes = 65 * 4},
                                   out.data) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        const std::vector<int> values = out.values();
        for (unsigned i = 0; i < values.size(); ++i) {
            int sum = 0;
            for (unsigned rank = 0; rank < cluster; ++rank) sum += static_cast<int>(rank * threads + i % threads);
            CHECK(values[i] == sum);
        }
    }
}

TEST_CASE("a kernel may be declared for clusters of one size") {
    clusters_or_skip();
    Buffer<unsigned> out(4);
    of_two<<<4, 32>>>(out.data);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(out.values() == std::vector<unsigned>{20, 21, 20, 21});
    cudaFuncAttributes attributes{};
    REQUIRE(cudaFuncGetAttributes(&attributes, of_two) == cudaSuccess);
    CHECK(attributes.requiredClusterWidth == 2);
    CHECK(attributes.requiredClusterHeight == 1);
    CHECK(forgotten(launch_in_clusters(of_two, {.blocks = 4, .cluster = 4, .threads = 32}, out.data)) != cudaSuccess);
    of_two<<<3, 32>>>(out.data);
    CHECK(cudaGetLastError() != cudaSuccess);
}

TEST_CASE("a block that was launched without clusters is alone in one") {
    clusters_or_skip();
    Buffer<unsigned> out(3 * 40);
    alone<<<3, 40>>>(out.data);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(out.values() == std::vector<unsigned>(3 * 40, 10));
}

TEST_CASE("clusters that are too large, or of which the grid does not consist, are refused") {
    clusters_or_skip();
    const auto error = [](unsigned blocks, unsigned cluster) {
        return forgotten(launch_in_clusters(nothing, {.blocks = blocks, .cluster = cluster, .threads = 32}));
    };
    CHECK(error(16, 8) == cudaSuccess);
    CHECK(error(16, 16) != cudaSuccess);
    CHECK(error(6, 4) != cudaSuccess);
    CHECK(error(64, 64) != cudaSuccess);
#ifdef __CPU_DEVICE__
    CHECK(error(16, 16) == cudaErrorInvalidClusterSize);
    CHECK(error(6, 4) == cudaErrorInvalidClusterSize);
#endif
    REQUIRE(cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess);
    CHECK(error(16, 16) == cudaSuccess);
    CHECK(error(32, 32) != cudaSuccess);
    REQUIRE(cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 0) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("occupancy tells how many clusters fit, and how large they can be") {
    clusters_or_skip();
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(4);
    config.blockDim = dim3(1024);
    config.attrs = &attribute;
    config.numAttrs = 1;
    int of_four = 0, of_two = 0, largest = 0;
    REQUIRE(cudaOccupancyMaxActiveClusters(&of_four, nothing, &config) == cudaSuccess);
    attribute.val.clusterDim.x = 2;
    REQUIRE(cudaOccupancyMaxActiveClusters(&of_two, nothing, &config) == cudaSuccess);
    CHECK(of_four > 0);
    CHECK(of_two >= 2 * of_four);
    REQUIRE(cudaOccupancyMaxPotentialClusterSize(&largest, nothing, &config) == cudaSuccess);
    CHECK(largest == 8);
    attribute.val.clusterDim.x = 16;
    CHECK(forgotten(cudaOccupancyMaxActiveClusters(&of_two, nothing, &config)) != cudaSuccess);
#ifdef __CPU_DEVICE__
    attribute.val.clusterDim.x = 4;
    CHECK(of_four == 2 * 16 / 4);
    config.numAttrs = 0;
    CHECK(forgotten(cudaOccupancyMaxActiveClusters(&of_two, nothing, &config)) == cudaErrorInvalidValue);
    CHECK(forgotten(cudaOccupancyMaxActiveClusters(nullptr, nothing, &config)) == cudaErrorInvalidValue);
#endif
}
