#pragma once

#include "chapters/4_examples/matrix_multiply/step_16_register_prefetch.cuh"

namespace examples {
namespace {

// Step 17, deeper tiles: the kernel of step 16 with BK = 16.
// Faster because what a round does once serves 16 terms, not 8, which leaves fewer
// instructions per multiply-add. The price is twice the shared memory, 33 KB per block: no
// limit where an SM has 100 KB or more, but with 64 KB only one block is resident per SM.
struct DeeperTileSizes : WarpTileSizes {
    static constexpr unsigned BK = 16;
};

}  // namespace
}  // namespace examples
