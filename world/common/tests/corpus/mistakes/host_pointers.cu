// Host pointers in kernels, device pointers in host code, and pointers to nothing.
#include <cstdio>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int n = 64;

__global__ void twice(const float* in, float* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];  // MISTAKE(host_memory): `in` is the data of a std::vector
}

void host_vector_in_kernel() {
    const std::vector<float> in(n, 1.0f);
    DeviceBuffer<float> d_out(n);
    twice<<<1, n>>>(in.data(), d_out.data());
    check_finished();
}

__global__ void count_positive(const float* in, int* count) {
    if (in[threadIdx.x] > 0) atomicAdd(count, 1);  // MISTAKE(host_memory): `count` is a variable of the host
}

void host_variable_in_kernel() {
    int count = 0;
    DeviceBuffer<float> d_in(std::vector<float>(n, 1.0f));
    count_positive<<<1, n>>>(d_in.data(), &count);
    check_finished();
}

struct Matrix {
    int rows, cols;
    float* data;
};

__global__ void clear(Matrix matrix) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < matrix.rows * matrix.cols) matrix.data[i] = 0;  // MISTAKE(host_memory): a host array
}

void host_array_in_structure() {
    std::vector<float> values(n, 1.0f);
    const Matrix matrix{8, 8, values.data()};
    clear<<<1, n>>>(matrix);
    check_finished();
}

__global__ void follow(float* const* rows, float* out) {
    out[threadIdx.x] = rows[threadIdx.x][0];  // MISTAKE(host_memory): the table was copied, the rows were not
}

void table_of_host_pointers() {
    std::vector<float> values(n, 1.0f);
    std::vector<float*> rows;
    for (float& value : values) rows.push_back(&value);
    DeviceBuffer<float*> d_rows(rows);
    DeviceBuffer<float> d_out(n);
    follow<<<1, n>>>(d_rows.data(), d_out.data());
    check_finished();
}

__global__ void fill(float* out) { out[threadIdx.x] = 1; }

void device_memory_in_host_code() {
    DeviceBuffer<float> d_out(n);
    fill<<<1, n>>>(d_out.data());
    check_finished();
    const float* out = d_out.data();
    std::printf("%g\n", out[0]);  // MISTAKE(host_memory): wants a copy to the host first
}

__global__ void fill_pairs(float* first, float* second) {
    first[threadIdx.x] = 1;
    second[threadIdx.x] = 2;  // MISTAKE(illegal_access): null pointer
}

void null_pointer() {
    DeviceBuffer<float> d_first(n), d_second;
    fill_pairs<<<1, n>>>(d_first.data(), d_second.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList host_pointers() {
    return {__FILE__,
            {{"host_vector_in_kernel", "kernel reads a std::vector", host_vector_in_kernel},
             {"host_variable_in_kernel", "atomicAdd on a variable of the host", host_variable_in_kernel},
             {"host_array_in_structure", "structure with a host pointer as argument", host_array_in_structure},
             {"table_of_host_pointers", "table of pointers copied, its rows not", table_of_host_pointers},
             {"device_memory_in_host_code", "host code reads device memory", device_memory_in_host_code},
             {"null_pointer", "array was never allocated", null_pointer}}};
}

}  // namespace corpus
