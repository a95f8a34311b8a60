// The loops of lesson serial_c: each as most people would write it at first, and then
// rewritten by hand. Plain C, but for a few names of C++.
//
// They are compiled twice, as loops_o1.cpp with -O1 and as loops_o3.cpp with -O3: that is
// how the lesson finds out which rewriting the compiler does by itself. The compiler is
// told no more than it usually is: no __restrict__, no -ffast-math, no -march=native. Only
// -falign-loops=32 is there, for both: without it a short loop may take twice as long
// because of where it happens to stand in memory. The macro LOOPS names the set that is
// defined.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>

#include "chapters/3_optimization/serial_c/loop_pairs.h"

namespace optimization {
namespace {

// 1. A loop invariant: the factor is the same for the whole row, so it is computed once per
// row instead of once per element.
void decay_rows(const float* in, const float* rate, float* out, size_t rows, size_t cols) {
    for (size_t row = 0; row < rows; ++row) {
        for (size_t col = 0; col < cols; ++col)
            out[row * cols + col] = in[row * cols + col] * std::exp(-rate[row]);
    }
}

void decay_rows_by_hand(const float* in, const float* rate, float* out, size_t rows,
                        size_t cols) {
    for (size_t row = 0; row < rows; ++row) {
        const float factor = std::exp(-rate[row]);
        for (size_t col = 0; col < cols; ++col)
            out[row * cols + col] = in[row * cols + col] * factor;
    }
}

// 2. An invariant address: sums[row] is loaded, added to, and stored again for every
// element. A local variable is in a register, and it is stored once.
void sum_rows(const float* in, float* sums, size_t rows, size_t cols) {
    for (size_t row = 0; row < rows; ++row) {
        sums[row] = 0;
        for (size_t col = 0; col < cols; ++col) sums[row] += in[row * cols + col];
    }
}

void sum_rows_by_hand(const float* in, float* sums, size_t rows, size_t cols) {
    for (size_t row = 0; row < rows; ++row) {
        float sum = 0;
        for (size_t col = 0; col < cols; ++col) sum += in[row * cols + col];
        sums[row] = sum;
    }
}

// 3. Strength reduction: a cheaper operation for an expensive one. Here the multiplications
// in both indices become pointers that move on.
void flip_rows(const float* in, float* out, size_t rows, size_t cols) {
    for (size_t row = 0; row < rows; ++row) {
        for (size_t col = 0; col < cols; ++col)
            out[(rows - 1 - row) * cols + col] = 2 * in[row * cols + col];
    }
}

void flip_rows_by_hand(const float* in, float* out, size_t rows, size_t cols) {
    float* to = out + rows * cols;
    for (size_t row = 0; row < rows; ++row) {
        to -= cols;
        for (size_t col = 0; col < cols; ++col) to[col] = 2 * in[col];
        in += cols;
    }
}

// 4. Strength reduction again: one division, then multiplications. The reciprocal is
// rounded, so the last bit of a result may differ.
void divide(const float* in, float divisor, float* out, size_t length) {
    for (size_t i = 0; i < length; ++i) out[i] = in[i] / divisor;
}

void divide_by_hand(const float* in, float divisor, float* out, size_t length) {
    const float reciprocal = 1 / divisor;
    for (size_t i = 0; i < length; ++i) out[i] = in[i] * reciprocal;
}

// 5. Once more: the remainder of a division is one of the slowest operations on whole
// numbers. Here it becomes a counter that starts over.
void repeat_window(const float* in, const float* window, size_t period, float* out,
                   size_t length) {
    for (size_t i = 0; i < length; ++i) out[i] = in[i] * window[i % period];
}

void repeat_window_by_hand(const float* in, const float* window, size_t period, float* out,
                           size_t length) {
    size_t place = 0;
    for (size_t i = 0; i < length; ++i) {
        out[i] = in[i] * window[place];
        if (++place == period) place = 0;
    }
}

// 6. Loop order: memory comes in cache lines (64 bytes on most processors). Down a column,
// each line is fetched for one float, and may be gone when the next column wants its
// neighbor: above all when rows are a power of two apart, because then the lines of a
// column compete for the same few places of the cache. Along the rows, all of a line is
// used at once. Each column is still added from top to bottom, so the results are the same
// to the last bit.
void sum_cols(const float* in, float* sums, size_t rows, size_t cols) {
    for (size_t col = 0; col < cols; ++col) {
        float sum = 0;
        for (size_t row = 0; row < rows; ++row) sum += in[row * cols + col];
        sums[col] = sum;
    }
}

void sum_cols_by_hand(const float* in, float* sums, size_t rows, size_t cols) {
    for (size_t col = 0; col < cols; ++col) sums[col] = 0;
    for (size_t row = 0; row < rows; ++row) {
        for (size_t col = 0; col < cols; ++col) sums[col] += in[row * cols + col];
    }
}

// 7. A table: there are only 256 different pixels. (With less than 256 of them the table
// costs more than it saves.)
void gamma_curve(const unsigned char* pixels, float* out, size_t length) {
    for (size_t i = 0; i < length; ++i)
        out[i] = std::pow(static_cast<float>(pixels[i]) / 255, 2.2f);
}

void gamma_curve_by_hand(const unsigned char* pixels, float* out, size_t length) {
    float table[256];
    for (int pixel = 0; pixel < 256; ++pixel)
        table[pixel] = std::pow(static_cast<float>(pixel) / 255, 2.2f);
    for (size_t i = 0; i < length; ++i) out[i] = table[pixels[i]];
}

// 8. A branch out of the loop: `multiply` does not change, so one loop for each of its
// values.
void combine(const float* a, const float* b, bool multiply, float* out, size_t length) {
    for (size_t i = 0; i < length; ++i) {
        if (multiply) {
            out[i] = a[i] * b[i];
        } else {
            out[i] = a[i] + b[i];
        }
    }
}

void combine_by_hand(const float* a, const float* b, bool multiply, float* out,
                     size_t length) {
    if (multiply) {
        for (size_t i = 0; i < length; ++i) out[i] = a[i] * b[i];
    } else {
        for (size_t i = 0; i < length; ++i) out[i] = a[i] + b[i];
    }
}

// 9. A branch out of the loop again: only the first and the last element have a neighbor at
// the other end.
void laplace(const float* in, float* out, size_t length) {
    for (size_t i = 0; i < length; ++i) {
        const float left = i == 0 ? in[length - 1] : in[i - 1];
        const float right = i == length - 1 ? in[0] : in[i + 1];
        out[i] = left - 2 * in[i] + right;
    }
}

void laplace_by_hand(const float* in, float* out, size_t length) {
    if (length == 0) return;
    const size_t last = length - 1;
    out[0] = in[last] - 2 * in[0] + in[last == 0 ? 0 : 1];
    for (size_t i = 1; i < last; ++i) out[i] = in[i - 1] - 2 * in[i] + in[i + 1];
    if (last > 0) out[last] = in[last - 1] - 2 * in[last] + in[0];
}

// 10. Unrolling with several accumulators: an addition waits for the one before it, three
// or four cycles. Eight sums that do not know of each other are added at the same time. The
// order of the additions is another one, and so are the last bits.
void sum_floats(const float* in, float* sum, size_t length) {
    float total = 0;
    for (size_t i = 0; i < length; ++i) total += in[i];
    *sum = total;
}

void sum_floats_by_hand(const float* in, float* sum, size_t length) {
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        s0 += in[i];
        s1 += in[i + 1];
        s2 += in[i + 2];
        s3 += in[i + 3];
        s4 += in[i + 4];
        s5 += in[i + 5];
        s6 += in[i + 6];
        s7 += in[i + 7];
    }
    for (; i < length; ++i) s0 += in[i];  // the remainder
    *sum = ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7));
}

// 11. The same with whole numbers, whose sum is the same in any order.
void sum_ints(const int* in, int* sum, size_t length) {
    int total = 0;
    for (size_t i = 0; i < length; ++i) total += in[i];
    *sum = total;
}

void sum_ints_by_hand(const int* in, int* sum, size_t length) {
    int s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        s0 += in[i];
        s1 += in[i + 1];
        s2 += in[i + 2];
        s3 += in[i + 3];
        s4 += in[i + 4];
        s5 += in[i + 5];
        s6 += in[i + 6];
        s7 += in[i + 7];
    }
    for (; i < length; ++i) s0 += in[i];
    *sum = ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7));
}

// SIMD, single instruction, multiple data: four floats in one register, one instruction for
// all of them. g++ and clang know vectors as a type. Every x86-64 and every 64-bit ARM
// processor has registers of 16 bytes; many have wider ones.
using Floats = float __attribute__((vector_size(16)));
constexpr size_t kLanes = sizeof(Floats) / sizeof(float);

[[gnu::always_inline]] inline Floats load(const float* from) {
    Floats values;
    std::memcpy(&values, from,
                sizeof values);  // one instruction, which does not ask for alignment
    return values;
}

[[gnu::always_inline]] inline void store(float* to, Floats values) {
    std::memcpy(to, &values, sizeof values);
}

// 12. Four accumulators of four lanes each.
void sum_floats_simd(const float* in, float* sum, size_t length) {
    Floats s0 = {}, s1 = {}, s2 = {}, s3 = {};
    size_t i = 0;
    for (; i + 4 * kLanes <= length; i += 4 * kLanes) {
        s0 += load(in + i);
        s1 += load(in + i + kLanes);
        s2 += load(in + i + 2 * kLanes);
        s3 += load(in + i + 3 * kLanes);
    }
    const Floats lanes = (s0 + s1) + (s2 + s3);
    float total = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    for (; i < length; ++i) total += in[i];
    *sum = total;
}

// 13. The elements do not depend on each other: nothing to be careful about, but that x and
// y might overlap.
void saxpy(float factor, const float* x, float* y, size_t length) {
    for (size_t i = 0; i < length; ++i) y[i] = factor * x[i] + y[i];
}

void saxpy_simd(float factor, const float* x, float* y, size_t length) {
    size_t i = 0;
    for (; i + kLanes <= length; i += kLanes)
        store(y + i, factor * load(x + i) + load(y + i));
    for (; i < length; ++i) y[i] = factor * x[i] + y[i];
}

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

}  // namespace

const Loops LOOPS = {
    .decay_rows = {decay_rows, decay_rows_by_hand},
    .sum_rows = {sum_rows, sum_rows_by_hand},
    .flip_rows = {flip_rows, flip_rows_by_hand},
    .divide = {divide, divide_by_hand},
    .repeat_window = {repeat_window, repeat_window_by_hand},
    .sum_cols = {sum_cols, sum_cols_by_hand},
    .gamma = {gamma_curve, gamma_curve_by_hand},
    .combine = {combine, combine_by_hand},
    .laplace = {laplace, laplace_by_hand},
    .sum = {sum_floats, sum_floats_by_hand},
    .sum_integers = {sum_ints, sum_ints_by_hand},
    .sum_simd = {sum_floats, sum_floats_simd},
    .saxpy_simd = {saxpy, saxpy_simd},
    .compiler = kCompiler,
};

}  // namespace optimization
