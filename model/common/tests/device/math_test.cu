// Intrinsics and math functions of device code, checked against independent computations on the host.
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "map_on_device.cuh"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
constexpr double double_nan = std::numeric_limits<double>::quiet_NaN();

/// Corner cases and random words.
std::vector<unsigned int> sample_words() {
    std::vector<unsigned int> words{0u, 1u, 2u, 3u, 0x80000000u, 0x80000001u, 0x7fffffffu, 0xffffffffu, 0x00ff00ffu};
    std::mt19937 random(1);
    for (int i = 0; i < 500; ++i) words.push_back(static_cast<unsigned int>(random()) >> (i % 32));
    return words;
}

struct ThreeWords {
    unsigned int a, b, c;
};

std::vector<ThreeWords> sample_triples() {
    const auto words = sample_words();
    std::vector<ThreeWords> triples;
    for (std::size_t i = 0; i < words.size(); ++i) {
        triples.push_back({words[i], words[(7 * i + 3) % words.size()], words[(11 * i + 5) % words.size()]});
    }
    for (unsigned int shift = 0; shift < 70; ++shift) triples.push_back({0x89abcdefu, 0x01234567u, shift});
    return triples;
}

/// Calls `check(input, result)` for every input.
template <class Function, class Input, class Check>
void for_each_result(const std::vector<Input>& inputs, Check check) {
    const auto results = map_on_device<Function>(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) check(inputs[i], results[i]);
}

/// Accepts NaN for NaN, else equal values; zeros must have the same sign.
bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

bool near(double value, double expected, double relative_tolerance) {
    return same(value, expected) || std::abs(value - expected) <= relative_tolerance * std::abs(expected);
}

// ---- bits ------------------------------------------------------------------------------------------------

struct Counts {
    int ones, leading_zeros, first_set;
    unsigned int reversed;
};
struct CountBits {
    __device__ Counts operator()(unsigned int x) const {
        return {__popc(x), __clz(static_cast<int>(x)), __ffs(static_cast<int>(x)), __brev(x)};
    }
};

struct WideCounts {
    int ones, leading_zeros, first_set;
    unsigned long long reversed;
};
struct CountWideBits {
    __device__ WideCounts operator()(unsigned long long x) const {
        return {__popcll(x), __clzll(static_cast<long long>(x)), __ffsll(static_cast<long long>(x)), __brevll(x)};
    }
};

struct Permutation {
    unsigned int permuted, left, right, left_clamped, right_clamped;
};
struct Permute {
    __device__ Permutation operator()(ThreeWords w) const {
        return {__byte_perm(w.a, w.b, w.c), __funnelshift_l(w.a, w.b, w.c), __funnelshift_r(w.a, w.b, w.c),
                __funnelshift_lc(w.a, w.b, w.c), __funnelshift_rc(w.a, w.b, w.c)};
    }
};

struct Products {
    unsigned int high, low24;
    int signed_high, signed_low24, average, rounded_average;
    unsigned int distance, signed_distance;
    unsigned long long wide_high;
    long long signed_wide_high;
};
struct Multiply {
    __device__ Products operator()(ThreeWords w) const {
        const int a = static_cast<int>(w.a), b = static_cast<int>(w.b);
        const unsigned long long wide = static_cast<unsigned long long>(w.a) << 32 | w.c;
        const unsigned long long other = static_cast<unsigned long long>(w.b) << 32 | w.a;
        return {__umulhi(w.a, w.b),
                __umul24(w.a, w.b),
                __mulhi(a, b),
                __mul24(a, b),
                __hadd(a, b),
                __rhadd(a, b),
                __usad(w.a, w.b, w.c),
                __sad(a, b, w.c),
                __umul64hi(wide, other),
                __mul64hi(static_cast<long long>(wide), static_cast<long long>(other))};
    }
};

struct Packed {
    unsigned int sum, signed_saturated, unsigned_saturated, difference, largest, smallest, equal, greater, distance;
    unsigned int halfword_sum, halfword_signed_largest;
    int dot;
    unsigned int unsigned_dot;
};
struct ComputePacked {
    __device__ Packed operator()(ThreeWords w) const {
        return {__vadd4(w.a, w.b),    __vaddss4(w.a, w.b),
                __vaddus4(w.a, w.b),  __vsub4(w.a, w.b),
                __vmaxu4(w.a, w.b),   __vmins4(w.a, w.b),
                __vcmpeq4(w.a, w.b),  __vsetgts4(w.a, w.b),
                __vsadu4(w.a, w.b),   __vadd2(w.a, w.b),
                __vmaxs2(w.a, w.b),   __dp4a(static_cast<int>(w.a), static_cast<int>(w.b), static_cast<int>(w.c)),
                __dp4a(w.a, w.b, w.c)};
    }
};

// ---- rounding ----------------------------------------------------------------------------------------------

struct TwoFloats {
    float a, b;
};
/// One result in the four directions: to nearest, toward zero, up, down.
struct Directions {
    float nearest, zero, up, down;
};

struct Add {
    __device__ Directions operator()(TwoFloats v) const {
        return {__fadd_rn(v.a, v.b), __fadd_rz(v.a, v.b), __fadd_ru(v.a, v.b), __fadd_rd(v.a, v.b)};
    }
};
struct Subtract {
    __device__ Directions operator()(TwoFloats v) const {
        return {__fsub_rn(v.a, v.b), __fsub_rz(v.a, v.b), __fsub_ru(v.a, v.b), __fsub_rd(v.a, v.b)};
    }
};
struct Times {
    __device__ Directions operator()(TwoFloats v) const {
        return {__fmul_rn(v.a, v.b), __fmul_rz(v.a, v.b), __fmul_ru(v.a, v.b), __fmul_rd(v.a, v.b)};
    }
};
struct Divide {
    __device__ Directions operator()(TwoFloats v) const {
        return {__fdiv_rn(v.a, v.b), __fdiv_rz(v.a, v.b), __fdiv_ru(v.a, v.b), __fdiv_rd(v.a, v.b)};
    }
};
struct SquareRoot {
    __device__ Directions operator()(TwoFloats v) const {
        return {__fsqrt_rn(v.a), __fsqrt_rz(v.a), __fsqrt_ru(v.a), __fsqrt_rd(v.a)};
    }
};
struct MultiplyAdd {
    __device__ Directions operator()(TwoFloats v) const {
        return {__fmaf_rn(v.a, v.a, v.b), __fmaf_rz(v.a, v.a, v.b), __fmaf_ru(v.a, v.a, v.b), __fmaf_rd(v.a, v.a, v.b)};
    }
};

/// Ordinary numbers, whose exact sums, products and so on fit a long double's 64 bits or nearly so.
std::vector<TwoFloats> sample_floats() {
    std::vector<TwoFloats> values{{1.0f, 0x1p-24f}, {1.0f, 0x1p-25f}, {1.0f, 0x1.8p-24f}, {2.0f, 3.0f}};
    std::mt19937 random(2);
    std::uniform_real_distribution<float> fraction(1.0f, 2.0f);
    for (int i = 0; i < 400; ++i) {
        const float a = std::ldexp(fraction(random), i % 20 - 10), b = std::ldexp(fraction(random), i % 17 - 8);
        values.push_back({a, i % 3 == 0 ? -b : b});
    }
    return values;
}

/// Checks a result against the exact value and its two neighbors among the floats.
void check_directions(const Directions& d, long double exact) {
    float below = static_cast<float>(exact);
    if (below > exact) below = std::nextafter(below, -infinity);
    const float above = below == exact ? below : std::nextafter(below, infinity);
    CHECK(d.down == below);
    CHECK(d.up == above);
    CHECK(d.zero == (exact < 0 ? above : below));
    CHECK(d.nearest == static_cast<float>(exact));
}

struct DoubleDirections {
    double nearest, zero, up, down;
};
struct AddDoubles {
    __device__ DoubleDirections operator()(double small) const {
        return {__dadd_rn(1.0, small), __dadd_rz(1.0, small), __dadd_ru(1.0, small), __dadd_rd(1.0, small)};
    }
};
struct DivideDoubles {
    __device__ DoubleDirections operator()(double x) const {
        return {__ddiv_rn(1.0, x), __ddiv_rz(1.0, x), __ddiv_ru(1.0, x), __ddiv_rd(1.0, x)};
    }
};

// ---- conversions -------------------------------------------------------------------------------------------

struct Integers {
    int nearest, zero, up, down;
    unsigned int unsigned_nearest, unsigned_zero;
    long long wide;
    unsigned long long unsigned_wide;
};
struct FloatToIntegers {
    __device__ Integers operator()(float x) const {
        return {__float2int_rn(x),  __float2int_rz(x),  __float2int_ru(x), __float2int_rd(x),
                __float2uint_rn(x), __float2uint_rz(x), __float2ll_rz(x),  __float2ull_rz(x)};
    }
};
struct DoubleToIntegers {
    __device__ Integers operator()(double x) const {
        return {__double2int_rn(x),  __double2int_rz(x),  __double2int_ru(x), __double2int_rd(x),
                __double2uint_rn(x), __double2uint_rz(x), __double2ll_rz(x),  __double2ull_rz(x)};
    }
};

struct IntToFloat {
    __device__ Directions operator()(int x) const {
        return {__int2float_rn(x), __int2float_rz(x), __int2float_ru(x), __int2float_rd(x)};
    }
};
struct UnsignedWideToFloat {
    __device__ Directions operator()(unsigned long long x) const {
        return {__ull2float_rn(x), __ull2float_rz(x), __ull2float_ru(x), __ull2float_rd(x)};
    }
};
struct DoubleToFloat {
    __device__ Directions operator()(double x) const {
        return {__double2float_rn(x), __double2float_rz(x), __double2float_ru(x), __double2float_rd(x)};
    }
};

struct Reinterpret {
    __device__ double operator()(double x) const {
        const double rebuilt = __hiloint2double(__double2hiint(x), __double2loint(x));
        return __longlong_as_double(__double_as_longlong(rebuilt));
    }
};
struct ReinterpretFloat {
    __device__ float operator()(float x) const {
        return __int_as_float(__float_as_int(__uint_as_float(__float_as_uint(x))));
    }
};

// ---- functions ---------------------------------------------------------------------------------------------

struct Functions {
    float rsqrt, rcbrt, sinpi, cospi, exp10, saturated, fast_sine, fast_cosine, fast_exp, fast_log, length;
    double erfinv, normcdf, wide_sinpi, wide_rsqrt;
};
struct ComputeFunctions {
    __device__ Functions operator()(float x) const {
        Functions f;
        f.rsqrt = rsqrtf(x);
        f.rcbrt = rcbrtf(x);
        sincospif(x, &f.sinpi, &f.cospi);
        f.exp10 = exp10f(x);
        f.saturated = __saturatef(x);
        __sincosf(x, &f.fast_sine, &f.fast_cosine);
        f.fast_exp = __expf(x);
        f.fast_log = __logf(x);
        f.length = norm3df(x, 2.0f * x, 2.0f * x);
        f.erfinv = erfinv(static_cast<double>(x) / 4.0);
        f.normcdf = normcdf(static_cast<double>(x));
        f.wide_sinpi = sinpi(static_cast<double>(x));
        f.wide_rsqrt = rsqrt(static_cast<double>(x));
        return f;
    }
};

struct MinMax {
    int smaller, larger;
    unsigned int mixed;
    float smaller_float;
    double larger_mixed;
    unsigned long long larger_wide;
};
struct ComputeMinMax {
    __device__ MinMax operator()(int x) const {
        return {min(x, 3),
                max(x, 3),
                max(static_cast<unsigned int>(5), x),
                min(static_cast<float>(x), 0.5f),
                max(0.5f, static_cast<double>(x)),
                max(7ull, static_cast<unsigned long long>(max(x, 0)))};
    }
};

struct AddExtremes {
    __device__ float operator()(float x) const { return min(x, 1.0f) + max(2.0f, x) + fminf(x, 4.0f) + fmaxf(8.0f, x); }
};

struct Classify {
    __device__ int operator()(float x) const {
        return (isnan(x) ? 1 : 0) + (isinf(x) ? 2 : 0) + (isfinite(x) ? 4 : 0) + (signbit(x) ? 8 : 0);
    }
};

// The hints are for global memory only.
__global__ void load_and_store(float* four) {
    __stcs(&four[1], __ldcg(&four[0]) + 1.0f);
    __stwt(&four[2], __ldcs(&four[1]) + 1.0f);
    four[3] = __ldcv(&four[2]);
}

}  // namespace

TEST_CASE("bits are counted, found and reversed, also in 0") {
    for_each_result<CountBits>(sample_words(), [](unsigned int x, const Counts& c) {
        CHECK(c.ones == std::popcount(x));
        CHECK(c.leading_zeros == std::countl_zero(x));
        CHECK(c.first_set == (x == 0 ? 0 : std::countr_zero(x) + 1));
        unsigned int reversed = 0;
        for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1u) << (31 - bit);
        CHECK(c.reversed == reversed);
    });
    std::vector<unsigned long long> wide{0ull, 1ull, 1ull << 32, 1ull << 63, ~0ull, 0x0123456789abcdefull};
    for_each_result<CountWideBits>(wide, [](unsigned long long x, const WideCounts& c) {
        CHECK(c.ones == std::popcount(x));
        CHECK(c.leading_zeros == std::countl_zero(x));
        CHECK(c.first_set == (x == 0 ? 0 : std::countr_zero(x) + 1));
        unsigned long long reversed = 0;
        for (int bit = 0; bit < 64; ++bit) reversed |= (x >> bit & 1ull) << (63 - bit);
        CHECK(c.reversed == reversed);
    });
}

TEST_CASE("bytes are permuted and words shifted through each other") {
    for_each_result<Permute>(sample_triples(), [](const ThreeWords& w, const Permutation& p) {
        const std::uint64_t both = static_cast<std::uint64_t>(w.b) << 32 | w.a;
        unsigned int permuted = 0;
        for (int i = 0; i < 4; ++i) {
            permuted |= static_cast<unsigned int>(both >> (8 * (w.c >> (4 * i) & 7)) & 0xff) << (8 * i);
        }
        CHECK(p.permuted == permuted);
        CHECK(p.left == static_cast<unsigned int>(both << (w.c % 32) >> 32));
        CHECK(p.right == static_cast<unsigned int>(both >> (w.c % 32)));
        CHECK(p.left_clamped == static_cast<unsigned int>(both << std::min(w.c, 32u) >> 32));
        CHECK(p.right_clamped == static_cast<unsigned int>(both >> std::min(w.c, 32u)));
    });
}

TEST_CASE("high words of products, averages and distances do not overflow") {
    for_each_result<Multiply>(sample_triples(), [](const ThreeWords& w, const Products& p) {
        const auto signed_a = static_cast<std::int64_t>(static_cast<int>(w.a));
        const auto signed_b = static_cast<std::int64_t>(static_cast<int>(w.b));
        CHECK(p.high == static_cast<std::uint64_t>(w.a) * w.b >> 32);
        CHECK(p.signed_high == signed_a * signed_b >> 32);
        CHECK(p.low24 == (w.a % (1u << 24)) * (w.b % (1u << 24)));
        const auto low24 = [](unsigned int x) { return (static_cast<int>(x % (1u << 24)) ^ (1 << 23)) - (1 << 23); };
        CHECK(p.signed_low24 == static_cast<int>(static_cast<std::int64_t>(low24(w.a)) * low24(w.b)));
        CHECK(p.average == (signed_a + signed_b) >> 1);
        CHECK(p.rounded_average == (signed_a + signed_b + 1) >> 1);
        CHECK(p.distance == std::max(w.a, w.b) - std::min(w.a, w.b) + w.c);
        CHECK(p.signed_distance == static_cast<unsigned int>(std::abs(signed_a - signed_b) + w.c));

        // The high half of a 64-bit product from four 32-bit ones.
        const std::uint64_t low = static_cast<std::uint64_t>(w.c) * w.a;
        const std::uint64_t middle = static_cast<std::uint64_t>(w.a) * w.a + (low >> 32);
        const std::uint64_t other = static_cast<std::uint64_t>(w.c) * w.b + (middle & 0xffffffffu);
        const std::uint64_t high = static_cast<std::uint64_t>(w.a) * w.b + (middle >> 32) + (other >> 32);
        CHECK(p.wide_high == high);
        const std::uint64_t x = static_cast<std::uint64_t>(w.a) << 32 | w.c;
        const std::uint64_t y = static_cast<std::uint64_t>(w.b) << 32 | w.a;
        CHECK(static_cast<std::uint64_t>(p.signed_wide_high) == high - (signed_a < 0 ? y : 0) - (signed_b < 0 ? x : 0));
    });
}

TEST_CASE("packed bytes and halfwords are handled lane by lane") {
    for_each_result<ComputePacked>(sample_triples(), [](const ThreeWords& w, const Packed& p) {
        int dot = static_cast<int>(w.c);
        unsigned int unsigned_dot = w.c, distance = 0;
        for (int i = 0; i < 4; ++i) {
            const auto lane = [i](unsigned int word) {
                return static_cast<int>(static_cast<std::uint8_t>(word >> (8 * i)));
            };
            const auto signed_lane = [i](unsigned int word) { return int{static_cast<std::int8_t>(word >> (8 * i))}; };
            const int a = lane(w.a), b = lane(w.b), signed_a = signed_lane(w.a), signed_b = signed_lane(w.b);
            CHECK(lane(p.sum) == (a + b) % 256);
            CHECK(lane(p.difference) == (256 + a - b) % 256);
            CHECK(signed_lane(p.signed_saturated) == std::clamp(signed_a + signed_b, -128, 127));
            CHECK(lane(p.unsigned_saturated) == std::min(a + b, 255));
            CHECK(lane(p.largest) == std::max(a, b));
            CHECK(signed_lane(p.smallest) == std::min(signed_a, signed_b));
            CHECK(lane(p.equal) == (a == b ? 255 : 0));
            CHECK(lane(p.greater) == (signed_a > signed_b ? 1 : 0));
            distance += static_cast<unsigned int>(std::abs(a - b));
            dot = static_cast<int>(static_cast<unsigned int>(dot) + static_cast<unsigned int>(signed_a * signed_b));
            unsigned_dot += static_cast<unsigned int>(a * b);
        }
        CHECK(p.distance == distance);
        CHECK(p.dot == dot);
        CHECK(p.unsigned_dot == unsigned_dot);
        CHECK(p.halfword_sum == (((w.a & 0xffff0000u) + (w.b & 0xffff0000u)) | ((w.a + w.b) & 0xffffu)));
        CHECK(static_cast<std::int16_t>(p.halfword_signed_largest) ==
              std::max(static_cast<std::int16_t>(w.a), static_cast<std::int16_t>(w.b)));
    });
}

TEST_CASE("single precision arithmetic rounds in every direction") {
    const auto values = sample_floats();
    for_each_result<Add>(
        values, [](TwoFloats v, const Directions& d) { check_directions(d, static_cast<long double>(v.a) + v.b); });
    for_each_result<Subtract>(
        values, [](TwoFloats v, const Directions& d) { check_directions(d, static_cast<long double>(v.a) - v.b); });
    for_each_result<Times>(
        values, [](TwoFloats v, const Directions& d) { check_directions(d, static_cast<long double>(v.a) * v.b); });
    for_each_result<Divide>(
        values, [](TwoFloats v, const Directions& d) { check_directions(d, static_cast<long double>(v.a) / v.b); });
    for_each_result<SquareRoot>(values, [](TwoFloats v, const Directions& d) {
        check_directions(d, std::sqrt(static_cast<long double>(v.a)));
    });
    for_each_result<MultiplyAdd>(values, [](TwoFloats v, const Directions& d) {
        check_directions(d, static_cast<long double>(v.a) * v.a + v.b);
    });
}

TEST_CASE("directed rounding stops at the largest number instead of infinity") {
    const auto d = map_on_device<Times>(std::vector<TwoFloats>{{3e38f, 10.0f}, {-3e38f, 10.0f}});
    constexpr float largest = std::numeric_limits<float>::max();
    CHECK((d[0].nearest == infinity && d[0].up == infinity && d[0].down == largest && d[0].zero == largest));
    CHECK((d[1].nearest == -infinity && d[1].up == -largest && d[1].down == -infinity && d[1].zero == -largest));
}

TEST_CASE("double precision arithmetic rounds in every direction") {
    const auto sums = map_on_device<AddDoubles>(std::vector<double>{0x1p-60, -0x1p-60});
    CHECK((sums[0].nearest == 1.0 && sums[0].zero == 1.0 && sums[0].up == 1.0 + 0x1p-52 && sums[0].down == 1.0));
    CHECK((sums[1].nearest == 1.0 && sums[1].zero == 1.0 - 0x1p-53 && sums[1].up == 1.0));
    CHECK(sums[1].down == 1.0 - 0x1p-53);
    for_each_result<DivideDoubles>(std::vector<double>{3.0, 7.0, 49.0, -3.0}, [](double x, const DoubleDirections& d) {
        // The sign of 1 - quotient * x, exact thanks to the multiply-add, tells on which side the quotient lies.
        CHECK(std::fma(d.down, x, -1.0) * x < 0.0);
        CHECK(std::fma(d.up, x, -1.0) * x > 0.0);
        CHECK(std::nextafter(d.down, 2.0) == d.up);
        CHECK(d.zero == (x > 0.0 ? d.down : d.up));
        CHECK(d.nearest == 1.0 / x);
    });
}

TEST_CASE("conversions to integers round and stay in range") {
    const std::vector<float> inputs{0.5f, 1.5f,  2.5f,  -0.5f,  -1.5f,    -2.7f,    2.7f,
                                    3e9f, -3e9f, 1e20f, -1e20f, infinity, -infinity};
    const auto clamped = [](double x, auto limit) {
        using Integer = decltype(limit);
        using Limits = std::numeric_limits<Integer>;
        if (x >= static_cast<double>(Limits::max())) return Limits::max();
        if (x <= static_cast<double>(Limits::min())) return Limits::min();
        return static_cast<Integer>(x);
    };
    const auto check_all = [&](double x, const Integers& r) {
        CHECK(r.nearest == clamped(std::nearbyint(x), int{}));
        CHECK(r.zero == clamped(std::trunc(x), int{}));
        CHECK(r.up == clamped(std::ceil(x), int{}));
        CHECK(r.down == clamped(std::floor(x), int{}));
        CHECK(r.unsigned_nearest == clamped(std::nearbyint(x), 0u));
        CHECK(r.unsigned_zero == clamped(std::trunc(x), 0u));
        CHECK(r.wide == clamped(std::trunc(x), 0ll));
        CHECK(r.unsigned_wide == clamped(std::trunc(x), 0ull));
    };
    for_each_result<FloatToIntegers>(inputs, check_all);
    for_each_result<DoubleToIntegers>(std::vector<double>(inputs.begin(), inputs.end()), check_all);
}

TEST_CASE("NaN becomes 0, or the highest bit where 64 bits are involved") {
    const Integers from_float = map_on_device<FloatToIntegers>(std::vector<float>{quiet_nan})[0];
    CHECK(from_float.nearest == 0);
    CHECK(from_float.zero == 0);
    CHECK(from_float.unsigned_zero == 0u);
    CHECK(from_float.wide == std::numeric_limits<long long>::min());
    CHECK(from_float.unsigned_wide == 1ull << 63);
    const Integers from_double = map_on_device<DoubleToIntegers>(std::vector<double>{double_nan})[0];
    CHECK(from_double.nearest == std::numeric_limits<int>::min());
    CHECK(from_double.unsigned_zero == 0x80000000u);
    CHECK(from_double.wide == std::numeric_limits<long long>::min());
}

TEST_CASE("integers and doubles become floats in every direction") {
    for_each_result<IntToFloat>(std::vector<int>{0, 1, -1, 16777217, -16777217, 16777219, 2147483647, -2147483647 - 1},
                                [](int x, const Directions& d) { check_directions(d, x); });
    for_each_result<UnsignedWideToFloat>(
        std::vector<unsigned long long>{0, 16777217, ~0ull, (1ull << 63) + 1, (1ull << 62) - 1, 0x8000008000000001ull},
        [](unsigned long long x, const Directions& d) { check_directions(d, static_cast<long double>(x)); });
    for_each_result<DoubleToFloat>(std::vector<double>{1.0 / 3.0, -1.0 / 3.0, 1e-42, 1.0 + 0x1p-24, 0x1p-149},
                                   [](double x, const Directions& d) { check_directions(d, x); });
}

TEST_CASE("bits survive reinterpretation") {
    for_each_result<Reinterpret>(std::vector<double>{0.0, -0.0, 1.5, -3.25e300, 5e-324},
                                 [](double x, double y) { CHECK(same(x, y)); });
    for_each_result<ReinterpretFloat>(std::vector<float>{0.0f, -0.0f, 1.5f, 1e-45f, -infinity},
                                      [](float x, float y) { CHECK(same(x, y)); });
}

TEST_CASE("math functions agree with the host's library") {
    const double pi = std::acos(-1.0);
    std::vector<float> inputs{0.25f, 0.5f, 1.0f, 1.25f, 1.5f, 2.0f, 2.75f, 3.5f};
    for_each_result<ComputeFunctions>(inputs, [&](float single, const Functions& f) {
        const double x = single;
        CHECK(near(f.rsqrt, 1.0 / std::sqrt(x), 4e-7));
        CHECK(near(f.rcbrt, 1.0 / std::cbrt(x), 4e-7));
        CHECK(std::abs(f.sinpi - std::sin(pi * x)) < 3e-7);
        CHECK(std::abs(f.cospi - std::cos(pi * x)) < 3e-7);
        CHECK(std::abs(f.wide_sinpi - std::sin(pi * x)) < 2e-15);
        CHECK(near(f.exp10, std::pow(10.0, x), 1e-6));
        CHECK(f.saturated == std::min(single, 1.0f));
        CHECK(std::abs(f.fast_sine - std::sin(x)) < 1e-6);
        CHECK(std::abs(f.fast_cosine - std::cos(x)) < 1e-6);
        CHECK(near(f.fast_exp, std::exp(x), 2e-6));
        CHECK(std::abs(f.fast_log - std::log(x)) < 1e-6);
        CHECK(near(f.length, 3.0 * x, 4e-7));
        CHECK(near(std::erf(f.erfinv), x / 4.0, 1e-14));
        CHECK(near(f.normcdf, 0.5 * (1.0 + std::erf(x / std::sqrt(2.0))), 1e-14));
        CHECK(near(f.wide_rsqrt, 1.0 / std::sqrt(x), 1e-15));
    });
}

TEST_CASE("sine and cosine of multiples of pi are exact") {
    const auto results = map_on_device<ComputeFunctions>(std::vector<float>{0.5f, 1.0f, 1.5f, 2.0f, 1e6f});
    const std::vector<float> sines{1.0f, 0.0f, -1.0f, 0.0f, 0.0f}, cosines{0.0f, -1.0f, 0.0f, 1.0f, 1.0f};
    for (std::size_t i = 0; i < results.size(); ++i) {
        CHECK(results[i].sinpi == sines[i]);
        CHECK(results[i].cospi == cosines[i]);
    }
}

TEST_CASE("NaN saturates to 0") {
    CHECK(map_on_device<ComputeFunctions>(std::vector<float>{quiet_nan})[0].saturated == 0.0f);
    CHECK(map_on_device<ComputeFunctions>(std::vector<float>{-2.0f})[0].saturated == 0.0f);
}

TEST_CASE("min and max take all arithmetic types") {
    const MinMax below = map_on_device<ComputeMinMax>(std::vector<int>{-4})[0];
    CHECK((below.smaller == -4 && below.larger == 3 && below.mixed == 0xfffffffcu));
    CHECK((below.smaller_float == -4.0f && below.larger_mixed == 0.5 && below.larger_wide == 7ull));
    const MinMax above = map_on_device<ComputeMinMax>(std::vector<int>{9})[0];
    CHECK((above.smaller == 3 && above.larger == 9 && above.mixed == 9u));
    CHECK((above.smaller_float == 0.5f && above.larger_mixed == 9.0 && above.larger_wide == 9ull));
}

TEST_CASE("min and max prefer a number to a NaN") {
    CHECK(map_on_device<AddExtremes>(std::vector<float>{quiet_nan})[0] == 1.0f + 2.0f + 4.0f + 8.0f);
}

TEST_CASE("numbers are classified without a namespace") {
    const auto classes =
        map_on_device<Classify>(std::vector<float>{1.0f, -1.0f, infinity, -infinity, quiet_nan, -0.0f});
    CHECK(classes[0] == 4);
    CHECK(classes[1] == 12);
    CHECK(classes[2] == 2);
    CHECK(classes[3] == 10);
    CHECK((classes[4] & 7) == 1);
    CHECK(classes[5] == 12);
}

TEST_CASE("loads and stores with cache hints move the value") {
    device_or_skip();
    float four[4] = {5.0f, 0.0f, 0.0f, 0.0f};
    float* d_four = nullptr;
    REQUIRE(cudaMalloc(&d_four, sizeof four) == cudaSuccess);
    REQUIRE(cudaMemcpy(d_four, four, sizeof four, cudaMemcpyHostToDevice) == cudaSuccess);
    load_and_store<<<1, 1>>>(d_four);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaMemcpy(four, d_four, sizeof four, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(four[1] == 6.0f);
    CHECK(four[2] == 7.0f);
    CHECK(four[3] == 7.0f);
    cudaFree(d_four);
}

TEST_CASE("min and max mean the same in host code that uses namespace std") {
    using namespace std;
    CHECK(min(1, 2) == 1);
    CHECK(max(1.5f, 2.5f) == 2.5f);
    CHECK(max<long>(1, 2) == 2);
}
