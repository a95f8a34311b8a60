// Sums, extremes, and counts: over blocks, warps, rows, and columns, with trees, shuffles, and atomics.
#include <algorithm>

#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace reductions_kernels {

/// The exact sum of `count` elements of the input from `first` on, `step` apart.
double sum_of(std::size_t first, std::size_t count, std::size_t step = 1) {
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += element<double>(first + k * step);
    return sum;
}

// ---- one sum per block
// ------------------------------------------------------------------------------------------------

/// Neighbors are added first: lanes of a warp diverge.
__global__ void tree_of_neighbors(const float* in, float* out) {
    __shared__ float sums[256];
    const unsigned thread = threadIdx.x;
    sums[thread] = in[thread_in_grid()];
    __syncthreads();
    for (unsigned distance = 1; distance < 256; distance *= 2) {
        if (thread % (2 * distance) == 0) sums[thread] += sums[thread + distance];
        __syncthreads();
    }
    if (thread == 0) out[blockIdx.x] = sums[0];
}

/// The threads that add are consecutive, but what they add is `2 * distance` apart: bank conflicts.
__global__ void tree_with_conflicts(const float* in, float* out) {
    __shared__ float sums[256];
    const unsigned thread = threadIdx.x;
    sums[thread] = in[thread_in_grid()];
    __syncthreads();
    for (unsigned distance = 1; distance < 256; distance *= 2) {
        const unsigned place = 2 * distance * thread;
        if (place < 256) sums[place] += sums[place + distance];
        __syncthreads();
    }
    if (thread == 0) out[blockIdx.x] = sums[0];
}

/// The upper half is added to the lower half. Every thread first sums `each` elements.
template <unsigned threads, unsigned each>
__global__ void tree_of_halves(const float* in, float* out) {
    __shared__ float sums[threads];
    const unsigned thread = threadIdx.x;
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < each; ++k) sum += in[(blockIdx.x * each + k) * threads + thread];
    sums[thread] = sum;
    __syncthreads();
#pragma unroll
    for (unsigned distance = threads / 2; distance > 0; distance /= 2) {
        if (thread < distance) sums[thread] += sums[thread + distance];
        __syncthreads();
    }
    if (thread == 0) out[blockIdx.x] = sums[0];
}

__device__ float warp_sum(float value) {
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xFFFFFFFFu, value, distance);
    return value;
}

template <unsigned threads, unsigned each>
__global__ void shuffles(const float* in, float* out) {
    __shared__ float sums[threads / 32];
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < each; ++k) sum += in[(blockIdx.x * each + k) * threads + threadIdx.x];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < threads / 32 ? sums[threadIdx.x] : 0);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}

Prepared block_sums(void (*kernel)(const float*, float*), unsigned n, unsigned threads, unsigned each) {
    const unsigned per_block = threads * each;
    const Array<float> in = input<float>(n);
    const Array<float> out = output<float>(n / per_block);
    const auto expected = [per_block](std::size_t i) { return sum_of(i * per_block, per_block); };
    return prepared(kernel, {n / per_block, threads}, out, expected, 0, in, out);
}

__global__ void tree_of_doubles(const double* in, double* out) {
    __shared__ double sums[256];
    const unsigned thread = threadIdx.x;
    const double* const first = in + static_cast<std::size_t>(blockIdx.x) * 1024 + thread;
    sums[thread] = (first[0] + first[256]) + (first[512] + first[768]);
    __syncthreads();
    for (unsigned distance = 128; distance > 0; distance /= 2) {
        if (thread < distance) sums[thread] += sums[thread + distance];
        __syncthreads();
    }
    if (thread == 0) out[blockIdx.x] = sums[0];
}

Prepared double_sums(unsigned n) {
    const Array<double> in = input<double>(n);
    const Array<double> out = output<double>(n / 1024);
    return prepared(
        tree_of_doubles, {n / 1024, 256}, out, [](std::size_t i) { return sum_of(i * 1024, 1024); }, 0, in, out);
}

// ---- one sum of everything
// --------------------------------------------------------------------------------------------

__global__ void atomic_of_every_thread(const float* in, float* out) { atomicAdd(out, in[thread_in_grid()]); }

__global__ void atomic_of_every_warp(const float* in, float* out) {
    const float sum = warp_sum(in[thread_in_grid()]);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

/// A grid whose threads go over the whole input, and one atomic operation per block.
__global__ void atomic_of_every_block(const float4* in, unsigned n, float* out) {
    __shared__ float sums[16];
    float sum = 0;
    for (unsigned i = thread_in_grid(); i < n; i += gridDim.x * blockDim.x) {
        const float4 value = in[i];
        sum += (value.x + value.y) + (value.z + value.w);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}

Prepared total_sum(void (*kernel)(const float*, float*), unsigned n) {
    const Array<float> in = input<float>(n);
    const Array<float> out = output<float>(1, 0);
    return prepared(
        kernel, {n / 256, 256}, out, [n](std::size_t) { return sum_of(0, n); }, 0, in, out);
}

Prepared grid_sum(unsigned blocks, unsigned threads, unsigned n) {
    const Array<float> in = input<float>(4 * std::size_t{n});
    const Array<float> out = output<float>(1, 0);
    const auto expected = [n](std::size_t) { return sum_of(0, 4 * std::size_t{n}); };
    return prepared(atomic_of_every_block, {blocks, threads}, out, expected, 0, in.as<float4>(), n, out);
}

__global__ void maximum_with_atomics(const int* in, int* out) {
    const int value = __reduce_max_sync(0xFFFFFFFFu, in[thread_in_grid()]);
    if (threadIdx.x % 32 == 0) atomicMax(out, value);
}

Prepared maximum(unsigned n) {
    const Array<int> in = input<int>(n);
    const Array<int> out = output<int>(1, 0);
    const auto expected = [n](std::size_t) {
        int largest = 0;
        for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, element<int>(i));
        return largest;
    };
    return prepared(maximum_with_atomics, {n / 256, 256}, out, expected, 0, in, out);
}

__global__ void count_with_ballots(const int* in, unsigned each, unsigned* out) {
    unsigned count = 0;
    for (unsigned k = 0; k < each; ++k) {
        const int value = in[(blockIdx.x * each + k) * blockDim.x + threadIdx.x];
        count += static_cast<unsigned>(__popc(__ballot_sync(0xFFFFFFFFu, value % 3 == 0)));
    }
    if (threadIdx.x % 32 == 0) atomicAdd(out, count);
}

Prepared counted(unsigned n, unsigned each) {
    const Array<int> in = input<int>(n);
    const Array<unsigned> out = output<unsigned>(1, 0);
    const auto expected = [n](std::size_t) {
        unsigned count = 0;
        for (std::size_t i = 0; i < n; ++i) count += element<int>(i) % 3 == 0;
        return count;
    };
    return prepared(count_with_ballots, {n / 256 / each, 256}, out, expected, 0, in, each, out);
}

// ---- rows and columns
// ---------------------------------------------------------------------------------------------------

__global__ void rows_by_threads(const float* in, unsigned cols, float* out) {
    const unsigned row = thread_in_grid();
    float sum = 0;
    for (unsigned col = 0; col < cols; ++col) sum += in[row * cols + col];
    out[row] = sum;
}

__global__ void rows_by_warps(const float* in, unsigned cols, float* out) {
    const unsigned row = thread_in_grid() / 32;
    float sum = 0;
    for (unsigned col = threadIdx.x % 32; col < cols; col += 32) sum += in[row * cols + col];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) out[row] = sum;
}

__global__ void columns_by_threads(const float* in, unsigned rows, float* out) {
    const unsigned cols = gridDim.x * blockDim.x;
    const unsigned col = thread_in_grid();
    float sum = 0;
#pragma unroll 4
    for (unsigned row = 0; row < rows; ++row) sum += in[row * cols + col];
    out[col] = sum;
}

/// Each block sums a strip of rows and adds its sums to those of the other strips.
__global__ void columns_by_strips(const float* in, unsigned rows_per_block, float* out) {
    const unsigned cols = gridDim.x * blockDim.x;
    const unsigned col = thread_in_grid();
    float sum = 0;
#pragma unroll 4
    for (unsigned k = 0; k < rows_per_block; ++k) sum += in[(blockIdx.y * rows_per_block + k) * cols + col];
    atomicAdd(out + col, sum);
}

Prepared rows_by_thread(unsigned rows, unsigned cols) {
    const Array<float> in = input<float>(std::size_t{rows} * cols);
    const Array<float> out = output<float>(rows);
    const auto expected = [cols](std::size_t row) { return sum_of(row * cols, cols); };
    return prepared(rows_by_threads, {rows / 128, 128}, out, expected, 0, in, cols, out);
}

Prepared rows_by_warp(unsigned rows, unsigned cols) {
    const Array<float> in = input<float>(std::size_t{rows} * cols);
    const Array<float> out = output<float>(rows);
    const auto expected = [cols](std::size_t row) { return sum_of(row * cols, cols); };
    return prepared(rows_by_warps, {rows / 4, 128}, out, expected, 0, in, cols, out);
}

Prepared columns_by_thread(unsigned rows, unsigned cols) {
    const Array<float> in = input<float>(std::size_t{rows} * cols);
    const Array<float> out = output<float>(cols);
    const auto expected = [rows, cols](std::size_t col) { return sum_of(col, rows, cols); };
    return prepared(columns_by_threads, {cols / 128, 128}, out, expected, 0, in, rows, out);
}

Prepared columns_by_strip(unsigned rows, unsigned cols, unsigned strips) {
    const Array<float> in = input<float>(std::size_t{rows} * cols);
    const Array<float> out = output<float>(cols, 0);
    const auto expected = [rows, cols](std::size_t col) { return sum_of(col, rows, cols); };
    return prepared(columns_by_strips, {dim3(cols / 128, strips), 128}, out, expected, 0, in, rows / strips, out);
}

/// The squared distance of two vectors per warp.
__global__ void distances_by_warps(const float* a, const float* b, unsigned length, float* out) {
    const unsigned first = thread_in_grid() / 32 * length;
    float sum = 0;
    for (unsigned k = threadIdx.x % 32; k < length; k += 32) {
        const float difference = a[first + k] - b[first + k];
        sum += difference * difference;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) out[thread_in_grid() / 32] = sum;
}

Prepared distances(unsigned vectors, unsigned length) {
    const std::size_t n = std::size_t{vectors} * length;
    const Array<float> a = input<float>(n);
    const Array<float> b = input_of<float>(n, [](std::size_t i) { return element<float>(i + 3); });
    const Array<float> out = output<float>(vectors);
    const auto expected = [length](std::size_t i) {
        double sum = 0;
        for (std::size_t k = i * length; k < (i + 1) * length; ++k) {
            sum += std::pow(element<double>(k) - element<double>(k + 3), 2);
        }
        return sum;
    };
    return prepared(distances_by_warps, {vectors / 8, 256}, out, expected, 1e-6, a, b, length, out);
}

std::vector<Case> reductions() {
    return {
        {"reduce_tree_of_neighbors", [] { return block_sums(tree_of_neighbors, kMi, 256, 1); }},
        {"reduce_tree_with_conflicts", [] { return block_sums(tree_with_conflicts, kMi, 256, 1); }},
        {"reduce_tree_of_halves_64", [] { return block_sums(tree_of_halves<64, 1>, kMi, 64, 1); }},
        {"reduce_tree_of_halves_256", [] { return block_sums(tree_of_halves<256, 1>, kMi, 256, 1); }},
        {"reduce_tree_of_halves_1024", [] { return block_sums(tree_of_halves<1024, 1>, kMi, 1024, 1); }},
        {"reduce_tree_of_halves_256_by_8", [] { return block_sums(tree_of_halves<256, 8>, 8 * kMi, 256, 8); }},
        {"reduce_shuffles_128", [] { return block_sums(shuffles<128, 1>, 2 * kMi, 128, 1); }},
        {"reduce_shuffles_1024", [] { return block_sums(shuffles<1024, 1>, 2 * kMi, 1024, 1); }},
        {"reduce_shuffles_256_by_8", [] { return block_sums(shuffles<256, 8>, 8 * kMi, 256, 8); }},
        {"reduce_shuffles_256_by_8_small", [] { return block_sums(shuffles<256, 8>, kMi / 4, 256, 8); }},
        {"reduce_doubles", [] { return double_sums(4 * kMi); }},
        {"reduce_atomic_of_every_thread", [] { return total_sum(atomic_of_every_thread, kMi / 4); }},
        {"reduce_atomic_of_every_warp", [] { return total_sum(atomic_of_every_warp, 2 * kMi); }},
        {"reduce_atomic_of_264_blocks", [] { return grid_sum(264, 512, 4 * kMi); }},
        {"reduce_atomic_of_66_blocks", [] { return grid_sum(66, 256, kMi); }},
        {"reduce_atomic_of_1_block", [] { return grid_sum(1, 512, 64 * kKi); }},
        {"reduce_maximum", [] { return maximum(4 * kMi); }},
        {"reduce_count_with_ballots", [] { return counted(8 * kMi, 8); }},
        {"reduce_rows_by_threads_64", [] { return rows_by_thread(64 * kKi, 64); }},
        {"reduce_rows_by_threads_1024", [] { return rows_by_thread(4 * kKi, 1024); }},
        {"reduce_rows_by_warps_64", [] { return rows_by_warp(64 * kKi, 64); }},
        {"reduce_rows_by_warps_1024", [] { return rows_by_warp(8 * kKi, 1024); }},
        {"reduce_columns_by_threads", [] { return columns_by_thread(1024, 4 * kKi); }},
        {"reduce_columns_by_strips", [] { return columns_by_strip(2048, 4 * kKi, 32); }},
        {"reduce_distances_by_warps", [] { return distances(8 * kKi, 512); }},
    };
}

}  // namespace reductions_kernels

std::vector<Family> reduction_families() { return {{"reductions", reductions_kernels::reductions()}}; }

}  // namespace model_kernels
