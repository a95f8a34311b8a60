// Tensor cores: lanes that are missing, rows that lie badly, fragments that nobody filled, and what orders nothing.
#include <cuda_fp16.h>
#include <mma.h>

#include "common/helpers/tensor_core.cuh"
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;
using namespace nvcuda;

using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using FragmentB = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

/// The first threads of one block get `count` halves and as many places for results.
template <class Kernel>
void run(Kernel kernel, unsigned threads = 32, std::size_t count = 1024) {
    const std::vector<__half> ones(count, __half(1.0f));
    DeviceBuffer<__half> d_in(ones);
    DeviceBuffer<float> d_out(count);
    check(cudaMemset(d_out.data(), 0, count * sizeof(float)));
    kernel<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

// ---- mma.sync and ldmatrix ---------------------------------------------------------------------------------------

__global__ void only_half_of_the_lanes_multiply(const __half* in, float* out) {
    const unsigned a[4] = {1, 2, 3, 4}, b[2] = {1, 2};
    float d[4] = {};
    if (threadIdx.x < 16) warpwise::mma_m16n8k16_f16(d, a, b);  // MISTAKE(missing_lane): lanes 16 to 31 go past it
    __syncwarp();
    out[threadIdx.x] = d[0] + __half2float(in[threadIdx.x]);
}

void product_by_half_a_warp() {
    // HINT: all 32 lanes
    run(only_half_of_the_lanes_multiply);
}

__global__ void lanes_without_work_leave(const __half* in, float* out) {
    if (threadIdx.x >= 40) return;
    const unsigned a[4] = {1, 2, 3, 4}, b[2] = {1, 2};
    float d[4] = {};
    warpwise::mma_m16n8k16_f16(d, a, b);  // MISTAKE(missing_lane): eight lanes of warp 1 are left
    out[threadIdx.x] = d[0] + __half2float(in[threadIdx.x]);
}

void product_after_an_early_return() { run(lanes_without_work_leave, 64); }

__global__ void block_of_forty_threads(const __half* in, float* out) {
    const unsigned a[4] = {1, 2, 3, 4}, b[2] = {1, 2};
    float d[4] = {};
    warpwise::mma_m16n8k16_bf16(d, a, b);  // MISTAKE(missing_lane): warp 1 has eight lanes
    out[threadIdx.x] = d[0] + __half2float(in[threadIdx.x]);
}

void product_by_a_partial_warp() { run(block_of_forty_threads, 40); }

__global__ void each_side_multiplies(const __half* in, float* out) {
    const unsigned a[4] = {1, 2, 3, 4}, b[2] = {1, 2};
    float d[4] = {};
    if (threadIdx.x % 2 == 0) {
        warpwise::mma_m16n8k16_f16(d, a, b);
    } else {
        warpwise::mma_m16n8k16_f16(d, a, b);  // MISTAKE(missing_lane): the other lanes are at another one
    }
    out[threadIdx.x] = d[0] + __half2float(in[threadIdx.x]);
}

void products_on_both_sides_of_a_branch() { run(each_side_multiplies); }

__global__ void padded_by_one_element(const __half* in, float* out) {
    __shared__ __align__(16) __half tile[16][17];
    for (unsigned i = threadIdx.x; i < 256; i += 32) tile[i / 16][i % 16] = in[i];
    __syncwarp();
    unsigned a[4];
    const unsigned lane = threadIdx.x;
    const unsigned row = warpwise::shared_address(&tile[lane % 16][lane / 16 * 8]);
    warpwise::ldmatrix(a, row);  // MISTAKE(misaligned_access): rows of 34 bytes
    out[threadIdx.x] = static_cast<float>(a[0] + a[3]);
}

void rows_of_seventeen_halves() { run(padded_by_one_element); }

__global__ void row_per_lane_without_syncwarp(const __half* in, float* out) {
    __shared__ __align__(16) __half tile[32][8];
    for (unsigned i = 0; i < 8; ++i) tile[threadIdx.x][i] = in[threadIdx.x * 8 + i];  // OTHER: other lanes get it
    unsigned a[4];
    warpwise::ldmatrix(a, warpwise::shared_address(tile[threadIdx.x]));  // MISTAKE(data_race): no __syncwarp before it
    out[threadIdx.x] = static_cast<float>(a[0] + a[3]);
}

void own_rows_without_syncwarp() {
    // HINT: __syncwarp()
    run(row_per_lane_without_syncwarp);
}

__global__ void rows_of_other_warps_without_barrier(const __half* in, float* out) {
    __shared__ __align__(16) __half tile[64][8];
    for (unsigned i = 0; i < 8; ++i) tile[threadIdx.x][i] = __half(0.0f);
    __syncthreads();
    for (unsigned i = 0; i < 8; ++i) tile[threadIdx.x][i] = in[threadIdx.x * 8 + i];  // OTHER: another warp reads it
    __syncwarp();
    unsigned a[4];
    warpwise::ldmatrix_trans(a, warpwise::shared_address(tile[63 - threadIdx.x]));  // MISTAKE(data_race): no barrier
    out[threadIdx.x] = static_cast<float>(a[0] + a[3]);
}

void rows_of_another_warp() {
    // HINT: __syncthreads()
    run(rows_of_other_warps_without_barrier, 64);
}

__global__ void four_matrices_where_two_are(const __half* in, float* out) {
    __shared__ __align__(16) __half tile[16][8];
    for (unsigned i = threadIdx.x; i < 128; i += 32) tile[i / 8][i % 8] = in[i];
    __syncwarp();
    unsigned a[4];
    warpwise::ldmatrix(a, warpwise::shared_address(tile[0] + threadIdx.x * 8));  // MISTAKE(out_of_bounds): 16 rows
    out[threadIdx.x] = static_cast<float>(a[0] + a[3]);
}

void rows_past_the_tile() { run(four_matrices_where_two_are); }

// ---- nvcuda::wmma ------------------------------------------------------------------------------------------------

__global__ void sums_start_with_anything(const __half* in, float* out) {
    FragmentA a;
    FragmentB b;
    Sums sums;
    wmma::load_matrix_sync(a, in, 16);
    wmma::load_matrix_sync(b, in + 256, 16);
    wmma::mma_sync(sums, a, b, sums);  // MISTAKE(uninitialized_read): no fill_fragment
    wmma::store_matrix_sync(out, sums, 16, wmma::mem_row_major);
}

void accumulator_that_nobody_filled() {
    // HINT: fill_fragment
    run(sums_start_with_anything);
}

__global__ void only_one_factor_is_loaded(const __half* in, float* out) {
    FragmentA a;
    FragmentB b;
    Sums sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(a, in, 16);
    wmma::mma_sync(sums, a, b, sums);  // MISTAKE(uninitialized_read): b is still empty
    wmma::store_matrix_sync(out, sums, 16, wmma::mem_row_major);
}

void factor_that_nobody_loaded() { run(only_one_factor_is_loaded); }

__global__ void rows_seventeen_apart(const __half* in, float* out) {
    __shared__ __align__(32) __half tile[16 * 17];
    for (unsigned i = threadIdx.x; i < 16 * 17; i += 32) tile[i] = in[i];
    __syncwarp();
    FragmentA a;
    Sums sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(a, tile, 17);  // MISTAKE(misaligned_access): a multiple of 8 is needed
    out[threadIdx.x] = sums.x[0] + __half2float(a.x[0]);
}

void leading_dimension_of_seventeen() { run(rows_seventeen_apart); }

__global__ void tile_eight_columns_in(const __half* in, float* out) {
    FragmentA a;
    wmma::load_matrix_sync(a, in + 8, 32);  // MISTAKE(misaligned_access): 16 bytes past a multiple of 32
    out[threadIdx.x] = __half2float(a.x[0]);
}

void tile_at_sixteen_bytes() { run(tile_eight_columns_in); }

__global__ void last_tile_of_forty_rows(const __half* in, float* out) {
    const __half* const tile = in + 32 * 16;  // of 40 x 16
    FragmentA a;
    wmma::load_matrix_sync(a, tile, 16);  // MISTAKE(out_of_bounds): eight rows are there
    out[threadIdx.x] = __half2float(a.x[0]);
}

void tile_past_the_last_row() { run(last_tile_of_forty_rows, 32, 640); }

__global__ void sums_read_by_other_lanes(const __half* in, float* out) {
    __shared__ __align__(32) float tile[256];
    FragmentA a;
    FragmentB b;
    Sums sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(a, in, 16);
    wmma::load_matrix_sync(b, in, 16);
    wmma::mma_sync(sums, a, b, sums);
    wmma::store_matrix_sync(tile, sums, 16, wmma::mem_row_major);       // OTHER: other lanes read it
    for (unsigned i = threadIdx.x; i < 256; i += 32) out[i] = tile[i];  // MISTAKE(data_race): no __syncwarp before it
}

void stored_sums_without_syncwarp() { run(sums_read_by_other_lanes); }

__global__ void matrix_per_thread(const __half* in, float* out) {
    FragmentA a;
    wmma::load_matrix_sync(a, in + threadIdx.x * 16, 16);  // MISTAKE(kernel_trap): a warp loads one matrix
    out[threadIdx.x] = __half2float(a.x[0]);
}

void another_pointer_in_each_lane() {
    // HINT: from the warp, not from the thread
    run(matrix_per_thread);
}

}  // namespace

namespace corpus {

CaseList tensor_core_mistakes() {
    return {__FILE__,
            {{"product_by_half_a_warp", "a branch around mma", product_by_half_a_warp},
             {"product_after_an_early_return", "lanes have left", product_after_an_early_return},
             {"product_by_a_partial_warp", "40 threads", product_by_a_partial_warp},
             {"products_on_both_sides_of_a_branch", "two instructions", products_on_both_sides_of_a_branch},
             {"rows_of_seventeen_halves", "ldmatrix wants multiples of 16 bytes", rows_of_seventeen_halves},
             {"own_rows_without_syncwarp", "ldmatrix orders nothing", own_rows_without_syncwarp},
             {"rows_of_another_warp", "__syncwarp where a barrier is needed", rows_of_another_warp},
             {"rows_past_the_tile", "x4 where 16 rows are", rows_past_the_tile},
             {"accumulator_that_nobody_filled", "no fill_fragment", accumulator_that_nobody_filled},
             {"factor_that_nobody_loaded", "no load_matrix_sync", factor_that_nobody_loaded},
             {"leading_dimension_of_seventeen", "padding by one element", leading_dimension_of_seventeen},
             {"tile_at_sixteen_bytes", "wmma wants multiples of 32 bytes", tile_at_sixteen_bytes},
             {"tile_past_the_last_row", "rows are no multiple of 16", tile_past_the_last_row},
             {"stored_sums_without_syncwarp", "store_matrix_sync orders nothing", stored_sums_without_syncwarp},
             {"another_pointer_in_each_lane", "as if each thread had a matrix", another_pointer_in_each_lane}}};
}

}  // namespace corpus
