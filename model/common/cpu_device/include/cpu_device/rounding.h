// Arithmetic with a chosen rounding direction, and conversions between number formats as a GPU does them.
//
// The suffix says how a result that does not fit exactly is rounded: `_rn` to nearest (ties to even), `_rz` toward
// zero, `_ru` up, `_rd` down. Meanings: CUDA Math API, "Single Precision Intrinsics", "Double Precision Intrinsics"
// and "Type Casting Intrinsics".
#pragma once

#include <cfenv>
#include <concepts>
#include <limits>

#include "cpu_device/standard_math.h"

namespace cpu_device {

/// Keeps the compiler from fusing the value, a product, with an addition that uses it.
template <std::floating_point T>
T unfused(T value) {
#if defined(__FMA__)
    asm("" : "+x"(value));
#elif defined(__aarch64__)
    asm("" : "+w"(value));
#endif
    return value;
}

/// Hides from the compiler where the value comes from and what it is used for.
template <class T>
void make_opaque(T& value) {
    asm volatile("" : "+m"(value));
}

/// Runs `operation(values...)` while the processor rounds as `direction` (FE_UPWARD ...) says. The values pass
/// through opaque statements, so that the compiler cannot move the arithmetic out of the guarded region.
template <class Operation, std::floating_point... T>
auto with_rounding(int direction, Operation operation, T... values) {
    const int saved = std::fegetround();
    std::fesetround(direction);
    (make_opaque(values), ...);
    auto result = operation(values...);
    make_opaque(result);
    std::fesetround(saved);
    return result;
}

/// The integer nearest to `value` in the given direction, as a floating-point number.
template <std::floating_point T>
T round_to_nearest(T value) {
    return std::nearbyint(value);
}
template <std::floating_point T>
T round_to_zero(T value) {
    return std::trunc(value);
}
template <std::floating_point T>
T round_up(T value) {
    return std::ceil(value);
}
template <std::floating_point T>
T round_down(T value) {
    return std::floor(value);
}

/// A whole number as an integer: out of range gives the nearest limit. NaN gives 0 where both types have at most 32
/// bits, else only the highest bit is set (PTX ISA, "cvt").
template <std::integral Integer, std::floating_point T>
Integer saturating_cast(T value) {
    using Limits = std::numeric_limits<Integer>;
    constexpr T first_too_large = static_cast<T>(Limits::max() / 2 + 1) * 2;
    if (value >= first_too_large) return Limits::max();
    if (value <= static_cast<T>(Limits::min())) return Limits::min();
    if (value != value) {
        constexpr bool has_64_bits = sizeof(Integer) == 8 || sizeof(T) == 8;
        return has_64_bits ? static_cast<Integer>(Integer{1} << (sizeof(Integer) * 8 - 1)) : Integer{0};
    }
    return static_cast<Integer>(value);
}

}  // namespace cpu_device

// ---- arithmetic ----------------------------------------------------------------------------------------------

// The three directed versions of an operation on one type; `expression` is written in a, b, c.
#define CPU_DEVICE_DIRECTED_1(name, type, expression)             \
    inline type name##_rz(type x) {                               \
        return cpu_device::with_rounding(                         \
            FE_TOWARDZERO, [](type a) { return expression; }, x); \
    }                                                             \
    inline type name##_ru(type x) {                               \
        return cpu_device::with_rounding(                         \
            FE_UPWARD, [](type a) { return expression; }, x);     \
    }                                                             \
    inline type name##_rd(type x) {                               \
        return cpu_device::with_rounding(                         \
            FE_DOWNWARD, [](type a) { return expression; }, x);   \
    }
#define CPU_DEVICE_DIRECTED_2(name, type, expression)                        \
    inline type name##_rz(type x, type y) {                                  \
        return cpu_device::with_rounding(                                    \
            FE_TOWARDZERO, [](type a, type b) { return expression; }, x, y); \
    }                                                                        \
    inline type name##_ru(type x, type y) {                                  \
        return cpu_device::with_rounding(                                    \
            FE_UPWARD, [](type a, type b) { return expression; }, x, y);     \
    }                                                                        \
    inline type name##_rd(type x, type y) {                                  \
        return cpu_device::with_rounding(                                    \
            FE_DOWNWARD, [](type a, type b) { return expression; }, x, y);   \
    }
#define CPU_DEVICE_DIRECTED_3(name, type, expression)                                   \
    inline type name##_rz(type x, type y, type z) {                                     \
        return cpu_device::with_rounding(                                               \
            FE_TOWARDZERO, [](type a, type b, type c) { return expression; }, x, y, z); \
    }                                                                                   \
    inline type name##_ru(type x, type y, type z) {                                     \
        return cpu_device::with_rounding(                                               \
            FE_UPWARD, [](type a, type b, type c) { return expression; }, x, y, z);     \
    }                                                                                   \
    inline type name##_rd(type x, type y, type z) {                                     \
        return cpu_device::with_rounding(                                               \
            FE_DOWNWARD, [](type a, type b, type c) { return expression; }, x, y, z);   \
    }

// Rounding to nearest is what the processor does anyway; sums and products are kept from being fused, as on a GPU.
#define CPU_DEVICE_ARITHMETIC(prefix, type, multiply_add)                                                  \
    inline type prefix##add_rn(type x, type y) { return cpu_device::unfused(x) + cpu_device::unfused(y); } \
    inline type prefix##sub_rn(type x, type y) { return cpu_device::unfused(x) - cpu_device::unfused(y); } \
    inline type prefix##mul_rn(type x, type y) { return cpu_device::unfused(x * y); }                      \
    inline type prefix##div_rn(type x, type y) { return x / y; }                                           \
    inline type multiply_add##_rn(type x, type y, type z) { return std::fma(x, y, z); }                    \
    inline type prefix##rcp_rn(type x) { return type{1} / x; }                                             \
    inline type prefix##sqrt_rn(type x) { return std::sqrt(x); }                                           \
    CPU_DEVICE_DIRECTED_2(prefix##add, type, a + b)                                                        \
    CPU_DEVICE_DIRECTED_2(prefix##sub, type, a - b)                                                        \
    CPU_DEVICE_DIRECTED_2(prefix##mul, type, a* b)                                                         \
    CPU_DEVICE_DIRECTED_2(prefix##div, type, a / b)                                                        \
    CPU_DEVICE_DIRECTED_3(multiply_add, type, std::fma(a, b, c))                                           \
    CPU_DEVICE_DIRECTED_1(prefix##rcp, type, type{1} / a)                                                  \
    CPU_DEVICE_DIRECTED_1(prefix##sqrt, type, std::sqrt(a))

CPU_DEVICE_ARITHMETIC(__f, float, __fmaf)
CPU_DEVICE_ARITHMETIC(__d, double, __fma)

/// 1 / sqrt(x), correctly rounded: the quotient is formed with 29 bits to spare.
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }

#undef CPU_DEVICE_DIRECTED_1
#undef CPU_DEVICE_DIRECTED_2
#undef CPU_DEVICE_DIRECTED_3
#undef CPU_DEVICE_ARITHMETIC

// ---- floating point to integer: rounded, clamped to the integer's range ----------------------------------------

#define CPU_DEVICE_TO_INTEGER(from, to_name, to)                                                                     \
    inline to __##from##2##to_name##_rn(from x) {                                                                    \
        return cpu_device::saturating_cast<to>(cpu_device::round_to_nearest(x));                                     \
    }                                                                                                                \
    inline to __##from##2##to_name##_rz(from x) {                                                                    \
        return cpu_device::saturating_cast<to>(cpu_device::round_to_zero(x));                                        \
    }                                                                                                                \
    inline to __##from##2##to_name##_ru(from x) { return cpu_device::saturating_cast<to>(cpu_device::round_up(x)); } \
    inline to __##from##2##to_name##_rd(from x) { return cpu_device::saturating_cast<to>(cpu_device::round_down(x)); }

CPU_DEVICE_TO_INTEGER(float, int, int)
CPU_DEVICE_TO_INTEGER(float, uint, unsigned int)
CPU_DEVICE_TO_INTEGER(float, ll, long long)
CPU_DEVICE_TO_INTEGER(float, ull, unsigned long long)
CPU_DEVICE_TO_INTEGER(double, int, int)
CPU_DEVICE_TO_INTEGER(double, uint, unsigned int)
CPU_DEVICE_TO_INTEGER(double, ll, long long)
CPU_DEVICE_TO_INTEGER(double, ull, unsigned long long)

#undef CPU_DEVICE_TO_INTEGER

// ---- integer and double to a narrower floating-point type --------------------------------------------------------

namespace cpu_device {

/// `value` as a `Real`, rounded as `direction` says.
template <std::floating_point Real, class T>
Real convert_rounded(int direction, T value) {
    const int saved = std::fegetround();
    std::fesetround(direction);
    make_opaque(value);
    Real result = static_cast<Real>(value);
    make_opaque(result);
    std::fesetround(saved);
    return result;
}

}  // namespace cpu_device

#define CPU_DEVICE_TO_REAL(from_name, from, real)                                                                   \
    inline real __##from_name##2##real##_rn(from x) { return static_cast<real>(x); }                                \
    inline real __##from_name##2##real##_rz(from x) { return cpu_device::convert_rounded<real>(FE_TOWARDZERO, x); } \
    inline real __##from_name##2##real##_ru(from x) { return cpu_device::convert_rounded<real>(FE_UPWARD, x); }     \
    inline real __##from_name##2##real##_rd(from x) { return cpu_device::convert_rounded<real>(FE_DOWNWARD, x); }

CPU_DEVICE_TO_REAL(int, int, float)
CPU_DEVICE_TO_REAL(uint, unsigned int, float)
CPU_DEVICE_TO_REAL(ll, long long, float)
CPU_DEVICE_TO_REAL(ull, unsigned long long, float)
CPU_DEVICE_TO_REAL(double, double, float)
CPU_DEVICE_TO_REAL(ll, long long, double)
CPU_DEVICE_TO_REAL(ull, unsigned long long, double)

#undef CPU_DEVICE_TO_REAL

inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned int x) { return x; }

// ---- the same bits as another type -------------------------------------------------------------------------------

inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline int __double2hiint(double x) { return static_cast<int>(__builtin_bit_cast(long long, x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__builtin_bit_cast(long long, x)); }
inline double __hiloint2double(int high, int low) {
    return __builtin_bit_cast(double, static_cast<unsigned long long>(static_cast<unsigned int>(high)) << 32 |
                                          static_cast<unsigned int>(low));
}
