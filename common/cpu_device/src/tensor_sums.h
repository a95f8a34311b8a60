// How tensor cores add. NVIDIA does not publish it; this is what was found on an H200 (common/tests/tensor_core holds what
// it computed, and the test compares every bit), and what others found on the same generation of chips: Fasi, Higham,
// Mikaitis, and Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021); Khattak and Mikaitis, "Accurate models of
// NVIDIA tensor cores" (2025); Xie, Wang, Yang, and Yang, "MMA-Sim" (2025).
//
// Products are exact. The products of `group` neighbors along k and the sum so far are added at once: all are aligned to
// the largest exponent among them, what lies more than `bits` bits below that exponent is cut off from each, and the
// rest is added exactly. Sums in FP32 are then cut to 24 bits, toward zero. Sums in FP16 are rounded to the nearest, ties
// to even. The next group goes on with that. Subnormal numbers are used as they are.
#pragma once

#include <cstdint>

#include "cpu_device/tensor_core.h"

namespace cpu_device {

struct SumModel {
    unsigned group_bytes = 32;  ///< of a row of factors that are added at once
    int bits = 25;
};

/// Bytes of a number in memory.
unsigned bytes_of(MatrixNumber number);

/// d = a b + c, all in memory without gaps: a has m rows of k numbers, b has n columns of k numbers, c and d have m rows
/// of n sums.
void add_products(const MatrixShape& shape, const void* a, const void* b, const void* c, void* d);

}  // namespace cpu_device
