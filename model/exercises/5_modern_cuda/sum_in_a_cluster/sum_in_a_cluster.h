// The function that the grader calls.
#pragma once

constexpr unsigned blocks_per_recording = 4;

/// A recording consists of `length` samples. The energy of a recording is the sum of the
/// squares of its samples. Stores that of each of the `count` recordings, which follow each
/// other in `d_samples`. Launches `blocks_per_recording` blocks for each recording.
void add_up_energies(const int* d_samples, unsigned count, unsigned length,
                     int* d_energies);
