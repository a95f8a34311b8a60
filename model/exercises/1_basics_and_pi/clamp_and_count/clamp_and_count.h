// The function that the grader calls.
#pragma once

/// Clamps `n` floats: d_out[i] is d_in[i], but `low` where d_in[i] is below `low`, and
/// `high` where d_in[i] is above `high`. Returns how many elements of this call were
/// outside. Both arrays are in device memory. `low` is at most `high`; n may be 0.
unsigned clamp_and_count(const float* d_in, float* d_out, int n, float low, float high);
