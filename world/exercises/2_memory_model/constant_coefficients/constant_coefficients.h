// The function that the grader calls.
#pragma once

/// Number of coefficients of a filter.
constexpr int taps = 32;

/// Filters a signal: d_out[i] = coefficients[0] * d_in[i] + ... + coefficients[31] * d_in[i
/// + 31] for i = 0 .. n - 1. `coefficients` is a host array of `taps` floats. Its values
/// may differ from call to call, even at the same address, and may be overwritten as soon
/// as the function has returned. `d_in` is a device array of n + taps - 1 floats, `d_out`
/// one of n floats. With an n of 0 the function does nothing.
void filter_signal(const float* coefficients, const float* d_in, float* d_out, int n);
