// Sparse matrix times vector, y = A x, with A in compressed sparse rows.
//
//   scalar   a thread per row: short code, but neighboring threads read far from each other, and the longest row of a
//            warp holds up its 31 neighbors
//   vector   a warp per row: lanes read next to each other, and add up with shuffles
//   tiled    the same with tiles of cooperative groups, as wide as the rows are long on average
//
// The matrices: a band, rows of very different lengths (some of them empty), and one dense row among short ones.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kBlock = 128;
constexpr unsigned kFullMask = 0xffffffffu;

#define cudaCheck(call) cuda_check_impl((call), #call, __FILE__, __LINE__)
inline void cuda_check_impl(cudaError_t error, const char* call, const char* file, int line) {
    if (error != cudaSuccess) {
        std::cerr << "[CUDA ERROR] " << file << ':' << line << ' ' << call << ": " << cudaGetErrorString(error) << '\n';
        std::exit(EXIT_FAILURE);
    }
}

/// Owns device memory; moves, never copies.
template <class T>
class DeviceVector {
public:
    explicit DeviceVector(std::size_t size) : size_(size) {
        cudaCheck(cudaMalloc(&data_, std::max<std::size_t>(size, 1) * sizeof(T)));
    }
    explicit DeviceVector(const std::vector<T>& host) : DeviceVector(host.size()) {
        cudaCheck(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    DeviceVector(DeviceVector&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
    DeviceVector& operator=(DeviceVector&&) = delete;
    ~DeviceVector() { cudaFree(data_); }

    std::vector<T> to_host() const {
        std::vector<T> host(size_);
        cudaCheck(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
    T* get() const { return data_; }
    std::size_t size() const { return size_; }

private:
    T* data_ = nullptr;
    std::size_t size_;
};

struct CsrMatrix {
    int rows = 0, cols = 0;
    std::vector<int> row_offsets{0}, columns;
    std::vector<float> values;

    void add(int column, float value) {
        columns.push_back(column);
        values.push_back(value);
    }
    void end_row() {
        row_offsets.push_back(static_cast<int>(columns.size()));
        ++rows;
    }
    int nonzeros() const { return static_cast<int>(columns.size()); }
};

/// What kernels get: pointers, by value.
struct CsrView {
    int rows;
    const int* __restrict__ row_offsets;
    const int* __restrict__ columns;
    const float* __restrict__ values;

    struct Range {
        int begin, end;
    };
    __device__ Range range(int row) const { return {__ldg(row_offsets + row), __ldg(row_offsets + row + 1)}; }
};

__global__ void spmv_scalar(CsrView a, const float* __restrict__ x, float* __restrict__ y) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= a.rows) return;
    const auto [begin, end] = a.range(row);
    float sum = 0;
    for (int i = begin; i < end; ++i) sum += a.values[i] * x[a.columns[i]];
    y[row] = sum;
}

__global__ void spmv_vector(CsrView a, const float* __restrict__ x, float* __restrict__ y) {
    const int lane = threadIdx.x & (warpSize - 1);
    const int warps = gridDim.x * blockDim.x / warpSize;
    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize; row < a.rows; row += warps) {
        const auto [begin, end] = a.range(row);
        float sum = 0;
        for (int i = begin + lane; i < end; i += warpSize) sum = fmaf(a.values[i], __ldg(&x[a.columns[i]]), sum);
#pragma unroll
        for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(kFullMask, sum, offset);
        if (lane == 0) y[row] = sum;
    }
}

template <int WIDTH>
__global__ void spmv_tiled(CsrView a, const float* __restrict__ x, float* __restrict__ y) {
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<WIDTH>(block);
    const int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (row >= a.rows) return;  // a tile leaves as a whole
    const auto [begin, end] = a.range(row);
    float sum = 0;
    for (int i = begin + static_cast<int>(tile.thread_rank()); i < end; i += WIDTH)
        sum += a.values[i] * x[a.columns[i]];
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0) y[row] = sum;
}

template <class Kernel, class... Arguments>
void launch(Kernel kernel, int threads_per_row, const CsrView& a, Arguments&&... arguments) {
    const int blocks = (a.rows * threads_per_row + kBlock - 1) / kBlock;
    kernel<<<blocks, kBlock>>>(a, std::forward<Arguments>(arguments)...);
    cudaCheck(cudaGetLastError());
}

bool close(const std::vector<float>& result, const std::vector<double>& expected, const std::vector<double>& scale) {
    for (std::size_t i = 0; i < result.size(); ++i)
        if (!(std::abs(result[i] - expected[i]) <= 1e-5 * scale[i])) return false;
    return true;
}

bool test(const std::string& name, const CsrMatrix& matrix, std::mt19937& random) {
    std::vector<float> x(matrix.cols);
    std::generate(x.begin(), x.end(), [&] { return static_cast<float>(random() % 2001) / 1000 - 1; });
    std::vector<double> expected(matrix.rows), scale(matrix.rows);
    for (int row = 0; row < matrix.rows; ++row)
        for (int i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const double product = double(matrix.values[i]) * x[matrix.columns[i]];
            expected[row] += product;
            scale[row] += std::abs(product);
        }

    const DeviceVector<int> offsets(matrix.row_offsets), columns(matrix.columns);
    const DeviceVector<float> values(matrix.values), d_x(x);
    const CsrView view{matrix.rows, offsets.get(), columns.get(), values.get()};
    std::cout << std::setw(6) << name << ": " << matrix.rows << " rows, " << matrix.nonzeros() << " nonzeros:";

    bool all_good = true;
    const auto attempt = [&](const char* kernel, const std::function<void(float*)>& run) {
        DeviceVector<float> y(matrix.rows);
        cudaCheck(cudaMemset(y.get(), 0xFF, y.size() * sizeof(float)));  // NaN: every row has to be written
        run(y.get());
        const bool good = close(y.to_host(), expected, scale);
        std::cout << ' ' << kernel << (good ? " ok" : " WRONG");
        all_good = all_good && good;
    };
    attempt("scalar", [&](float* y) { launch(spmv_scalar, 1, view, d_x.get(), y); });
    attempt("vector", [&](float* y) { launch(spmv_vector, 32, view, d_x.get(), y); });
    attempt("tiled", [&](float* y) {
        const int average = matrix.nonzeros() / matrix.rows;
        if (average <= 4)
            launch(spmv_tiled<4>, 4, view, d_x.get(), y);
        else if (average <= 8)
            launch(spmv_tiled<8>, 8, view, d_x.get(), y);
        else
            launch(spmv_tiled<16>, 16, view, d_x.get(), y);
    });
    std::cout << std::endl;
    return all_good;
}

int main() {
    std::mt19937 random(2009);
    const auto value = [&random] { return static_cast<float>(random() % 1000 + 1) / 100; };

    CsrMatrix band, ragged, arrow;
    band.cols = ragged.cols = arrow.cols = 500;
    for (int row = 0; row < 500; ++row) {
        for (int col = std::max(row - 2, 0); col <= std::min(row + 2, 499); ++col) band.add(col, value());
        band.end_row();

        const int length = row % 7 == 3 ? 0 : static_cast<int>(random() % 40);
        for (int i = 0; i < length; ++i) ragged.add(static_cast<int>(random() % 500), value());
        ragged.end_row();

        for (int col = 0; row == 250 && col < 500; ++col) arrow.add(col, value());
        if (row != 250) arrow.add(row, value());
        arrow.end_row();
    }

    bool good = true;
    for (const auto& [name, matrix] : {std::pair{"band", &band}, {"ragged", &ragged}, {"arrow", &arrow}})
        good = test(name, *matrix, random) && good;
    std::cout << (good ? "PASSED" : "FAILED") << '\n';
    return good ? 0 : 1;
}
