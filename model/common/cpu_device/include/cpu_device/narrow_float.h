// 16-bit floating point: what `__half` and `__nv_bfloat16` and their pairs have in common.
//
// A type derives from NarrowFloat<itself, its format>, a pair from NarrowPair<itself, its component>. All functions
// are friends, found through their arguments. Arithmetic is done in float and rounded once: for sums, products,
// quotients and square roots of formats with at most 11 significant bits that gives the correctly rounded result,
// since float's 24 bits are at least 2 * 11 + 2. Multiply-adds need more care, see fma_round_to_odd.
// Meanings: CUDA Math API, "Half Precision Intrinsics" and "Bfloat16 Precision Intrinsics".
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "cpu_device/rounding.h"
#include "cpu_device/standard_math.h"
#include "cpu_device/vector_types.h"

namespace cpu_device {

/// `value` as a float, rounded to odd: an inexact result takes the neighbor whose last bit is 1. Rounding that to
/// fewer bits gives what rounding `value` itself would give (Boldo and Melquiond, 2008).
inline float round_to_odd(double value) {
    const float nearest = static_cast<float>(value);
    if (static_cast<double>(nearest) == value || value != value) return nearest;
    std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
    if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
    return std::bit_cast<float>(bits | 1u);
}

/// a * b + c of three narrow numbers, rounded to odd as a double. The product is exact; the error of the sum is found
/// by Knuth's two-sum.
inline double fma_round_to_odd(double a, double b, double c) {
    const double product = a * b;
    const double sum = product + c;
    const double c_part = sum - product;
    const double error = (product - (sum - c_part)) + (c - c_part);
    if (error == 0.0 || !std::isfinite(sum)) return sum;
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
    if ((bits & 1u) != 0) return sum;
    return std::bit_cast<double>((error > 0.0) == (sum > 0.0) ? bits + 1u : bits - 1u);
}

/// An integer as a double that rounds to the same narrow number: exact up to 53 bits, else rounded to odd.
template <std::integral Integer>
double integer_to_odd(Integer value) {
    if constexpr (sizeof(Integer) == 8) {
        constexpr Integer dropped = 0x7ff;
        const bool is_wide = std::abs(static_cast<double>(value)) >= 0x1p53;
        if (is_wide && (value & dropped) != 0) return static_cast<double>((value & ~dropped) | (dropped + 1));
    }
    return static_cast<double>(value);
}

/// Bits of `value` in `Format`, rounded to nearest even, toward zero, up, down.
template <class Format>
std::uint16_t narrow_rn(double value) {
    return Format::from_float(round_to_odd(value));
}
template <class Format>
std::uint16_t narrow_rz(double value) {
    const std::uint16_t nearest = narrow_rn<Format>(value);
    const bool is_too_large = std::abs(static_cast<double>(Format::to_float(nearest))) > std::abs(value);
    return static_cast<std::uint16_t>(nearest - (is_too_large ? 1 : 0));
}
template <class Format>
std::uint16_t narrow_ru(double value) {
    const std::uint16_t nearest = narrow_rn<Format>(value);
    if (!(Format::to_float(nearest) < value)) return nearest;
    return static_cast<std::uint16_t>(nearest + ((nearest & 0x8000u) != 0 ? -1 : 1));
}
template <class Format>
std::uint16_t narrow_rd(double value) {
    const std::uint16_t nearest = narrow_rn<Format>(value);
    if (!(Format::to_float(nearest) > value)) return nearest;
    return static_cast<std::uint16_t>(nearest + ((nearest & 0x8000u) != 0 ? 1 : -1));
}

inline float clamped_to_unit(float value) { return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f; }

/// A number of 16 bits. `Format` names its special bit patterns and converts: `to_float`, `from_float` (to nearest
/// even).
template <class Number, class Format>
class NarrowFloat {
public:
    using format = Format;

    NarrowFloat() = default;
    NarrowFloat(float value) : bits_(Format::from_float(value)) {}  // NOLINT: implicit as in CUDA
    NarrowFloat(double value) : bits_(narrow_rn<Format>(value)) {}  // NOLINT
    template <std::integral Integer>
    NarrowFloat(Integer value) : bits_(narrow_rn<Format>(integer_to_odd(value))) {}  // NOLINT

    operator float() const { return Format::to_float(bits_); }  // NOLINT
    /// Rounds toward zero and stays in the integer's range.
    template <std::integral Integer>
    operator Integer() const {  // NOLINT
        if constexpr (std::same_as<Integer, bool>) {
            return (bits_ & 0x7fffu) != 0;
        } else {
            return saturating_cast<Integer>(round_to_zero(Format::to_float(bits_)));
        }
    }

    static Number from_bits(std::uint16_t bits) {
        Number number;
        number.bits_ = bits;
        return number;
    }
    std::uint16_t bits() const { return bits_; }

    // ---- arithmetic ----

    friend Number __hadd(Number a, Number b) { return wide(a) + wide(b); }
    friend Number __hsub(Number a, Number b) { return wide(a) - wide(b); }
    friend Number __hmul(Number a, Number b) { return wide(a) * wide(b); }
    friend Number __hdiv(Number a, Number b) { return wide(a) / wide(b); }
    friend Number __hadd_rn(Number a, Number b) { return wide(a) + wide(b); }
    friend Number __hsub_rn(Number a, Number b) { return wide(a) - wide(b); }
    friend Number __hmul_rn(Number a, Number b) { return wide(a) * wide(b); }
    friend Number __hfma(Number a, Number b, Number c) { return fma_round_to_odd(wide(a), wide(b), wide(c)); }
    friend Number __hadd_sat(Number a, Number b) { return clamped_to_unit(__hadd(a, b)); }
    friend Number __hsub_sat(Number a, Number b) { return clamped_to_unit(__hsub(a, b)); }
    friend Number __hmul_sat(Number a, Number b) { return clamped_to_unit(__hmul(a, b)); }
    friend Number __hfma_sat(Number a, Number b, Number c) { return clamped_to_unit(__hfma(a, b, c)); }
    /// Negative results become 0; NaN stays.
    friend Number __hfma_relu(Number a, Number b, Number c) {
        const Number result = __hfma(a, b, c);
        return wide(result) < 0.0f ? Number(0.0f) : result;
    }
    friend Number __hneg(Number a) { return __hisnan(a) ? nan() : from_bits(a.bits_ ^ 0x8000u); }
    friend Number __habs(Number a) { return __hisnan(a) ? nan() : from_bits(a.bits_ & 0x7fffu); }

    friend Number operator+(const Number& a, const Number& b) { return __hadd(a, b); }
    friend Number operator-(const Number& a, const Number& b) { return __hsub(a, b); }
    friend Number operator*(const Number& a, const Number& b) { return __hmul(a, b); }
    friend Number operator/(const Number& a, const Number& b) { return __hdiv(a, b); }
    friend Number& operator+=(Number& a, const Number& b) { return a = __hadd(a, b); }
    friend Number& operator-=(Number& a, const Number& b) { return a = __hsub(a, b); }
    friend Number& operator*=(Number& a, const Number& b) { return a = __hmul(a, b); }
    friend Number& operator/=(Number& a, const Number& b) { return a = __hdiv(a, b); }
    friend Number operator+(const Number& a) { return a; }
    friend Number operator-(const Number& a) { return __hneg(a); }
    friend Number& operator++(Number& a) { return a = __hadd(a, Number(1.0f)); }
    friend Number& operator--(Number& a) { return a = __hsub(a, Number(1.0f)); }
    friend Number operator++(Number& a, int) {
        const Number old = a;
        ++a;
        return old;
    }
    friend Number operator--(Number& a, int) {
        const Number old = a;
        --a;
        return old;
    }

    // ---- comparison; the forms with `u` hold for NaN too ----

    friend bool __heq(Number a, Number b) { return wide(a) == wide(b); }
    friend bool __hne(Number a, Number b) { return wide(a) < wide(b) || wide(a) > wide(b); }
    friend bool __hlt(Number a, Number b) { return wide(a) < wide(b); }
    friend bool __hle(Number a, Number b) { return wide(a) <= wide(b); }
    friend bool __hgt(Number a, Number b) { return wide(a) > wide(b); }
    friend bool __hge(Number a, Number b) { return wide(a) >= wide(b); }
    friend bool __hequ(Number a, Number b) { return !__hne(a, b); }
    friend bool __hneu(Number a, Number b) { return !__heq(a, b); }
    friend bool __hltu(Number a, Number b) { return !__hge(a, b); }
    friend bool __hleu(Number a, Number b) { return !__hgt(a, b); }
    friend bool __hgtu(Number a, Number b) { return !__hle(a, b); }
    friend bool __hgeu(Number a, Number b) { return !__hlt(a, b); }
    friend bool operator==(const Number& a, const Number& b) { return __heq(a, b); }
    friend bool operator!=(const Number& a, const Number& b) { return __hneu(a, b); }
    friend bool operator<(const Number& a, const Number& b) { return __hlt(a, b); }
    friend bool operator<=(const Number& a, const Number& b) { return __hle(a, b); }
    friend bool operator>(const Number& a, const Number& b) { return __hgt(a, b); }
    friend bool operator>=(const Number& a, const Number& b) { return __hge(a, b); }

    friend bool __hisnan(Number a) { return (a.bits_ & 0x7fffu) > Format::infinity; }
    /// 1 for infinity, -1 for minus infinity, else 0.
    friend int __hisinf(Number a) {
        if ((a.bits_ & 0x7fffu) != Format::infinity) return 0;
        return (a.bits_ & 0x8000u) != 0 ? -1 : 1;
    }

    /// The larger one; +0 is larger than -0; a NaN loses against a number.
    friend Number __hmax(Number a, Number b) {
        if (__hisnan(a)) return __hisnan(b) ? nan() : b;
        if (__hisnan(b)) return a;
        if (wide(a) == wide(b)) return from_bits(a.bits_ & b.bits_);
        return wide(a) > wide(b) ? a : b;
    }
    friend Number __hmin(Number a, Number b) {
        if (__hisnan(a)) return __hisnan(b) ? nan() : b;
        if (__hisnan(b)) return a;
        if (wide(a) == wide(b)) return from_bits(a.bits_ | b.bits_);
        return wide(a) < wide(b) ? a : b;
    }
    /// As above, but a NaN wins.
    friend Number __hmax_nan(Number a, Number b) { return __hisnan(a) || __hisnan(b) ? nan() : __hmax(a, b); }
    friend Number __hmin_nan(Number a, Number b) { return __hisnan(a) || __hisnan(b) ? nan() : __hmin(a, b); }

    // ---- functions ----

    friend Number hsqrt(Number a) { return std::sqrt(wide(a)); }
    friend Number hrsqrt(Number a) { return 1.0f / std::sqrt(wide(a)); }
    friend Number hrcp(Number a) { return 1.0f / wide(a); }
    friend Number hexp(Number a) { return std::exp(wide(a)); }
    friend Number hexp2(Number a) { return std::exp2(wide(a)); }
    friend Number hexp10(Number a) { return ::exp10f(wide(a)); }
    friend Number hlog(Number a) { return std::log(wide(a)); }
    friend Number hlog2(Number a) { return std::log2(wide(a)); }
    friend Number hlog10(Number a) { return std::log10(wide(a)); }
    friend Number hsin(Number a) { return std::sin(wide(a)); }
    friend Number hcos(Number a) { return std::cos(wide(a)); }
    friend Number htanh(Number a) { return std::tanh(wide(a)); }
    friend Number hfloor(Number a) { return std::floor(wide(a)); }
    friend Number hceil(Number a) { return std::ceil(wide(a)); }
    friend Number htrunc(Number a) { return std::trunc(wide(a)); }
    friend Number hrint(Number a) { return std::nearbyint(wide(a)); }

private:
    static float wide(Number number) { return Format::to_float(number.bits_); }
    static Number nan() { return from_bits(Format::nan); }

    std::uint16_t bits_;
};

// A function of one, two or three pairs that applies a function of numbers to the components.
#define CPU_DEVICE_PAIR_1(name, function) \
    friend Pair name(Pair a) { return {function(a.x), function(a.y)}; }
#define CPU_DEVICE_PAIR_2(name, function) \
    friend Pair name(Pair a, Pair b) { return {function(a.x, b.x), function(a.y, b.y)}; }
#define CPU_DEVICE_PAIR_3(name, function) \
    friend Pair name(Pair a, Pair b, Pair c) { return {function(a.x, b.x, c.x), function(a.y, b.y, c.y)}; }
// Comparisons of pairs: 1 or 0 by component, whether both hold, and all ones or zeros by halfword.
#define CPU_DEVICE_PAIR_COMPARE(relation)                                                                        \
    friend Pair __h##relation##2(Pair a, Pair b) {                                                               \
        return {Number(__h##relation(a.x, b.x) ? 1.0f : 0.0f), Number(__h##relation(a.y, b.y) ? 1.0f : 0.0f)};   \
    }                                                                                                            \
    friend bool __hb##relation##2(Pair a, Pair b) { return __h##relation(a.x, b.x) && __h##relation(a.y, b.y); } \
    friend unsigned int __h##relation##2_mask(Pair a, Pair b) {                                                  \
        return (__h##relation(a.x, b.x) ? 0xffffu : 0u) | (__h##relation(a.y, b.y) ? 0xffff0000u : 0u);          \
    }

/// Two narrow numbers in one 32-bit word; `Pair` has the members x (low half) and y.
template <class Pair, class Number>
struct NarrowPair {
    CPU_DEVICE_PAIR_2(__hadd2, __hadd)
    CPU_DEVICE_PAIR_2(__hsub2, __hsub)
    CPU_DEVICE_PAIR_2(__hmul2, __hmul)
    CPU_DEVICE_PAIR_2(__h2div, __hdiv)
    CPU_DEVICE_PAIR_2(__hadd2_rn, __hadd)
    CPU_DEVICE_PAIR_2(__hsub2_rn, __hsub)
    CPU_DEVICE_PAIR_2(__hmul2_rn, __hmul)
    CPU_DEVICE_PAIR_2(__hadd2_sat, __hadd_sat)
    CPU_DEVICE_PAIR_2(__hsub2_sat, __hsub_sat)
    CPU_DEVICE_PAIR_2(__hmul2_sat, __hmul_sat)
    CPU_DEVICE_PAIR_3(__hfma2, __hfma)
    CPU_DEVICE_PAIR_3(__hfma2_sat, __hfma_sat)
    CPU_DEVICE_PAIR_3(__hfma2_relu, __hfma_relu)
    CPU_DEVICE_PAIR_1(__hneg2, __hneg)
    CPU_DEVICE_PAIR_1(__habs2, __habs)
    CPU_DEVICE_PAIR_2(__hmax2, __hmax)
    CPU_DEVICE_PAIR_2(__hmin2, __hmin)
    CPU_DEVICE_PAIR_2(__hmax2_nan, __hmax_nan)
    CPU_DEVICE_PAIR_2(__hmin2_nan, __hmin_nan)
    CPU_DEVICE_PAIR_COMPARE(eq)
    CPU_DEVICE_PAIR_COMPARE(ne)
    CPU_DEVICE_PAIR_COMPARE(lt)
    CPU_DEVICE_PAIR_COMPARE(le)
    CPU_DEVICE_PAIR_COMPARE(gt)
    CPU_DEVICE_PAIR_COMPARE(ge)
    CPU_DEVICE_PAIR_COMPARE(equ)
    CPU_DEVICE_PAIR_COMPARE(neu)
    CPU_DEVICE_PAIR_COMPARE(ltu)
    CPU_DEVICE_PAIR_COMPARE(leu)
    CPU_DEVICE_PAIR_COMPARE(gtu)
    CPU_DEVICE_PAIR_COMPARE(geu)
    CPU_DEVICE_PAIR_1(h2sqrt, hsqrt)
    CPU_DEVICE_PAIR_1(h2rsqrt, hrsqrt)
    CPU_DEVICE_PAIR_1(h2rcp, hrcp)
    CPU_DEVICE_PAIR_1(h2exp, hexp)
    CPU_DEVICE_PAIR_1(h2exp2, hexp2)
    CPU_DEVICE_PAIR_1(h2exp10, hexp10)
    CPU_DEVICE_PAIR_1(h2log, hlog)
    CPU_DEVICE_PAIR_1(h2log2, hlog2)
    CPU_DEVICE_PAIR_1(h2log10, hlog10)
    CPU_DEVICE_PAIR_1(h2sin, hsin)
    CPU_DEVICE_PAIR_1(h2cos, hcos)
    CPU_DEVICE_PAIR_1(h2tanh, htanh)
    CPU_DEVICE_PAIR_1(h2floor, hfloor)
    CPU_DEVICE_PAIR_1(h2ceil, hceil)
    CPU_DEVICE_PAIR_1(h2trunc, htrunc)
    CPU_DEVICE_PAIR_1(h2rint, hrint)

    friend Pair __hisnan2(Pair a) { return {Number(__hisnan(a.x) ? 1.0f : 0.0f), Number(__hisnan(a.y) ? 1.0f : 0.0f)}; }
    /// a * b + c of complex numbers x + iy.
    friend Pair __hcmadd(Pair a, Pair b, Pair c) {
        const Number real = __hfma(a.x, b.x, c.x);
        const Number imaginary = __hfma(a.x, b.y, c.y);
        return {__hfma(__hneg(a.y), b.y, real), __hfma(a.y, b.x, imaginary)};
    }

    friend Pair operator+(const Pair& a, const Pair& b) { return __hadd2(a, b); }
    friend Pair operator-(const Pair& a, const Pair& b) { return __hsub2(a, b); }
    friend Pair operator*(const Pair& a, const Pair& b) { return __hmul2(a, b); }
    friend Pair operator/(const Pair& a, const Pair& b) { return __h2div(a, b); }
    friend Pair& operator+=(Pair& a, const Pair& b) { return a = __hadd2(a, b); }
    friend Pair& operator-=(Pair& a, const Pair& b) { return a = __hsub2(a, b); }
    friend Pair& operator*=(Pair& a, const Pair& b) { return a = __hmul2(a, b); }
    friend Pair& operator/=(Pair& a, const Pair& b) { return a = __h2div(a, b); }
    friend Pair operator+(const Pair& a) { return a; }
    friend Pair operator-(const Pair& a) { return __hneg2(a); }
    friend bool operator==(const Pair& a, const Pair& b) { return __hbeq2(a, b); }
    friend bool operator!=(const Pair& a, const Pair& b) { return __hbneu2(a, b); }
    friend bool operator<(const Pair& a, const Pair& b) { return __hblt2(a, b); }
    friend bool operator<=(const Pair& a, const Pair& b) { return __hble2(a, b); }
    friend bool operator>(const Pair& a, const Pair& b) { return __hbgt2(a, b); }
    friend bool operator>=(const Pair& a, const Pair& b) { return __hbge2(a, b); }

    friend float __low2float(Pair a) { return a.x; }
    friend float __high2float(Pair a) { return a.y; }
    friend Pair __lowhigh2highlow(Pair a) { return {a.y, a.x}; }
};

#undef CPU_DEVICE_PAIR_1
#undef CPU_DEVICE_PAIR_2
#undef CPU_DEVICE_PAIR_3
#undef CPU_DEVICE_PAIR_COMPARE

}  // namespace cpu_device

// The conversions whose names differ from type to type: `word` is "half" or "bfloat16".
#define CPU_DEVICE_NARROW_ROUNDINGS(Number, name, Source, to_double)                       \
    inline Number name##_rn(Source value) {                                                \
        return Number::from_bits(cpu_device::narrow_rn<Number::format>(to_double(value))); \
    }                                                                                      \
    inline Number name##_rz(Source value) {                                                \
        return Number::from_bits(cpu_device::narrow_rz<Number::format>(to_double(value))); \
    }                                                                                      \
    inline Number name##_ru(Source value) {                                                \
        return Number::from_bits(cpu_device::narrow_ru<Number::format>(to_double(value))); \
    }                                                                                      \
    inline Number name##_rd(Source value) {                                                \
        return Number::from_bits(cpu_device::narrow_rd<Number::format>(to_double(value))); \
    }

#define CPU_DEVICE_NARROW_AND_INTEGER(Number, word, integer, Integer)                              \
    CPU_DEVICE_NARROW_ROUNDINGS(Number, __##integer##2##word, Integer, cpu_device::integer_to_odd) \
    inline Integer __##word##2##integer##_rn(Number value) {                                       \
        return cpu_device::saturating_cast<Integer>(cpu_device::round_to_nearest<float>(value));   \
    }                                                                                              \
    inline Integer __##word##2##integer##_rz(Number value) {                                       \
        return cpu_device::saturating_cast<Integer>(cpu_device::round_to_zero<float>(value));      \
    }                                                                                              \
    inline Integer __##word##2##integer##_ru(Number value) {                                       \
        return cpu_device::saturating_cast<Integer>(cpu_device::round_up<float>(value));           \
    }                                                                                              \
    inline Integer __##word##2##integer##_rd(Number value) {                                       \
        return cpu_device::saturating_cast<Integer>(cpu_device::round_down<float>(value));         \
    }

#define CPU_DEVICE_NARROW_CONVERSIONS(Number, word)                                                              \
    CPU_DEVICE_NARROW_ROUNDINGS(Number, __float2##word, float, static_cast<double>)                              \
    inline Number __float2##word(float value) { return Number(value); }                                          \
    inline Number __double2##word(double value) { return Number(value); }                                        \
    inline float __##word##2float(Number value) { return value; }                                                \
    CPU_DEVICE_NARROW_AND_INTEGER(Number, word, short, short)                                                    \
    CPU_DEVICE_NARROW_AND_INTEGER(Number, word, ushort, unsigned short)                                          \
    CPU_DEVICE_NARROW_AND_INTEGER(Number, word, int, int)                                                        \
    CPU_DEVICE_NARROW_AND_INTEGER(Number, word, uint, unsigned int)                                              \
    CPU_DEVICE_NARROW_AND_INTEGER(Number, word, ll, long long)                                                   \
    CPU_DEVICE_NARROW_AND_INTEGER(Number, word, ull, unsigned long long)                                         \
    inline signed char __##word##2char_rz(Number value) { return static_cast<signed char>(value); }              \
    inline unsigned char __##word##2uchar_rz(Number value) { return static_cast<unsigned char>(value); }         \
    inline short __##word##_as_short(Number value) { return static_cast<short>(value.bits()); }                  \
    inline unsigned short __##word##_as_ushort(Number value) { return value.bits(); }                            \
    inline Number __short_as_##word(short bits) { return Number::from_bits(static_cast<unsigned short>(bits)); } \
    inline Number __ushort_as_##word(unsigned short bits) { return Number::from_bits(bits); }
