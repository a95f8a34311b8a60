// The function that the grader calls.
#pragma once

#include <cstddef>

/// Transposes a matrix: out[col][row] = in[row][col]. A row of `d_in` has `cols` floats,
/// and the next row begins `pitch_in` floats after it. A row of `d_out` has `rows` floats,
/// and the next one begins `pitch_out` floats after it. Both pitches are multiples of 4,
/// and both matrices begin at a multiple of 16 bytes. Behind a row of `d_out`, up to the
/// next multiple of 4 floats, anything may be written.
void transpose(const float* d_in, std::size_t pitch_in, float* d_out, std::size_t pitch_out,
               unsigned rows, unsigned cols);
