// What lesson serial_c calls: the loops of loops.h, in pairs, as the compiler makes them
// with -O1 and with -O3.
//
//     #include "chapters/3_optimization/serial_c/loop_pairs.h"
//
//     optimization::loops_o1.sum.as_written(in, &sum, length);
//     optimization::loops_o3.sum.by_hand(in, &sum, length);
#pragma once

#include <cstddef>

namespace optimization {

using std::size_t;

/// Two versions of one loop, with the same arguments and the same result.
template <class Function>
struct Pair {
    Function* as_written;
    Function* by_hand;
};

/// All loops. Matrices are stored row after row; no arrays overlap, but the functions are
/// not told.
struct Loops {
    /// out[row][col] = in[row][col] * e^-rate[row]
    Pair<void(const float* in, const float* rate, float* out, size_t rows, size_t cols)>
        decay_rows;
    /// sums[row] = sum of the row
    Pair<void(const float* in, float* sums, size_t rows, size_t cols)> sum_rows;
    /// out[rows - 1 - row][col] = 2 * in[row][col]
    Pair<void(const float* in, float* out, size_t rows, size_t cols)> flip_rows;
    /// out[i] = in[i] / divisor
    Pair<void(const float* in, float divisor, float* out, size_t length)> divide;
    /// out[i] = in[i] * window[i % period]
    Pair<void(const float* in, const float* window, size_t period, float* out,
              size_t length)>
        repeat_window;
    /// sums[col] = sum of the column
    Pair<void(const float* in, float* sums, size_t rows, size_t cols)> sum_cols;
    /// out[i] = (pixels[i] / 255)^2.2: what a screen makes of a byte
    Pair<void(const unsigned char* pixels, float* out, size_t length)> gamma;
    /// out[i] = a[i] * b[i] if `multiply`, else a[i] + b[i]
    Pair<void(const float* a, const float* b, bool multiply, float* out, size_t length)>
        combine;
    /// out[i] = in[i - 1] - 2 in[i] + in[i + 1]; the last element is the neighbor of the
    /// first
    Pair<void(const float* in, float* out, size_t length)> laplace;
    /// *sum = sum of in[0 .. length - 1]
    Pair<void(const float* in, float* sum, size_t length)> sum;
    /// The same of whole numbers.
    Pair<void(const int* in, int* sum, size_t length)> sum_integers;
    /// The same as `sum`, but by hand with vector instructions.
    Pair<void(const float* in, float* sum, size_t length)> sum_simd;
    /// y[i] = factor * x[i] + y[i], by hand with vector instructions
    Pair<void(float factor, const float* x, float* y, size_t length)> saxpy_simd;

    const char* compiler;  ///< that made them
};

extern const Loops loops_o1, loops_o3;

}  // namespace optimization
