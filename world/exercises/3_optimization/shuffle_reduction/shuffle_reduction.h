// The function that the grader calls.
#pragma once

/// Sums of tiles of `threads_per_block` floats: d_sums[t] is the sum of the values from t *
/// threads_per_block on; the last tile may be short. `d_values` is a device array of
/// `count` floats, `d_sums` one of count / threads_per_block floats, rounded up, with any
/// contents. One launch has one block of `threads_per_block` threads for each tile; that
/// number is a multiple of 32, 1024 at most. Without values nothing happens.
void sum_tiles(const float* d_values, int count, float* d_sums, int threads_per_block);
