// Barriers that only some threads of the block reach.
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
}

void barrier_inside_a_divergent_warp() {
    DeviceBuffer<float> d_out(threads);
    barrier_for_odd_lanes<<<1, threads>>>(d_out.data());
    check_finished();
}

__global__ void block_maximum(const float* in, float* out, int count) {
    __shared__ float values[threads];
    const int t = static_cast<int>(threadIdx.x);
    if (t >= count) return;  // before a barrier that others wait at
    values[t] = in[t];
    __syncthreads();  // MISTAKE(divergent_barrier): 14 threads have returned
    if (t == 0) {
        float largest = values[0];
        for (int i = 1; i < count; ++i) largest = values[i] > largest ? values[i] : largest;
        *out = largest;
    }
}

void return_before_barrier() {
    DeviceBuffer<float> d_in(ones(50)), d_out(1);
    block_maximum<<<1, threads>>>(d_in.data(), d_out.data(), 50);
    check_finished();
}

__global__ void stage_tail(const float* in, float* out, int count) {
    __shared__ float row[threads];
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    row[threadIdx.x] = in[i];
    __syncthreads();  // MISTAKE(divergent_barrier): in the last block
    out[i] = row[threadIdx.x];
}

void return_in_last_block() {
    DeviceBuffer<float> d_in(ones(100)), d_out(100);
    stage_tail<<<2, threads>>>(d_in.data(), d_out.data(), 100);
    check_finished();
}

__global__ void barrier_each_round(const int* rounds, int* out) {
    int sum = 0;
    for (int round = 0; round < rounds[threadIdx.x]; ++round) {
        sum += round;
        __syncthreads();  // MISTAKE(divergent_barrier): threads go round different numbers of times
    }
    out[threadIdx.x] = sum;
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
}

void group_sync_in_branch() {
    DeviceBuffer<float> d_out(threads);
    group_barrier_in_branch<<<1, threads>>>(d_out.data());
    check_finished();
}

template <bool Check>
__global__ void guarded_columns(float* matrix, int cols) {
    const int col = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
    if (Check && col >= cols) return;
    matrix[row * cols + col] = 1;
    __syncthreads();  // MISTAKE(divergent_barrier): columns 6 and 7 have returned
    if (row == 0) matrix[col] = 2;
}

void return_in_two_dimensional_block() {
    DeviceBuffer<float> d_matrix(6 * 8);
    guarded_columns<true><<<1, dim3(8, 8)>>>(d_matrix.data(), 6);
    check_finished();
}

}  // namespace

namespace corpus {

CaseList divergent_barriers() {
    return {__FILE__,
            {{"barrier_in_branch", "__syncthreads for one warp of two", barrier_in_branch},
             {"barrier_inside_a_divergent_warp", "__syncthreads for odd lanes", barrier_inside_a_divergent_warp},
             {"return_before_barrier", "threads without data return early", return_before_barrier},
             {"return_in_last_block", "early return in the last block only", return_in_last_block},
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
             {"return_in_two_dimensional_block", "template: columns without data return early",
              return_in_two_dimensional_block}}};
}

}  // namespace corpus
