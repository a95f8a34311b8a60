#pragma once

#include "chapters/4_examples/matrix_multiply/step_21_tuning.cuh"

namespace examples {
namespace {

// Step 23, another side branch: larger thread tiles. The kernel of step 21, with TM x TN =
// 16 x 8 elements of C per thread.
// This could be faster because 128 multiply-adds take six loads instead of eight, so 92 %
// of the instructions in the inner loop are multiply-adds, where step 21 has 88 %. Still
// slow, perhaps because such a thread needs twice the registers, so that only 8 warps are
// resident per SM instead of 16. The sums of a thread do not wait for each other, but its
// loads have to arrive and the barrier has to be passed. Too few warps may fill that wait.
struct LargerThreadTileSizes : TunedSizes {
    static constexpr unsigned BM = 128, WM = 64, WN = 64, TM = 16, TN = 8,
                              blocks_per_sm = 2;
};

}  // namespace
}  // namespace examples
