// half and bfloat16, alone and in pairs.
#include "common/tests/api_corpus/evaluate.cuh"

namespace {

using namespace api_corpus;

/// Numbers of the type by their bits: zeros, subnormal numbers, ordinary ones, the largest, infinities, NaN.
std::vector<__half> halves() {
    std::vector<__half> values;
    for (const unsigned short bits :
         {0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x3555, 0x3800, 0x3c00, 0xbc00, 0x3e00, 0x4100,
          0xc100, 0x4248, 0x57a8, 0x7800, 0xf801, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00})
        values.push_back(__ushort_as_half(bits));
    return values;
}
std::vector<__nv_bfloat16> bfloats() {
    std::vector<__nv_bfloat16> values;
    for (const unsigned short bits :
         {0x0000, 0x8000, 0x0001, 0x007f, 0x0080, 0x3eab, 0x3f00, 0x3f80, 0xbf80, 0x3fc0, 0x4020,
          0xc020, 0x4049, 0x42f7, 0x4700, 0xc701, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0})
        values.push_back(__ushort_as_bfloat16(bits));
    return values;
}
std::vector<__half> few_halves() {
    return {__float2half(0.0f), __float2half(-1.5f), __float2half(0.3f), __float2half(300.0f),
            __ushort_as_half(0x7e00)};
}
std::vector<__nv_bfloat16> few_bfloats() {
    return {__float2bfloat16(0.0f), __float2bfloat16(-1.5f), __float2bfloat16(0.3f), __float2bfloat16(300.0f),
            __ushort_as_bfloat16(0x7fc0)};
}
std::vector<short> shorts() { return {0, 1, -1, 2049, -2051, 32767, -32768}; }
std::vector<unsigned short> ushorts() { return {0, 1, 2049, 4099, 32768, 65535}; }

/// Both types, by the functions that share a name.
#define NARROW_1(name, ulp)                                                                             \
    CALL_OF(name)                                                                                       \
    const Case half_##name(#name " of half", [] { return within(ulp, map(Call_##name{}, halves())); }); \
    const Case bf_##name(#name " of bfloat16", [] { return within(ulp, map(Call_##name{}, bfloats())); });
#define NARROW_2(name)                                                                               \
    CALL_OF(name)                                                                                    \
    const Case half_##name(#name " of half", [] { return map(Call_##name{}, halves(), halves()); }); \
    const Case bf_##name(#name " of bfloat16", [] { return map(Call_##name{}, bfloats(), bfloats()); });
#define NARROW_3(name)                                                                                             \
    CALL_OF(name)                                                                                                  \
    const Case half_##name(#name " of half", [] { return map(Call_##name{}, halves(), halves(), few_halves()); }); \
    const Case bf_##name(#name " of bfloat16", [] { return map(Call_##name{}, bfloats(), bfloats(), few_bfloats()); });

/// Pairs: the function of pairs is called with (a, b) in both halves, swapped.
#define PAIR_1(name, ulp)                                                                   \
    struct Pair_##name {                                                                    \
        __device__ unsigned operator()(__half a) const {                                    \
            return bits_of(name(__halves2half2(a, __float2half(2.0f))));                    \
        }                                                                                   \
        __device__ unsigned operator()(__nv_bfloat16 a) const {                             \
            return bits_of(name(__halves2bfloat162(a, __float2bfloat16(2.0f))));            \
        }                                                                                   \
    };                                                                                      \
    const Case half_##name(#name " of half2", [] { return map(Pair_##name{}, halves()); }); \
    const Case bf_##name(#name " of bfloat162", [] { return map(Pair_##name{}, bfloats()); });
#define PAIR_2(name)                                                                                  \
    struct Pair_##name {                                                                              \
        __device__ unsigned operator()(__half a, __half b) const {                                    \
            return bits_of(name(__halves2half2(a, b), __halves2half2(b, a)));                         \
        }                                                                                             \
        __device__ unsigned operator()(__nv_bfloat16 a, __nv_bfloat16 b) const {                      \
            return bits_of(name(__halves2bfloat162(a, b), __halves2bfloat162(b, a)));                 \
        }                                                                                             \
    };                                                                                                \
    const Case half_##name(#name " of half2", [] { return map(Pair_##name{}, halves(), halves()); }); \
    const Case bf_##name(#name " of bfloat162", [] { return map(Pair_##name{}, bfloats(), bfloats()); });
#define PAIR_3(name)                                                                                            \
    struct Pair_##name {                                                                                        \
        __device__ unsigned operator()(__half a, __half b, __half c) const {                                    \
            return bits_of(name(__halves2half2(a, b), __halves2half2(b, a), __halves2half2(c, c)));             \
        }                                                                                                       \
        __device__ unsigned operator()(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) const {               \
            return bits_of(name(__halves2bfloat162(a, b), __halves2bfloat162(b, a), __halves2bfloat162(c, c))); \
        }                                                                                                       \
    };                                                                                                          \
    const Case half_##name(#name " of half2",                                                                   \
                           [] { return map(Pair_##name{}, few_halves(), few_halves(), few_halves()); });        \
    const Case bf_##name(#name " of bfloat162",                                                                 \
                         [] { return map(Pair_##name{}, few_bfloats(), few_bfloats(), few_bfloats()); });

/// The bits of a result; all NaN of numbers are one.
__device__ unsigned bits_of(__half2 pair) {
    const unsigned low = __hisnan(__low2half(pair)) ? 0x7fffu : __half_as_ushort(__low2half(pair));
    const unsigned high = __hisnan(__high2half(pair)) ? 0x7fffu : __half_as_ushort(__high2half(pair));
    return low | high << 16;
}
__device__ unsigned bits_of(__nv_bfloat162 pair) {
    const unsigned low = __hisnan(__low2bfloat16(pair)) ? 0x7fffu : __bfloat16_as_ushort(__low2bfloat16(pair));
    const unsigned high = __hisnan(__high2bfloat16(pair)) ? 0x7fffu : __bfloat16_as_ushort(__high2bfloat16(pair));
    return low | high << 16;
}
__device__ unsigned bits_of(unsigned mask) { return mask; }
__device__ unsigned bits_of(bool holds) { return holds ? 1u : 0u; }

// ---- half

TRY(__float2half, floats())
TRY(__double2half, doubles())
TRY(__half2float, halves())
TRY(__float2half_rd, floats())
TRY(__float2half_rn, floats())
TRY(__float2half_ru, floats())
TRY(__float2half_rz, floats())
TRY(__short2half_rd, shorts())
TRY(__half2short_rd, halves())
TRY(__short2half_rn, shorts())
TRY(__half2short_rn, halves())
TRY(__short2half_ru, shorts())
TRY(__half2short_ru, halves())
TRY(__short2half_rz, shorts())
TRY(__half2short_rz, halves())
TRY(__ushort2half_rd, ushorts())
TRY(__half2ushort_rd, halves())
TRY(__ushort2half_rn, ushorts())
TRY(__half2ushort_rn, halves())
TRY(__ushort2half_ru, ushorts())
TRY(__half2ushort_ru, halves())
TRY(__ushort2half_rz, ushorts())
TRY(__half2ushort_rz, halves())
TRY(__int2half_rd, ints())
TRY(__half2int_rd, halves())
TRY(__int2half_rn, ints())
TRY(__half2int_rn, halves())
TRY(__int2half_ru, ints())
TRY(__half2int_ru, halves())
TRY(__int2half_rz, ints())
TRY(__half2int_rz, halves())
TRY(__uint2half_rd, uints())
TRY(__half2uint_rd, halves())
TRY(__uint2half_rn, uints())
TRY(__half2uint_rn, halves())
TRY(__uint2half_ru, uints())
TRY(__half2uint_ru, halves())
TRY(__uint2half_rz, uints())
TRY(__half2uint_rz, halves())
TRY(__ll2half_rd, longs())
TRY(__half2ll_rd, halves())
TRY(__ll2half_rn, longs())
TRY(__half2ll_rn, halves())
TRY(__ll2half_ru, longs())
TRY(__half2ll_ru, halves())
TRY(__ll2half_rz, longs())
TRY(__half2ll_rz, halves())
TRY(__ull2half_rd, ulongs())
TRY(__half2ull_rd, halves())
TRY(__ull2half_rn, ulongs())
TRY(__half2ull_rn, halves())
TRY(__ull2half_ru, ulongs())
TRY(__half2ull_ru, halves())
TRY(__ull2half_rz, ulongs())
TRY(__half2ull_rz, halves())
TRY(__half2char_rz, halves())
TRY(__half2uchar_rz, halves())
TRY(__half_as_short, halves())
TRY(__half_as_ushort, halves())
TRY(__short_as_half, shorts())
TRY(__ushort_as_half, ushorts())

// ---- bfloat16

TRY(__float2bfloat16, floats())
TRY(__double2bfloat16, doubles())
TRY(__bfloat162float, bfloats())
TRY(__float2bfloat16_rd, floats())
TRY(__float2bfloat16_rn, floats())
TRY(__float2bfloat16_ru, floats())
TRY(__float2bfloat16_rz, floats())
TRY(__short2bfloat16_rd, shorts())
TRY(__bfloat162short_rd, bfloats())
TRY(__short2bfloat16_rn, shorts())
TRY(__bfloat162short_rn, bfloats())
TRY(__short2bfloat16_ru, shorts())
TRY(__bfloat162short_ru, bfloats())
TRY(__short2bfloat16_rz, shorts())
TRY(__bfloat162short_rz, bfloats())
TRY(__ushort2bfloat16_rd, ushorts())
TRY(__bfloat162ushort_rd, bfloats())
TRY(__ushort2bfloat16_rn, ushorts())
TRY(__bfloat162ushort_rn, bfloats())
TRY(__ushort2bfloat16_ru, ushorts())
TRY(__bfloat162ushort_ru, bfloats())
TRY(__ushort2bfloat16_rz, ushorts())
TRY(__bfloat162ushort_rz, bfloats())
TRY(__int2bfloat16_rd, ints())
TRY(__bfloat162int_rd, bfloats())
TRY(__int2bfloat16_rn, ints())
TRY(__bfloat162int_rn, bfloats())
TRY(__int2bfloat16_ru, ints())
TRY(__bfloat162int_ru, bfloats())
TRY(__int2bfloat16_rz, ints())
TRY(__bfloat162int_rz, bfloats())
TRY(__uint2bfloat16_rd, uints())
TRY(__bfloat162uint_rd, bfloats())
TRY(__uint2bfloat16_rn, uints())
TRY(__bfloat162uint_rn, bfloats())
TRY(__uint2bfloat16_ru, uints())
TRY(__bfloat162uint_ru, bfloats())
TRY(__uint2bfloat16_rz, uints())
TRY(__bfloat162uint_rz, bfloats())
TRY(__ll2bfloat16_rd, longs())
TRY(__bfloat162ll_rd, bfloats())
TRY(__ll2bfloat16_rn, longs())
TRY(__bfloat162ll_rn, bfloats())
TRY(__ll2bfloat16_ru, longs())
TRY(__bfloat162ll_ru, bfloats())
TRY(__ll2bfloat16_rz, longs())
TRY(__bfloat162ll_rz, bfloats())
TRY(__ull2bfloat16_rd, ulongs())
TRY(__bfloat162ull_rd, bfloats())
TRY(__ull2bfloat16_rn, ulongs())
TRY(__bfloat162ull_rn, bfloats())
TRY(__ull2bfloat16_ru, ulongs())
TRY(__bfloat162ull_ru, bfloats())
TRY(__ull2bfloat16_rz, ulongs())
TRY(__bfloat162ull_rz, bfloats())
TRY(__bfloat162char_rz, bfloats())
TRY(__bfloat162uchar_rz, bfloats())
TRY(__bfloat16_as_short, bfloats())
TRY(__bfloat16_as_ushort, bfloats())
TRY(__short_as_bfloat16, shorts())
TRY(__ushort_as_bfloat16, ushorts())

// ---- arithmetic

NARROW_2(__hadd)
NARROW_2(__hsub)
NARROW_2(__hmul)
NARROW_2(__hdiv)
NARROW_2(__hadd_rn)
NARROW_2(__hsub_rn)
NARROW_2(__hmul_rn)
NARROW_2(__hadd_sat)
NARROW_2(__hsub_sat)
NARROW_2(__hmul_sat)
NARROW_2(__hmax)
NARROW_2(__hmin)
NARROW_2(__hmax_nan)
NARROW_2(__hmin_nan)
NARROW_2(__heq)
NARROW_2(__hne)
NARROW_2(__hlt)
NARROW_2(__hle)
NARROW_2(__hgt)
NARROW_2(__hge)
NARROW_2(__hequ)
NARROW_2(__hneu)
NARROW_2(__hltu)
NARROW_2(__hleu)
NARROW_2(__hgtu)
NARROW_2(__hgeu)
NARROW_3(__hfma)
NARROW_3(__hfma_sat)
NARROW_3(__hfma_relu)
NARROW_1(__hneg, 0)
NARROW_1(__habs, 0)
NARROW_1(__hisnan, 0)
NARROW_1(__hisinf, 0)
NARROW_1(hfloor, 0)
NARROW_1(hceil, 0)
NARROW_1(htrunc, 0)
NARROW_1(hrint, 0)
NARROW_1(hsqrt, 1)
NARROW_1(hrsqrt, 1)
NARROW_1(hrcp, 1)
NARROW_1(hexp, 1)
NARROW_1(hexp2, 1)
NARROW_1(hexp10, 1)
NARROW_1(hlog, 1)
NARROW_1(hlog2, 1)
NARROW_1(hlog10, 1)
NARROW_1(hsin, 1)
NARROW_1(hcos, 1)
NARROW_1(htanh, 1)

// ---- pairs

PAIR_2(__hadd2)
PAIR_2(__hsub2)
PAIR_2(__hmul2)
PAIR_2(__h2div)
PAIR_2(__hadd2_rn)
PAIR_2(__hsub2_rn)
PAIR_2(__hmul2_rn)
PAIR_2(__hadd2_sat)
PAIR_2(__hsub2_sat)
PAIR_2(__hmul2_sat)
PAIR_2(__hmax2)
PAIR_2(__hmin2)
PAIR_2(__hmax2_nan)
PAIR_2(__hmin2_nan)
PAIR_2(__heq2)
PAIR_2(__hbeq2)
PAIR_2(__heq2_mask)
PAIR_2(__hne2)
PAIR_2(__hbne2)
PAIR_2(__hne2_mask)
PAIR_2(__hlt2)
PAIR_2(__hblt2)
PAIR_2(__hlt2_mask)
PAIR_2(__hle2)
PAIR_2(__hble2)
PAIR_2(__hle2_mask)
PAIR_2(__hgt2)
PAIR_2(__hbgt2)
PAIR_2(__hgt2_mask)
PAIR_2(__hge2)
PAIR_2(__hbge2)
PAIR_2(__hge2_mask)
PAIR_2(__hequ2)
PAIR_2(__hbequ2)
PAIR_2(__hequ2_mask)
PAIR_2(__hneu2)
PAIR_2(__hbneu2)
PAIR_2(__hneu2_mask)
PAIR_2(__hltu2)
PAIR_2(__hbltu2)
PAIR_2(__hltu2_mask)
PAIR_2(__hleu2)
PAIR_2(__hbleu2)
PAIR_2(__hleu2_mask)
PAIR_2(__hgtu2)
PAIR_2(__hbgtu2)
PAIR_2(__hgtu2_mask)
PAIR_2(__hgeu2)
PAIR_2(__hbgeu2)
PAIR_2(__hgeu2_mask)
PAIR_3(__hfma2)
PAIR_3(__hfma2_sat)
PAIR_3(__hfma2_relu)
PAIR_3(__hcmadd)
PAIR_1(__hneg2, 0)
PAIR_1(__habs2, 0)
PAIR_1(__hisnan2, 0)
PAIR_1(h2floor, 0)
PAIR_1(h2ceil, 0)
PAIR_1(h2trunc, 0)
PAIR_1(h2rint, 0)

// Of functions that may differ in the last place the bits of a pair say too much: what they do to its halves is told.
#define PAIR_AS_FLOATS(name)                                                                            \
    struct Low_##name {                                                                                 \
        __device__ __half operator()(__half a) const { return __low2half(name(__halves2half2(a, a))); } \
        __device__ __nv_bfloat16 operator()(__nv_bfloat16 a) const {                                    \
            return __low2bfloat16(name(__halves2bfloat162(a, a)));                                      \
        }                                                                                               \
    };                                                                                                  \
    const Case half_##name(#name " of half2", [] { return within(1, map(Low_##name{}, halves())); });   \
    const Case bf_##name(#name " of bfloat162", [] { return within(1, map(Low_##name{}, bfloats())); });

PAIR_AS_FLOATS(h2sqrt)
PAIR_AS_FLOATS(h2rsqrt)
PAIR_AS_FLOATS(h2rcp)
PAIR_AS_FLOATS(h2exp)
PAIR_AS_FLOATS(h2exp2)
PAIR_AS_FLOATS(h2exp10)
PAIR_AS_FLOATS(h2log)
PAIR_AS_FLOATS(h2log2)
PAIR_AS_FLOATS(h2log10)
PAIR_AS_FLOATS(h2sin)
PAIR_AS_FLOATS(h2cos)
PAIR_AS_FLOATS(h2tanh)

struct MakeHalfPairs {
    __device__ unsigned operator()(__half a, __half b) const {
        const __half2 pair = make_half2(a, b), same = __half2half2(a), other = __halves2half2(b, a);
        const __half2 lows = __lows2half2(pair, other), highs = __highs2half2(pair, other);
        const __half2 low = __low2half2(pair), high = __high2half2(pair), swapped = __lowhigh2highlow(pair);
        return bits_of(same) ^ bits_of(lows) * 3 ^ bits_of(highs) * 5 ^ bits_of(low) * 7 ^ bits_of(high) * 11 ^
               bits_of(swapped) * 13;
    }
};
const Case half_pairs("make_half2, __half2half2, __halves2half2, __lows2half2 ...",
                      [] { return map(MakeHalfPairs{}, halves(), halves()); });
struct MakeBfloatPairs {
    __device__ unsigned operator()(__nv_bfloat16 a, __nv_bfloat16 b) const {
        const __nv_bfloat162 pair = make_bfloat162(a, b), same = __bfloat162bfloat162(a),
                             other = __halves2bfloat162(b, a);
        const __nv_bfloat162 lows = __lows2bfloat162(pair, other), highs = __highs2bfloat162(pair, other);
        const __nv_bfloat162 low = __low2bfloat162(pair), high = __high2bfloat162(pair),
                             swapped = __lowhigh2highlow(pair);
        return bits_of(same) ^ bits_of(lows) * 3 ^ bits_of(highs) * 5 ^ bits_of(low) * 7 ^ bits_of(high) * 11 ^
               bits_of(swapped) * 13;
    }
};
const Case bfloat_pairs("make_bfloat162, __bfloat162bfloat162, __halves2bfloat162 ...",
                        [] { return map(MakeBfloatPairs{}, bfloats(), bfloats()); });

struct FloatsToPairs {
    __device__ unsigned operator()(float a, float b) const {
        return bits_of(__floats2half2_rn(a, b)) ^ bits_of(__float22half2_rn(make_float2(b, a))) * 3 ^
               bits_of(__float2half2_rn(a)) * 5;
    }
};
const Case floats_to_half2("__floats2half2_rn, __float22half2_rn, __float2half2_rn",
                           [] { return map(FloatsToPairs{}, floats(), floats()); });
struct FloatsToBfloatPairs {
    __device__ unsigned operator()(float a, float b) const {
        return bits_of(__floats2bfloat162_rn(a, b)) ^ bits_of(__float22bfloat162_rn(make_float2(b, a))) * 3 ^
               bits_of(__float2bfloat162_rn(a)) * 5;
    }
};
const Case floats_to_bfloat162("__floats2bfloat162_rn, __float22bfloat162_rn, __float2bfloat162_rn",
                               [] { return map(FloatsToBfloatPairs{}, floats(), floats()); });
struct PairsToFloats {
    __device__ float operator()(__half a) const {
        const __half2 pair = __halves2half2(a, __float2half(0.5f));
        const float2 both = __half22float2(pair);
        return both.x + 2 * both.y + 4 * __low2float(pair) + 8 * __high2float(pair);
    }
    __device__ float operator()(__nv_bfloat16 a) const {
        const __nv_bfloat162 pair = __halves2bfloat162(a, __float2bfloat16(0.5f));
        const float2 both = __bfloat1622float2(pair);
        return both.x + 2 * both.y + 4 * __low2float(pair) + 8 * __high2float(pair);
    }
};
const Case half2_to_floats("__half22float2, __low2float, __high2float", [] { return map(PairsToFloats{}, halves()); });
const Case bfloat162_to_floats("__bfloat1622float2, __low2float, __high2float",
                               [] { return map(PairsToFloats{}, bfloats()); });

}  // namespace
