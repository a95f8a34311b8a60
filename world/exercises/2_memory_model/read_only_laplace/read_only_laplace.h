// The functions that the grader calls.
#pragma once

/// The Laplace operator on a ring: d_y[i] = d_x[i - 1] - 2 d_x[i] + d_x[i + 1], where the
/// left neighbor of the first element is the last one, and the right neighbor of the last
/// element is the first one. A ring of one element is its own neighbor on both sides. Both
/// are device arrays of `count` floats that do not overlap and begin where memory from
/// cudaMalloc begins: at a multiple of 256 bytes at least, and where a texture may begin.
/// With a count of 0 the function does nothing.
void laplace(const float* d_x, float* d_y, int count);

/// The operator applied twice: d_y is the Laplace of the Laplace of d_x. `d_work` is a
/// device array of `count` floats that the function may use or not; what it holds
/// afterwards does not matter. No two of the arrays overlap, and all begin where memory
/// from cudaMalloc begins.
void laplace_twice(const float* d_x, float* d_work, float* d_y, int count);
