// The function that the grader calls.
#pragma once

/// Inclusive scans of tiles of `threads_per_block` floats. d_scanned[i] is the sum of the
/// values of i's tile up to value i; the last tile may be short. d_sums[t] is the sum of
/// all values of tile t. `d_values` and `d_scanned` are device arrays of `count` floats,
/// and may be the same array; d_sums has count / threads_per_block floats, rounded up. One
/// launch has one block of `threads_per_block` threads for each tile; that number is a
/// multiple of 32, 1024 at most. Without values nothing happens.
void scan_tiles(const float* d_values, int count, float* d_scanned, float* d_sums,
                int threads_per_block);
