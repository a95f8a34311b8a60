// Managed memory that host code has written in ways that nobody announces to the CPU device, and volatile flags inside
// of a warp.
#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>

#include "common/tests/corpus/correct/expect.h"

namespace {

using namespace corpus;

template <class T>
T* managed(std::size_t count) {
    T* memory = nullptr;
    check(cudaMallocManaged(&memory, count * sizeof(T)));
    return memory;
}

template <class T>
__global__ void add_up(const T* in, int count, int* sum) {
    int total = 0;
    for (int i = 0; i < count; ++i) total += static_cast<int>(in[i]);
    *sum = total;
}

template <class T>
void expect_sum(const T* values, int count, int expected) {
    DeviceBuffer<int> d_sum(1);
    add_up<<<1, 1>>>(values, count, d_sum.data());
    check_finished();
    expect_equal(d_sum.download(), std::vector<int>{expected});
}

void managed_memory_read_from_a_stream() {
    char* text = managed<char>(8);
    std::istringstream stream(std::string("\xFF\x01\x02\x03\x04\x05\x06\x07", 8));
    stream.read(text, 8);
    expect_sum(text, 8, 27);
    check(cudaFree(text));
}

void managed_memory_filled_by_the_library() {
    int* values = managed<int>(100);
    std::fill(values, values + 50, -1);
    std::memset(values + 50, 0xFF, 50 * sizeof(int));
    expect_sum(values, 100, -100);
    std::iota(values, values + 100, 0);
    std::sort(values, values + 100, std::greater<>());
    expect_sum(values, 100, 4950);
    check(cudaFree(values));
}

void managed_memory_of_bytes_and_shorts() {
    unsigned char* bytes = managed<unsigned char>(7);
    short* shorts = managed<short>(5);
    for (int i = 0; i < 7; ++i) bytes[i] = 0xFF;
    for (int i = 0; i < 5; ++i) shorts[i] = -1;
    expect_sum(bytes, 7, 7 * 255);
    expect_sum(shorts, 5, -5);
    check(cudaFree(bytes));
    check(cudaFree(shorts));
}

void large_managed_memory_is_zeroed_in_part() {
    const std::size_t count = std::size_t{6} << 20;
    int* values = managed<int>(count);
    std::memset(values, 0, count * sizeof(int));
    expect_sum(values + count - 100, 100, 0);
    check(cudaFree(values));
}

void managed_memory_set_by_the_runtime() {
    int* values = managed<int>(100);
    check(cudaMemset(values, 0, 100 * sizeof(int)));
    expect_sum(values, 100, 0);
    check(cudaFree(values));
}

struct Node {
    int value;
    Node* next;
};

__global__ void add_up_list(const Node* node, int* sum) {
    int total = 0;
    for (; node != nullptr; node = node->next) total += node->value;
    *sum = total;
}

void list_in_managed_memory() {
    Node* first = nullptr;
    for (int i = 0; i < 5; ++i) {
        Node* node = managed<Node>(1);
        *node = {i, first};
        first = node;
    }
    DeviceBuffer<int> d_sum(1);
    add_up_list<<<1, 1>>>(first, d_sum.data());
    check_finished();
    expect_equal(d_sum.download(), std::vector<int>{10});
    while (first != nullptr) check(cudaFree(std::exchange(first, first->next)));
}

/// One lane tells the others of its warp that it is done; nothing but the flag is passed.
__global__ void first_lane_to_find(const int* in, volatile int* found, int* looked) {
    int count = 0;
    for (int i = static_cast<int>(threadIdx.x); i < 1024 && *found == 0; i += 32) {
        ++count;
        if (in[i] == 7) *found = 1;
    }
    looked[threadIdx.x] = count;
}

void stop_flag_of_a_warp() {
    std::vector<int> in(1024, 0);
    in[200] = 7;
    DeviceBuffer<int> d_in(in), d_found(std::vector<int>{0}), d_looked(32);
    first_lane_to_find<<<1, 32>>>(d_in.data(), d_found.data(), d_looked.data());
    check_finished();
    expect_equal(d_found.download(), std::vector<int>{1});
}

/// Lanes of a warp take turns.
__global__ void take_turns(volatile int* turn, int* sum) {
    const int me = static_cast<int>(threadIdx.x);
    while (*turn != me) {
    }
    __threadfence();
    atomicAdd(sum, me);
    __threadfence();
    *turn = *turn + 1;
}

void lanes_that_take_turns() {
    DeviceBuffer<int> d_turn(std::vector<int>{0}), d_sum(std::vector<int>{0});
    take_turns<<<1, 32>>>(d_turn.data(), d_sum.data());
    check_finished();
    expect_equal(d_sum.download(), std::vector<int>{496});
}

/// Volatile, and in the right order as well.
__global__ void sum_with_syncwarp(volatile int* s, int* out) {
    const unsigned t = threadIdx.x;
    for (unsigned step = 16; step > 0; step /= 2) {
        const int sum = s[t] + s[(t + step) % 32];
        __syncwarp();
        s[t] = sum;
        __syncwarp();
    }
    if (t == 0) *out = s[0];
}

void volatile_sum_with_syncwarp() {
    DeviceBuffer<int> d_values(std::vector<int>(32, 3)), d_out(1);
    sum_with_syncwarp<<<1, 32>>>(d_values.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), std::vector<int>{96});
}

}  // namespace

namespace corpus {

CaseList unseen_host_writes() {
    return {
        __FILE__,
        {{"managed_memory_read_from_a_stream", "written by library code", managed_memory_read_from_a_stream},
         {"managed_memory_filled_by_the_library", "std::fill, memset, std::sort", managed_memory_filled_by_the_library},
         {"managed_memory_of_bytes_and_shorts", "less than a word, all bits set", managed_memory_of_bytes_and_shorts},
         {"large_managed_memory_is_zeroed_in_part", "24 MB", large_managed_memory_is_zeroed_in_part},
         {"managed_memory_set_by_the_runtime", "cudaMemset", managed_memory_set_by_the_runtime},
         {"list_in_managed_memory", "structures with padding, copied as a whole", list_in_managed_memory},
         {"stop_flag_of_a_warp", "a volatile flag that lanes poll", stop_flag_of_a_warp},
         {"lanes_that_take_turns", "volatile turn between fences, inside of a warp", lanes_that_take_turns},
         {"volatile_sum_with_syncwarp", "volatile and __syncwarp", volatile_sum_with_syncwarp}}};
}

}  // namespace corpus
