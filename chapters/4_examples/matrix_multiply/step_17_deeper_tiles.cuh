#pragma once

#include "chapters/4_examples/matrix_multiply/step_16_register_prefetch.cuh"

namespace examples {
namespace {

// Step 17, deeper tiles: the kernel of step 16 with BK = 16.
// Faster, probably because there is one barrier for 16 terms, not 8, and half as many waits
// for copies. The price is twice the shared memory, 33 KB per block. That is no limit where
// an SM has 100 KB or more. On a chip with 64 KB per SM only one block is resident.
struct DeeperTileSizes : WarpTileSizes {
    static constexpr unsigned BK = 16;
};

}  // namespace
}  // namespace examples
