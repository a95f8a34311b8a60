// Reads of shared memory that nobody in the block wrote.
#include <cmath>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 64;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

__global__ void block_sum(const float* in, float* sums, int count) {
    __shared__ float values[threads];
    const int t = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * threads + t;
    if (i < count) values[t] = in[i];  // and nothing for the others
    __syncthreads();
    for (int stride = threads / 2; stride > 0; stride /= 2) {
        if (t < stride) values[t] += values[t + stride];  // MISTAKE(uninitialized_read): the last block has 36 values
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = values[0];
}

void reduction_tail_without_zero() {
    DeviceBuffer<float> d_in(ones(100)), d_sums(2);
    block_sum<<<2, threads>>>(d_in.data(), d_sums.data(), 100);
    check_finished();
}

__global__ void nearest(const float* points, int* nearest_index, int count) {
    __shared__ float block[threads];
    const int t = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * threads + t;
    const float mine = i < count ? points[i] : 0;
    float best = 1e30f;
    int best_index = -1;
    for (int start = 0; start < count; start += threads) {
        __syncthreads();
        if (start + t < count) block[t] = points[start + t];
        __syncthreads();
        for (int k = 0; k < threads; ++k) {
            const float distance = std::fabs(mine - block[k]);  // MISTAKE(uninitialized_read): beyond the last point
            if (distance >= best || start + k == i) continue;
            best = distance;
            best_index = start + k;
        }
    }
    if (i < count) nearest_index[i] = best_index;
}

void nearest_neighbor_tail() {
    DeviceBuffer<float> d_points(ones(40));
    DeviceBuffer<int> d_nearest(40);
    nearest<<<1, threads>>>(d_points.data(), d_nearest.data(), 40);
    check_finished();
}

__global__ void laplace(const float* in, float* out) {
    __shared__ float row[512 + 2];
    const unsigned t = threadIdx.x, n = blockDim.x;
    row[t + 1] = in[t];
    if (t == 0) row[0] = in[n - 1];
    if (t == 32) row[n + 1] = in[0];  // a block of 32 has no thread 32
    __syncthreads();
    out[t] = row[t + 2] - 2 * row[t + 1] + row[t];  // MISTAKE(uninitialized_read): the right edge
}

void halo_loaded_by_thread_32() {
    DeviceBuffer<float> d_in(ones(32)), d_out(32);
    laplace<<<1, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void average(const float* in, float* out) {
    __shared__ float row[threads + 2];
    row[threadIdx.x + 1] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = (row[threadIdx.x] + row[threadIdx.x + 2]) / 2;  // MISTAKE(uninitialized_read): no halo loaded
}

void halo_never_loaded() {
    DeviceBuffer<float> d_in(ones(threads)), d_out(threads);
    average<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void shared_histogram(const int* values, int* result) {
    __shared__ int bins[8];
    atomicAdd(&bins[values[threadIdx.x] % 8], 1);  // MISTAKE(uninitialized_read): the bins were never cleared
    __syncthreads();
    if (threadIdx.x == 3) result[0] = bins[3];
}

void shared_bins_never_cleared() {
    DeviceBuffer<int> d_values(std::vector<int>(threads, 3)), d_result(1);
    shared_histogram<<<1, threads>>>(d_values.data(), d_result.data());
    check_finished();
}

__global__ void sum_of_warps(const float* in, float* out) {
    __shared__ float partial[32];
    float sum = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = partial[threadIdx.x];  // MISTAKE(uninitialized_read): 8 warps wrote, 32 lanes read
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, step);
    if (threadIdx.x == 0) *out = sum;
}

void partial_sums_of_missing_warps() {
    DeviceBuffer<float> d_in(ones(256)), d_out(1);
    sum_of_warps<<<1, 256>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void tiled_rows(const float* matrix, float* out, int rows) {
    __shared__ float tile[8][8];
    const int col = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
    if (row < rows) tile[row][col] = matrix[row * 8 + col];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += tile[k][col];  // MISTAKE(uninitialized_read): rows 6 and 7 were not loaded
    if (row == 0) out[col] = sum;
}

void tile_rows_never_loaded() {
    DeviceBuffer<float> d_matrix(ones(48)), d_out(8);
    tiled_rows<<<1, dim3(8, 8)>>>(d_matrix.data(), d_out.data(), 6);
    check_finished();
}

__global__ void count_late(int* counts) {
    extern __shared__ int per_warp[];
    if (blockIdx.x == 0 && threadIdx.x % 32 == 0) per_warp[threadIdx.x / 32] = 0;  // block 1 counts from what was there
    __syncthreads();
    atomicAdd(&per_warp[threadIdx.x / 32], 1);  // MISTAKE(uninitialized_read): never cleared in block 1
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = 1;
}

void only_first_block_clears() {
    DeviceBuffer<int> d_counts(2);
    count_late<<<2, threads, 2 * sizeof(int)>>>(d_counts.data());
    check_finished();
}

__global__ void differences(const float* in, float* out, int count) {
    __shared__ float tile[threads];
    const int t = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * threads + t;
    if (i >= count) return;  // allowed before a barrier, but these threads load nothing
    tile[t] = in[i];
    __syncthreads();
    out[i] = t + 1 < threads ? tile[t + 1] - tile[t] : 0;  // MISTAKE(uninitialized_read): behind the last element
}

void neighbor_of_a_thread_that_has_exited() {
    DeviceBuffer<float> d_in(ones(100)), d_out(100);
    differences<<<2, threads>>>(d_in.data(), d_out.data(), 100);
    check_finished();
}

__global__ void scale_rows(const float* in, float* out) {
    __shared__ float factor;
    if (threadIdx.x == 0 && blockIdx.x != 777) factor = in[blockIdx.x];
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = factor;  // MISTAKE(uninitialized_read): in block 777 of 1000
}

void one_block_of_a_thousand() {
    DeviceBuffer<float> d_in(ones(1000)), d_out(32 * 1000);
    scale_rows<<<1000, 32>>>(d_in.data(), d_out.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList uninitialized_shared() {
    return {
        __FILE__,
        {{"reduction_tail_without_zero", "last block's missing values are added", reduction_tail_without_zero},
         {"nearest_neighbor_tail", "points compared with those nobody loaded", nearest_neighbor_tail},
         {"halo_loaded_by_thread_32", "thread 32 loads the edge, the block has 32 threads", halo_loaded_by_thread_32},
         {"halo_never_loaded", "halo of a shared tile never loaded", halo_never_loaded},
         {"shared_bins_never_cleared", "shared histogram never cleared", shared_bins_never_cleared},
         {"partial_sums_of_missing_warps", "32 lanes read the sums of 8 warps", partial_sums_of_missing_warps},
         {"tile_rows_never_loaded", "rows of a tile behind the matrix", tile_rows_never_loaded},
         {"neighbor_of_a_thread_that_has_exited", "threads past the end exit before they load",
          neighbor_of_a_thread_that_has_exited},
         {"one_block_of_a_thousand", "a shared number is not set in one block of a large grid",
          one_block_of_a_thousand},
         {"only_first_block_clears", "shared counters cleared by block 0 only", only_first_block_clears}}};
}

}  // namespace corpus
