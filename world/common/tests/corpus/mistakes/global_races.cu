// Races on global memory between threads of one block.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 64;

std::vector<int> up_to(int count) {
    std::vector<int> values;
    for (int i = 0; i < count; ++i) values.push_back(i);
    return values;
}

__global__ void through_scratch(const int* in, int* scratch, int* out) {
    scratch[threadIdx.x] = 2 * in[threadIdx.x];             // OTHER: stored here
    out[threadIdx.x] = scratch[threads - 1 - threadIdx.x];  // MISTAKE(data_race): no barrier
}

void scratch_without_barrier() {
    DeviceBuffer<int> d_in(up_to(threads)), d_scratch(up_to(threads)), d_out(threads);
    through_scratch<<<1, threads>>>(d_in.data(), d_scratch.data(), d_out.data());
    check_finished();
}

__global__ void sum_all(const int* in, int* sum) {
    *sum += in[threadIdx.x];  // MISTAKE(data_race): needs atomicAdd
}

void sum_without_atomic() {
    DeviceBuffer<int> d_in(up_to(threads)), d_sum(std::vector<int>(1, 0));
    sum_all<<<1, threads>>>(d_in.data(), d_sum.data());
    check_finished();
}

__global__ void shift_left(int* data, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i + 1 < count) data[i] = data[i + 1];  // MISTAKE(data_race): thread i + 1 overwrites what thread i reads
}

void shift_in_place() {
    DeviceBuffer<int> d_data(up_to(threads));
    shift_left<<<1, threads>>>(d_data.data(), threads);
    check_finished();
}

__global__ void transpose_in_place(int* matrix) {
    const unsigned row = threadIdx.y, col = threadIdx.x;
    const int value = matrix[row * 8 + col];  // OTHER: read here
    matrix[col * 8 + row] = value;            // MISTAKE(data_race): the thread of the mirrored element does the same
}

void transpose_without_copy() {
    DeviceBuffer<int> d_matrix(up_to(64));
    transpose_in_place<<<1, dim3(8, 8)>>>(d_matrix.data());
    check_finished();
}

__global__ void keep_positive(const int* in, int* count, int* out) {
    if (in[threadIdx.x] % 3 != 0) return;
    const int place = (*count)++;  // MISTAKE(data_race): two threads can draw the same place
    out[place] = in[threadIdx.x];
}

void compaction_with_increment() {
    DeviceBuffer<int> d_in(up_to(threads)), d_count(std::vector<int>(1, 0)), d_out(threads);
    keep_positive<<<1, threads>>>(d_in.data(), d_count.data(), d_out.data());
    check_finished();
}

__global__ void largest(const int* in, int* best) {
    if (in[threadIdx.x] > *best) {  // MISTAKE(data_race): compared by one thread while another writes
        *best = in[threadIdx.x];    // OTHER: written here
    }
}

void maximum_without_atomic() {
    DeviceBuffer<int> d_in(up_to(threads)), d_best(std::vector<int>(1, 0));
    largest<<<1, threads>>>(d_in.data(), d_best.data());
    check_finished();
}

struct Account {
    int balance;
    __device__ void deposit(int amount) {
        balance += amount;  // MISTAKE(data_race): a member function is no lock
    }
};

__global__ void deposit_all(Account* account) { account->deposit(static_cast<int>(threadIdx.x)); }

void sum_in_member_function() {
    DeviceBuffer<Account> d_account(std::vector<Account>(1, {0}));
    deposit_all<<<1, threads>>>(d_account.data());
    check_finished();
}

__global__ void scatter(const int* keys, int* last_with_key) {
    last_with_key[keys[threadIdx.x] % 8] = static_cast<int>(threadIdx.x);  // MISTAKE(data_race): 8 threads for each key
}

void scatter_with_equal_keys() {
    DeviceBuffer<int> d_keys(up_to(threads)), d_last(8);
    scatter<<<1, threads>>>(d_keys.data(), d_last.data());
    check_finished();
}

__device__ void add_last_warp(volatile float* values, unsigned t) {
    values[t] = values[t] + values[t + 32];  // OTHER: without __syncwarp behind it
    values[t] = values[t] + values[t + 16];  // MISTAKE(data_race): volatile orders nothing, in global memory as well
    values[t] = values[t] + values[t + 8];   // OTHER: as little
    values[t] = values[t] + values[t + 4];   // OTHER: as little
    values[t] = values[t] + values[t + 2];   // OTHER: as little
    values[t] = values[t] + values[t + 1];   // OTHER: as little
}

__global__ void sum_in_lockstep(float* values) {
    if (threadIdx.x < 32) add_last_warp(values, threadIdx.x);
}

void volatile_tail_in_global_memory() {
    DeviceBuffer<float> d_values(std::vector<float>(threads, 1.5f));
    sum_in_lockstep<<<1, threads>>>(d_values.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList global_races() {
    return {__FILE__,
            {{"scratch_without_barrier", "scratch array in global memory, no barrier", scratch_without_barrier},
             {"sum_without_atomic", "all threads += one sum", sum_without_atomic},
             {"shift_in_place", "elements shifted in place", shift_in_place},
             {"transpose_without_copy", "matrix transposed in place", transpose_without_copy},
             {"compaction_with_increment", "places drawn by ++", compaction_with_increment},
             {"maximum_without_atomic", "maximum by compare and store", maximum_without_atomic},
             {"sum_in_member_function", "+= in a member function", sum_in_member_function},
             {"volatile_tail_in_global_memory", "sum in lockstep through a volatile pointer",
              volatile_tail_in_global_memory},
             {"scatter_with_equal_keys", "several threads store to one key", scatter_with_equal_keys}}};
}

}  // namespace corpus
