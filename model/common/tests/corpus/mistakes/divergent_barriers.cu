// Barriers that only some threads of the block reach, while the others are still running and wait somewhere else.
// (Threads that have exited are not waited for: correct/barriers.cu.)
#include <cooperative_groups.h>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

namespace cg = cooperative_groups;
using namespace corpus;

constexpr int threads = 64;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

__global__ void barrier_for_one_warp(const float* in, float* out) {
    __shared__ float row[threads];
    row[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 32) {
        __syncthreads();  // MISTAKE(divergent_barrier): warp 1 never comes
    }
    const float value = row[threadIdx.x];
    __syncthreads();  // MISTAKE(divergent_barrier): warp 1 waits here
    row[threadIdx.x] = value + 1;
    out[threadIdx.x] = row[threadIdx.x];
}

void barrier_in_branch() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    barrier_for_one_warp<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void barrier_for_odd_lanes(float* out) {
    if (threadIdx.x % 2 == 1) __syncthreads();  // MISTAKE(divergent_barrier): half of every warp
    out[threadIdx.x] = 1;
    __syncthreads();  // MISTAKE(divergent_barrier): the other half waits here
}

void barrier_inside_a_divergent_warp() {
    DeviceBuffer<float> d_out(threads);
    barrier_for_odd_lanes<<<1, threads>>>(d_out.data());
    check_finished();
}

__global__ void barrier_each_round(const int* rounds, int* out) {
    int sum = 0;
    for (int round = 0; round < rounds[threadIdx.x]; ++round) {
        sum += round;
        __syncthreads();  // MISTAKE(divergent_barrier): threads go round different numbers of times
    }
    out[threadIdx.x] = sum;
    __syncthreads();  // MISTAKE(divergent_barrier): those that are done wait here
}

void loop_with_different_counts() {
    std::vector<int> rounds(threads, 3);
    for (int i = 32; i < threads; ++i) rounds[static_cast<std::size_t>(i)] = 5;
    DeviceBuffer<int> d_rounds(rounds), d_out(threads);
    barrier_each_round<<<1, threads>>>(d_rounds.data(), d_out.data());
    check_finished();
}

__global__ void barrier_in_both_branches(float* out) {
    if (threadIdx.x < 32) {
        out[threadIdx.x] = 1;
        __syncthreads();  // MISTAKE(divergent_barrier): not the barrier of the other branch
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();  // MISTAKE(divergent_barrier): not the barrier of the other branch
    }
}

void one_barrier_in_each_branch() {
    DeviceBuffer<float> d_out(threads);
    barrier_in_both_branches<<<1, threads>>>(d_out.data());
    check_finished();
}

__device__ void store_and_wait(float* row, float value) {
    row[threadIdx.x] = value;
    __syncthreads();  // MISTAKE(divergent_barrier): called by half of the block
}

__global__ void call_from_branch(const float* in, float* out) {
    __shared__ float row[threads];
    const float value = in[threadIdx.x];
    if (threadIdx.x < threads / 2) store_and_wait(row, value);
    __syncthreads();  // MISTAKE(divergent_barrier): the other half waits here
    out[threadIdx.x] = threadIdx.x < threads / 2 ? row[threadIdx.x] : value;
}

void barrier_in_device_function() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    call_from_branch<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void newton(const float* in, float* out) {
    float root = 1;
    for (int step = 0; step < 20; ++step) {
        const float next = (root + in[threadIdx.x] / root) / 2;
        if (next == root) break;  // each thread when it is done
        root = next;
        __syncthreads();  // MISTAKE(divergent_barrier): the others go on
    }
    __syncthreads();  // MISTAKE(divergent_barrier): whoever is done waits here
    out[threadIdx.x] = root;
}

void break_out_of_a_loop_with_barrier() {
    std::vector<float> values;
    for (int i = 0; i < threads; ++i) values.push_back(static_cast<float>(1 + 100 * i));
    DeviceBuffer<float> d_in(values), d_out(threads);
    newton<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void count_in_branch(const float* in, int* out, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) {
        const int positive = __syncthreads_count(in[i] > 0);  // MISTAKE(divergent_barrier): a barrier that counts
        if (i == 0) *out = positive;
    }
    __syncthreads();  // MISTAKE(divergent_barrier): the others wait here
}

void counting_barrier_in_branch() {
    DeviceBuffer<float> d_in(ones(50));
    DeviceBuffer<int> d_out(1);
    count_in_branch<<<1, threads>>>(d_in.data(), d_out.data(), 50);
    check_finished();
}

__global__ void short_circuit(const float* in, int* out, int count) {
    const int i = static_cast<int>(threadIdx.x);
    const bool all = i < count && __syncthreads_and(in[i] > 0);  // MISTAKE(divergent_barrier): && skips the call
    if (i == 0) *out = all;
    __syncthreads();  // MISTAKE(divergent_barrier): whoever skipped the call waits here
}

void barrier_behind_a_logical_and() {
    DeviceBuffer<float> d_in(ones(50));
    DeviceBuffer<int> d_out(1);
    short_circuit<<<1, threads>>>(d_in.data(), d_out.data(), 50);
    check_finished();
}

__global__ void group_barrier_in_branch(float* out) {
    const cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() < 32) {
        block.sync();  // MISTAKE(divergent_barrier): the group is the whole block
    }
    out[threadIdx.x] = 1;
    block.sync();  // MISTAKE(divergent_barrier): the other warp waits here
}

void group_sync_in_branch() {
    DeviceBuffer<float> d_out(threads);
    group_barrier_in_branch<<<1, threads>>>(d_out.data());
    check_finished();
}

__global__ void first_warp_has_its_own_work(const int* in, int* out) {
    __shared__ int sum;
    int value = in[threadIdx.x];
    if (threadIdx.x >= 32) {
        __syncthreads();  // MISTAKE(divergent_barrier): warp 0 has its own barrier
        value += sum;
    } else {
        for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xFFFFFFFFu, value, step);
        if (threadIdx.x == 0) sum = value;
        __syncthreads();  // MISTAKE(divergent_barrier): works on today's GPUs, but nobody promises it
    }
    out[threadIdx.x] = value;
}

void each_warp_at_its_own_barrier() {
    DeviceBuffer<int> d_in(std::vector<int>(threads, 1)), d_out(threads);
    first_warp_has_its_own_work<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void barrier_for_full_rows(const float* in, float* out, int cols) {
    __shared__ float row[8][8];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    row[y][x] = in[y * 8 + x];
    if (static_cast<int>(x) < cols) {
        __syncthreads();  // MISTAKE(divergent_barrier): columns 6 and 7 never come
        out[y * 8 + x] = row[7 - y][x];
    }
    __syncthreads();  // MISTAKE(divergent_barrier): they wait here
    row[y][x] = 0;
}

void barrier_for_some_columns() {
    DeviceBuffer<float> d_in(ones(64)), d_out(64);
    barrier_for_full_rows<<<1, dim3(8, 8)>>>(d_in.data(), d_out.data(), 6);
    check_finished();
}

}  // namespace

namespace corpus {

CaseList divergent_barriers() {
    return {__FILE__,
            {{"barrier_in_branch", "__syncthreads for one warp of two", barrier_in_branch},
             {"barrier_inside_a_divergent_warp", "__syncthreads for odd lanes", barrier_inside_a_divergent_warp},
             {"loop_with_different_counts", "threads go round a loop with a barrier differently often",
              loop_with_different_counts},
             {"one_barrier_in_each_branch", "different barriers in if and else", one_barrier_in_each_branch},
             {"barrier_in_device_function", "device function with a barrier called in a branch",
              barrier_in_device_function},
             {"break_out_of_a_loop_with_barrier", "threads leave a loop with a barrier one by one",
              break_out_of_a_loop_with_barrier},
             {"counting_barrier_in_branch", "__syncthreads_count in a branch", counting_barrier_in_branch},
             {"barrier_behind_a_logical_and", "__syncthreads_and behind &&", barrier_behind_a_logical_and},
             {"group_sync_in_branch", "block.sync() in a branch", group_sync_in_branch},
             {"each_warp_at_its_own_barrier", "the first warp has a barrier of its own", each_warp_at_its_own_barrier},
             {"barrier_for_some_columns", "barrier for the columns with data, then one for all",
              barrier_for_some_columns}}};
}

}  // namespace corpus
