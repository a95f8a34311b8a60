// Tensor cores that are used as they should be, though it may not look like it.
#include <cuda_fp16.h>
#include <mma.h>

#include "common/helpers/tensor_core.cuh"
#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

using namespace nvcuda;

using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using FragmentB = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

/// Small whole numbers: no sum of their products is rounded.
std::vector<__half> numbers(int count) {
    const std::vector<int> values = scrambled(count, 9);
    return sequence<__half>(count, [&](int i) { return __half(static_cast<float>(values[i] - 4)); });
}

/// a b for rows x inner and inner x cols.
std::vector<float> product(const std::vector<__half>& a, const std::vector<__half>& b, int rows, int inner, int cols) {
    return sequence<float>(rows * cols, [&](int i) {
        float sum = 0;
        for (int k = 0; k < inner; ++k)
            sum += static_cast<float>(a[i / cols * inner + k]) * static_cast<float>(b[k * cols + i % cols]);
        return sum;
    });
}

/// a and b are `rows` x 16 and 16 x 16; the kernel gets the number of rows.
template <class Kernel>
void expect_product(Kernel kernel, unsigned threads, int rows) {
    const std::vector<__half> a = numbers(rows * 16), b = numbers(256);
    DeviceBuffer<__half> d_a(a), d_b(b);
    DeviceBuffer<float> d_out(static_cast<std::size_t>(rows) * 16);
    kernel<<<1, threads>>>(d_a.data(), d_b.data(), d_out.data(), rows);
    check_finished();
    expect_equal(d_out.download(), product(a, b, rows, 16, 16));
}

__global__ void tiles_in_padded_rows(const __half* a, const __half* b, float* out, int) {
    __shared__ __align__(32) __half tile[16][24];
    __shared__ __align__(32) float sums_in_memory[16][20];
    for (unsigned i = threadIdx.x; i < 256; i += 32) tile[i / 16][i % 16] = a[i];
    __syncwarp();
    FragmentA of_a;
    FragmentB of_b;
    Sums sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(of_a, &tile[0][0], 24);
    wmma::load_matrix_sync(of_b, b, 16);
    wmma::mma_sync(sums, of_a, of_b, sums);
    wmma::store_matrix_sync(&sums_in_memory[0][0], sums, 20, wmma::mem_row_major);
    __syncwarp();
    for (unsigned i = threadIdx.x; i < 256; i += 32) out[i] = sums_in_memory[i / 16][i % 16];
}

void padding_by_eight_halves() { expect_product(tiles_in_padded_rows, 32, 16); }

__global__ void only_warps_with_rows(const __half* a, const __half* b, float* out, int rows) {
    const int row = static_cast<int>(threadIdx.x / 32) * 16;
    if (row < rows) {
        FragmentA of_a;
        FragmentB of_b;
        Sums sums;
        wmma::fill_fragment(sums, 0.0f);
        wmma::load_matrix_sync(of_a, a + row * 16, 16);
        wmma::load_matrix_sync(of_b, b, 16);
        wmma::mma_sync(sums, of_a, of_b, sums);
        wmma::store_matrix_sync(out + row * 16, sums, 16, wmma::mem_row_major);
    }
}

void whole_warps_leave_out_the_product() { expect_product(only_warps_with_rows, 128, 48); }

__global__ void sums_turned_around_in_registers(const __half* a, const __half* b, float* out, int) {
    FragmentA of_a;
    FragmentB of_b;
    Sums sums;
    wmma::load_matrix_sync(of_a, a, 16);
    wmma::load_matrix_sync(of_b, b, 16);
    // What is done to all elements alike needs no knowledge of their places. Some fragments hold elements twice.
    for (int i = 0; i < of_a.num_elements; ++i) of_a.x[i] = -of_a.x[i];
    for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = 0.0f;
    wmma::mma_sync(sums, of_a, of_b, sums);
    for (int i = 0; i < sums.num_elements; ++i) sums.x[i] *= -1.0f;
    wmma::store_matrix_sync(out, sums, 16, wmma::mem_row_major);
}

void all_elements_of_fragments_alike() { expect_product(sums_turned_around_in_registers, 32, 16); }

/// Fragments of mma.sync by hand, as PTX documents them.
__global__ void fragments_by_ldmatrix(const __half* a, const __half* b, float* out, int) {
    __shared__ __align__(16) __half tile_a[16][24], tile_b[16][24];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned i = threadIdx.x; i < 256; i += 64) {
        tile_a[i / 16][i % 16] = a[i];
        tile_b[i / 16][i % 16] = b[i];
    }
    __syncthreads();
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    unsigned of_a[4], of_b[2];
    float d[4] = {};
    warpwise::ldmatrix(of_a, warpwise::shared_address(&tile_a[lane % 16][lane / 16 * 8]));
    // Sixteen lanes give rows; what the others give is not looked at.
    const unsigned nowhere = 0xFFFFFFF0u;
    warpwise::ldmatrix_trans(of_b, lane < 16 ? warpwise::shared_address(&tile_b[lane][warp * 8]) : nowhere);
    warpwise::mma_m16n8k16_f16(d, of_a, of_b);
    const unsigned row = lane / 4, col = warp * 8 + lane % 4 * 2;
    out[row * 16 + col] = d[0];
    out[row * 16 + col + 1] = d[1];
    out[(row + 8) * 16 + col] = d[2];
    out[(row + 8) * 16 + col + 1] = d[3];
#else
    // Older chips have no such instruction.
    for (unsigned i = threadIdx.x; i < 256; i += 64) {
        float sum = 0;
        for (unsigned k = 0; k < 16; ++k) sum += __half2float(tile_a[i / 16][k]) * __half2float(tile_b[k][i % 16]);
        out[i] = sum;
    }
#endif
}

void addresses_that_nobody_reads() { expect_product(fragments_by_ldmatrix, 64, 16); }

__global__ void a_warp_writes_and_multiplies_alone(const __half* a, const __half* b, float* out, int) {
    __shared__ __align__(32) __half tile[2][16][16];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // Each warp has a tile of its own: __syncwarp() is enough.
    for (unsigned i = lane; i < 256; i += 32) tile[warp][i / 16][i % 16] = a[warp * 256 + i];
    __syncwarp();
    FragmentA of_a;
    FragmentB of_b;
    Sums sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(of_a, &tile[warp][0][0], 16);
    wmma::load_matrix_sync(of_b, b, 16);
    wmma::mma_sync(sums, of_a, of_b, sums);
    wmma::store_matrix_sync(out + warp * 256, sums, 16, wmma::mem_row_major);
}

void tiles_of_warps_of_their_own() { expect_product(a_warp_writes_and_multiplies_alone, 64, 32); }

__global__ void columns_through_a_transposed_view(const __half* a, const __half* b, float* out, int) {
    // b a transposed, read as what it is not: a column-major factor of the same memory.
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::col_major> of_b;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> of_a;
    Sums sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(of_b, b, 16);
    wmma::load_matrix_sync(of_a, a, 16);
    wmma::mma_sync(sums, of_b, of_a, sums);
    wmma::store_matrix_sync(out, sums, 16, wmma::mem_col_major);
}

void transposed_product_of_transposed_factors() { expect_product(columns_through_a_transposed_view, 32, 16); }

}  // namespace

CaseList correct_tensor_cores() {
    return {
        __FILE__,
        {{"padding_by_eight_halves", "rows lie 48 and 80 bytes apart", padding_by_eight_halves},
         {"whole_warps_leave_out_the_product", "the branch is the same for a warp", whole_warps_leave_out_the_product},
         {"all_elements_of_fragments_alike", "no place of an element matters", all_elements_of_fragments_alike},
         {"addresses_that_nobody_reads", "ldmatrix.x2 reads 16 rows", addresses_that_nobody_reads},
         {"tiles_of_warps_of_their_own", "__syncwarp is enough", tiles_of_warps_of_their_own},
         {"transposed_product_of_transposed_factors", "layouts exchanged on purpose",
          transposed_product_of_transposed_factors}}};
}

}  // namespace corpus
