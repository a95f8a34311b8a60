// The part of the CUDA Math API that the host's <cmath> lacks, in the global namespace, as device code calls it.
//
// Together with <cmath> and the headers included here it makes kernels' arithmetic available to host and device code
// alike. Intrinsics that are fast approximations on a GPU (`__sinf`) return the accurate value, except where their
// definition makes a difference that a program can see.
#pragma once

#include "cpu_device/standard_math.h"  // the C names in the global namespace, too

#include <stdlib.h>  // abs for every type

#include <cfloat>
#include <climits>
#include <limits>
#include <numbers>

#include "cpu_device/control.h"
#include "cpu_device/integer_intrinsics.h"
#include "cpu_device/load_store.h"
#include "cpu_device/rounding.h"

// ---- minimum and maximum -------------------------------------------------------------------------------------

// Functions and not templates: with `using namespace std` they are preferred over std::min and std::max.
#define CPU_DEVICE_MIN_MAX(result, A, B)                                                                          \
    inline result min(A a, B b) {                                                                                 \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a) : static_cast<result>(b); \
    }                                                                                                             \
    inline result max(A a, B b) {                                                                                 \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(b) : static_cast<result>(a); \
    }
#define CPU_DEVICE_MIN_MAX_INTEGER(type)                            \
    CPU_DEVICE_MIN_MAX(type, type, type)                            \
    CPU_DEVICE_MIN_MAX(unsigned type, unsigned type, unsigned type) \
    CPU_DEVICE_MIN_MAX(unsigned type, type, unsigned type)          \
    CPU_DEVICE_MIN_MAX(unsigned type, unsigned type, type)
// A NaN loses against a number.
#define CPU_DEVICE_MIN_MAX_REAL(result, A, B)                                                         \
    inline result min(A a, B b) { return std::fmin(static_cast<result>(a), static_cast<result>(b)); } \
    inline result max(A a, B b) { return std::fmax(static_cast<result>(a), static_cast<result>(b)); }

CPU_DEVICE_MIN_MAX_INTEGER(int)
CPU_DEVICE_MIN_MAX_INTEGER(long)
CPU_DEVICE_MIN_MAX_INTEGER(long long)
CPU_DEVICE_MIN_MAX_REAL(float, float, float)
CPU_DEVICE_MIN_MAX_REAL(double, double, double)
CPU_DEVICE_MIN_MAX_REAL(double, float, double)
CPU_DEVICE_MIN_MAX_REAL(double, double, float)

#undef CPU_DEVICE_MIN_MAX
#undef CPU_DEVICE_MIN_MAX_INTEGER
#undef CPU_DEVICE_MIN_MAX_REAL

inline unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
inline unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

// ---- roots, powers, quotients --------------------------------------------------------------------------------

// C23 gives these names to the host's library too: glibc 2.42 has rsqrt, 2.41 has sinpi and cospi.
#if !defined(__GLIBC_PREREQ) || !__GLIBC_PREREQ(2, 42)
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
#endif
inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }

inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
inline float rcbrtf(float x) { return static_cast<float>(1.0 / std::cbrt(static_cast<double>(x))); }
inline float rcbrt(float x) { return rcbrtf(x); }

inline float exp10(float x) { return ::exp10f(x); }
inline float fdividef(float x, float y) { return x / y; }

// ---- lengths of vectors; no overflow on the way ----------------------------------------------------------------

inline double norm3d(double a, double b, double c) { return std::hypot(std::hypot(a, b), c); }
inline double norm4d(double a, double b, double c, double d) { return std::hypot(std::hypot(a, b), std::hypot(c, d)); }
inline double norm(int count, const double* values) {
    double length = 0.0;
    for (int i = 0; i < count; ++i) length = std::hypot(length, values[i]);
    return length;
}
inline float norm3df(float a, float b, float c) { return static_cast<float>(norm3d(a, b, c)); }
inline float norm4df(float a, float b, float c, float d) { return static_cast<float>(norm4d(a, b, c, d)); }
inline float normf(int count, const float* values) {
    double length = 0.0;
    for (int i = 0; i < count; ++i) length = std::hypot(length, static_cast<double>(values[i]));
    return static_cast<float>(length);
}
inline double rhypot(double a, double b) { return 1.0 / std::hypot(a, b); }
inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
inline double rnorm(int count, const double* values) { return 1.0 / norm(count, values); }
inline float rhypotf(float a, float b) { return static_cast<float>(rhypot(a, b)); }
inline float rhypot(float a, float b) { return rhypotf(a, b); }
inline float rnorm3df(float a, float b, float c) { return static_cast<float>(rnorm3d(a, b, c)); }
inline float rnorm4df(float a, float b, float c, float d) { return static_cast<float>(rnorm4d(a, b, c, d)); }
inline float rnormf(int count, const float* values) {
    double length = 0.0;
    for (int i = 0; i < count; ++i) length = std::hypot(length, static_cast<double>(values[i]));
    return static_cast<float>(1.0 / length);
}

// ---- trigonometry ----------------------------------------------------------------------------------------------

inline void sincos(float x, float* sine, float* cosine) { ::sincosf(x, sine, cosine); }

namespace cpu_device {

/// sin(pi x) and cos(pi x), from the angle reduced exactly to at most pi / 4.
struct SineCosine {
    double sine, cosine;
};
inline SineCosine sine_cosine_of_pi_times(double x) {
    if (!std::isfinite(x)) return {x - x, x - x};
    const double reduced = std::remainder(x, 2.0);               // exact, in [-1, 1]
    const double quarter_turns = std::nearbyint(2.0 * reduced);  // -2 ... 2
    const double angle = (reduced - 0.5 * quarter_turns) * std::numbers::pi;
    const double sine = std::sin(angle), cosine = std::cos(angle);
    switch (static_cast<int>(quarter_turns) & 3) {
        case 0:
            return {sine, cosine};
        case 1:
            return {cosine, 0.0 - sine};
        case 2:
            return {std::copysign(0.0, x) - sine, -cosine};
        default:
            return {-cosine, sine + 0.0};
    }
}

}  // namespace cpu_device

#if !defined(__GLIBC_PREREQ) || !__GLIBC_PREREQ(2, 41)
inline double sinpi(double x) { return cpu_device::sine_cosine_of_pi_times(x).sine; }
inline double cospi(double x) { return cpu_device::sine_cosine_of_pi_times(x).cosine; }
inline float sinpif(float x) { return static_cast<float>(cpu_device::sine_cosine_of_pi_times(x).sine); }
inline float cospif(float x) { return static_cast<float>(cpu_device::sine_cosine_of_pi_times(x).cosine); }
#endif
inline float sinpi(float x) { return sinpif(x); }
inline float cospi(float x) { return cospif(x); }
inline void sincospi(double x, double* sine, double* cosine) {
    const auto both = cpu_device::sine_cosine_of_pi_times(x);
    *sine = both.sine;
    *cosine = both.cosine;
}
inline void sincospif(float x, float* sine, float* cosine) {
    const auto both = cpu_device::sine_cosine_of_pi_times(x);
    *sine = static_cast<float>(both.sine);
    *cosine = static_cast<float>(both.cosine);
}
inline void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }

// ---- error functions and the normal distribution ---------------------------------------------------------------

/// exp(x * x) * erfc(x), without underflow for large x.
inline double erfcx(double x) {
    if (x < 25.0) {
        const double square = x * x;
        const double rest = std::fma(x, x, -square);
        return std::isinf(square) ? square : std::exp(square) * (1.0 + rest) * std::erfc(x);
    }
    // Asymptotic series (DLMF 7.12.1); at x = 25 the sixth term is below the last digit.
    const double t = 1.0 / (2.0 * x * x);
    const double series = 1.0 - t * (1.0 - 3.0 * t * (1.0 - 5.0 * t * (1.0 - 7.0 * t * (1.0 - 9.0 * t))));
    return series / x * (std::numbers::inv_sqrtpi);
}

namespace cpu_device {

/// The x with erfc(x) = y for 0 < y < 1/2: Newton's method on log(erfc(x)) = -x * x + log(erfcx(x)).
inline double erfcinv_of_tail(double y) {
    // First guess: Winitzki's formula, good to three digits.
    const double a = 0.147;
    const double logarithm = std::log(y) + std::log(2.0 - y);
    const double half = 2.0 / (std::numbers::pi * a) + 0.5 * logarithm;
    double x = std::sqrt(std::sqrt(half * half - logarithm / a) - half);
    const double target = std::log(y);
    for (int i = 0; i < 4; ++i) {
        const double scaled = erfcx(x);
        const double slope = -2.0 * std::numbers::inv_sqrtpi / scaled;
        x -= (std::log(scaled) - x * x - target) / slope;
    }
    return x;
}

/// The x with erf(x) = y for |y| <= 1/2: Halley's method from the first terms of the series.
inline double erfinv_of_center(double y) {
    double x = y * (0.5 / std::numbers::inv_sqrtpi) * (1.0 + std::numbers::pi / 12.0 * y * y);
    for (int i = 0; i < 3; ++i) {
        const double step = (std::erf(x) - y) / (2.0 * std::numbers::inv_sqrtpi * std::exp(-x * x));
        x -= step / (1.0 + x * step);
    }
    return x;
}

}  // namespace cpu_device

/// The x with erfc(x) = y; y in [0, 2].
inline double erfcinv(double y) {
    if (!(y >= 0.0 && y <= 2.0)) return std::numeric_limits<double>::quiet_NaN();
    if (y == 0.0) return std::numeric_limits<double>::infinity();
    if (y == 2.0) return -std::numeric_limits<double>::infinity();
    if (y < 0.5) return cpu_device::erfcinv_of_tail(y);
    if (y > 1.5) return -cpu_device::erfcinv_of_tail(2.0 - y);
    return cpu_device::erfinv_of_center(1.0 - y);
}
/// The x with erf(x) = y; y in [-1, 1].
inline double erfinv(double y) {
    if (std::abs(y) <= 0.5) return y == 0.0 ? y : cpu_device::erfinv_of_center(y);
    return y < 0.0 ? -erfcinv(1.0 + y) : erfcinv(1.0 - y);
}
/// Probability that a standard normal variable is at most x.
inline double normcdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
inline double normcdfinv(double probability) { return -std::numbers::sqrt2 * erfcinv(2.0 * probability); }

inline double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::abs(x)); }
inline double cyl_bessel_i1(double x) { return std::copysign(std::cyl_bessel_i(1.0, std::abs(x)), x); }

// Single precision: the double-precision value, rounded once.
#define CPU_DEVICE_SINGLE_PRECISION(name)                                                        \
    inline float name##f(float x) { return static_cast<float>(::name(static_cast<double>(x))); } \
    inline float name(float x) { return name##f(x); }

CPU_DEVICE_SINGLE_PRECISION(erfcx)
CPU_DEVICE_SINGLE_PRECISION(erfinv)
CPU_DEVICE_SINGLE_PRECISION(erfcinv)
CPU_DEVICE_SINGLE_PRECISION(normcdf)
CPU_DEVICE_SINGLE_PRECISION(normcdfinv)
CPU_DEVICE_SINGLE_PRECISION(cyl_bessel_i0)
CPU_DEVICE_SINGLE_PRECISION(cyl_bessel_i1)

#undef CPU_DEVICE_SINGLE_PRECISION

// ---- intrinsics that trade accuracy for speed on a GPU -----------------------------------------------------------

// With C linkage: glibc declares some of these names for its own use.
extern "C" {
inline float __sinf(float x) noexcept { return std::sin(x); }
inline float __cosf(float x) noexcept { return std::cos(x); }
inline float __tanf(float x) noexcept { return std::tan(x); }
inline float __tanhf(float x) noexcept { return std::tanh(x); }
inline void __sincosf(float x, float* sine, float* cosine) noexcept { ::sincosf(x, sine, cosine); }
inline float __expf(float x) noexcept { return std::exp(x); }
inline float __exp10f(float x) noexcept { return ::exp10f(x); }
inline float __logf(float x) noexcept { return std::log(x); }
inline float __log2f(float x) noexcept { return std::log2(x); }
inline float __log10f(float x) noexcept { return std::log10(x); }
/// 2^(y log2(x)), as on a GPU: NaN for a negative x, where powf(-2, 3) is -8.
inline float __powf(float x, float y) noexcept { return std::exp2(y * std::log2(x)); }
}

/// x / y; 0 for finite x when 2^126 < |y| < 2^128, because a GPU forms 1 / y first and flushes it to zero.
inline float __fdividef(float x, float y) {
    const float size = std::abs(y);
    if (size > 0x1p126f && size <= FLT_MAX) return x * std::copysign(0.0f, y);
    return x / y;
}

/// x clamped to [0, 1]; NaN gives 0.
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
