// The function that the grader calls.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// A ring of numbers, which settles in small steps. Before each step one number gets a
/// pulse.
struct Ring {
    unsigned* d_values;   ///< `count` numbers on the device
    unsigned* d_other;    ///< room for as many
    std::size_t count;    ///< at least 1
    unsigned first_step;  ///< the number of the first step
    unsigned steps;       ///< may be 0
    cudaStream_t stream;  ///< in which all of the work is done
};

/// Does the steps first_step, first_step + 1, ... and leaves the result in d_values. The
/// stream may still be at work when the function returns.
void settle(const Ring& ring);
