// Kernels as programs have them: transposes, sums over a block, and copies of 1024 x 1024 floats.
#include "common/tests/ground_truth/cases.h"
#include "common/tests/ground_truth/launch_and_check.cuh"

namespace ground_truth {

constexpr unsigned kSize = 1024;  // rows and columns
constexpr unsigned kTile = 32;
constexpr unsigned kTileRows = 8;  // rows of a block: each thread moves kTile / kTileRows elements

// ---- transposes -------------------------------------------------------------------------------------------------

__global__ void transpose_naive(const float* in, float* out) {
    const unsigned col = blockIdx.x * kTile + threadIdx.x;
    for (unsigned r = threadIdx.y; r < kTile; r += kTileRows) {
        const unsigned row = blockIdx.y * kTile + r;
        out[col * kSize + row] = in[row * kSize + col];
    }
}

/// Layout::of(row, col): place of an element in a tile of `places`.
template <class Layout, unsigned places>
__device__ void transpose_through_tile(const float* in, float* out) {
    __shared__ float tile[places];
    for (unsigned r = threadIdx.y; r < kTile; r += kTileRows) {
        const unsigned row = blockIdx.y * kTile + r;
        const unsigned col = blockIdx.x * kTile + threadIdx.x;
        tile[Layout::of(r, threadIdx.x)] = in[row * kSize + col];
    }
    __syncthreads();
    for (unsigned r = threadIdx.y; r < kTile; r += kTileRows) {
        const unsigned row = blockIdx.x * kTile + r;
        const unsigned col = blockIdx.y * kTile + threadIdx.x;
        out[row * kSize + col] = tile[Layout::of(threadIdx.x, r)];
    }
}

struct Plain {
    static __device__ unsigned of(unsigned row, unsigned col) { return row * kTile + col; }
};

struct Padded {
    static __device__ unsigned of(unsigned row, unsigned col) { return row * (kTile + 1) + col; }
};

struct Swizzled {
    static __device__ unsigned of(unsigned row, unsigned col) { return row * kTile + (col ^ row); }
};

__global__ void transpose_tile(const float* in, float* out) { transpose_through_tile<Plain, kTile * kTile>(in, out); }

__global__ void transpose_padded_tile(const float* in, float* out) {
    transpose_through_tile<Padded, kTile*(kTile + 1)>(in, out);
}

__global__ void transpose_swizzled_tile(const float* in, float* out) {
    transpose_through_tile<Swizzled, kTile * kTile>(in, out);
}

// ---- sums over a block ------------------------------------------------------------------------------------------

/// Threads that add stay neighbors, the elements they add move apart: strides with bank conflicts.
__global__ void block_sum_strided_index(const float* in, float* out) {
    __shared__ float values[kThreads];
    values[threadIdx.x] = in[thread_in_grid()];
    __syncthreads();
#pragma unroll 1
    for (unsigned stride = 1; stride < kThreads; stride *= 2) {
        const unsigned index = 2 * stride * threadIdx.x;
        if (index < kThreads) values[index] += values[index + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = values[0];
}

/// The elements that are added stay neighbors too.
__global__ void block_sum_halves(const float* in, float* out) {
    __shared__ float values[kThreads];
    values[threadIdx.x] = in[thread_in_grid()];
    __syncthreads();
#pragma unroll 1
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = values[0];
}

/// Every second, fourth, ... thread adds: few lanes of all warps.
__global__ void block_sum_modulo(const float* in, float* out) {
    __shared__ float values[kThreads];
    values[threadIdx.x] = in[thread_in_grid()];
    __syncthreads();
    for (unsigned stride = 1; stride < kThreads; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0) values[threadIdx.x] += values[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = values[0];
}

// ---- copies -----------------------------------------------------------------------------------------------------

__global__ void copy_float4_through_shared_memory(const float4* in, float4* out) {
    __shared__ float4 values[kThreads];
    values[threadIdx.x] = in[thread_in_grid()];
    __syncthreads();
    out[thread_in_grid()] = values[threadIdx.x];
}

__global__ void copy_every_second_float(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = in[2 * i];
}

/// Each output is the sum of three inputs; the block keeps its inputs and one neighbor on either side in shared memory.
__global__ void stencil_with_halo(const float* in, float* out) {
    __shared__ float values[kThreads + 2];
    const unsigned i = thread_in_grid() + 1;
    const unsigned place = threadIdx.x + 1;
    values[place] = in[i];
    if (threadIdx.x == 0) values[0] = in[i - 1];
    if (threadIdx.x == kThreads - 1) values[kThreads + 1] = in[i + 1];
    __syncthreads();
    out[i - 1] = values[place - 1] + values[place] + values[place + 1];
}

/// Product of two square matrices of `kProductSize`, blocks of 16 x 16.
constexpr unsigned kProductSize = 128;
constexpr unsigned kProductTile = 16;

__global__ void matrix_product_tiled(const float* a, const float* b, float* product) {
    __shared__ float tile_a[kProductTile][kProductTile];
    __shared__ float tile_b[kProductTile][kProductTile];
    const unsigned row = blockIdx.y * kProductTile + threadIdx.y;
    const unsigned col = blockIdx.x * kProductTile + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (unsigned start = 0; start < kProductSize; start += kProductTile) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * kProductSize + start + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * kProductSize + col];
        __syncthreads();
#pragma unroll 1
        for (unsigned k = 0; k < kProductTile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        __syncthreads();
    }
    product[row * kProductSize + col] = sum;
}

// ---- what they have to compute --------------------------------------------------------------------------------------

namespace {

void check_transpose(void (*kernel)(const float*, float*)) {
    const std::vector<float> in = random_elements<float>(kSize * kSize);
    std::vector<float> expected(in.size());
    for (unsigned row = 0; row < kSize; ++row) {
        for (unsigned col = 0; col < kSize; ++col) expected[col * kSize + row] = in[row * kSize + col];
    }
    const DeviceBuffer<float> d_in(in);
    const Shape shape{dim3(kSize / kTile, kSize / kTile), dim3(kTile, kTileRows)};
    run_and_compare(kernel, shape, expected, d_in.data());
}

/// Small whole numbers, so that every order of adding gives the same sum.
std::vector<float> small_numbers(std::size_t count) {
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(warpwise::random_bits(4, i) % 16);
    return numbers;
}

void check_block_sum(void (*kernel)(const float*, float*)) {
    const std::vector<float> in = small_numbers(kSize * kSize);
    std::vector<float> expected(in.size() / kThreads, 0);
    for (std::size_t i = 0; i < in.size(); ++i) expected[i / kThreads] += in[i];
    const DeviceBuffer<float> d_in(in);
    run_and_compare(kernel, {kSize * kSize / kThreads, kThreads}, expected, d_in.data());
}

void check_float4_copy() {
    const std::vector<float4> in = random_elements<float4>(kSize * kSize / 4);
    const DeviceBuffer<float4> d_in(in);
    run_and_compare(copy_float4_through_shared_memory, {kSize * kSize / 4 / kThreads, kThreads}, in, d_in.data());
}

void check_every_second() {
    const std::vector<float> in = random_elements<float>(kSize * kSize);
    std::vector<float> expected(in.size() / 2);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = in[2 * i];
    const DeviceBuffer<float> d_in(in);
    run_and_compare(copy_every_second_float, {kSize * kSize / 2 / kThreads, kThreads}, expected, d_in.data());
}

void check_stencil() {
    const std::vector<float> in = small_numbers(kCount + 2);
    std::vector<float> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[i] = in[i] + in[i + 1] + in[i + 2];
    const DeviceBuffer<float> d_in(in);
    run_and_compare(stencil_with_halo, {}, expected, d_in.data());
}

void check_matrix_product() {
    const std::vector<float> a = small_numbers(kProductSize * kProductSize);
    const std::vector<float> b(a.rbegin(), a.rend());
    std::vector<float> expected(a.size(), 0);
    for (unsigned row = 0; row < kProductSize; ++row) {
        for (unsigned k = 0; k < kProductSize; ++k) {
            for (unsigned col = 0; col < kProductSize; ++col) {
                expected[row * kProductSize + col] += a[row * kProductSize + k] * b[k * kProductSize + col];
            }
        }
    }
    const DeviceBuffer<float> d_a(a), d_b(b);
    constexpr unsigned blocks = kProductSize / kProductTile;
    const Shape shape{dim3(blocks, blocks), dim3(kProductTile, kProductTile)};
    run_and_compare(matrix_product_tiled, shape, expected, d_a.data(), d_b.data());
}

}  // namespace

const std::vector<Case>& tile_cases() {
    static const std::vector<Case> cases = {
        {"transpose_naive", [] { check_transpose(transpose_naive); }},
        {"transpose_tile", [] { check_transpose(transpose_tile); }},
        {"transpose_padded_tile", [] { check_transpose(transpose_padded_tile); }},
        {"transpose_swizzled_tile", [] { check_transpose(transpose_swizzled_tile); }},
        {"block_sum_strided_index", [] { check_block_sum(block_sum_strided_index); }},
        {"block_sum_halves", [] { check_block_sum(block_sum_halves); }},
        {"block_sum_modulo", [] { check_block_sum(block_sum_modulo); }},
        {"copy_float4_through_shared_memory", [] { check_float4_copy(); }},
        {"copy_every_second_float", [] { check_every_second(); }},
        {"stencil_with_halo", [] { check_stencil(); }},
        {"matrix_product_tiled", [] { check_matrix_product(); }},
    };
    return cases;
}

}  // namespace ground_truth
