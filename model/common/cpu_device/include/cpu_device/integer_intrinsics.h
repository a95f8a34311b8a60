// Integer intrinsics of device code: bit counting, permutation, wide products, packed (SIMD) bytes and halfwords.
//
// Meanings: CUDA Math API, "Integer Intrinsics" and "SIMD Intrinsics".
#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

// ---- counting and reversing bits ----------------------------------------------------------------------------

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }

/// Leading zero bits; 32 (or 64) for 0.
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }

/// Position of the lowest set bit, counted from 1; 0 for 0.
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

inline unsigned int __brev(unsigned int x) {
    x = __builtin_bswap32(x);
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    return (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
}
inline unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned int>(x))) << 32 |
           __brev(static_cast<unsigned int>(x >> 32));
}

/// Position of the `offset`-th set bit of `mask`, counted from bit `base` upwards (offset > 0) or downwards
/// (offset < 0); 0xffffffff when there is none. For offset 0: `base` if that bit is set.
inline unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    const int step = offset < 0 ? -1 : 1;
    int wanted = offset == 0 ? 1 : std::abs(offset);
    const int last = offset == 0 ? static_cast<int>(base) : (step > 0 ? 31 : 0);
    for (int bit = static_cast<int>(base); step > 0 ? bit <= last : bit >= last; bit += step) {
        if ((mask >> bit & 1u) != 0 && --wanted == 0) return static_cast<unsigned int>(bit);
    }
    return 0xffffffffu;
}

// ---- moving bytes and bits between words --------------------------------------------------------------------

/// Four bytes picked from the eight of `y:x` (byte 0 is the lowest of `x`) by the low three bits of each of the
/// four low nibbles of `selector`.
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(y) << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned int choice = selector >> (4 * i) & 7u;
        result |= (static_cast<unsigned int>(bytes >> (8 * choice)) & 0xffu) << (8 * i);
    }
    return result;
}

/// High word of `high:low` shifted left by `shift % 32` (_l) or by `min(shift, 32)` (_lc).
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    return static_cast<unsigned int>(both << (shift & 31u) >> 32);
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
/// Low word of `high:low` shifted right by `shift % 32` (_r) or by `min(shift, 32)` (_rc).
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    return static_cast<unsigned int>(both >> (shift & 31u));
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// ---- products, averages, distances --------------------------------------------------------------------------

inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<std::int64_t>(x) * y >> 32); }
inline unsigned int __umulhi(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>(static_cast<std::uint64_t>(x) * y >> 32);
}
inline long long __mul64hi(long long x, long long y) {
    __extension__ using Wide = __int128;
    return static_cast<long long>(static_cast<Wide>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<unsigned long long>(static_cast<Wide>(x) * y >> 64);
}

/// Low 32 bits of the product of the low 24 bits.
inline unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffffu) * (y & 0xffffffu); }
inline int __mul24(int x, int y) {
    const auto low24 = [](int value) { return static_cast<std::int64_t>(static_cast<int>(value * 256u) >> 8); };
    return static_cast<int>(low24(x) * low24(y));
}

/// Average, rounded down (h) or up (rh), without overflow.
inline int __hadd(int x, int y) { return static_cast<int>((static_cast<std::int64_t>(x) + y) >> 1); }
inline int __rhadd(int x, int y) { return static_cast<int>((static_cast<std::int64_t>(x) + y + 1) >> 1); }
inline unsigned int __uhadd(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<std::uint64_t>(x) + y) >> 1);
}
inline unsigned int __urhadd(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<std::uint64_t>(x) + y + 1) >> 1);
}

/// |x - y| + z.
inline unsigned int __sad(int x, int y, unsigned int z) {
    return (x > y ? static_cast<unsigned int>(x) - static_cast<unsigned int>(y)
                  : static_cast<unsigned int>(y) - static_cast<unsigned int>(x)) +
           z;
}
inline unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return (x > y ? x - y : y - x) + z; }

// ---- packed lanes: 4 bytes or 2 halfwords in a word ----------------------------------------------------------

namespace cpu_device {

template <class Lane>
constexpr int lanes_per_word = 4 / static_cast<int>(sizeof(Lane));

template <class Lane>
int lane_of(unsigned int word, int index) {
    return static_cast<Lane>(word >> (index * 8 * sizeof(Lane)));
}

/// `operation(lane of a, lane of b)` for every lane, on `int`; results are cut to the lane's width.
template <class Lane, class Operation>
unsigned int lanewise(unsigned int a, unsigned int b, Operation operation) {
    unsigned int result = 0;
    for (int i = 0; i < lanes_per_word<Lane>; ++i) {
        const int value = operation(lane_of<Lane>(a, i), lane_of<Lane>(b, i));
        result |= static_cast<unsigned int>(static_cast<std::make_unsigned_t<Lane>>(value)) << (i * 8 * sizeof(Lane));
    }
    return result;
}

/// Sum of `operation(lane of a, lane of b)` over the lanes.
template <class Lane, class Operation>
unsigned int sum_of_lanes(unsigned int a, unsigned int b, Operation operation) {
    int sum = 0;
    for (int i = 0; i < lanes_per_word<Lane>; ++i) sum += operation(lane_of<Lane>(a, i), lane_of<Lane>(b, i));
    return static_cast<unsigned int>(sum);
}

template <class Lane>
int saturated(int value) {
    using Limits = std::numeric_limits<Lane>;
    if (value < Limits::min()) return Limits::min();
    return value > Limits::max() ? Limits::max() : value;
}

}  // namespace cpu_device

#define CPU_DEVICE_PACKED(name, Lane, expression)                           \
    inline unsigned int name(unsigned int first, unsigned int second) {     \
        return cpu_device::lanewise<Lane>(first, second, [](int a, int b) { \
            (void)b;                                                        \
            return expression;                                              \
        });                                                                 \
    }
#define CPU_DEVICE_PACKED_UNARY(name, Lane, expression)                                                       \
    inline unsigned int name(unsigned int word) {                                                             \
        return cpu_device::lanewise<Lane>(word, 0u, [](int a, int) { return static_cast<int>(expression); }); \
    }
// A comparison gives all ones (vcmp) or 1 (vset) in the lanes where it holds.
#define CPU_DEVICE_PACKED_COMPARE(suffix, Lane, comparison)            \
    CPU_DEVICE_PACKED(__vcmp##suffix, Lane, (a comparison b) ? -1 : 0) \
    CPU_DEVICE_PACKED(__vset##suffix, Lane, (a comparison b) ? 1 : 0)
#define CPU_DEVICE_PACKED_SUM(name, Lane, expression)                                                  \
    inline unsigned int name(unsigned int first, unsigned int second) {                                \
        return cpu_device::sum_of_lanes<Lane>(first, second, [](int a, int b) { return expression; }); \
    }
#define CPU_DEVICE_PACKED_FAMILY(width, Signed, Unsigned)                                        \
    CPU_DEVICE_PACKED(__vadd##width, Unsigned, a + b)                                            \
    CPU_DEVICE_PACKED(__vaddss##width, Signed, cpu_device::saturated<Signed>(a + b))             \
    CPU_DEVICE_PACKED(__vaddus##width, Unsigned, cpu_device::saturated<Unsigned>(a + b))         \
    CPU_DEVICE_PACKED(__vsub##width, Unsigned, a - b)                                            \
    CPU_DEVICE_PACKED(__vsubss##width, Signed, cpu_device::saturated<Signed>(a - b))             \
    CPU_DEVICE_PACKED(__vsubus##width, Unsigned, cpu_device::saturated<Unsigned>(a - b))         \
    CPU_DEVICE_PACKED(__vabsdiffs##width, Signed, std::abs(a - b))                               \
    CPU_DEVICE_PACKED(__vabsdiffu##width, Unsigned, std::abs(a - b))                             \
    CPU_DEVICE_PACKED(__vavgs##width, Signed, (a + b + (a + b >= 0)) >> 1)                       \
    CPU_DEVICE_PACKED(__vavgu##width, Unsigned, (a + b + 1) >> 1)                                \
    CPU_DEVICE_PACKED(__vhaddu##width, Unsigned, (a + b) >> 1)                                   \
    CPU_DEVICE_PACKED(__vmaxs##width, Signed, a > b ? a : b)                                     \
    CPU_DEVICE_PACKED(__vmaxu##width, Unsigned, a > b ? a : b)                                   \
    CPU_DEVICE_PACKED(__vmins##width, Signed, a < b ? a : b)                                     \
    CPU_DEVICE_PACKED(__vminu##width, Unsigned, a < b ? a : b)                                   \
    CPU_DEVICE_PACKED_UNARY(__vabs##width, Signed, std::abs(a))                                  \
    CPU_DEVICE_PACKED_UNARY(__vabsss##width, Signed, cpu_device::saturated<Signed>(std::abs(a))) \
    CPU_DEVICE_PACKED_UNARY(__vneg##width, Signed, -a)                                           \
    CPU_DEVICE_PACKED_UNARY(__vnegss##width, Signed, cpu_device::saturated<Signed>(-a))          \
    CPU_DEVICE_PACKED_COMPARE(eq##width, Unsigned, ==)                                           \
    CPU_DEVICE_PACKED_COMPARE(ne##width, Unsigned, !=)                                           \
    CPU_DEVICE_PACKED_COMPARE(ges##width, Signed, >=)                                            \
    CPU_DEVICE_PACKED_COMPARE(geu##width, Unsigned, >=)                                          \
    CPU_DEVICE_PACKED_COMPARE(gts##width, Signed, >)                                             \
    CPU_DEVICE_PACKED_COMPARE(gtu##width, Unsigned, >)                                           \
    CPU_DEVICE_PACKED_COMPARE(les##width, Signed, <=)                                            \
    CPU_DEVICE_PACKED_COMPARE(leu##width, Unsigned, <=)                                          \
    CPU_DEVICE_PACKED_COMPARE(lts##width, Signed, <)                                             \
    CPU_DEVICE_PACKED_COMPARE(ltu##width, Unsigned, <)                                           \
    CPU_DEVICE_PACKED_SUM(__vsads##width, Signed, std::abs(a - b))                               \
    CPU_DEVICE_PACKED_SUM(__vsadu##width, Unsigned, std::abs(a - b))

CPU_DEVICE_PACKED_FAMILY(2, std::int16_t, std::uint16_t)
CPU_DEVICE_PACKED_FAMILY(4, std::int8_t, std::uint8_t)

#undef CPU_DEVICE_PACKED
#undef CPU_DEVICE_PACKED_UNARY
#undef CPU_DEVICE_PACKED_COMPARE
#undef CPU_DEVICE_PACKED_SUM
#undef CPU_DEVICE_PACKED_FAMILY

// ---- integer dot products ------------------------------------------------------------------------------------

/// Four products of bytes, added to `sum`.
inline int __dp4a(int a, int b, int sum) {
    return static_cast<int>(cpu_device::sum_of_lanes<std::int8_t>(static_cast<unsigned int>(a),
                                                                  static_cast<unsigned int>(b),
                                                                  [](int x, int y) { return x * y; }) +
                            static_cast<unsigned int>(sum));
}
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int sum) {
    return cpu_device::sum_of_lanes<std::uint8_t>(a, b, [](int x, int y) { return x * y; }) + sum;
}

/// Two products of the halfwords of `a` with the low (lo) or high (hi) two bytes of `b`, added to `sum`.
inline int __dp2a_lo(int a, int b, int sum) {
    const auto halfword = [a](int i) { return cpu_device::lane_of<std::int16_t>(static_cast<unsigned int>(a), i); };
    const auto byte = [b](int i) { return cpu_device::lane_of<std::int8_t>(static_cast<unsigned int>(b), i); };
    return static_cast<int>(static_cast<unsigned int>(halfword(0) * byte(0) + halfword(1) * byte(1)) +
                            static_cast<unsigned int>(sum));
}
inline int __dp2a_hi(int a, int b, int sum) { return __dp2a_lo(a, b >> 16, sum); }
inline unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int sum) {
    return (a & 0xffffu) * (b & 0xffu) + (a >> 16) * (b >> 8 & 0xffu) + sum;
}
inline unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int sum) { return __dp2a_lo(a, b >> 16, sum); }

/// The same with the bytes and halfwords in vectors.
inline int __dp4a(char4 a, char4 b, int sum) {
    return static_cast<int>(static_cast<unsigned int>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w) +
                            static_cast<unsigned int>(sum));
}
inline unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int sum) {
    return static_cast<unsigned int>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w) + sum;
}
inline int __dp2a_lo(short2 a, char4 b, int sum) {
    return static_cast<int>(static_cast<unsigned int>(a.x * b.x + a.y * b.y) + static_cast<unsigned int>(sum));
}
inline int __dp2a_hi(short2 a, char4 b, int sum) {
    return static_cast<int>(static_cast<unsigned int>(a.x * b.z + a.y * b.w) + static_cast<unsigned int>(sum));
}
inline unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int sum) {
    return static_cast<unsigned int>(a.x * b.x + a.y * b.y) + sum;
}
inline unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int sum) {
    return static_cast<unsigned int>(a.x * b.z + a.y * b.w) + sum;
}

// ---- fused comparisons (DPX) ---------------------------------------------------------------------------------

namespace cpu_device {

// Not std::max and std::min of a list: those are in <algorithm>, whose names programs use for their own variables.
template <class T>
constexpr T largest(T a, T b) {
    return a < b ? b : a;
}
template <class T>
constexpr T smallest(T a, T b) {
    return b < a ? b : a;
}
template <class T>
constexpr T largest(T a, T b, T c) {
    return largest(largest(a, b), c);
}
template <class T>
constexpr T smallest(T a, T b, T c) {
    return smallest(smallest(a, b), c);
}

/// The sum wraps.
constexpr int wrapping_sum(int a, int b) {
    return static_cast<int>(static_cast<unsigned int>(a) + static_cast<unsigned int>(b));
}

}  // namespace cpu_device

inline int __vimax3_s32(int a, int b, int c) { return cpu_device::largest(a, b, c); }
inline int __vimin3_s32(int a, int b, int c) { return cpu_device::smallest(a, b, c); }
inline unsigned int __vimax3_u32(unsigned int a, unsigned int b, unsigned int c) {
    return cpu_device::largest(a, b, c);
}
inline unsigned int __vimin3_u32(unsigned int a, unsigned int b, unsigned int c) {
    return cpu_device::smallest(a, b, c);
}
inline int __vimax_s32_relu(int a, int b) { return cpu_device::largest(a, b, 0); }
inline int __vimin_s32_relu(int a, int b) { return cpu_device::largest(cpu_device::smallest(a, b), 0); }
inline int __vimax3_s32_relu(int a, int b, int c) { return cpu_device::largest(__vimax3_s32(a, b, c), 0); }
inline int __vimin3_s32_relu(int a, int b, int c) { return cpu_device::largest(__vimin3_s32(a, b, c), 0); }
/// max(a + b, c), min(a + b, c); the sum wraps.
inline int __viaddmax_s32(int a, int b, int c) { return cpu_device::largest(cpu_device::wrapping_sum(a, b), c); }
inline int __viaddmin_s32(int a, int b, int c) { return cpu_device::smallest(cpu_device::wrapping_sum(a, b), c); }
inline int __viaddmax_s32_relu(int a, int b, int c) { return cpu_device::largest(__viaddmax_s32(a, b, c), 0); }
inline int __viaddmin_s32_relu(int a, int b, int c) { return cpu_device::largest(__viaddmin_s32(a, b, c), 0); }
inline unsigned int __viaddmax_u32(unsigned int a, unsigned int b, unsigned int c) {
    return cpu_device::largest(a + b, c);
}
inline unsigned int __viaddmin_u32(unsigned int a, unsigned int b, unsigned int c) {
    return cpu_device::smallest(a + b, c);
}
