// Managed memory that neither host code nor a kernel has written before a kernel reads it.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int n = 100;
constexpr int threads = 128;

template <class T>
T* managed(int count) {
    T* memory = nullptr;
    check(cudaMallocManaged(&memory, static_cast<std::size_t>(count) * sizeof(T)));
    return memory;
}

__global__ void add(const float* a, const float* b, float* sum, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) sum[i] = a[i] + b[i];  // MISTAKE(uninitialized_read): nobody wrote b
}

void managed_input_never_written() {
    float *a = managed<float>(n), *b = managed<float>(n), *sum = managed<float>(n);
    for (int i = 0; i < n; ++i) a[i] = 1.0f;
    add<<<1, threads>>>(a, b, sum, n);
    check_finished();
    check(cudaFree(a));
    check(cudaFree(b));
    check(cudaFree(sum));
}

__global__ void count_even(const int* in, int count, int* even) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count && in[i] % 2 == 0) atomicAdd(even, 1);  // MISTAKE(uninitialized_read): not set to 0
}

void managed_counter_without_zero() {
    int *in = managed<int>(n), *even = managed<int>(1);
    for (int i = 0; i < n; ++i) in[i] = i;
    count_even<<<1, threads>>>(in, n, even);
    check_finished();
    check(cudaFree(in));
    check(cudaFree(even));
}

__global__ void scale(double* values, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) values[i] *= 2;  // MISTAKE(uninitialized_read): the host wrote 50 of 100 elements
}

void managed_half_written_by_the_host() {
    double* values = managed<double>(n);
    for (int i = 0; i < n / 2; ++i) values[i] = i;
    scale<<<1, threads>>>(values, n);
    check_finished();
    check(cudaFree(values));
}

}  // namespace

namespace corpus {

CaseList unwritten_managed() {
    return {
        __FILE__,
        {{"managed_input_never_written", "second input, in managed memory, never written", managed_input_never_written},
         {"managed_counter_without_zero", "atomicAdd on fresh managed memory", managed_counter_without_zero},
         {"managed_half_written_by_the_host", "host code wrote half of the managed array",
          managed_half_written_by_the_host}}};
}

}  // namespace corpus
