// CUB's block and warp primitives and device-wide algorithms, where a GPU and the CPU device agree: results, and
// errors.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/mdspan>
#include <cuda/std/span>
#include <numeric>
#include <vector>

#include "common/tests/device/results_of.h"
#include "common/tests/device_or_skip.h"

// CUB includes the headers of these types.
static_assert(sizeof(__half) == 2 && sizeof(nv_bfloat16) == 2);

namespace {

/// An array in device memory for as long as it lives.
template <class T>
class OnDevice {
public:
    explicit OnDevice(const std::vector<T>& values) {
        REQUIRE(cudaMalloc(&data_, (values.size() + 1) * sizeof(T)) == cudaSuccess);
        REQUIRE(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    }
    ~OnDevice() { (void)cudaFree(data_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    T* data() const { return data_; }

private:
    T* data_ = nullptr;
};

std::vector<int> some_numbers(std::size_t count) {
    std::vector<int> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i * 37 % 101) - 50;
    return values;
}

/// Composition of x -> factor * x + offset, modulo 2^32: associative, but not commutative.
struct Line {
    unsigned factor, offset;
};
struct Compose {
    __host__ __device__ Line operator()(const Line& first, const Line& then) const {
        return {then.factor * first.factor, then.factor * first.offset + then.offset};
    }
};
__host__ __device__ Line line_of(unsigned i) { return {2 * i + 3, 5 * i + 1}; }

// ---- warps -----------------------------------------------------------------------------------------------

template <int Lanes>
__global__ void scan_lanes(unsigned* out) {
    using Scan = cub::WarpScan<Line, Lanes>;
    using Reduce = cub::WarpReduce<int, Lanes>;
    __shared__ typename Scan::TempStorage scan_storage[64 / Lanes];
    __shared__ typename Reduce::TempStorage reduce_storage[64 / Lanes];
    const unsigned warp = threadIdx.x / Lanes;
    Line inclusive, exclusive;
    Scan(scan_storage[warp]).Scan(line_of(threadIdx.x), inclusive, exclusive, Compose());
    out[4 * threadIdx.x] = inclusive.factor;
    out[4 * threadIdx.x + 1] = threadIdx.x % Lanes == 0 ? 0 : exclusive.offset;
    const int most =
        Reduce(reduce_storage[warp]).Reduce(static_cast<int>(threadIdx.x * 7 % 23), cuda::maximum<>(), Lanes - 1);
    out[4 * threadIdx.x + 2] = threadIdx.x % Lanes == 0 ? static_cast<unsigned>(most) : 0;
    out[4 * threadIdx.x + 3] = 0;
}

template <int Lanes>
std::vector<unsigned> wanted_of_lanes() {
    std::vector<unsigned> wanted(4 * 64);
    for (unsigned first = 0; first < 64; first += Lanes) {
        Line all = line_of(first);
        int most = 0;
        for (unsigned i = first; i < first + Lanes; ++i) {
            wanted[4 * i + 1] = i == first ? 0 : all.offset;
            if (i > first) all = Compose()(all, line_of(i));
            wanted[4 * i] = all.factor;
            if (i + 1 < first + Lanes && static_cast<int>(i * 7 % 23) > most) most = static_cast<int>(i * 7 % 23);
        }
        wanted[4 * first + 2] = static_cast<unsigned>(most);
    }
    return wanted;
}

// ---- blocks ----------------------------------------------------------------------------------------------

struct CountFrom {
    Line before;
    __device__ Line operator()(const Line& all) {
        const Line now = before;
        before = Compose()(before, all);
        return now;
    }
};

/// Scans `rounds` tiles one after the other.
template <int Threads, int Items, cub::BlockLoadAlgorithm LoadAlgorithm, cub::BlockStoreAlgorithm StoreAlgorithm>
__global__ void scan_tiles(const int* in, int count, int* out, unsigned* factors) {
    using Load = cub::BlockLoad<int, Threads, Items, LoadAlgorithm>;
    using Store = cub::BlockStore<int, Threads, Items, StoreAlgorithm>;
    using Scan = cub::BlockScan<int, Threads>;
    using ScanLines = cub::BlockScan<Line, Threads, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
        typename ScanLines::TempStorage lines;
    } storage;
    CountFrom callback{{1, 0}};
    int before = 0;
    for (int first = 0; first < count; first += Threads * Items) {
        int values[Items], sum;
        if (count - first >= Threads * Items) {
            Load(storage.load).Load(in + first, values);
        } else {
            Load(storage.load).Load(in + first, values, count - first, 0);
        }
        __syncthreads();
        Scan(storage.scan).ExclusiveSum(values, values, sum);
        __syncthreads();
        for (int i = 0; i < Items; ++i) values[i] += before;
        before += sum;
        if (count - first >= Threads * Items) {
            Store(storage.store).Store(out + first, values);
        } else {
            Store(storage.store).Store(out + first, values, count - first);
        }
        __syncthreads();
        Line line;
        ScanLines(storage.lines).InclusiveScan(line_of(threadIdx.x), line, Compose(), callback);
        __syncthreads();
        if (threadIdx.x == Threads - 1) *factors = line.offset;
    }
}

template <int Threads, int Items, cub::BlockLoadAlgorithm LoadAlgorithm, cub::BlockStoreAlgorithm StoreAlgorithm>
void expect_scans() {
    for (const int count : {1, Threads * Items - 1, Threads * Items, 3 * Threads * Items + 5}) {
        const std::vector<int> in = some_numbers(static_cast<std::size_t>(count));
        const OnDevice<int> d_in(in);
        const OnDevice<unsigned> d_factor(std::vector<unsigned>{0});
        const std::vector<int> out = results_of<int>(in.size(), [&](int* d_out) {
            scan_tiles<Threads, Items, LoadAlgorithm, StoreAlgorithm>
                <<<1, Threads>>>(d_in.data(), count, d_out, d_factor.data());
        });
        std::vector<int> wanted(in.size());
        std::exclusive_scan(in.begin(), in.end(), wanted.begin(), 0);
        CHECK(out == wanted);
        Line line{1, 0};
        for (int first = 0; first < count; first += Threads * Items)
            for (unsigned i = 0; i < static_cast<unsigned>(Threads); ++i) line = Compose()(line, line_of(i));
        unsigned offset = 0;
        REQUIRE(cudaMemcpy(&offset, d_factor.data(), sizeof offset, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(offset == line.offset);
    }
}

__global__ void differences(const int* in, int* out) {
    using Difference = cub::BlockAdjacentDifference<int, 64>;
    __shared__ typename Difference::TempStorage storage;
    int values[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]}, left[2], right[2];
    Difference(storage).SubtractLeft(values, left, cuda::std::minus<>(), 1000);
    __syncthreads();
    Difference(storage).SubtractRight(values, right, cuda::std::minus<>());
    for (int i = 0; i < 2; ++i) {
        out[2 * threadIdx.x + i] = left[i];
        out[128 + 2 * threadIdx.x + i] = right[i];
    }
}

// ---- views -----------------------------------------------------------------------------------------------

template <class Layout>
__global__ void sum_columns(cuda::std::mdspan<const int, cuda::std::dextents<int, 2>, Layout> matrix,
                            cuda::std::span<int> sums) {
    if (threadIdx.x >= sums.size()) return;
    int sum = 0;
    for (int row = 0; row < matrix.extent(0); ++row) sum += matrix(row, static_cast<int>(threadIdx.x));
    sums[threadIdx.x] = sum;
}

template <class Layout>
std::vector<int> sums_of_columns(const std::vector<int>& in, int rows, int cols) {
    const OnDevice<int> d_in(in);
    return results_of<int>(static_cast<std::size_t>(cols), [&](int* d_out) {
        sum_columns<Layout>
            <<<1, 64>>>(cuda::std::mdspan<const int, cuda::std::dextents<int, 2>, Layout>(d_in.data(), rows, cols),
                        cuda::std::span<int>(d_out, static_cast<std::size_t>(cols)));
    });
}

}  // namespace

TEST_CASE("CUB scans the lanes of warps and of parts of warps") {
    device_or_skip();
    const auto got = [](auto kernel) {
        return results_of<unsigned>(4 * 64, [&](unsigned* d_out) { kernel<<<1, 64>>>(d_out); });
    };
    CHECK(got(scan_lanes<32>) == wanted_of_lanes<32>());
    CHECK(got(scan_lanes<16>) == wanted_of_lanes<16>());
    CHECK(got(scan_lanes<4>) == wanted_of_lanes<4>());
}

TEST_CASE("CUB loads, scans, and stores tiles by blocks") {
    device_or_skip();
    expect_scans<64, 1, cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>();
    expect_scans<128, 4, cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>();
    expect_scans<96, 5, cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>();
    expect_scans<64, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>();
}

TEST_CASE("CUB takes differences of neighbors in a block") {
    device_or_skip();
    const std::vector<int> in = some_numbers(128);
    const OnDevice<int> d_in(in);
    const std::vector<int> out = results_of<int>(256, [&](int* d_out) { differences<<<1, 64>>>(d_in.data(), d_out); });
    for (std::size_t i = 0; i < 128; ++i) {
        CHECK(out[i] == in[i] - (i == 0 ? 1000 : in[i - 1]));
        CHECK(out[128 + i] == (i == 127 ? in[i] : in[i] - in[i + 1]));
    }
}

TEST_CASE("algorithms of CUB tell how much storage they need, and refuse less") {
    device_or_skip();
    const std::vector<int> in = some_numbers(20011);
    const OnDevice<int> d_in(in);
    const std::vector<int> out = results_of<int>(2, [&](int* d_out) {
        std::size_t bytes = 0;
        const auto sum = [&](void* storage) {
            return cub::DeviceScan::ExclusiveSum(storage, bytes, d_in.data(), d_in.data(), 20011);
        };
        CHECK(sum(nullptr) == cudaSuccess);
        REQUIRE(bytes > 0);
        void* storage = nullptr;
        REQUIRE(cudaMalloc(&storage, bytes) == cudaSuccess);
        const std::size_t enough = bytes;
        bytes = 1;
        CHECK(sum(storage) == cudaErrorInvalidValue);
        (void)cudaGetLastError();
        bytes = enough;
        CHECK(sum(storage) == cudaSuccess);
        REQUIRE(cudaMemcpy(d_out, d_in.data() + 20010, sizeof(int), cudaMemcpyDeviceToDevice) == cudaSuccess);
        REQUIRE(cudaMemcpy(d_out + 1, d_in.data(), sizeof(int), cudaMemcpyDeviceToDevice) == cudaSuccess);
        REQUIRE(cudaFree(storage) == cudaSuccess);
    });
    CHECK(out[0] == std::accumulate(in.begin(), in.end() - 1, 0));
    CHECK(out[1] == 0);
}

TEST_CASE("algorithms of CUB on nothing at all") {
    device_or_skip();
    const OnDevice<int> d_in(std::vector<int>{1, 2, 3});
    const OnDevice<unsigned char> d_storage(std::vector<unsigned char>(1 << 16));
    std::size_t bytes = 1 << 16;
    const std::vector<int> out = results_of<int>(4, [&](int* d_out) {
        CHECK(cub::DeviceReduce::Sum(d_storage.data(), bytes, d_in.data(), d_out, 0) == cudaSuccess);
        CHECK(cub::DeviceReduce::Reduce(d_storage.data(), bytes, d_in.data(), d_out + 1, 0, cuda::maximum<>(), 17) ==
              cudaSuccess);
        CHECK(cub::DeviceSelect::Flagged(d_storage.data(), bytes, d_in.data(), d_in.data(), d_out + 3, d_out + 2, 0) ==
              cudaSuccess);
    });
    CHECK(out[0] == 0);
    CHECK(out[1] == 17);
    CHECK(out[2] == 0);
    CHECK(out[3] == static_cast<int>(0xEEEEEEEE));
}

TEST_CASE("algorithms of CUB clear histograms themselves") {
    device_or_skip();
    const OnDevice<int> d_in(std::vector<int>{5, 0, 9, -1, 10, 3, 3, 100});
    const OnDevice<unsigned char> d_storage(std::vector<unsigned char>(1 << 16));
    std::size_t bytes = 1 << 16;
    const std::vector<int> out = results_of<int>(5, [&](int* d_out) {
        CHECK(cub::DeviceHistogram::HistogramEven(d_storage.data(), bytes, d_in.data(), d_out, 6, 0, 10, 8) ==
              cudaSuccess);
    });
    CHECK(out == std::vector<int>{1, 2, 1, 0, 1});
}

TEST_CASE("spans and mdspans are arguments of kernels") {
    device_or_skip();
    const int rows = 7, cols = 33;
    const std::vector<int> in = some_numbers(rows * cols);
    std::vector<int> by_rows(cols), by_columns(cols);
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
            by_rows[static_cast<std::size_t>(col)] += in[static_cast<std::size_t>(row * cols + col)];
            by_columns[static_cast<std::size_t>(col)] += in[static_cast<std::size_t>(col * rows + row)];
        }
    }
    CHECK(sums_of_columns<cuda::std::layout_right>(in, rows, cols) == by_rows);
    CHECK(sums_of_columns<cuda::std::layout_left>(in, rows, cols) == by_columns);
}
