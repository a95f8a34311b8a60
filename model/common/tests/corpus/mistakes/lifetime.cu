// Memory that is used after it was freed, freed in the wrong way, or never freed.
#include <cstdlib>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int n = 64;
constexpr std::size_t bytes = n * sizeof(float);

__global__ void twice(const float* in, float* out) {
    out[threadIdx.x] = 2 * in[threadIdx.x];  // MISTAKE(use_after_free): `in` was freed before the launch
}

void use_after_free() {
    float* d_in = nullptr;
    DeviceBuffer<float> d_out(n);
    check(cudaMalloc(&d_in, bytes));
    check(cudaMemset(d_in, 0, bytes));
    check(cudaFree(d_in));
    twice<<<1, n>>>(d_in, d_out.data());
    check_finished();
}

__global__ void add_step(float* sum, const float* scratch) {
    sum[threadIdx.x] += scratch[threadIdx.x];  // MISTAKE(use_after_free): freed in the first round of the loop
}

void freed_inside_a_loop() {
    DeviceBuffer<float> d_sum(std::vector<float>(n, 0.0f));
    float* d_scratch = nullptr;
    check(cudaMalloc(&d_scratch, bytes));
    check(cudaMemset(d_scratch, 0, bytes));
    for (int step = 0; step < 3; ++step) {
        add_step<<<1, n>>>(d_sum.data(), d_scratch);
        check_finished();
        if (step == 0) check(cudaFree(d_scratch));
    }
}

__global__ void fill(float* out) {
    out[threadIdx.x] = 1;  // MISTAKE(use_after_free): the stream frees it before the kernel runs
}

void freed_earlier_in_the_stream() {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    float* d_out = nullptr;
    check(cudaMallocAsync(&d_out, bytes, stream));
    check(cudaFreeAsync(d_out, stream));
    fill<<<1, n, 0, stream>>>(d_out);
    check(cudaStreamSynchronize(stream));
    check(cudaStreamDestroy(stream));
}

__global__ void increment(int* values) {
    values[threadIdx.x] += 1;  // MISTAKE(use_after_free): the buffer went out of scope
}

void buffer_out_of_scope() {
    int* d_values = nullptr;
    {
        DeviceBuffer<int> buffer(std::vector<int>(n, 0));
        d_values = buffer.data();
    }
    increment<<<1, n>>>(d_values);
    check_finished();
}

struct Node {
    float value;
    const Node* next;
};

__global__ void sum_list(const Node* node, float* sum) {
    float total = 0;
    for (; node != nullptr; node = node->next) {  // MISTAKE(use_after_free): the second node was freed
        total += node->value;                     // MISTAKE(use_after_free): the first node still points to it
    }
    *sum = total;
}

void list_with_a_freed_node() {
    DeviceBuffer<float> d_sum(1);
    DeviceBuffer<Node> d_second(std::vector<Node>{{2, nullptr}});
    DeviceBuffer<Node> d_first(std::vector<Node>{{1, d_second.data()}});
    d_second = DeviceBuffer<Node>();
    sum_list<<<1, 1>>>(d_first.data(), d_sum.data());
    check_finished();
}

void double_free() {
    float* d_values = nullptr;
    check(cudaMalloc(&d_values, bytes));
    check(cudaFree(d_values));
    check(cudaFree(d_values));  // MISTAKE(invalid_free): freed already
}

void double_free_through_copies() {
    struct Matrix {
        float* d_data;
        int rows, cols;
    };
    Matrix a{nullptr, 8, 8};
    check(cudaMalloc(&a.d_data, bytes));
    const Matrix b = a;  // shares the memory
    check(cudaFree(a.d_data));
    check(cudaFree(b.d_data));  // MISTAKE(invalid_free): a and b are the same memory
}

void free_of_interior_pointer() {
    float* d_values = nullptr;
    check(cudaMalloc(&d_values, bytes));
    ++d_values;
    check(cudaFree(d_values));  // MISTAKE(invalid_free): not where the allocation begins
}

void cuda_free_of_host_memory() {
    float* values = static_cast<float*>(std::malloc(bytes));
    const cudaError_t status = cudaFree(values);  // MISTAKE(invalid_free): came from malloc
    std::free(values);
    check(status);
}

void cuda_free_of_pinned_memory() {
    float* values = nullptr;
    check(cudaMallocHost(&values, bytes));
    const cudaError_t status = cudaFree(values);  // MISTAKE(invalid_free): wants cudaFreeHost
    check(cudaFreeHost(values));
    check(status);
}

void free_host_of_device_memory() {
    float* d_values = nullptr;
    check(cudaMalloc(&d_values, bytes));
    const cudaError_t status = cudaFreeHost(d_values);  // MISTAKE(invalid_free): wants cudaFree
    check(cudaFree(d_values));
    check(status);
}

__global__ void set(float* out) { out[threadIdx.x] = 1; }

void leak_of_device_memory() {
    float* d_out = nullptr;
    check(cudaMalloc(&d_out, bytes));  // MISTAKE(memory_leak): never freed
    set<<<1, n>>>(d_out);
    check_finished();
}

bool process(int count) {
    float* d_values = nullptr;
    check(cudaMalloc(&d_values, bytes));  // MISTAKE(memory_leak): not freed on the early way out
    if (count > n) return false;
    set<<<1, n>>>(d_values);
    check_finished();
    check(cudaFree(d_values));
    return true;
}

void leak_on_early_return() { process(2 * n); }

void leak_in_a_loop() {
    float* d_values = nullptr;
    for (int step = 0; step < 3; ++step) {
        check(cudaMalloc(&d_values, bytes));  // MISTAKE(memory_leak): only the last one is freed
        set<<<1, n>>>(d_values);
        check_finished();
    }
    check(cudaFree(d_values));
}

void leak_of_pinned_memory() {
    float* values = nullptr;
    check(cudaMallocHost(&values, bytes));  // MISTAKE(memory_leak): never freed
    values[0] = 1;
}

void leak_of_pitched_memory() {
    float* d_matrix = nullptr;
    std::size_t pitch = 0;
    check(cudaMallocPitch(&d_matrix, &pitch, 10 * sizeof(float), 4));  // MISTAKE(memory_leak): never freed
    check(cudaMemset2D(d_matrix, pitch, 0, 10 * sizeof(float), 4));
}

}  // namespace

namespace corpus {

CaseList lifetime() {
    return {__FILE__,
            {{"use_after_free", "kernel reads freed memory", use_after_free},
             {"freed_inside_a_loop", "freed in the first round, used in the second", freed_inside_a_loop},
             {"freed_earlier_in_the_stream", "cudaFreeAsync before the kernel", freed_earlier_in_the_stream},
             {"buffer_out_of_scope", "pointer outlives its buffer", buffer_out_of_scope},
             {"list_with_a_freed_node", "list still points to a freed node", list_with_a_freed_node},
             {"double_free", "cudaFree twice", double_free},
             {"double_free_through_copies", "two structures own the same memory", double_free_through_copies},
             {"free_of_interior_pointer", "cudaFree of the second element", free_of_interior_pointer},
             {"cuda_free_of_host_memory", "cudaFree of memory from malloc", cuda_free_of_host_memory},
             {"cuda_free_of_pinned_memory", "cudaFree of pinned memory", cuda_free_of_pinned_memory},
             {"free_host_of_device_memory", "cudaFreeHost of device memory", free_host_of_device_memory},
             {"leak_of_device_memory", "device memory never freed", leak_of_device_memory},
             {"leak_on_early_return", "early return without cudaFree", leak_on_early_return},
             {"leak_in_a_loop", "allocated each round, freed once", leak_in_a_loop},
             {"leak_of_pinned_memory", "pinned memory never freed", leak_of_pinned_memory},
             {"leak_of_pitched_memory", "pitched memory never freed", leak_of_pitched_memory}}};
}

}  // namespace corpus
