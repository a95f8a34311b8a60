#pragma once

#include "chapters/4_examples/matrix_multiply/step_18_smaller_blocks.cuh"

namespace examples {
namespace {

// Step 19, a side branch: the kernel of step 16 with the sizes of step 18, but without the
// launch bound. Nothing tells nvcc how many blocks should fit on an SM, and it takes 161
// registers per thread instead of 128 (nvcc 13.0, sm_90).
// This could be faster because nvcc perhaps schedules the loads more freely. It could be
// slow because 65,536 registers are enough for three such blocks, so 12 warps are resident
// per SM instead of 16. On an H200 this step is not slower than step 18.
struct UnboundedSizes : SmallerBlockSizes {
    static constexpr unsigned blocks_per_sm = 1;
};

}  // namespace
}  // namespace examples
