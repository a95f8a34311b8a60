// The function that the grader calls.
#pragma once

/// Prefix sums of `count` floats, in a single launch with one block of 128 threads for each
/// tile of 128 floats: d_results[i] = d_values[0] + ... + d_values[i]. d_sums and
/// d_prefixes: room for one float per tile; what they hold before the call does not matter.
/// d_states: one number per tile. d_drawn: a counter. The caller sets all states and the
/// counter to 0 before each call. Without floats nothing happens.
void prefix_sums(const float* d_values, int count, float* d_results, float* d_sums,
                 float* d_prefixes, unsigned* d_states, unsigned* d_drawn);
