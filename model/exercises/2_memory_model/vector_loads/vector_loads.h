// The function that the grader calls.
#pragma once

/// Applies a gain and an offset to `n` samples in place: d_samples[i] becomes
/// gain * d_samples[i] + offset. The samples are in device memory. Their address is a
/// multiple of 4, as that of every float, but it may be none of 16: often they are a part
/// of a larger array, which other parts of the program use at the same time. n may be 0.
void adjust_samples(float* d_samples, int n, float gain, float offset);
