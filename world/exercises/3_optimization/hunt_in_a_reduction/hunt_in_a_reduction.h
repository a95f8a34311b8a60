// The function that the grader calls.
#pragma once

#include <cuda_runtime.h>

/// Adds up the squares of n values in host memory, for n from 0 to 2 million: on success,
/// *sum is values[0]^2 + ... + values[n - 1]^2, up to the rounding of floats. Returns
/// cudaSuccess, or the error of the first call or launch that failed.
cudaError_t sum_of_squares(const float* values, int n, float* sum);
