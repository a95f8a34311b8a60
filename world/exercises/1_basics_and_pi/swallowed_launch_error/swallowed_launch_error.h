// The function that the grader calls.
#pragma once

#include <cuda_runtime.h>

/// Picks elements by their index: d_output[i] = d_input[d_index[i]] for i = 0 .. n - 1, n
/// at least 1. The kernel stops with a trap when an index is not in 0 .. input_size - 1.
///
/// Waits with a call that blocks until the kernel has ended. Returns cudaSuccess only if
/// d_output holds the result, and otherwise the error: one that was pending before the
/// call, that of a refused launch, or that of a kernel that died. If an error was pending
/// and the launch was refused as well, either may be returned. A refused launch leaves no
/// error pending.
cudaError_t pick_elements(const float* d_input, int input_size, const int* d_index,
                          float* d_output, int n, int threads_per_block);
