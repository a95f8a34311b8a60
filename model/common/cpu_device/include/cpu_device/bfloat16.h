// `__nv_bfloat16` (1 sign, 8 exponent, 7 fraction bits: the upper half of a float) and the pair `__nv_bfloat162`.
#pragma once

#include "cpu_device/atomics.h"
#include "cpu_device/narrow_float.h"

namespace cpu_device {

struct Bfloat16Format {
    static constexpr std::uint16_t infinity = 0x7f80;
    static constexpr std::uint16_t nan = 0x7fff;

    static float to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

    static std::uint16_t from_float(float value) {
        if (value != value) return nan;
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
        return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);  // ties to even
    }
};

}  // namespace cpu_device

/// The bits of a `__nv_bfloat16`, for code that must be plain data.
struct __nv_bfloat16_raw {
    unsigned short x;
};

struct __nv_bfloat16 : cpu_device::NarrowFloat<__nv_bfloat16, cpu_device::Bfloat16Format> {
    using NarrowFloat::NarrowFloat;
    __nv_bfloat16() = default;
    __nv_bfloat16(const __nv_bfloat16_raw& raw) { *this = from_bits(raw.x); }  // NOLINT: implicit as in CUDA
    operator __nv_bfloat16_raw() const { return {bits()}; }                    // NOLINT
};

struct __nv_bfloat162_raw {
    unsigned short x, y;
};

struct alignas(4) __nv_bfloat162 : cpu_device::NarrowPair<__nv_bfloat162, __nv_bfloat16> {
    __nv_bfloat16 x, y;

    __nv_bfloat162() = default;
    __nv_bfloat162(const __nv_bfloat16& low, const __nv_bfloat16& high) : x(low), y(high) {}
    __nv_bfloat162(const __nv_bfloat162_raw& raw)  // NOLINT
        : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
    operator __nv_bfloat162_raw() const { return {x.bits(), y.bits()}; }  // NOLINT
};

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

CPU_DEVICE_NARROW_CONVERSIONS(__nv_bfloat16, bfloat16)

// ---- pairs -----------------------------------------------------------------------------------------------------

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return {low, high}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 both) { return {both, both}; }
inline __nv_bfloat162 __float2bfloat162_rn(float both) { return {both, both}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float low, float high) { return {low, high}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 pair) { return {pair.x, pair.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 pair) { return {pair.x, pair.y}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 pair) { return pair.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 pair) { return pair.y; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 pair) { return {pair.x, pair.x}; }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 pair) { return {pair.y, pair.y}; }
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }

// ---- atomics ---------------------------------------------------------------------------------------------------

template <cpu_device::OneOf<__nv_bfloat16, __nv_bfloat162> T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
    return cpu_device::atomic_update(address, [value](T old) { return old + value; });
}

// ---- constants -------------------------------------------------------------------------------------------------

#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000u)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80u)
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7fu)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001u)
