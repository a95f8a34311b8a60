// Floating-point numbers of 8 bits: E4M3 (4 bits of exponent, 3 of fraction, no infinity) and E5M2. They only store:
// programs convert them to float and back. Conversions round to nearest, ties to even.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

namespace cpu_device {

/// What distinguishes the two formats.
struct Fp8Format {
    int fraction_bits;
    int bias;
    double largest;
    unsigned infinity;  ///< its bits, or those of NaN where there is none
};
constexpr Fp8Format fp8_format(__nv_fp8_interpretation_t which) {
    return which == __NV_E4M3 ? Fp8Format{3, 7, 448.0, 0x7Fu} : Fp8Format{2, 15, 57344.0, 0x7Cu};
}

CPU_DEVICE_UNSEEN inline __nv_fp8_storage_t to_fp8(double value, __nv_saturation_t saturation,
                                                   __nv_fp8_interpretation_t which) {
    const Fp8Format format = fp8_format(which);
    if (value != value) return 0x7F;
    const unsigned sign = std::signbit(value) ? 0x80u : 0u;
    const double size = std::fabs(value);
    const auto bits_of = [sign](unsigned bits) { return static_cast<__nv_fp8_storage_t>(sign | bits); };
    const unsigned largest = which == __NV_E4M3 ? 0x7Eu : 0x7Bu;
    if (std::isinf(size)) return bits_of(saturation == __NV_SATFINITE ? largest : format.infinity);
    if (size == 0) return bits_of(0);
    const int exponent = std::ilogb(size) < 1 - format.bias ? 1 - format.bias : std::ilogb(size);
    // In units of the last bit; a carry into the next exponent comes out right, because the bits count on.
    const double units = std::nearbyint(std::ldexp(size, format.fraction_bits - exponent));
    if (std::ldexp(units, exponent - format.fraction_bits) > format.largest)
        return bits_of(saturation == __NV_SATFINITE ? largest : format.infinity);
    const unsigned first = 1u << format.fraction_bits;
    const unsigned biased = static_cast<unsigned>(exponent + format.bias - 1);  // units hold the leading 1
    return bits_of(biased * first + static_cast<unsigned>(units));
}

CPU_DEVICE_UNSEEN inline float from_fp8(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t which) {
    const Fp8Format format = fp8_format(which);
    const unsigned size = bits & 0x7Fu;
    const float sign = (bits & 0x80u) != 0 ? -1.0F : 1.0F;
    if (which == __NV_E4M3 ? size == 0x7Fu : size > 0x7Cu) return __builtin_nanf("");
    if (which == __NV_E5M2 && size == 0x7Cu) return sign * __builtin_inff();
    const unsigned fraction = size & ((1u << format.fraction_bits) - 1u);
    const int exponent = static_cast<int>(size >> format.fraction_bits);
    const float units = static_cast<float>(fraction + (exponent > 0 ? 1u << format.fraction_bits : 0u));
    return sign * std::ldexp(units, (exponent > 1 ? exponent : 1) - format.bias - format.fraction_bits);
}

template <__nv_fp8_interpretation_t which>
struct Fp8 {
    __nv_fp8_storage_t __x;

    Fp8() = default;
    explicit Fp8(float value) : __x(to_fp8(value, __NV_SATFINITE, which)) {}
    explicit Fp8(double value) : __x(to_fp8(value, __NV_SATFINITE, which)) {}
    explicit Fp8(int value) : __x(to_fp8(value, __NV_SATFINITE, which)) {}
    explicit Fp8(__half value) : __x(to_fp8(__half2float(value), __NV_SATFINITE, which)) {}
    explicit Fp8(__nv_bfloat16 value) : __x(to_fp8(__bfloat162float(value), __NV_SATFINITE, which)) {}
    explicit operator float() const { return from_fp8(__x, which); }
    explicit operator double() const { return static_cast<double>(from_fp8(__x, which)); }
    explicit operator __half() const { return __float2half(from_fp8(__x, which)); }
    explicit operator __nv_bfloat16() const { return __float2bfloat16(from_fp8(__x, which)); }
};

template <__nv_fp8_interpretation_t which>
struct alignas(2) Fp8x2 {
    __nv_fp8x2_storage_t __x;

    Fp8x2() = default;
    explicit Fp8x2(float2 value)
        : __x(static_cast<__nv_fp8x2_storage_t>(to_fp8(value.x, __NV_SATFINITE, which) |
                                                to_fp8(value.y, __NV_SATFINITE, which) << 8)) {}
    explicit operator float2() const {
        return {from_fp8(static_cast<__nv_fp8_storage_t>(__x), which),
                from_fp8(static_cast<__nv_fp8_storage_t>(__x >> 8), which)};
    }
};

template <__nv_fp8_interpretation_t which>
struct alignas(4) Fp8x4 {
    __nv_fp8x4_storage_t __x;

    Fp8x4() = default;
    explicit Fp8x4(float4 value)
        : __x(to_fp8(value.x, __NV_SATFINITE, which) | to_fp8(value.y, __NV_SATFINITE, which) << 8 |
              to_fp8(value.z, __NV_SATFINITE, which) << 16 |
              static_cast<unsigned>(to_fp8(value.w, __NV_SATFINITE, which)) << 24) {}
    explicit operator float4() const {
        const auto part = [this](int i) { return from_fp8(static_cast<__nv_fp8_storage_t>(__x >> 8 * i), which); };
        return {part(0), part(1), part(2), part(3)};
    }
};

}  // namespace cpu_device

using __nv_fp8_e4m3 = cpu_device::Fp8<__NV_E4M3>;
using __nv_fp8_e5m2 = cpu_device::Fp8<__NV_E5M2>;
using __nv_fp8x2_e4m3 = cpu_device::Fp8x2<__NV_E4M3>;
using __nv_fp8x2_e5m2 = cpu_device::Fp8x2<__NV_E5M2>;
using __nv_fp8x4_e4m3 = cpu_device::Fp8x4<__NV_E4M3>;
using __nv_fp8x4_e5m2 = cpu_device::Fp8x4<__NV_E5M2>;

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                __nv_fp8_interpretation_t interpretation) {
    return cpu_device::to_fp8(x, saturate, interpretation);
}
inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t interpretation) {
    return cpu_device::to_fp8(x, saturate, interpretation);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t interpretation) {
    return cpu_device::to_fp8(__half2float(__half(x)), saturate, interpretation);
}
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t interpretation) {
    return __float2half(cpu_device::from_fp8(x, interpretation));
}
