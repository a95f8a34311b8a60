// `__half` (1 sign, 5 exponent, 10 fraction bits: IEEE 754 binary16) and the pair `__half2`.
#pragma once

#include "cpu_device/atomics.h"
#include "cpu_device/narrow_float.h"

namespace cpu_device {

struct HalfFormat {
    static constexpr std::uint16_t infinity = 0x7c00;
    static constexpr std::uint16_t nan = 0x7fff;

    static float to_float(std::uint16_t bits) {
        const std::uint32_t sign = (bits & 0x8000u) << 16;
        const std::uint32_t magnitude = bits & 0x7fffu;
        if (magnitude < 0x0400u) {  // subnormal: a multiple of 2^-24
            const float value = static_cast<float>(magnitude) * 0x1p-24f;
            return sign != 0 ? -value : value;
        }
        const std::uint32_t exponent_shift = magnitude >= infinity ? 255u - 31u : 127u - 15u;
        return std::bit_cast<float>(sign | ((magnitude << 13) + (exponent_shift << 23)));
    }

    static std::uint16_t from_float(float value) {
        constexpr std::uint32_t first_infinite = 0x477ff000u;  // 65520, half way from 65504 to 65536
        constexpr std::uint32_t first_normal = 0x38800000u;    // 2^-14
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = bits >> 16 & 0x8000u;
        const std::uint32_t magnitude = bits & 0x7fffffffu;
        if (magnitude > 0x7f800000u) return nan;
        if (magnitude >= first_infinite) return static_cast<std::uint16_t>(sign | infinity);
        if (magnitude < first_normal) {
            // One unit in the last place of 0.5 is 2^-24: the addition rounds to a multiple of it.
            const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
            return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
        }
        const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);  // ties to even
        return static_cast<std::uint16_t>(sign | ((rounded >> 13) - ((127u - 15u) << 10)));
    }
};

}  // namespace cpu_device

/// The bits of a `__half`, for code that must be plain data.
struct __half_raw {
    unsigned short x;
};

struct __half : cpu_device::NarrowFloat<__half, cpu_device::HalfFormat> {
    using NarrowFloat::NarrowFloat;
    __half() = default;
    __half(const __half_raw& raw) { *this = from_bits(raw.x); }  // NOLINT: implicit as in CUDA
    operator __half_raw() const { return {bits()}; }             // NOLINT
};

struct __half2_raw {
    unsigned short x, y;
};

struct alignas(4) __half2 : cpu_device::NarrowPair<__half2, __half> {
    __half x, y;

    __half2() = default;
    __half2(const __half& low, const __half& high) : x(low), y(high) {}
    __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}  // NOLINT
    operator __half2_raw() const { return {x.bits(), y.bits()}; }                    // NOLINT
};

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

CPU_DEVICE_NARROW_CONVERSIONS(__half, half)

// ---- pairs -----------------------------------------------------------------------------------------------------

inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half low, __half high) { return {low, high}; }
inline __half2 __half2half2(__half both) { return {both, both}; }
inline __half2 __float2half2_rn(float both) { return {both, both}; }
inline __half2 __floats2half2_rn(float low, float high) { return {low, high}; }
inline __half2 __float22half2_rn(float2 pair) { return {pair.x, pair.y}; }
inline float2 __half22float2(__half2 pair) { return {pair.x, pair.y}; }
inline __half __low2half(__half2 pair) { return pair.x; }
inline __half __high2half(__half2 pair) { return pair.y; }
inline __half2 __low2half2(__half2 pair) { return {pair.x, pair.x}; }
inline __half2 __high2half2(__half2 pair) { return {pair.y, pair.y}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }

// ---- atomics ---------------------------------------------------------------------------------------------------

template <cpu_device::OneOf<__half, __half2> T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
    return cpu_device::atomic_update(address, [value](T old) { return old + value; });
}

// ---- constants -------------------------------------------------------------------------------------------------

#define CUDART_ZERO_FP16 __ushort_as_half(0x0000u)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000u)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00u)
#define CUDART_INF_FP16 __ushort_as_half(0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fffu)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001u)
