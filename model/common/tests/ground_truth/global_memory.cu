// Loads and stores of global memory: every width, strides, offsets, orders, shapes of blocks, and warps with idle
// lanes.
//
// A kernel copies one element per thread. Either its load or its store has the pattern that names the kernel, the other
// is contiguous.
#include "common/tests/ground_truth/cases.h"
#include "common/tests/ground_truth/launch_and_check.cuh"
#include "common/tests/ground_truth/places.cuh"

namespace ground_truth {

template <class From, class To, class Lanes = AllLanes, class T>
__device__ void copy(const T* in, T* out) {
    const unsigned i = thread_in_grid();
    if (Lanes::has(i)) out[To::of(i)] = in[From::of(i)];
}

// ---- widths -----------------------------------------------------------------------------------------------------

__global__ void copy_1_byte(const unsigned char* in, unsigned char* out) { copy<Contiguous, Contiguous>(in, out); }
__global__ void copy_2_bytes(const short* in, short* out) { copy<Contiguous, Contiguous>(in, out); }
__global__ void copy_4_bytes(const float* in, float* out) { copy<Contiguous, Contiguous>(in, out); }
__global__ void copy_8_bytes(const double* in, double* out) { copy<Contiguous, Contiguous>(in, out); }
__global__ void copy_8_bytes_float2(const float2* in, float2* out) { copy<Contiguous, Contiguous>(in, out); }
__global__ void copy_16_bytes(const float4* in, float4* out) { copy<Contiguous, Contiguous>(in, out); }

__global__ void copy_through_read_only_cache(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = __ldg(in + i);
}

// ---- strides ----------------------------------------------------------------------------------------------------

__global__ void load_stride_2(const float* in, float* out) { copy<Strided<2>, Contiguous>(in, out); }
__global__ void load_stride_3(const float* in, float* out) { copy<Strided<3>, Contiguous>(in, out); }
__global__ void load_stride_4(const float* in, float* out) { copy<Strided<4>, Contiguous>(in, out); }
__global__ void load_stride_8(const float* in, float* out) { copy<Strided<8>, Contiguous>(in, out); }
__global__ void load_stride_17(const float* in, float* out) { copy<Strided<17>, Contiguous>(in, out); }
__global__ void load_stride_32(const float* in, float* out) { copy<Strided<32>, Contiguous>(in, out); }

__global__ void store_stride_2(const float* in, float* out) { copy<Contiguous, Strided<2>>(in, out); }
__global__ void store_stride_3(const float* in, float* out) { copy<Contiguous, Strided<3>>(in, out); }
__global__ void store_stride_4(const float* in, float* out) { copy<Contiguous, Strided<4>>(in, out); }
__global__ void store_stride_8(const float* in, float* out) { copy<Contiguous, Strided<8>>(in, out); }
__global__ void store_stride_17(const float* in, float* out) { copy<Contiguous, Strided<17>>(in, out); }
__global__ void store_stride_32(const float* in, float* out) { copy<Contiguous, Strided<32>>(in, out); }

__global__ void bytes_stride_4(const unsigned char* in, unsigned char* out) { copy<Strided<4>, Strided<4>>(in, out); }
__global__ void doubles_stride_3(const double* in, double* out) { copy<Strided<3>, Strided<3>>(in, out); }
__global__ void float4_stride_3(const float4* in, float4* out) { copy<Strided<3>, Strided<3>>(in, out); }

// ---- offsets ----------------------------------------------------------------------------------------------------

__global__ void load_offset_1(const float* in, float* out) { copy<Shifted<1>, Contiguous>(in, out); }
__global__ void load_offset_4(const float* in, float* out) { copy<Shifted<4>, Contiguous>(in, out); }
__global__ void load_offset_8(const float* in, float* out) { copy<Shifted<8>, Contiguous>(in, out); }
__global__ void load_offset_31(const float* in, float* out) { copy<Shifted<31>, Contiguous>(in, out); }

__global__ void store_offset_1(const float* in, float* out) { copy<Contiguous, Shifted<1>>(in, out); }
__global__ void store_offset_4(const float* in, float* out) { copy<Contiguous, Shifted<4>>(in, out); }
__global__ void store_offset_8(const float* in, float* out) { copy<Contiguous, Shifted<8>>(in, out); }
__global__ void store_offset_31(const float* in, float* out) { copy<Contiguous, Shifted<31>>(in, out); }

__global__ void doubles_offset_1(const double* in, double* out) { copy<Shifted<1>, Shifted<3>>(in, out); }
__global__ void float4_offset_1(const float4* in, float4* out) { copy<Shifted<1>, Shifted<3>>(in, out); }

// ---- orders -----------------------------------------------------------------------------------------------------

__global__ void load_one_address(const float* in, float* out) { copy<Grouped<kCount>, Contiguous>(in, out); }
__global__ void load_one_address_per_warp(const float* in, float* out) { copy<Grouped<32>, Contiguous>(in, out); }
__global__ void load_reversed(const float* in, float* out) { copy<Reversed, Contiguous>(in, out); }
__global__ void store_reversed(const float* in, float* out) { copy<Contiguous, Reversed>(in, out); }

/// All lanes of a warp store the same value at the same address.
__global__ void store_one_address_per_warp(const float* in, float* out) {
    const unsigned warp = thread_in_grid() / 32;
    out[warp] = in[warp];
}

template <class T>
__device__ void gather(const unsigned* index, const T* in, T* out) {
    const unsigned i = thread_in_grid();
    out[i] = in[index[i]];
}

__global__ void gather_random_1_byte(const unsigned* index, const unsigned char* in, unsigned char* out) {
    gather(index, in, out);
}
__global__ void gather_random_4_bytes(const unsigned* index, const float* in, float* out) { gather(index, in, out); }
__global__ void gather_random_8_bytes(const unsigned* index, const double* in, double* out) { gather(index, in, out); }
__global__ void gather_random_16_bytes(const unsigned* index, const float4* in, float4* out) { gather(index, in, out); }

/// Eight neighboring lanes read one sector; where it is comes from a list.
__global__ void gather_random_sectors(const unsigned* index, const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = in[8 * index[i / 8] + i % 8];
}

__global__ void scatter_random_4_bytes(const unsigned* index, const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[index[i]] = in[i];
}

__global__ void scatter_random_16_bytes(const unsigned* index, const float4* in, float4* out) {
    const unsigned i = thread_in_grid();
    out[index[i]] = in[i];
}

// ---- blocks with two and three dimensions -------------------------------------------------------------------------

/// Rows of a matrix are `pitch` elements apart; blocks with a third dimension put their layers below each other.
__device__ void copy_matrix(unsigned rows, unsigned cols, unsigned pitch, const float* in, float* out) {
    const unsigned row = (blockIdx.y * blockDim.z + threadIdx.z) * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols) out[row * pitch + col] = in[row * pitch + col];
}

__global__ void matrix_block_16x16(unsigned rows, unsigned cols, unsigned pitch, const float* in, float* out) {
    copy_matrix(rows, cols, pitch, in, out);
}
__global__ void matrix_block_48x5(unsigned rows, unsigned cols, unsigned pitch, const float* in, float* out) {
    copy_matrix(rows, cols, pitch, in, out);
}
__global__ void matrix_block_33x7(unsigned rows, unsigned cols, unsigned pitch, const float* in, float* out) {
    copy_matrix(rows, cols, pitch, in, out);
}
__global__ void matrix_block_8x8x4(unsigned rows, unsigned cols, unsigned pitch, const float* in, float* out) {
    copy_matrix(rows, cols, pitch, in, out);
}
__global__ void matrix_block_1x64(unsigned rows, unsigned cols, unsigned pitch, const float* in, float* out) {
    copy_matrix(rows, cols, pitch, in, out);
}

// ---- warps with idle lanes ----------------------------------------------------------------------------------------

constexpr unsigned kRagged = 1000;

__global__ void ragged_last_warp(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    if (i < kRagged) out[i] = in[i];
}
__global__ void blocks_of_20(const float* in, float* out) { copy<Contiguous, Contiguous>(in, out); }
__global__ void blocks_of_100_float4(const float4* in, float4* out) { copy<Contiguous, Contiguous>(in, out); }
__global__ void half_warps(const float* in, float* out) { copy<Contiguous, Contiguous, FirstHalf>(in, out); }
__global__ void half_warps_float4(const float4* in, float4* out) { copy<Contiguous, Contiguous, FirstHalf>(in, out); }
__global__ void even_lanes(const float* in, float* out) { copy<Contiguous, Contiguous, EvenLanes>(in, out); }
__global__ void even_lanes_doubles(const double* in, double* out) { copy<Contiguous, Contiguous, EvenLanes>(in, out); }
__global__ void one_lane(const float* in, float* out) { copy<Contiguous, Contiguous, OneLane>(in, out); }

// ---- what they have to compute --------------------------------------------------------------------------------------

namespace {

template <class From, class To, class Lanes = AllLanes, class T>
void check_copy(void (*kernel)(const T*, T*), Shape shape = {}, unsigned threads_that_copy = kCount) {
    const unsigned threads = shape.grid.x * shape.block.x;
    const std::vector<T> in = random_elements<T>(From::of(threads - 1) + From::of(0) + 1);
    std::vector<T> expected = unwritten<T>(To::of(threads - 1) + To::of(0) + 1);
    for (unsigned i = 0; i < threads && i < threads_that_copy; ++i) {
        if (Lanes::has(i)) expected[To::of(i)] = in[From::of(i)];
    }
    const DeviceBuffer<T> d_in(in);
    run_and_compare(kernel, shape, expected, d_in.data());
}

void check_store_one_address() {
    const std::vector<float> in = random_elements<float>(kCount / kWarpSize);
    const DeviceBuffer<float> d_in(in);
    run_and_compare(store_one_address_per_warp, {}, in, d_in.data());
}

template <class T>
void check_gather(void (*kernel)(const unsigned*, const T*, T*)) {
    const std::vector<T> in = random_elements<T>(kCount);
    const std::vector<unsigned> index = random_order(kCount);
    std::vector<T> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[i] = in[index[i]];
    const DeviceBuffer<T> d_in(in);
    const DeviceBuffer<unsigned> d_index(index);
    run_and_compare(kernel, {}, expected, d_index.data(), d_in.data());
}

void check_gather_sectors() {
    const std::vector<float> in = random_elements<float>(kCount);
    const std::vector<unsigned> index = random_order(kCount / 8);
    std::vector<float> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[i] = in[8 * index[i / 8] + i % 8];
    const DeviceBuffer<float> d_in(in);
    const DeviceBuffer<unsigned> d_index(index);
    run_and_compare(gather_random_sectors, {}, expected, d_index.data(), d_in.data());
}

template <class T>
void check_scatter(void (*kernel)(const unsigned*, const T*, T*)) {
    const std::vector<T> in = random_elements<T>(kCount);
    const std::vector<unsigned> index = random_order(kCount);
    std::vector<T> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[index[i]] = in[i];
    const DeviceBuffer<T> d_in(in);
    const DeviceBuffer<unsigned> d_index(index);
    run_and_compare(kernel, {}, expected, d_index.data(), d_in.data());
}

void check_matrix(void (*kernel)(unsigned, unsigned, unsigned, const float*, float*), dim3 block) {
    constexpr unsigned rows = 100, cols = 200, pitch = 256;
    const std::vector<float> in = random_elements<float>(rows * pitch);
    std::vector<float> expected = unwritten<float>(rows * pitch);
    for (unsigned row = 0; row < rows; ++row) {
        for (unsigned col = 0; col < cols; ++col) expected[row * pitch + col] = in[row * pitch + col];
    }
    const unsigned block_rows = block.y * block.z;
    const dim3 grid((cols + block.x - 1) / block.x, (rows + block_rows - 1) / block_rows);
    const DeviceBuffer<float> d_in(in);
    run_and_compare(kernel, {grid, block}, expected, rows, cols, pitch, d_in.data());
}

}  // namespace

const std::vector<Case>& global_memory_cases() {
    static const std::vector<Case> cases = {
        {"copy_1_byte", [] { check_copy<Contiguous, Contiguous>(copy_1_byte); }},
        {"copy_2_bytes", [] { check_copy<Contiguous, Contiguous>(copy_2_bytes); }},
        {"copy_4_bytes", [] { check_copy<Contiguous, Contiguous>(copy_4_bytes); }},
        {"copy_8_bytes", [] { check_copy<Contiguous, Contiguous>(copy_8_bytes); }},
        {"copy_8_bytes_float2", [] { check_copy<Contiguous, Contiguous>(copy_8_bytes_float2); }},
        {"copy_16_bytes", [] { check_copy<Contiguous, Contiguous>(copy_16_bytes); }},
        {"copy_through_read_only_cache", [] { check_copy<Contiguous, Contiguous>(copy_through_read_only_cache); }},
        {"load_stride_2", [] { check_copy<Strided<2>, Contiguous>(load_stride_2); }},
        {"load_stride_3", [] { check_copy<Strided<3>, Contiguous>(load_stride_3); }},
        {"load_stride_4", [] { check_copy<Strided<4>, Contiguous>(load_stride_4); }},
        {"load_stride_8", [] { check_copy<Strided<8>, Contiguous>(load_stride_8); }},
        {"load_stride_17", [] { check_copy<Strided<17>, Contiguous>(load_stride_17); }},
        {"load_stride_32", [] { check_copy<Strided<32>, Contiguous>(load_stride_32); }},
        {"store_stride_2", [] { check_copy<Contiguous, Strided<2>>(store_stride_2); }},
        {"store_stride_3", [] { check_copy<Contiguous, Strided<3>>(store_stride_3); }},
        {"store_stride_4", [] { check_copy<Contiguous, Strided<4>>(store_stride_4); }},
        {"store_stride_8", [] { check_copy<Contiguous, Strided<8>>(store_stride_8); }},
        {"store_stride_17", [] { check_copy<Contiguous, Strided<17>>(store_stride_17); }},
        {"store_stride_32", [] { check_copy<Contiguous, Strided<32>>(store_stride_32); }},
        {"bytes_stride_4", [] { check_copy<Strided<4>, Strided<4>>(bytes_stride_4); }},
        {"doubles_stride_3", [] { check_copy<Strided<3>, Strided<3>>(doubles_stride_3); }},
        {"float4_stride_3", [] { check_copy<Strided<3>, Strided<3>>(float4_stride_3); }},
        {"load_offset_1", [] { check_copy<Shifted<1>, Contiguous>(load_offset_1); }},
        {"load_offset_4", [] { check_copy<Shifted<4>, Contiguous>(load_offset_4); }},
        {"load_offset_8", [] { check_copy<Shifted<8>, Contiguous>(load_offset_8); }},
        {"load_offset_31", [] { check_copy<Shifted<31>, Contiguous>(load_offset_31); }},
        {"store_offset_1", [] { check_copy<Contiguous, Shifted<1>>(store_offset_1); }},
        {"store_offset_4", [] { check_copy<Contiguous, Shifted<4>>(store_offset_4); }},
        {"store_offset_8", [] { check_copy<Contiguous, Shifted<8>>(store_offset_8); }},
        {"store_offset_31", [] { check_copy<Contiguous, Shifted<31>>(store_offset_31); }},
        {"doubles_offset_1", [] { check_copy<Shifted<1>, Shifted<3>>(doubles_offset_1); }},
        {"float4_offset_1", [] { check_copy<Shifted<1>, Shifted<3>>(float4_offset_1); }},
        {"load_one_address", [] { check_copy<Grouped<kCount>, Contiguous>(load_one_address); }},
        {"load_one_address_per_warp", [] { check_copy<Grouped<32>, Contiguous>(load_one_address_per_warp); }},
        {"load_reversed", [] { check_copy<Reversed, Contiguous>(load_reversed); }},
        {"store_reversed", [] { check_copy<Contiguous, Reversed>(store_reversed); }},
        {"store_one_address_per_warp", [] { check_store_one_address(); }},
        {"gather_random_1_byte", [] { check_gather(gather_random_1_byte); }},
        {"gather_random_4_bytes", [] { check_gather(gather_random_4_bytes); }},
        {"gather_random_8_bytes", [] { check_gather(gather_random_8_bytes); }},
        {"gather_random_16_bytes", [] { check_gather(gather_random_16_bytes); }},
        {"gather_random_sectors", [] { check_gather_sectors(); }},
        {"scatter_random_4_bytes", [] { check_scatter(scatter_random_4_bytes); }},
        {"scatter_random_16_bytes", [] { check_scatter(scatter_random_16_bytes); }},
        {"matrix_block_16x16", [] { check_matrix(matrix_block_16x16, dim3(16, 16)); }},
        {"matrix_block_48x5", [] { check_matrix(matrix_block_48x5, dim3(48, 5)); }},
        {"matrix_block_33x7", [] { check_matrix(matrix_block_33x7, dim3(33, 7)); }},
        {"matrix_block_8x8x4", [] { check_matrix(matrix_block_8x8x4, dim3(8, 8, 4)); }},
        {"matrix_block_1x64", [] { check_matrix(matrix_block_1x64, dim3(1, 64)); }},
        {"ragged_last_warp",
         [] {
             check_copy<Contiguous, Contiguous>(ragged_last_warp, {11, 96}, kRagged);
         }},
        {"blocks_of_20",
         [] {
             check_copy<Contiguous, Contiguous>(blocks_of_20, {kBlocks, 20});
         }},
        {"blocks_of_100_float4",
         [] {
             check_copy<Contiguous, Contiguous>(blocks_of_100_float4, {kBlocks, 100});
         }},
        {"half_warps", [] { check_copy<Contiguous, Contiguous, FirstHalf>(half_warps); }},
        {"half_warps_float4", [] { check_copy<Contiguous, Contiguous, FirstHalf>(half_warps_float4); }},
        {"even_lanes", [] { check_copy<Contiguous, Contiguous, EvenLanes>(even_lanes); }},
        {"even_lanes_doubles", [] { check_copy<Contiguous, Contiguous, EvenLanes>(even_lanes_doubles); }},
        {"one_lane", [] { check_copy<Contiguous, Contiguous, OneLane>(one_lane); }},
    };
    return cases;
}

}  // namespace ground_truth
