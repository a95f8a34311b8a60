// The formats of numbers that tensor cores multiply: what they are on the device, how
// inputs become such numbers, and how far the sums of their products may be off.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "chapters/4_examples/matrix_multiply/product.h"
#include "common/helpers/compare.h"

namespace modern_cuda {

using examples::Product;

/// `value`, rounded to the nearest number with so many significant bits, none of them below
/// `least`. Ties go to the even one.
inline float rounded_to(int bits, double least, float value) {
    int exponent = 0;
    std::frexp(value, &exponent);  // value = f 2^exponent with f in [0.5, 1)
    const double unit = std::max(std::ldexp(1.0, exponent - bits), least);
    return static_cast<float>(std::nearbyint(value / unit) * unit);
}

/// What all formats but INT8 share: sums are floats.
template <int significant_bits>
struct FloatingFormat {
    using Sum = float;
    static constexpr int bits = significant_bits;
    static constexpr bool b_is_transposed = true, rounds = true;
    static constexpr double scale = 1;

    // Products of two such numbers are exact in float, so only the sum errs. A tensor core
    // may cut off what does not fit, where an addition of the CPU rounds. That makes a step
    // twice as wrong at most, and the bound of ordinary sums has more room than that.
    static double tolerance(std::size_t k, double magnitude) {
        return warpwise::sum_tolerance(k, std::numeric_limits<float>::epsilon(), magnitude);
    }
};

/// 11 significant bits in 2 bytes; from 2^-24 to 65504.
struct Fp16 : FloatingFormat<11> {
    using Element = __half;
    static constexpr const char* name = "FP16";
    static Element element(float input) { return __float2half(input); }
    static double value(Element element) { return __half2float(element); }
};

/// 8 significant bits in 2 bytes, with the exponents of a float.
struct Bf16 : FloatingFormat<8> {
    using Element = __nv_bfloat16;
    static constexpr const char* name = "bf16";
    static Element element(float input) { return __float2bfloat16(input); }
    static double value(Element element) { return __bfloat162float(element); }
};

/// 11 significant bits in a float, whose lower 13 bits are 0.
struct Tf32 : FloatingFormat<11> {
    using Element = float;
    static constexpr const char* name = "TF32";
    static Element element(float input) { return rounded_to(bits, 0, input); }
    static double value(Element element) { return element; }
};

/// FP8 with 4 bits of exponent and 3 of fraction (e4m3): 4 significant bits in a byte, from
/// 2^-9 to 448. The CPU device has no type for it, so this is one.
struct Fp8 : FloatingFormat<4> {
    struct Element {
        std::uint8_t bits;  // sign, exponent + 7, fraction; exponent 0: times 2^-9
    };
    static constexpr const char* name = "FP8";

    static Element element(float input) {
        const float rounded = rounded_to(bits, 1.0 / 512, input);
        const float magnitude = std::min(std::fabs(rounded), 448.0f);
        unsigned code = 0;
        if (magnitude < 1.0f / 64) {
            code = static_cast<unsigned>(magnitude * 512);
        } else {
            int exponent = 0;
            const float fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
            code = static_cast<unsigned>(exponent + 6) << 3 |
                   (static_cast<unsigned>(fraction * 16) & 7);
        }
        return {static_cast<std::uint8_t>(code | (std::signbit(input) ? 128 : 0))};
    }
    static double value(Element element) {
        const unsigned exponent = element.bits >> 3 & 15, fraction = element.bits & 7;
        const double magnitude =
            exponent == 0 ? fraction / 512.0
                          : std::ldexp(8.0 + fraction, static_cast<int>(exponent) - 10);
        return (element.bits & 128) != 0 ? -magnitude : magnitude;
    }

    // What wgmma adds up in FP8 has fewer bits than a float: the lesson measures how many.
    // The bound allows for 13 bits of fraction: each instruction adds 32 products to a sum,
    // and what each addend loses is up to a unit of the largest one. Errors of products are
    // of both signs; those of the sum may all have the same.
    static double tolerance(std::size_t k, double) {
        const double terms = static_cast<double>(k), root = std::sqrt(terms);
        const double largest = 1 + 2 * root;  // of a sum; three standard deviations of it
        return std::ldexp(largest, -13) * (4 * root + terms / 32);
    }
};

/// Integers from -127 to 127, for inputs in [-1, 1]. Sums are exact.
struct Int8 {
    using Element = std::int8_t;
    using Sum = int;
    static constexpr const char* name = "INT8";
    static constexpr int bits = 8;
    static constexpr bool b_is_transposed = true, rounds = true;
    static constexpr double scale = 127;
    static Element element(float input) {
        return static_cast<Element>(std::nearbyint(127 * input));
    }
    static double value(Element element) { return element; }
    static double tolerance(std::size_t, double) { return 0; }
};

}  // namespace modern_cuda
