#pragma once

#include "chapters/4_examples/matrix_multiply/step_17_deeper_tiles.cuh"

namespace examples {
namespace {

// Step 18, smaller blocks: the kernel of step 16 with BM = 64, so that a block has four
// warps, and four blocks are resident per SM. As before these are 16 warps per SM, with 128
// registers per thread.
// This could be faster because a barrier holds up four warps, not eight, while three other
// blocks compute. And there are twice as many blocks to distribute over the SMs, so less is
// lost when their number does not come out even; only there is it faster on an H200. It
// could be slow because a tile of 64 x 128 needs 3/128 float from global memory per
// multiply-add, not 2/128.
struct SmallerBlockSizes : DeeperTileSizes {
    static constexpr unsigned BM = 64, blocks_per_sm = 4;
};

}  // namespace
}  // namespace examples
