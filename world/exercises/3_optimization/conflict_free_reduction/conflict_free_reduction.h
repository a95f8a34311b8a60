// The function that the grader calls.
#pragma once

/// Energies of the frames of a recording: d_energies[f] is the sum of the squares of
/// samples 512 f to 512 f + 511. The last frame may be short. `d_samples` is a device array
/// of `count` floats, `d_energies` one of count / 512 floats, rounded up, with any
/// contents. Each frame is summed by a block of its own. Without samples nothing happens.
void frame_energies(const float* d_samples, int count, float* d_energies);
