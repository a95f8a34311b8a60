// The functions that the grader calls.
#pragma once

/// d_numbers[i] is the number of d_values[i]: 0 for the first float in the order that the
/// README gives, 0xffffffff for the last one. Both are device arrays of `count` elements.
/// Without elements nothing happens.
void numbers_of_floats(const float* d_values, int count, unsigned* d_numbers);

/// The other way: d_values[i] is the float with the number d_numbers[i], bit by bit.
void floats_of_numbers(const unsigned* d_numbers, int count, float* d_values);
