// Accesses outside of shared arrays, constant arrays and device variables.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 64;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

__global__ void shift_in_shared(const float* in, float* out) {
    __shared__ float row[threads];
    row[threadIdx.x + 1] = in[threadIdx.x];  // MISTAKE(out_of_bounds): the last thread writes row[64]
    if (threadIdx.x == 0) row[0] = 0;
    __syncthreads();
    out[threadIdx.x] = row[threadIdx.x];
}

void shared_write_past_end() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    shift_in_shared<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void neighbor_array(const float* in, float* out) {
    __shared__ float first[threads];
    __shared__ float second[threads];
    first[threadIdx.x] = in[threadIdx.x];
    second[threadIdx.x] = 2 * in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = first[threadIdx.x + 1] + second[63 - threadIdx.x];  // MISTAKE(out_of_bounds): first[64]
}

void shared_read_of_neighbor_array() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    neighbor_array<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void dynamic_shift(const float* in, float* out) {
    extern __shared__ float values[];
    values[threadIdx.x + 1] = in[threadIdx.x];  // MISTAKE(out_of_bounds): launched with room for blockDim.x floats
    if (threadIdx.x == 0) values[0] = 0;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];
}

void dynamic_shared_one_too_far() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    dynamic_shift<<<1, threads, threads * sizeof(float)>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void dynamic_reverse(const float* in, float* out) {
    extern __shared__ float values[];
    values[threadIdx.x] = in[threadIdx.x];  // MISTAKE(out_of_bounds): the launch asks for no dynamic shared memory
    __syncthreads();
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];  // MISTAKE(out_of_bounds): the same array
}

void dynamic_shared_forgotten() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    dynamic_reverse<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void dynamic_bytes(float* out) {
    extern __shared__ float counts[];
    counts[threadIdx.x] = 1;                 // MISTAKE(out_of_bounds): room for 64 bytes, not 64 floats
    out[threadIdx.x] = counts[threadIdx.x];  // MISTAKE(out_of_bounds): the same element
}

void dynamic_shared_in_elements() {
    DeviceBuffer<float> d_out(threads);
    dynamic_bytes<<<1, threads, threads>>>(d_out.data());
    check_finished();
}

__global__ void two_parts(const float* in, float* out) {
    extern __shared__ float both[];
    float* low = both;
    float* high = both + blockDim.x;
    low[threadIdx.x] = in[threadIdx.x];
    high[threadIdx.x] = -in[threadIdx.x];                     // MISTAKE(out_of_bounds): room for one part only
    out[threadIdx.x] = low[threadIdx.x] + high[threadIdx.x];  // MISTAKE(out_of_bounds): the same element
}

void dynamic_shared_of_two_arrays() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    two_parts<<<1, threads, threads * sizeof(float)>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void shared_differences(const float* in, float* out) {
    __shared__ float row[threads];
    row[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    const int left = static_cast<int>(threadIdx.x) - 1;
    out[threadIdx.x] = row[threadIdx.x] - row[left];  // MISTAKE(out_of_bounds): thread 0 reads row[-1]
}

void shared_before_start() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    shared_differences<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void row_below(const float* in, float* out) {
    __shared__ float square[8][9];
    square[threadIdx.y][threadIdx.x] = in[threadIdx.y * 8 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 8 + threadIdx.x] = square[threadIdx.y + 1][threadIdx.x];  // MISTAKE(out_of_bounds): row 8
}

void shared_tile_last_row() {
    DeviceBuffer<float> d_in(ones(64)), d_out(64);
    row_below<<<1, dim3(8, 8)>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sum_of_warps(const float* in, float* out) {
    __shared__ float partial[8];
    float sum = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;  // MISTAKE(out_of_bounds): 512 threads are 16 warps
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int warp = 0; warp < 8; ++warp) sum += partial[warp];
        *out = sum;
    }
}

void one_partial_sum_for_each_warp() {
    DeviceBuffer<float> d_in(ones(512)), d_out(1);
    sum_of_warps<<<1, 512>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sum_of_48(const float* in, float* out) {
    __shared__ float values[48];
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned stride = 32; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) values[threadIdx.x] += values[threadIdx.x + stride];  // MISTAKE(out_of_bounds): to 63
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = values[0];
}

void reduction_of_odd_size() {
    DeviceBuffer<float> d_in(ones(48)), d_out(1);
    sum_of_48<<<1, 48>>>(d_in.data(), d_out.data());
    check_finished();
}

template <class T, int Size>
__global__ void stage(const T* in, T* out) {
    __shared__ T staged[Size];
    staged[threadIdx.x] = in[threadIdx.x];  // MISTAKE(out_of_bounds): more threads than elements
    __syncthreads();
    out[threadIdx.x] = staged[Size - 1 - threadIdx.x % Size];
}

void shared_size_from_template() {
    DeviceBuffer<float> d_in(ones(64)), d_out(64);
    stage<float, 32><<<1, 64>>>(d_in.data(), d_out.data());
    check_finished();
}

__device__ void clear(int* bins, unsigned count) {
    for (unsigned i = threadIdx.x; i <= count; i += blockDim.x) {
        bins[i] = 0;  // MISTAKE(out_of_bounds): bins[count] does not exist
    }
}

__global__ void count_digits(const int* digits, int* result) {
    __shared__ int bins[10];
    clear(bins, 10);
    __syncthreads();
    atomicAdd(&bins[digits[threadIdx.x]], 1);
    __syncthreads();
    if (threadIdx.x < 10) result[threadIdx.x] = bins[threadIdx.x];
}

void shared_in_device_function() {
    DeviceBuffer<int> d_digits(std::vector<int>(64, 7)), d_result(10);
    count_digits<<<1, 64>>>(d_digits.data(), d_result.data());
    check_finished();
}

__global__ void shared_bins(const int* values, int* result) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[values[threadIdx.x] / 16], 1);  // MISTAKE(out_of_bounds): 256 / 16 is 16
    __syncthreads();
    if (threadIdx.x < 16) result[threadIdx.x] = bins[threadIdx.x];
}

void shared_histogram_bin() {
    std::vector<int> values(64, 100);
    values[63] = 256;
    DeviceBuffer<int> d_values(values), d_result(16);
    shared_bins<<<1, 64>>>(d_values.data(), d_result.data());
    check_finished();
}

__constant__ float coefficients[4];

__global__ void evaluate(const float* x, float* y, int degree) {
    float value = 0;
    for (int k = degree; k >= 0; --k) {
        value = value * x[threadIdx.x] + coefficients[k];  // MISTAKE(out_of_bounds): degree 4 has 5 coefficients
    }
    y[threadIdx.x] = value;
}

void constant_index_too_large() {
    const float host[4] = {1, 2, 3, 4};
    check(cudaMemcpyToSymbol(coefficients, host, sizeof host));
    DeviceBuffer<float> d_x(ones(threads)), d_y(threads);
    evaluate<<<1, threads>>>(d_x.data(), d_y.data(), 4);
    check_finished();
}

__device__ int counters[8];

__global__ void count_by_rest(const int* values) {
    atomicAdd(&counters[values[threadIdx.x] % 9], 1);  // MISTAKE(out_of_bounds): 8 counters, rests up to 8
}

void device_variable_array() {
    std::vector<int> values;
    for (int i = 0; i < threads; ++i) values.push_back(i);
    DeviceBuffer<int> d_values(values);
    count_by_rest<<<1, threads>>>(d_values.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList bounds_on_chip() {
    return {__FILE__,
            {{"shared_write_past_end", "write to element 64 of 64", shared_write_past_end},
             {"shared_read_of_neighbor_array", "runs into the next shared array", shared_read_of_neighbor_array},
             {"dynamic_shared_one_too_far", "one element more than the launch asked for", dynamic_shared_one_too_far},
             {"dynamic_shared_forgotten", "launch without dynamic shared memory", dynamic_shared_forgotten},
             {"dynamic_shared_in_elements", "third launch argument in elements", dynamic_shared_in_elements},
             {"dynamic_shared_of_two_arrays", "room for one of two arrays", dynamic_shared_of_two_arrays},
             {"shared_before_start", "element -1 of a shared array", shared_before_start},
             {"shared_tile_last_row", "row below the last of a padded tile", shared_tile_last_row},
             {"one_partial_sum_for_each_warp", "8 partial sums for 16 warps", one_partial_sum_for_each_warp},
             {"reduction_of_odd_size", "reduction of 48 elements begins with stride 32", reduction_of_odd_size},
             {"shared_size_from_template", "block larger than the template's array", shared_size_from_template},
             {"shared_in_device_function", "device function clears one bin too many", shared_in_device_function},
             {"shared_histogram_bin", "atomicAdd behind the last shared bin", shared_histogram_bin},
             {"constant_index_too_large", "constant array read past its end", constant_index_too_large},
             {"device_variable_array", "__device__ array written past its end", device_variable_array}}};
}

}  // namespace corpus
