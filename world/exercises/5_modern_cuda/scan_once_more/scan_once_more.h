// The function that the grader calls.
#pragma once

constexpr unsigned row_length = 128;

/// Running sums and running maxima of `rows` rows, each by itself. The rows have row_length
/// values and lie one after the other. d_sums and d_maxima have as many elements:
/// element i of a row of d_sums is the sum of the elements 0 to i of that row, and that of
/// d_maxima is the largest of them. Neither has to be set by the caller.
void run_along_rows(const int* d_values, unsigned rows, int* d_sums, int* d_maxima);
