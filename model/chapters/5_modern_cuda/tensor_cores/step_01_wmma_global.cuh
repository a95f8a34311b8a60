#pragma once

#include <mma.h>

#include <type_traits>

#include "chapters/5_modern_cuda/tensor_cores/formats.h"
#include "chapters/5_modern_cuda/tensor_cores/operands.cuh"

namespace modern_cuda {
namespace {

namespace wmma = nvcuda::wmma;

// One warp multiplies 16 x K by K x 16 elements. K elements of a row have 32 bytes, which
// is also what the addresses of fragments have to be multiples of. (Of bytes, wmma takes 16
// per row, so that every other fragment of a row would begin at the wrong place. Therefore
// INT8 has no step with wmma, and FP8 has none in wmma.)
constexpr unsigned kFragment = 16;

template <class Format>
constexpr unsigned fragment_depth = 32 / sizeof(typename Format::Element);

// What wmma calls the format.
template <class Format>
using WmmaElement = std::conditional_t<std::is_same_v<Format, Tf32>, wmma::precision::tf32,
                                       typename Format::Element>;
template <class Format>
using FragmentOfA = wmma::fragment<wmma::matrix_a, kFragment, kFragment,
                                   fragment_depth<Format>, WmmaElement<Format>,  //
                                   wmma::row_major>;
template <class Format>
using FragmentOfB = wmma::fragment<wmma::matrix_b, kFragment, kFragment,
                                   fragment_depth<Format>, WmmaElement<Format>,  //
                                   wmma::col_major>;
template <class Format>
using FragmentOfC =
    wmma::fragment<wmma::accumulator, kFragment, kFragment, fragment_depth<Format>, float>;

// Stores 16 x 16 sums. wmma stores whole fragments, whose rows have to begin at multiples
// of 16 bytes. At the edges of C, they go to `staging` in shared memory first, and the
// lanes store what belongs to C.
template <class Fragment>
__device__ void store_fragment(const Result<float>& c, std::size_t row, std::size_t col,
                               const Fragment& sums, float* staging) {
    if (row + kFragment <= c.rows && col + kFragment <= c.cols && c.cols % 4 == 0) {
        wmma::store_matrix_sync(c.data + row * c.cols + col, sums,
                                static_cast<unsigned>(c.cols), wmma::mem_row_major);
        return;
    }
    wmma::store_matrix_sync(staging, sums, kFragment, wmma::mem_row_major);
    __syncwarp();
    for (unsigned i = threadIdx.x % 32; i < kFragment * kFragment; i += 32) {
        const std::size_t to_row = row + i / kFragment, to_col = col + i % kFragment;
        if (to_row < c.rows && to_col < c.cols)
            c.data[to_row * c.cols + to_col] = staging[i];
    }
    __syncwarp();
}

// Step 1: wmma, the interface of CUDA C++ to tensor cores. One warp computes 16 x 16
// elements of C. A fragment is a matrix of 16 x 16 elements (TF32: 16 x 8) that the lanes
// of a warp hold together. Which lane has which element is not told, and nobody has to know
// it: load, multiply, and store are functions of the warp. B is transposed, so its columns
// are contiguous: col_major. The last argument of a load is the distance of two rows, the
// leading dimension. Rows and columns of the operands are whole fragments here: others are
// padded before.
// Faster than FFMA instructions because one call multiplies 16 x 16 x 16 elements. Still
// slow because each fragment comes from global memory and serves a single multiplication.
template <class Format>
__global__ void wmma_global(Operand a, Operand b, Result<float> c) {
    __shared__ __align__(32) float staging[8][kFragment * kFragment];
    const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
    const std::size_t tile_cols = b.rows / kFragment;
    const std::size_t row = warp / tile_cols * kFragment;
    const std::size_t col = warp % tile_cols * kFragment;
    if (row >= a.rows) return;
    using Element = typename Format::Element;
    const std::size_t k = a.row_bytes / sizeof(Element);
    const Element* const from_a = reinterpret_cast<const Element*>(a.data) + row * k;
    const Element* const from_b = reinterpret_cast<const Element*>(b.data) + col * k;

    FragmentOfC<Format> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (std::size_t p = 0; p < k; p += fragment_depth<Format>) {
        FragmentOfA<Format> a_part;
        FragmentOfB<Format> b_part;
        wmma::load_matrix_sync(a_part, from_a + p, static_cast<unsigned>(k));
        wmma::load_matrix_sync(b_part, from_b + p, static_cast<unsigned>(k));
        wmma::mma_sync(sums, a_part, b_part, sums);
    }
    store_fragment(c, row, col, sums, staging[threadIdx.x / 32]);
}

}  // namespace
}  // namespace modern_cuda
