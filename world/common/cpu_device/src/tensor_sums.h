// How tensor cores add. NVIDIA does not publish it; this is what was found on an H200 (common/tests/tensor_core holds
// what it computed, and the test compares every bit), and what others found on the same generation of chips: Fasi,
// Higham, Mikaitis, and Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021); Khattak and Mikaitis, "Accurate
// models of NVIDIA tensor cores" (2025); Xie, Wang, Yang, and Yang, "MMA-Sim" (2025).
//
// Products are exact. Those of `group` neighbors along k are added to the sum so far at once: all of them are aligned
// to the largest exponent that a product of theirs or the sum has (that of a product is the sum of its factors'
// exponents). What lies more than 25 bits below it is cut off from each, and the rest is added exactly. An alignment
// never goes below the exponent -133. Then sums in FP32 are cut to 24 bits, toward zero, and sums in FP16 rounded to
// the nearest, ties to even. The next group goes on with that. Subnormal numbers count as they are, products that are 0
// have no exponent, and a sum that is 0, or becomes 0, has no sign. Any NaN is 0x7FFFFFFF, or 0x7FFF in FP16.
//
// mma.sync of FP8 computes what two products of FP16 would that start at 0, with c added at the end by an ordinary
// addition in FP32. FP64 is a chain of fused multiply-adds, and integers are exact.
#pragma once

#include <cstdint>

#include "cpu_device/tensor_core.h"

namespace cpu_device {

/// Bytes of a number in memory.
unsigned bytes_of(MatrixNumber number);

/// d = a b + c, all in memory without gaps: a has m rows of k numbers, b has n columns of k numbers, c and d have m
/// rows of n sums.
void add_products(const MatrixShape& shape, const void* a, const void* b, const void* c, void* d);

}  // namespace cpu_device
