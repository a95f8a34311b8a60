// The function that the grader calls.
#pragma once

/// Multiplies matrices: d_c[row * n + col] = sum over p of d_a[row * k + p] * d_b[p * n +
/// col], for all row < m and col < n. All are device arrays, row after row: d_a of m * k
/// floats, d_b of k * n, d_c of m * n. Any extent may be 0; with k = 0 all sums are 0. What
/// d_c holds before does not matter.
void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k);
