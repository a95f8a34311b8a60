// Accesses behind arrays in global memory, hidden in templates, functions, lambdas, structures and indices that are
// data.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int n = 100;
constexpr int threads = 128;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

template <int Radius>
__global__ void window_sum(const float* in, float* out, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= count) return;
    float sum = 0;
    for (int offset = 0; offset <= Radius; ++offset) {
        sum += in[i + offset];  // MISTAKE(out_of_bounds): the last windows leave the array
    }
    out[i] = sum;
}

void in_template() {
    DeviceBuffer<float> d_in(ones(n)), d_out(n);
    window_sum<3><<<1, threads>>>(d_in.data(), d_out.data(), n);
    check_finished();
}

__device__ float middle(const float* in, int i) {
    return (in[i] + in[i + 1]) / 2;  // MISTAKE(out_of_bounds): the last element has no right neighbor
}

__global__ void midpoints(const float* in, float* out, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) out[i] = middle(in, i);
}

void in_device_function() {
    DeviceBuffer<float> d_in(ones(n)), d_out(n);
    midpoints<<<1, threads>>>(d_in.data(), d_out.data(), n);
    check_finished();
}

template <class Function>
__global__ void for_each_index(int count, Function function) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) function(i);
}

struct ShiftLeft {
    const float* in;
    float* out;
    __device__ void operator()(int i) const {
        out[i] = in[i + 1];  // MISTAKE(out_of_bounds): the last element has no successor
    }
};

void in_functor() {
    DeviceBuffer<float> d_in(ones(n)), d_out(n);
    for_each_index<<<1, threads>>>(n, ShiftLeft{d_in.data(), d_out.data()});
    check_finished();
}

__global__ void clamp_negatives(float* data, int count) {
    const auto clamp = [data](int i) {
        if (data[i] < 0) data[i] = 0;  // MISTAKE(out_of_bounds): i + 64 was not compared with count
    };
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) clamp(i + 64);
}

void in_lambda() {
    DeviceBuffer<float> d_data(ones(n));
    clamp_negatives<<<1, 64>>>(d_data.data(), n);
    check_finished();
}

struct Polynomial {
    int degree;
    float coefficients[4];
};

__global__ void sum_coefficients(const Polynomial* polynomials, float* sums, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= count) return;
    float sum = 0;
    for (int k = 0; k <= polynomials[i].degree; ++k) {
        sum += polynomials[i].coefficients[k];  // MISTAKE(out_of_bounds): degree 4 has 5 coefficients
    }
    sums[i] = sum;
}

void member_array_of_last_structure() {
    DeviceBuffer<Polynomial> d_polynomials(std::vector<Polynomial>(8, {4, {1, 1, 1, 1}}));
    DeviceBuffer<float> d_sums(8);
    sum_coefficients<<<1, 32>>>(d_polynomials.data(), d_sums.data(), 8);
    check_finished();
}

__global__ void count_values(const int* values, int count, int* bins) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) atomicAdd(&bins[values[i]], 1);  // MISTAKE(out_of_bounds): values go from 0 to 10, there are 10 bins
}

void histogram_bin_too_high() {
    std::vector<int> values;
    for (int i = 0; i < n; ++i) values.push_back(i % 11);
    DeviceBuffer<int> d_values(values), d_bins(std::vector<int>(10, 0));
    count_values<<<1, threads>>>(d_values.data(), n, d_bins.data());
    check_finished();
}

__global__ void gather(const float* in, const int* from, float* out, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) out[i] = in[from[i]];  // MISTAKE(out_of_bounds): indices count from 1
}

void indices_from_one() {
    std::vector<int> from;
    for (int i = 0; i < n; ++i) from.push_back(n - i);
    DeviceBuffer<float> d_in(ones(n)), d_out(n);
    DeviceBuffer<int> d_from(from);
    gather<<<1, threads>>>(d_in.data(), d_from.data(), d_out.data(), n);
    check_finished();
}

__global__ void row_lengths(const int* row_start, int* length, int rows) {
    const int row = static_cast<int>(threadIdx.x);
    if (row < rows) length[row] = row_start[row + 1] - row_start[row];  // MISTAKE(out_of_bounds): needs rows + 1 starts
}

void sparse_row_starts() {
    DeviceBuffer<int> d_row_start(std::vector<int>(16, 0)), d_length(16);
    row_lengths<<<1, 32>>>(d_row_start.data(), d_length.data(), 16);
    check_finished();
}

__global__ void halve(float* data) {
    data[threadIdx.x] *= 0.5f;  // MISTAKE(out_of_bounds): 128 threads, 100 elements
}

void managed_memory() {
    float* data = nullptr;
    check(cudaMallocManaged(&data, n * sizeof(float)));
    for (int i = 0; i < n; ++i) data[i] = 1;
    halve<<<1, threads>>>(data);
    check_finished();
    check(cudaFree(data));
}

__global__ void negate(double* data) {
    data[threadIdx.x] = -data[threadIdx.x];  // MISTAKE(out_of_bounds): room was made for floats
}

void size_of_another_type() {
    double* d_data = nullptr;
    check(cudaMalloc(&d_data, threads * sizeof(float)));
    check(cudaMemset(d_data, 0, threads * sizeof(float)));
    negate<<<1, threads>>>(d_data);
    check_finished();
    check(cudaFree(d_data));
}

__global__ void write_edges(int* edges, int rows, int cols) {
    const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (col >= cols) return;
    edges[col] = 1;
    edges[rows * cols + col] = 1;  // MISTAKE(out_of_bounds): the last row is row rows - 1
}

void last_row_index() {
    DeviceBuffer<int> d_edges(8 * 40);
    write_edges<<<2, 32>>>(d_edges.data(), 8, 40);
    check_finished();
}

}  // namespace

namespace corpus {

CaseList bounds_of_objects() {
    return {__FILE__,
            {{"in_template", "window of a template parameter leaves the array", in_template},
             {"in_device_function", "device function reads the right neighbor", in_device_function},
             {"in_functor", "functor reads element i + 1", in_functor},
             {"in_lambda", "lambda called with an index nobody compared", in_lambda},
             {"member_array_of_last_structure", "member array of the last structure", member_array_of_last_structure},
             {"histogram_bin_too_high", "atomicAdd behind the last bin", histogram_bin_too_high},
             {"indices_from_one", "gather with indices that count from 1", indices_from_one},
             {"sparse_row_starts", "row starts without the end of the last row", sparse_row_starts},
             {"managed_memory", "past the end of managed memory", managed_memory},
             {"size_of_another_type", "room for floats used for doubles", size_of_another_type},
             {"last_row_index", "row index equal to the number of rows", last_row_index}}};
}

}  // namespace corpus
