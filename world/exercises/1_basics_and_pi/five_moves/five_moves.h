// The function that the grader calls.
#pragma once

#include <cuda_runtime.h>

/// Computes out[i] = factor * in[i] for i = 0 .. n - 1 on the device, with a thread of its
/// own for each element. `in` and `out` are arrays of `n` floats in ordinary host memory,
/// which kernels cannot access; n may be 0.
///
/// Returns cudaSuccess when `out` holds the result, and otherwise the error of the first
/// CUDA call that failed. On success all device memory is free again.
cudaError_t scale(const float* in, float* out, int n, float factor);
