// Mistakes with fragments and tiles, for the CPU device to find. On a GPU these kernels
// give wrong results, or end with an error, so they do not run there. In each of them, one
// block multiplies 16 rows of A, which has kWrongRows x kWrongDepth elements, by 16 or 8
// columns of B, which is as large and transposed.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <functional>
#include <string>
#include <vector>

#include "chapters/5_modern_cuda/mistakes.h"
#include "chapters/5_modern_cuda/tensor_cores/step_01_wmma_global.cuh"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/tensor_core.cuh"

namespace modern_cuda {
namespace {

constexpr unsigned kWrongRows = 64, kWrongDepth = 16;

// WRONG: the leading dimension is the distance of two rows, which is kWrongDepth. These are
// the last 16 rows, so the wrong distance leads past the end.
__global__ void wrong_leading_dimension(const __half* a, const __half* b, float* c) {
    FragmentOfA<Fp16> a_part;
    FragmentOfB<Fp16> b_part;
    FragmentOfC<Fp16> sums;
    wmma::fill_fragment(sums, 0.0f);
    wmma::load_matrix_sync(a_part, a + (kWrongRows - kFragment) * kWrongDepth, kWrongRows);
    wmma::load_matrix_sync(b_part, b, kWrongDepth);
    wmma::mma_sync(sums, a_part, b_part, sums);
    wmma::store_matrix_sync(c, sums, kFragment, wmma::mem_row_major);
}

// WRONG: nobody has filled the accumulator with zeros.
__global__ void accumulator_not_filled(const __half* a, const __half* b, float* c) {
    FragmentOfA<Fp16> a_part;
    FragmentOfB<Fp16> b_part;
    FragmentOfC<Fp16> sums;
    wmma::load_matrix_sync(a_part, a, kWrongDepth);
    wmma::load_matrix_sync(b_part, b, kWrongDepth);
    wmma::mma_sync(sums, a_part, b_part, sums);
    wmma::store_matrix_sync(c, sums, kFragment, wmma::mem_row_major);
}

// Stores the sums of mma.sync.
__device__ void store_wrong(float* c, const float (&sums)[4]) {
    const unsigned row = threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 2;
    c[row * 8 + col] = sums[0];
    c[row * 8 + col + 1] = sums[1];
    c[(row + 8) * 8 + col] = sums[2];
    c[(row + 8) * 8 + col + 1] = sums[3];
}

// WRONG: two elements of padding are 4 bytes, but ldmatrix wants rows at multiples of 16.
__global__ void misaligned_rows(const __half* a, const __half* b, float* c) {
    constexpr unsigned row_elements = kWrongDepth + 2;
    __shared__ __align__(16) __half tile[24 * row_elements];
    const unsigned lane = threadIdx.x % 32;
    for (unsigned i = lane; i < 24 * kWrongDepth; i += 32)
        tile[i / kWrongDepth * row_elements + i % kWrongDepth] =
            i < 16 * kWrongDepth ? a[i] : b[i - 16 * kWrongDepth];
    __syncwarp();
    unsigned a_fragment[4], b_fragment[2];
    warpwise::ldmatrix(a_fragment, warpwise::shared_address(
                                       tile + lane % 16 * row_elements + lane / 16 * 8));
    warpwise::ldmatrix(
        b_fragment,
        warpwise::shared_address(tile + (16 + lane % 8) * row_elements + lane / 8 % 2 * 8));
    float sums[4] = {};
    warpwise::mma_m16n8k16_f16(sums, a_fragment, b_fragment);
    store_wrong(c, sums);
}

// WRONG: two warps copy the tile, and nothing makes the first one wait for the second:
// __syncwarp() is a barrier of one warp.
__global__ void before_its_copy(const __half* a, const __half* b, float* c) {
    __shared__ __align__(16) __half tile[24 * kWrongDepth];
    for (unsigned i = threadIdx.x; i < 24 * kWrongDepth; i += 64)
        tile[i] = i < 16 * kWrongDepth ? a[i] : b[i - 16 * kWrongDepth];
    if (threadIdx.x >= 32) return;
    __syncwarp();
    const unsigned lane = threadIdx.x;
    unsigned a_fragment[4], b_fragment[2];
    warpwise::ldmatrix(a_fragment, warpwise::shared_address(tile + lane % 16 * kWrongDepth +
                                                            lane / 16 * 8));
    warpwise::ldmatrix(
        b_fragment,
        warpwise::shared_address(tile + (16 + lane % 8) * kWrongDepth + lane / 8 % 2 * 8));
    float sums[4] = {};
    warpwise::mma_m16n8k16_f16(sums, a_fragment, b_fragment);
    store_wrong(c, sums);
}

// WRONG: lanes whose row is past the end leave, but mma.sync is an instruction of the warp.
__global__ void lanes_that_leave(const __half* a, const __half* b, float* c) {
    constexpr unsigned rows = 12;  // of A, of 16 that a fragment has
    const unsigned group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
    if (group + 8 >= rows) return;
    const unsigned* const a_words = reinterpret_cast<const unsigned*>(a);
    const unsigned* const b_words = reinterpret_cast<const unsigned*>(b);
    const unsigned upper = group * 8 + member, lower = (group + 8) * 8 + member;
    const unsigned a_fragment[4] = {a_words[upper], a_words[lower],  //
                                    a_words[upper + 4], a_words[lower + 4]};
    const unsigned b_fragment[2] = {b_words[upper], b_words[upper + 4]};
    float sums[4] = {};
    warpwise::mma_m16n8k16_f16(sums, a_fragment, b_fragment);
    store_wrong(c, sums);
}

Mistake with_fragments(const char* name, const char* what,
                       void (*kernel)(const __half*, const __half*, float*),
                       const char* kind, unsigned threads = 32) {
    const auto run = [kernel, threads] {
        const std::vector<__half> ones(kWrongRows * kWrongDepth, __float2half(1.0f));
        warpwise::DeviceBuffer<__half> d_a(ones), d_b(ones);
        warpwise::DeviceBuffer<float> d_c(kFragment * kFragment);
        kernel<<<1, threads>>>(d_a.data(), d_b.data(), d_c.data());
        (void)cudaDeviceSynchronize();  // some are stopped by an error
    };
    return {name, what, run, kind};
}

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        with_fragments("wrong_leading_dimension", "rows of A instead of its columns",
                       wrong_leading_dimension, "out_of_bounds"),
        with_fragments("accumulator_not_filled", "no fill_fragment", accumulator_not_filled,
                       "uninitialized_read"),
        with_fragments("misaligned_rows", "rows padded by 4 bytes", misaligned_rows,
                       "misaligned_access"),
        with_fragments("before_its_copy", "no __syncthreads()", before_its_copy,
                       "data_race", 64),
        with_fragments("lanes_that_leave", "lanes without a row return", lanes_that_leave,
                       "missing_lane"),
    };
    return all;
}

}  // namespace
}  // namespace modern_cuda
