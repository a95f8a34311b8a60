#pragma once

#include "chapters/5_modern_cuda/tensor_cores/instructions.cuh"
#include "chapters/5_modern_cuda/tensor_cores/operands.cuh"

namespace modern_cuda {
namespace {

constexpr unsigned kFragmentRows = 16, kFragmentCols = 8, kFragmentWords = 8;

// Four bytes of a row. Past the end of the row, and of the matrix, they are 0.
__device__ unsigned word_of(const Operand& operand, std::size_t row, std::size_t word) {
    if (row >= operand.rows || word * 4 >= operand.row_bytes) return 0;
    return *reinterpret_cast<const unsigned*>(operand.data + row * operand.row_bytes +
                                              word * 4);
}

// Step 2: mma.sync, the instruction below wmma. Here the program says which lane holds
// which elements. One warp computes 16 x 8 elements of C. With group = lane / 4 and
// member = lane % 4, a lane holds
//   - of A: words `member` and `member + 4` of rows `group` and `group + 8` (a word has 4
//     bytes: one TF32, two FP16 or bf16, four INT8 or FP8)
//   - of B: words `member` and `member + 4` of column `group`
//   - of C: columns 2 * member and 2 * member + 1 of rows `group` and `group + 8`
// No lane has a row or a column to itself, and no lane adds anything: the warp multiplies.
// No edge has to be padded to whole fragments, because a lane can load 0 for what is not
// there.
// Still slow because every word comes from global memory, in requests that touch eight
// rows, one sector in each. An instruction that takes a tensor core a few cycles needs 768
// bytes, and the neighboring warps load most of them again.
template <class Format>
__global__ void mma_fragments(Operand a, Operand b, Result<typename Format::Sum> c) {
    const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
    const unsigned group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
    const std::size_t tile_cols = parts_of(c.cols, kFragmentCols);
    const std::size_t row = warp / tile_cols * kFragmentRows + group;
    const std::size_t first_col = warp % tile_cols * kFragmentCols;
    typename Format::Sum sums[4] = {};
    for (std::size_t word = member; word < parts_of(a.row_bytes, 32) * kFragmentWords;
         word += kFragmentWords) {
        const unsigned a_fragment[4] = {
            word_of(a, row, word), word_of(a, row + 8, word),  //
            word_of(a, row, word + 4), word_of(a, row + 8, word + 4)};
        const unsigned b_fragment[2] = {word_of(b, first_col + group, word),
                                        word_of(b, first_col + group, word + 4)};
        mma<Format>(sums, a_fragment, b_fragment);
    }
    store_pair(c, row, first_col + 2 * member, sums[0], sums[1]);
    store_pair(c, row + 8, first_col + 2 * member, sums[2], sums[3]);
}

}  // namespace
}  // namespace modern_cuda
