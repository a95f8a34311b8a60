#pragma once

#include "chapters/4_examples/matrix_multiply/step_21_tuning.cuh"

namespace examples {
namespace {

// Step 22, the side branch again: Kahan's sum in the kernel of step 21. Here the
// multiply-add units are the limit, and four operations instead of one should take four
// times as long. A thread needs two registers per sum, and so only two blocks fit on an SM.
struct CompensatedSizes : TunedSizes {
    static constexpr unsigned blocks_per_sm = 2;
    static constexpr bool compensated = true;
};

}  // namespace
}  // namespace examples
