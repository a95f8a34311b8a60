// 16-bit floating point: every bit pattern of __half and __nv_bfloat16, rounding, arithmetic, comparisons, pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "map_on_device.cuh"

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

static_assert(sizeof(__half) == 2 && alignof(__half) == 2 && sizeof(__half2) == 4 && alignof(__half2) == 4);
static_assert(sizeof(__nv_bfloat16) == 2 && sizeof(__nv_bfloat162) == 4 && alignof(__nv_bfloat162) == 4);
static_assert(std::is_same_v<half, __half> && std::is_same_v<half2, __half2>);

/// A format: where its exponent begins, and the smallest exponent of a normal number.
struct Format {
    int fraction_bits;
    int smallest_exponent;
    int largest_exponent;
};
constexpr Format half_format{10, -14, 15};
constexpr Format bfloat16_format{7, -126, 127};

/// The number that `bits` mean, by the definition of the format.
double value_of(unsigned int bits, Format format) {
    const unsigned int fraction = bits & ((1u << format.fraction_bits) - 1u);
    const int exponent = static_cast<int>((bits & 0x7fffu) >> format.fraction_bits);
    const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
    const int special = format.largest_exponent - format.smallest_exponent + 2;
    if (exponent == special) return fraction == 0 ? sign * infinity : quiet_nan;
    if (exponent == 0) return sign * std::ldexp(fraction, format.smallest_exponent - format.fraction_bits);
    return sign * std::ldexp((1u << format.fraction_bits) + fraction,
                             exponent - 1 + format.smallest_exponent - format.fraction_bits);
}

/// `value` rounded to the format's nearest number, ties to even.
double rounded(double value, Format format) {
    if (value == 0.0 || !std::isfinite(value)) return value;
    const int exponent = std::max(std::ilogb(value), format.smallest_exponent);
    const int unit = exponent - format.fraction_bits;
    const double result = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
    return std::abs(result) >= std::ldexp(1.0, format.largest_exponent + 1) ? std::copysign(infinity, value) : result;
}

/// Equal, zeros with the same sign; NaN equals NaN.
bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// Skips a test that needs bfloat16 arithmetic where the device has none.
void skip_below_capability_8() {
    device_or_skip();
    cudaDeviceProp properties;
    REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
    if (properties.major < 8) SKIP("needs compute capability 8.0");
}

std::vector<unsigned short> all_patterns() {
    std::vector<unsigned short> patterns(65536);
    for (unsigned int i = 0; i < 65536; ++i) patterns[i] = static_cast<unsigned short>(i);
    return patterns;
}

struct ThereAndBack {
    float value;
    unsigned short bits;
};
struct HalfThereAndBack {
    __device__ ThereAndBack operator()(unsigned short bits) const {
        const float value = __half2float(__ushort_as_half(bits));
        return {value, __half_as_ushort(__float2half(value))};
    }
};
struct BfloatThereAndBack {
    __device__ ThereAndBack operator()(unsigned short bits) const {
        const float value = __bfloat162float(__ushort_as_bfloat16(bits));
        return {value, __bfloat16_as_ushort(__float2bfloat16(value))};
    }
};

template <class Function>
void check_all_patterns(Format format) {
    const auto patterns = all_patterns();
    const auto results = map_on_device<Function>(patterns);
    int wrong = 0;
    for (unsigned int i = 0; i < 65536; ++i) {
        const double expected = value_of(i, format);
        wrong += !same(results[i].value, expected);
        wrong += std::isnan(expected) ? results[i].bits != 0x7fff : results[i].bits != i;
    }
    CHECK(wrong == 0);
}

struct Roundings {
    float nearest, zero, up, down, from_double;
};
struct RoundToHalf {
    __device__ Roundings operator()(float x) const {
        return {__half2float(__float2half_rn(x)), __half2float(__float2half_rz(x)), __half2float(__float2half_ru(x)),
                __half2float(__float2half_rd(x)), __half2float(__double2half(x))};
    }
};
struct RoundToBfloat {
    __device__ Roundings operator()(float x) const {
        return {__bfloat162float(__float2bfloat16_rn(x)), __bfloat162float(__float2bfloat16_rz(x)),
                __bfloat162float(__float2bfloat16_ru(x)), __bfloat162float(__float2bfloat16_rd(x)),
                __bfloat162float(__double2bfloat16(x))};
    }
};

std::vector<float> sample_floats() {
    std::vector<float> values{0.0f,        -0.0f,        65504.0f, 65519.0f, 65520.0f, -65520.0f, 1e6f,
                              -1e6f,       6e-8f,        2e-8f,    -3e-8f,   0x1p-25f, 0x1p-24f,  0x1.8p-24f,
                              0x1p-14f,    0x1.ffcp-15f, 1e-40f,   -1e-40f,  3.4e38f,  2049.0f,   2051.0f,
                              1.00390625f, 1.01171875f,  infinity, -infinity};
    std::mt19937 random(3);
    std::uniform_real_distribution<float> fraction(-2.0f, 2.0f);
    for (int i = 0; i < 2000; ++i) values.push_back(std::ldexp(fraction(random), i % 45 - 27));
    return values;
}

template <class Function>
void check_rounding(Format format) {
    const auto values = sample_floats();
    const auto results = map_on_device<Function>(values);
    const double unit_of_zero = std::ldexp(1.0, format.smallest_exponent - format.fraction_bits);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double x = values[i];
        const Roundings& r = results[i];
        INFO("x = " << x);
        CHECK(same(r.nearest, rounded(x, format)));
        CHECK(same(r.from_double, r.nearest));
        CHECK(r.down <= x);
        CHECK(r.up >= x);
        CHECK(r.zero == (x < 0 ? r.up : r.down));
        CHECK((r.nearest == r.down || r.nearest == r.up));
        // No number of the format lies between the two.
        if (std::isfinite(r.up) && std::isfinite(r.down) && r.up != r.down) {
            const double unit = std::max(unit_of_zero, std::ldexp(1.0, std::ilogb(x) - format.fraction_bits));
            CHECK(static_cast<double>(r.up) - r.down == unit);
        }
    }
}

// ---- arithmetic ----------------------------------------------------------------------------------------------

struct ThreeNumbers {
    unsigned short a, b, c;
};
struct Results {
    float sum, difference, product, quotient, fused, root;
};

struct HalfArithmetic {
    __device__ Results operator()(ThreeNumbers n) const {
        const __half a = __ushort_as_half(n.a), b = __ushort_as_half(n.b), c = __ushort_as_half(n.c);
        return {__half2float(__hadd(a, b)), __half2float(__hsub(a, b)),    __half2float(__hmul(a, b)),
                __half2float(__hdiv(a, b)), __half2float(__hfma(a, b, c)), __half2float(hsqrt(a))};
    }
};
struct BfloatArithmetic {
    __device__ Results operator()(ThreeNumbers n) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800  // no bfloat16 arithmetic
        return {};
#else
        const __nv_bfloat16 a = __ushort_as_bfloat16(n.a), b = __ushort_as_bfloat16(n.b), c = __ushort_as_bfloat16(n.c);
        return {__bfloat162float(__hadd(a, b)), __bfloat162float(__hsub(a, b)),    __bfloat162float(__hmul(a, b)),
                __bfloat162float(__hdiv(a, b)), __bfloat162float(__hfma(a, b, c)), __bfloat162float(hsqrt(a))};
#endif
    }
};

/// Whether `value` is within one unit in the last place of `exact`.
bool within_a_unit(double value, double exact, Format format) {
    const int exponent = std::max(std::ilogb(exact), format.smallest_exponent);
    return std::abs(value - exact) <= std::ldexp(1.0, exponent - format.fraction_bits);
}

/// Numbers of moderate size, so that sums of products are exact in double.
std::vector<ThreeNumbers> sample_numbers(unsigned int one, unsigned int fraction_bits) {
    std::vector<ThreeNumbers> numbers;
    std::mt19937 random(4);
    const auto number = [&] {
        const unsigned int exponent_change = static_cast<unsigned int>(random() % 16) << fraction_bits;
        const unsigned int fraction = static_cast<unsigned int>(random()) & ((1u << fraction_bits) - 1u);
        const unsigned int sign = static_cast<unsigned int>(random() & 1u) << 15;
        return static_cast<unsigned short>((one + fraction + exponent_change - (8u << fraction_bits)) | sign);
    };
    for (int i = 0; i < 3000; ++i) numbers.push_back({number(), number(), number()});
    return numbers;
}

template <class Function>
void check_arithmetic(const std::vector<ThreeNumbers>& numbers, Format format) {
    const auto results = map_on_device<Function>(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double a = value_of(numbers[i].a, format), b = value_of(numbers[i].b, format);
        const double c = value_of(numbers[i].c, format);
        const Results& r = results[i];
        INFO("a = " << a << ", b = " << b << ", c = " << c);
        CHECK(r.sum == rounded(a + b, format));
        CHECK(r.difference == rounded(a - b, format));
        CHECK(r.product == rounded(a * b, format));
        CHECK(r.fused == rounded(a * b + c, format));
        CHECK(within_a_unit(r.quotient, a / b, format));
        if (a > 0) CHECK(within_a_unit(r.root, std::sqrt(a), format));
    }
}

struct Relations {
    bool equal, unequal, less, less_equal, unequal_or_nan, equal_or_nan, operator_unequal, not_a_number;
    int infinite;
    unsigned short larger, smaller, larger_nan, negated, absolute;
};
struct CompareHalves {
    __device__ Relations operator()(ThreeNumbers n) const {
        const __half a = __ushort_as_half(n.a), b = __ushort_as_half(n.b);
        return {__heq(a, b),
                __hne(a, b),
                __hlt(a, b),
                __hle(a, b),
                __hneu(a, b),
                __hequ(a, b),
                a != b,
                __hisnan(a),
                __hisinf(a),
                __half_as_ushort(__hmax(a, b)),
                __half_as_ushort(__hmin(a, b)),
                __half_as_ushort(__hmax_nan(a, b)),
                __half_as_ushort(__hneg(a)),
                __half_as_ushort(__habs(a))};
    }
};

struct Saturated {
    float sum, fused, relu;
};
struct SaturateHalves {
    __device__ Saturated operator()(float2 v) const {
        const __half a = __float2half(v.x), b = __float2half(v.y);
        return {__half2float(__hadd_sat(a, b)), __half2float(__hfma_sat(a, b, b)), __half2float(__hfma_relu(a, b, b))};
    }
};

struct Integers {
    int nearest, zero, up, down;
    unsigned int unsigned_zero;
    short small;
    long long wide;
};
struct HalfToIntegers {
    __device__ Integers operator()(float x) const {
        const __half h = __float2half(x);
        return {__half2int_rn(h),  __half2int_rz(h),   __half2int_ru(h), __half2int_rd(h),
                __half2uint_rz(h), __half2short_rn(h), __half2ll_rz(h)};
    }
};
struct IntegerToHalf {
    __device__ float4 operator()(int x) const {
        return make_float4(__half2float(__int2half_rn(x)), __half2float(__int2half_rz(x)),
                           __half2float(__int2half_ru(x)), __half2float(__int2half_rd(x)));
    }
};
struct WideIntegerToBfloat {
    __device__ float operator()(unsigned long long x) const { return __bfloat162float(__ull2bfloat16_rn(x)); }
};

struct UseOperators {
    __device__ float4 operator()(float2 v) const {
        __half a = v.x;
        const __half b(v.y);
        a += b;
        a *= a - __half(1.0f);
        // Not (a, -b): nvcc 13.0 then computes -b * b in the square's second half (seen on sm_90).
        __half2 pair(a, b);
        pair = -(pair * pair + __float2half2_rn(1.0f));
        const float as_float = a;
        const int as_int = static_cast<int>(b / __half(2));
        return make_float4(as_float, static_cast<float>(as_int), __low2float(pair), __high2float(pair));
    }
};

struct UsePairs {
    __device__ float4 operator()(float2 v) const {
        const __half2 a = __float22half2_rn(v);
        const __half2 swapped = __lowhigh2highlow(a);
        const __half2 fused = __hfma2(a, swapped, __halves2half2(__low2half(a), __high2half(a)));
        const __half2 less = __hlt2(a, swapped);
        const float2 both = __half22float2(__hadd2(fused, less));
        return make_float4(both.x, both.y, __hbge2(a, a) ? 1.0f : 0.0f, __low2float(h2exp2(a)));
    }
};

struct UseBfloatPairs {
    __device__ float4 operator()(float2 v) const {
        const __nv_bfloat162 a = __floats2bfloat162_rn(v.x, v.y);
        const __nv_bfloat162 product = __hmul2(a, __low2bfloat162(a));
        const float2 both = __bfloat1622float2(product + a);
        return make_float4(both.x, both.y, __low2float(__hmax2(a, product)), __bfloat162float(__high2bfloat16(a)));
    }
};

struct HalfSums {
    __half single;
    __half2 pair;
    __nv_bfloat16 bfloat;
};
__global__ void add_halves(HalfSums* sums) {
#if defined(__CPU_DEVICE__) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
    atomicAdd(&sums->single, __float2half(1.0f));
    atomicAdd(&sums->pair, __floats2half2_rn(1.0f, 0.5f));
    atomicAdd(&sums->bfloat, __float2bfloat16(2.0f));
#endif
}

}  // namespace

TEST_CASE("every half keeps its bits on the way through float") { check_all_patterns<HalfThereAndBack>(half_format); }

TEST_CASE("every bfloat16 keeps its bits on the way through float") {
    check_all_patterns<BfloatThereAndBack>(bfloat16_format);
}

TEST_CASE("floats become halves in every direction, subnormal ones too") { check_rounding<RoundToHalf>(half_format); }

TEST_CASE("floats become bfloat16 in every direction") { check_rounding<RoundToBfloat>(bfloat16_format); }

TEST_CASE("NaN becomes the canonical NaN") {
    const auto half_nan = map_on_device<RoundToHalf>(std::vector<float>{quiet_nan})[0];
    CHECK((std::isnan(half_nan.nearest) && std::isnan(half_nan.zero) && std::isnan(half_nan.from_double)));
    CHECK(std::isnan(map_on_device<RoundToBfloat>(std::vector<float>{quiet_nan})[0].up));
}

TEST_CASE("half arithmetic rounds once") { check_arithmetic<HalfArithmetic>(sample_numbers(0x3c00, 10), half_format); }

TEST_CASE("bfloat16 arithmetic rounds once") {
    skip_below_capability_8();
    check_arithmetic<BfloatArithmetic>(sample_numbers(0x3f80, 7), bfloat16_format);
}

TEST_CASE("a multiply-add decides a tie by the smallest addend") {
    skip_below_capability_8();
    // 1.5 * 1.0078125 lies half way between two bfloat16 numbers; 2^-100 tips the scales.
    const std::vector<ThreeNumbers> numbers{
        {0x3fc0, 0x3f81, 0x0000}, {0x3fc0, 0x3f81, 0x0d80}, {0x3fc0, 0x3f81, 0x8d80}};
    const auto results = map_on_device<BfloatArithmetic>(numbers);
    CHECK(results[0].fused == 0x1.84p+0f);
    CHECK(results[1].fused == 0x1.84p+0f);
    CHECK(results[2].fused == 0x1.82p+0f);
}

TEST_CASE("overflow gives infinity and invalid operations give NaN") {
    const unsigned short largest = 0x7bff, inf = 0x7c00, zero = 0;
    const auto results = map_on_device<HalfArithmetic>(std::vector<ThreeNumbers>{
        {largest, largest, zero}, {inf, inf, zero}, {zero, zero, zero}, {0xbc00, 0x3c00, zero}});
    CHECK((results[0].sum == infinity && results[0].product == infinity && results[0].difference == 0.0f));
    CHECK((std::isnan(results[1].difference) && results[1].sum == infinity));
    CHECK((std::isnan(results[2].quotient) && results[2].root == 0.0f));
    CHECK(std::isnan(results[3].root));
}

TEST_CASE("comparisons treat NaN, infinity and signed zeros as documented") {
    const unsigned short nan = 0x7e00, one = 0x3c00, two = 0x4000, minus_zero = 0x8000;
    const auto r = map_on_device<CompareHalves>(
        std::vector<ThreeNumbers>{{one, two, 0}, {nan, one, 0}, {0, minus_zero, 0}, {0xfc00, one, 0}});
    CHECK((r[0].less && r[0].less_equal && r[0].unequal && r[0].unequal_or_nan && !r[0].equal));
    CHECK((r[0].larger == two && r[0].smaller == one && r[0].negated == 0xbc00));
    CHECK((!r[1].equal && !r[1].unequal && !r[1].less && r[1].unequal_or_nan && r[1].equal_or_nan));
    CHECK((r[1].operator_unequal && r[1].not_a_number && r[1].larger == one && r[1].smaller == one));
    CHECK(r[1].larger_nan == 0x7fff);
    CHECK((r[2].equal && !r[2].less && r[2].larger == 0 && r[2].smaller == minus_zero));
    CHECK((r[3].infinite == -1 && r[3].absolute == 0x7c00 && !r[3].not_a_number));
}

TEST_CASE("saturating forms stay between 0 and 1") {
    const auto r = map_on_device<SaturateHalves>(std::vector<float2>{{0.25f, 0.5f}, {3.0f, -1.0f}, {2.0f, 2.0f}});
    CHECK((r[0].sum == 0.75f && r[0].fused == 0.625f && r[0].relu == 0.625f));
    CHECK((r[1].sum == 1.0f && r[1].fused == 0.0f && r[1].relu == 0.0f));
    CHECK((r[2].sum == 1.0f && r[2].fused == 1.0f && r[2].relu == 6.0f));
}

TEST_CASE("halves become integers and integers halves") {
    const auto to = map_on_device<HalfToIntegers>(std::vector<float>{2.5f, -2.5f, -1.0f, infinity, 65504.0f});
    CHECK((to[0].nearest == 2 && to[0].zero == 2 && to[0].up == 3 && to[0].down == 2));
    CHECK((to[1].nearest == -2 && to[1].zero == -2 && to[1].up == -2 && to[1].down == -3));
    CHECK(to[2].unsigned_zero == 0u);
    CHECK((to[3].zero == std::numeric_limits<int>::max() && to[3].wide == std::numeric_limits<long long>::max()));
    CHECK((to[4].small == 32767 && to[4].zero == 65504));

    const auto from = map_on_device<IntegerToHalf>(std::vector<int>{2049, 70000, -70000});
    CHECK((from[0].x == 2048.0f && from[0].y == 2048.0f && from[0].z == 2050.0f && from[0].w == 2048.0f));
    CHECK((from[1].x == infinity && from[1].y == 65504.0f && from[1].z == infinity && from[1].w == 65504.0f));
    CHECK((from[2].x == -infinity && from[2].y == -65504.0f && from[2].z == -65504.0f && from[2].w == -infinity));

    // Half way between two bfloat16 numbers, and one more.
    const auto wide = map_on_device<WideIntegerToBfloat>(
        std::vector<unsigned long long>{(1ull << 63) + (1ull << 55), (1ull << 63) + (1ull << 55) + 1});
    CHECK(wide[0] == 0x1p63f);
    CHECK(wide[1] == 0x1p63f + 0x1p56f);
}

TEST_CASE("halves are used like numbers") {
    const float4 r = map_on_device<UseOperators>(std::vector<float2>{{1.0f, 3.0f}})[0];
    CHECK(r.x == 12.0f);
    CHECK(r.y == 1.0f);
    CHECK(r.z == -145.0f);
    CHECK(r.w == -10.0f);
}

TEST_CASE("pairs compute both components") {
    const float4 half_pair = map_on_device<UsePairs>(std::vector<float2>{{2.0f, 3.0f}})[0];
    CHECK(half_pair.x == 2.0f * 3.0f + 2.0f + 1.0f);
    CHECK(half_pair.y == 2.0f * 3.0f + 3.0f);
    CHECK(half_pair.z == 1.0f);
    CHECK(half_pair.w == 4.0f);
    const float4 bfloat_pair = map_on_device<UseBfloatPairs>(std::vector<float2>{{2.0f, 3.0f}})[0];
    CHECK((bfloat_pair.x == 6.0f && bfloat_pair.y == 9.0f && bfloat_pair.z == 4.0f && bfloat_pair.w == 3.0f));
}

TEST_CASE("halves are added atomically") {
    skip_below_capability_8();
    HalfSums* d_sums = nullptr;
    HalfSums sums;
    REQUIRE(cudaMalloc(&d_sums, sizeof(HalfSums)) == cudaSuccess);
    REQUIRE(cudaMemset(d_sums, 0, sizeof(HalfSums)) == cudaSuccess);
    add_halves<<<8, 16>>>(d_sums);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaMemcpy(&sums, d_sums, sizeof(HalfSums), cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(__half2float(sums.single) == 128.0f);
    CHECK(__low2float(sums.pair) == 128.0f);
    CHECK(__high2float(sums.pair) == 64.0f);
    CHECK(__bfloat162float(sums.bfloat) == 256.0f);
    cudaFree(d_sums);
}
