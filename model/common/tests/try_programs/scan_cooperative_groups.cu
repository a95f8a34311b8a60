// Prefix sums of a long array with cooperative groups, three ways:
//   1. inclusive scan of each block from shuffles of a 32-lane tile, then the block totals, then the offsets;
//   2. the same block scan with cg::inclusive_scan and cg::reduce of the library;
//   3. stream compaction with the aggregated atomic of a coalesced group.
// Everything is checked against std::partial_sum and std::copy_if.
//
// Build: nvcc -std=c++17 -o scan scan_cooperative_groups.cu
// Usage: scan [number of elements]

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

#define CUDA_TRY(call)                                                                                     \
    do {                                                                                                   \
        const cudaError_t status_ = (call);                                                                \
        if (status_ != cudaSuccess)                                                                        \
            throw std::runtime_error(std::string(#call) + ": " + cudaGetErrorString(status_));             \
    } while (false)

struct DeviceDeleter {
    template <class T>
    void operator()(T* pointer) const noexcept {
        cudaFree(pointer);
    }
};
template <class T>
using device_ptr = std::unique_ptr<T[], DeviceDeleter>;

template <class T>
device_ptr<T> make_device(std::size_t count) {
    T* raw = nullptr;
    CUDA_TRY(cudaMalloc(&raw, count * sizeof(T)));
    return device_ptr<T>(raw);
}

constexpr unsigned kBlock = 256;
enum class Method { shuffles, library };

// Kogge and Stone's scan within a tile: after step d a lane holds the sum of the last 2d values.
template <unsigned Size, typename Parent, typename T>
__device__ T tile_inclusive_scan(const cg::thread_block_tile<Size, Parent>& tile, T value) {
#pragma unroll
    for (unsigned distance = 1; distance < Size; distance *= 2) {
        const T left = tile.shfl_up(value, distance);
        if (tile.thread_rank() >= distance) value += left;
    }
    return value;
}

template <Method kMethod, typename T>
__global__ void scan_blocks(const T* __restrict__ in, T* __restrict__ out, T* __restrict__ totals, unsigned n) {
    constexpr unsigned kTiles = kBlock / 32;
    __shared__ T tile_totals[kTiles];

    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    const unsigned i = cg::this_grid().thread_rank();
    const T value = i < n ? in[i] : T{0};

    T sum;
    if constexpr (kMethod == Method::shuffles) {
        sum = tile_inclusive_scan(tile, value);
    } else {
        sum = cg::inclusive_scan(tile, value, cg::plus<T>());
    }
    if (tile.thread_rank() == tile.size() - 1) tile_totals[tile.meta_group_rank()] = sum;
    block.sync();

    // The first warp turns the tiles' totals into offsets, in a tile that is as wide as there are totals.
    if (tile.meta_group_rank() == 0) {
        const auto few = cg::tiled_partition<kTiles>(tile);
        if (few.meta_group_rank() == 0) {
            const T mine = tile_totals[few.thread_rank()];
            tile_totals[few.thread_rank()] = tile_inclusive_scan(few, mine) - mine;
            const T all = cg::reduce(few, mine, cg::plus<T>());
            if (totals != nullptr && few.thread_rank() == 0) totals[block.group_index().x] = all;
        }
    }
    cg::sync(block);
    if (i < n) out[i] = tile_totals[tile.meta_group_rank()] + sum;
}

template <typename T>
__global__ void add_offsets(T* data, const T* scanned_totals, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n) data[i] += scanned_totals[blockIdx.x - 1];
}

__global__ void keep_odd(const int* in, int* out, unsigned* kept, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (in[i] % 2 != 0) {
            const cg::coalesced_group active = cg::coalesced_threads();
            unsigned first = 0;
            if (active.thread_rank() == 0) first = atomicAdd(kept, active.size());
            out[active.shfl(first, 0) + active.thread_rank()] = in[i];
        }
    }
}

template <Method kMethod, typename T>
void inclusive_scan(const T* in, T* out, unsigned n) {
    const unsigned blocks = (n + kBlock - 1) / kBlock;
    const auto totals = make_device<T>(blocks);
    scan_blocks<kMethod, T><<<blocks, kBlock>>>(in, out, totals.get(), n);
    CUDA_TRY(cudaGetLastError());
    if (blocks > 1) {
        const auto scanned = make_device<T>(blocks);
        inclusive_scan<kMethod>(totals.get(), scanned.get(), blocks);
        add_offsets<<<blocks, kBlock>>>(out, scanned.get(), n);
        CUDA_TRY(cudaGetLastError());
    }
    CUDA_TRY(cudaDeviceSynchronize());
}

template <Method kMethod, typename T>
bool test_scan(const char* title, unsigned n) {
    std::vector<T> in(n), expected(n), result(n);
    for (unsigned i = 0; i < n; ++i) in[i] = static_cast<T>((i * 2654435761u >> 27) + 1);
    std::partial_sum(in.begin(), in.end(), expected.begin());

    const auto d_in = make_device<T>(n), d_out = make_device<T>(n);
    CUDA_TRY(cudaMemcpy(d_in.get(), in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    inclusive_scan<kMethod>(d_in.get(), d_out.get(), n);
    CUDA_TRY(cudaMemcpy(result.data(), d_out.get(), n * sizeof(T), cudaMemcpyDeviceToHost));
    const bool ok = result == expected;
    std::cout << title << ": " << n << " elements, last sum " << result.back() << (ok ? ", ok" : ", WRONG") << '\n';
    return ok;
}

bool test_compaction(unsigned n) {
    std::vector<int> in(n), expected;
    for (unsigned i = 0; i < n; ++i) in[i] = static_cast<int>(i * 2654435761u >> 20);
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [](int v) { return v % 2 != 0; });

    const auto d_in = make_device<int>(n), d_out = make_device<int>(n);
    const auto d_kept = make_device<unsigned>(1);
    CUDA_TRY(cudaMemcpy(d_in.get(), in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemset(d_kept.get(), 0, sizeof(unsigned)));
    keep_odd<<<8, kBlock>>>(d_in.get(), d_out.get(), d_kept.get(), n);
    unsigned kept = 0;
    CUDA_TRY(cudaMemcpy(&kept, d_kept.get(), sizeof kept, cudaMemcpyDeviceToHost));
    std::vector<int> result(kept);
    CUDA_TRY(cudaMemcpy(result.data(), d_out.get(), kept * sizeof(int), cudaMemcpyDeviceToHost));
    std::sort(result.begin(), result.end());  // warps come in any order
    std::sort(expected.begin(), expected.end());
    const bool ok = result == expected;
    std::cout << "compaction: kept " << kept << " of " << n << (ok ? ", ok" : ", WRONG") << '\n';
    return ok;
}

int main(int argc, char** argv) try {
    const unsigned n = argc > 1 ? static_cast<unsigned>(std::stoul(argv[1])) : 30'001u;
    bool ok = test_scan<Method::shuffles, int>("shuffles, int", n);
    ok = test_scan<Method::library, int>("library, int", n) && ok;
    ok = test_scan<Method::library, std::uint64_t>("library, uint64_t", n / 10) && ok;
    ok = test_scan<Method::shuffles, double>("shuffles, double", 33) && ok;
    ok = test_compaction(n / 4) && ok;
    std::cout << (ok ? "PASSED" : "FAILED") << std::endl;
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return EXIT_FAILURE;
}
