// The function that the grader calls.
#pragma once

/// Computes d_y[i] = a * d_x[i] + d_y[i] for i = 0 .. n - 1, with one launch of exactly
/// `blocks` blocks of `threads_per_block` threads, however many elements there are. Without
/// elements nothing has to be launched. Both arrays are device arrays of `n` floats and
/// begin where cudaMalloc lets memory begin, so they are aligned for float4.
void scale_and_add(float a, const float* d_x, float* d_y, int n, int blocks,
                   int threads_per_block);
