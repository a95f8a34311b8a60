// The functions that the grader calls.
#pragma once

/// The Laplace operator on a ring: d_y[i] = d_x[i - 1] - 2 d_x[i] + d_x[i + 1], where the neighbor in front of the
/// first element is the last one, and the other way round. A ring of one element is its own neighbor on both sides.
/// Both are device arrays of `count` floats that do not overlap. With a count of 0 it does nothing.
void laplace(const float* d_x, float* d_y, int count);

/// The operator applied twice: d_y is the Laplace of the Laplace of d_x. `d_work` is a device array of `count` floats
/// to work with; what it holds afterwards does not matter. No two of the arrays overlap.
void laplace_twice(const float* d_x, float* d_work, float* d_y, int count);
