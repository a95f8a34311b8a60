// The function that the grader calls.
#pragma once

/// Sums of tiles of 256 floats, the last of which may be shorter: d_sums[t] = d_values[256
/// t] + ... up to the end of the tile or of the array. `d_sums` has room for one float per
/// tile, (count + 255) / 256 of them. One launch, with one block of 256 threads per tile;
/// nothing to do for a count of 0.
void sum_tiles(const float* d_values, int count, float* d_sums);
