// Races in sums, scans and searches in shared memory.
#include <cooperative_groups.h>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 128;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

__global__ void sum_without_barriers(const float* in, float* out) {
    __shared__ float values[threads];
    const unsigned t = threadIdx.x;
    values[t] = in[t];
    __syncthreads();
    for (unsigned stride = threads / 2; stride > 0; stride /= 2) {
        if (t < stride) values[t] += values[t + stride];  // MISTAKE(data_race): the barrier belongs into the loop
    }
    if (t == 0) *out = values[0];
}

void reduction_without_barrier() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(1);
    sum_without_barriers<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sum_read_by_all(const float* in, float* out) {
    __shared__ float values[threads];
    const unsigned t = threadIdx.x;
    values[t] = in[t];
    for (unsigned stride = threads / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) values[t] += values[t + stride];  // OTHER: thread 0 writes the sum in the last round
    }
    out[t] = in[t] / values[0];  // MISTAKE(data_race): no barrier behind the last round
}

void sum_used_without_barrier() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    sum_read_by_all<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sum_with_bare_tail(const float* in, float* out) {
    __shared__ float values[threads];
    const unsigned t = threadIdx.x;
    values[t] = in[t];
    __syncthreads();
    if (t < 64) values[t] += values[t + 64];
    __syncthreads();
    if (t >= 32) return;
    for (unsigned stride = 32; stride > 0; stride /= 2) {
        values[t] += values[t + stride];  // MISTAKE(data_race): lanes of a warp need __syncwarp
    }
    if (t == 0) *out = values[0];
}

void warp_tail_without_syncwarp() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(1);
    sum_with_bare_tail<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__device__ void add_last_warp(volatile float* values, unsigned t) {
    values[t] = values[t] + values[t + 32];  // OTHER: without __syncwarp behind it
    values[t] = values[t] + values[t + 16];  // MISTAKE(data_race): volatile orders nothing
    values[t] = values[t] + values[t + 8];   // OTHER: as little
    values[t] = values[t] + values[t + 4];   // OTHER: as little
    values[t] = values[t] + values[t + 2];   // OTHER: as little
    values[t] = values[t] + values[t + 1];   // OTHER: as little
}

__global__ void sum_with_volatile_tail(const float* in, float* out) {
    __shared__ float values[threads];
    const unsigned t = threadIdx.x;
    values[t] = in[t];
    __syncthreads();
    if (t < 64) values[t] += values[t + 64];
    __syncthreads();
    if (t < 32) add_last_warp(values, t);
    if (t == 0) *out = values[0];
}

void warp_tail_with_volatile() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(1);
    sum_with_volatile_tail<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void sum_with_late_syncwarp(const float* in, float* out) {
    __shared__ float values[32];
    const unsigned t = threadIdx.x;
    values[t] = in[t];
    __syncwarp();
    for (unsigned stride = 1; stride < 32; stride *= 2) {
        if (t + stride < 32) values[t] += values[t + stride];  // MISTAKE(data_race): lane t + 1 adds at the same time
        __syncwarp();
    }
    if (t == 0) *out = values[0];
}

void warp_sum_in_place() {
    DeviceBuffer<float> d_in(ones(32)), d_out(1);
    sum_with_late_syncwarp<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void scan_in_place(const int* in, int* out) {
    __shared__ int sums[threads];
    const unsigned t = threadIdx.x;
    sums[t] = in[t];
    __syncthreads();
    for (unsigned offset = 1; offset < threads; offset *= 2) {
        if (t >= offset) sums[t] += sums[t - offset];  // MISTAKE(data_race): one barrier a round, two are needed
        __syncthreads();
    }
    out[t] = sums[t];
}

void scan_with_one_barrier() {
    DeviceBuffer<int> d_in(std::vector<int>(threads, 1)), d_out(threads);
    scan_in_place<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void index_of_largest(const float* in, int* result) {
    __shared__ float value[32];
    __shared__ int index[32];
    const unsigned t = threadIdx.x;
    value[t] = in[t];                // OTHER: loaded here
    index[t] = static_cast<int>(t);  // OTHER: and here
    // __syncthreads(); one warp is enough
    for (unsigned stride = 16; stride > 0; stride /= 2) {
        if (t < stride && value[t + stride] > value[t]) {  // MISTAKE(data_race): of a round before, or of the load
            value[t] = value[t + stride];                  // OTHER: written here
            index[t] = index[t + stride];                  // MISTAKE(data_race): the same for the index
        }
        // __syncthreads();
    }
    if (t == 0) *result = index[0];
}

void largest_without_barriers() {
    std::vector<float> rising;
    for (int i = 0; i < 32; ++i) rising.push_back(static_cast<float>(i));
    DeviceBuffer<float> d_in(rising);
    DeviceBuffer<int> d_result(1);
    index_of_largest<<<1, 32>>>(d_in.data(), d_result.data());
    check_finished();
}

__global__ void sum_of_warp_sums(const float* in, float* out) {
    __shared__ float partial[threads / 32];
    float sum = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;  // OTHER: one lane of each warp
    if (threadIdx.x == 0) {
        float total = 0;
        for (int warp = 0; warp < threads / 32; ++warp) total += partial[warp];  // MISTAKE(data_race): no barrier
        *out = total;
    }
}

void warp_sums_without_barrier() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(1);
    sum_of_warp_sums<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__device__ float sum_of_block(float value) {
    __shared__ float partial[threads / 32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xFFFFFFFFu, value, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;  // MISTAKE(data_race): others may still read
    __syncthreads();
    float total = 0;
    for (int warp = 0; warp < threads / 32; ++warp) total += partial[warp];  // OTHER: read here
    return total;
}

__global__ void mean_and_variance(const float* in, float* out) {
    const float value = in[threadIdx.x];
    const float mean = sum_of_block(value) / threads;
    const float variance = sum_of_block((value - mean) * (value - mean)) / threads;
    if (threadIdx.x == 0) {
        out[0] = mean;
        out[1] = variance;
    }
}

void block_sum_called_twice() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(2);
    mean_and_variance<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void mirror_sum(const float* in, float* out) {
    namespace cg = cooperative_groups;
    __shared__ float values[64];
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const unsigned t = threadIdx.x;
    values[t] = in[t];  // OTHER: stored here
    tile.sync();
    out[t] = values[t] + values[63 - t];  // MISTAKE(data_race): tile.sync() orders 32 threads, the block has 64
}

void tile_sync_for_block_sync() {
    DeviceBuffer<float> d_in(ones(64)), d_out(64);
    mirror_sum<<<1, 64>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void dot_product(const float* a, const float* b, float* out) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    sum += a[threadIdx.x] * b[threadIdx.x];  // MISTAKE(data_race): all threads add to one variable
    __syncthreads();
    if (threadIdx.x == 0) *out = sum;
}

void dot_product_in_one_variable() {
    DeviceBuffer<float> d_a(ones(threads)), d_b(ones(threads)), d_out(1);
    dot_product<<<1, threads>>>(d_a.data(), d_b.data(), d_out.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList reduction_races() {
    return {__FILE__,
            {{"reduction_without_barrier", "reduction without a barrier in the loop", reduction_without_barrier},
             {"sum_used_without_barrier", "sum read by all threads at once", sum_used_without_barrier},
             {"warp_tail_without_syncwarp", "last warp of a reduction without __syncwarp", warp_tail_without_syncwarp},
             {"warp_tail_with_volatile", "last warp of a reduction with volatile only", warp_tail_with_volatile},
             {"warp_sum_in_place", "neighbors added in place by one warp", warp_sum_in_place},
             {"scan_with_one_barrier", "scan in place with one barrier a round", scan_with_one_barrier},
             {"largest_without_barriers", "search for the largest, barriers commented out", largest_without_barriers},
             {"warp_sums_without_barrier", "warp sums added without a barrier", warp_sums_without_barrier},
             {"block_sum_called_twice", "function called twice reuses its shared array", block_sum_called_twice},
             {"tile_sync_for_block_sync", "tile.sync() between warps", tile_sync_for_block_sync},
             {"dot_product_in_one_variable", "all threads add to one shared variable", dot_product_in_one_variable}}};
}

}  // namespace corpus
