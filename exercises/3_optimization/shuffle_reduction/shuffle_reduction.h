// The function that the grader calls.
#pragma once

/// Sums of tiles of `threads_per_block` floats: d_sums[t] is the sum of the values from t * threads_per_block on; the
/// last tile may be short. `d_values` is a device array of `count` floats, `d_sums` one of count / threads_per_block
/// floats, rounded up. A block may have any multiple of 32 threads up to 1024. Without values it does nothing.
void sum_tiles(const float* d_values, int count, float* d_sums, int threads_per_block);
