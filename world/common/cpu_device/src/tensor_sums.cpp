#include "tensor_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace cpu_device {
namespace {

constexpr unsigned kMostK = 32;
constexpr unsigned kMostRows = 32;
constexpr int kBits = 25;             // that are kept below the largest exponent
constexpr int kLeastExponent = -133;  // alignment goes no further down

struct NumberFormat {
    int exponent_bits;
    int fraction_bits;
    int unused_bits;    ///< below the fraction
    bool has_infinity;  ///< else the largest exponent is one of numbers, and only all ones are NaN
};

constexpr NumberFormat format_of(MatrixNumber number) {
    switch (number) {
        case MatrixNumber::f16:
            return {5, 10, 0, true};
        case MatrixNumber::bf16:
            return {8, 7, 0, true};
        case MatrixNumber::tf32:
            return {8, 10, 13, true};
        case MatrixNumber::e4m3:
            return {4, 3, 0, false};
        case MatrixNumber::e5m2:
            return {5, 2, 0, true};
        default:
            return {8, 23, 0, true};  // f32
    }
}

constexpr int kExponentOfZero = -100000;

/// significand 2^(exponent - fraction bits)
struct Number {
    std::int32_t significand;
    std::int32_t exponent;
};

enum class Special : unsigned char { none, infinity, nan };

template <MatrixNumber number>
Number number_of(std::uint32_t bits, Special& special) {
    constexpr NumberFormat format = format_of(number);
    constexpr int bias = (1 << (format.exponent_bits - 1)) - 1;
    bits >>= format.unused_bits;
    const std::uint32_t fraction = bits & ((1u << format.fraction_bits) - 1);
    const std::uint32_t stored = bits >> format.fraction_bits & ((1u << format.exponent_bits) - 1);
    const bool negative = (bits >> (format.exponent_bits + format.fraction_bits) & 1) != 0;
    if (stored == (1u << format.exponent_bits) - 1) {
        if (format.has_infinity) {
            special = fraction == 0 ? Special::infinity : Special::nan;
        } else if (fraction == (1u << format.fraction_bits) - 1) {
            special = Special::nan;
        }
    }
    const auto magnitude = static_cast<std::int32_t>(stored == 0 ? fraction : fraction | 1u << format.fraction_bits);
    if (magnitude == 0) return {0, kExponentOfZero};
    return {negative ? -magnitude : magnitude, static_cast<std::int32_t>(stored == 0 ? 1 : stored) - bias};
}

/// Rows of factors, taken apart.
struct Factors {
    std::int32_t significand[kMostRows][kMostK];
    std::int32_t exponent[kMostRows][kMostK];
    Special special[kMostRows];  ///< whether any number of the row is
};

template <class Bits>
std::uint32_t load(const void* memory, unsigned index) {
    Bits bits;
    std::memcpy(&bits, static_cast<const unsigned char*>(memory) + index * sizeof(Bits), sizeof(Bits));
    return bits;
}

/// Which factor of a row is the i-th that is multiplied. With FP8, an H200 computes what it would if each lane turned
/// the lower two bytes of its registers into FP16 for one product of 16 x 8 x 16, and the upper two for another one.
template <class Bits>
constexpr unsigned turn(unsigned i) {
    if constexpr (sizeof(Bits) == 1) return i % 16 / 2 * 4 + i / 16 * 2 + i % 2;
    return i;
}

template <MatrixNumber number, class Bits>
void take_apart(const void* memory, unsigned rows, unsigned k, Factors& factors) {
    for (unsigned row = 0; row < rows; ++row) {
        factors.special[row] = Special::none;
        for (unsigned i = 0; i < k; ++i) {
            const std::uint32_t bits = load<Bits>(memory, row * k + turn<Bits>(i));
            const Number found = number_of<number>(bits, factors.special[row]);
            factors.significand[row][i] = found.significand;
            factors.exponent[row][i] = found.exponent;
        }
    }
}

/// Toward zero. A sum that becomes 0 has no sign.
std::uint32_t round_to_f32(std::int64_t sum, int unit) {
    const std::uint32_t sign = sum < 0 ? 0x80000000u : 0;
    const std::uint64_t magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const int top = 63 - std::countl_zero(magnitude);
    const int exponent = std::max(top + unit, -126);
    if (exponent > 127) return sign | 0x7F800000u;
    const int shift = exponent - 23 - unit;  // to units in the last place
    const std::uint64_t significand = shift <= 0 ? magnitude << -shift : shift > 63 ? 0 : magnitude >> shift;
    if (significand == 0) return 0;
    const std::uint32_t stored = significand >> 23 != 0 ? static_cast<std::uint32_t>(exponent + 127) : 0;
    return sign | stored << 23 | (static_cast<std::uint32_t>(significand) & 0x7FFFFFu);
}

/// To the nearest, ties to even.
std::uint32_t round_to_f16(std::int64_t sum, int unit) {
    const std::uint32_t sign = sum < 0 ? 0x8000u : 0;
    const std::uint64_t magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const int top = 63 - std::countl_zero(magnitude);
    const int exponent = std::max(top + unit, -14);
    if (exponent > 15) return sign | 0x7C00u;
    const int shift = exponent - 10 - unit;
    std::uint64_t significand = 0;
    if (shift <= 0) {
        significand = magnitude << -shift;
    } else if (shift <= 63) {
        significand = magnitude >> shift;
        const std::uint64_t rest = magnitude & ((std::uint64_t{1} << shift) - 1),
                            half = std::uint64_t{1} << (shift - 1);
        if (rest > half || (rest == half && (significand & 1) != 0)) ++significand;
    }
    if (significand == 0) return 0;
    const std::uint32_t stored = significand >> 10 != 0 ? static_cast<std::uint32_t>(exponent + 15) : 0;
    // A significand of 2^11 carries into the exponent.
    if (significand >> 11 != 0) return sign | (stored + 1) << 10;
    return sign | (stored << 10) | (static_cast<std::uint32_t>(significand) & 0x3FFu);
}

double value_of(const NumberFormat& format, std::uint32_t bits) {
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    bits >>= format.unused_bits;
    const std::uint32_t fraction = bits & ((1u << format.fraction_bits) - 1);
    const std::uint32_t stored = bits >> format.fraction_bits & ((1u << format.exponent_bits) - 1);
    const double sign = (bits >> (format.exponent_bits + format.fraction_bits) & 1) != 0 ? -1.0 : 1.0;
    const std::uint32_t largest = (1u << format.exponent_bits) - 1;
    if (stored == largest && format.has_infinity) {
        return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    }
    if (stored == largest && fraction == (1u << format.fraction_bits) - 1)
        return std::numeric_limits<double>::quiet_NaN();
    const std::uint32_t significand = stored == 0 ? fraction : fraction | 1u << format.fraction_bits;
    return sign * std::ldexp(significand, static_cast<int>(stored == 0 ? 1 : stored) - bias - format.fraction_bits);
}

/// The sum where a factor of the row or the column, or c, is infinite or no number.
template <MatrixNumber input, class Bits>
double special_sum(const void* a, const void* b, unsigned k, unsigned row, unsigned col, double c) {
    constexpr NumberFormat format = format_of(input);
    // Only infinities and NaN count: no sum of doubles overflows here.
    for (unsigned i = 0; i < k; ++i)
        c += value_of(format, load<Bits>(a, row * k + i)) * value_of(format, load<Bits>(b, col * k + i));
    return c;
}

std::uint32_t special_bits(double value, bool is_f16) {
    if (std::isnan(value)) return is_f16 ? 0x7FFFu : 0x7FFFFFFFu;
    const std::uint32_t infinity = is_f16 ? 0x7C00u : 0x7F800000u;
    return infinity | (value < 0 ? (is_f16 ? 0x8000u : 0x80000000u) : 0);
}

/// One group of products, and the sum so far.
template <int fraction_bits>
std::int64_t add_group(const Factors& a, const Factors& b, unsigned row, unsigned col, unsigned first, unsigned count,
                       const Number& c, int c_fraction_bits, int& unit) {
    const std::int32_t* const a_exponent = &a.exponent[row][first];
    const std::int32_t* const b_exponent = &b.exponent[col][first];
    const std::int32_t* const a_significand = &a.significand[row][first];
    const std::int32_t* const b_significand = &b.significand[col][first];
    std::int32_t largest = std::max(c.exponent, kLeastExponent);
    for (unsigned i = 0; i < count; ++i) largest = std::max(largest, a_exponent[i] + b_exponent[i]);
    std::int64_t sum = 0;
    constexpr int up = kBits - 2 * fraction_bits;
    static_assert(up >= 0);
    for (unsigned i = 0; i < count; ++i) {
        const std::int32_t product = a_significand[i] * b_significand[i];
        const int distance = std::min(largest - a_exponent[i] - b_exponent[i], 31);
        // Toward zero: the magnitude is shifted.
        const std::int32_t sign = product >> 31;
        const auto magnitude = static_cast<std::uint32_t>((product ^ sign) - sign) << up >> distance;
        sum += (static_cast<std::int32_t>(magnitude) ^ sign) - sign;
    }
    if (c.significand != 0) {
        const std::int64_t magnitude = std::abs(static_cast<std::int64_t>(c.significand))
                                           << (kBits - c_fraction_bits) >>
                                       std::min(largest - c.exponent, 63);
        sum += c.significand < 0 ? -magnitude : magnitude;
    }
    unit = largest - kBits;
    return sum;
}

/// A sum so far.
struct Sum {
    bool is_f16;
    std::uint32_t bits;

    Number taken_apart(Special& special) const {
        return is_f16 ? number_of<MatrixNumber::f16>(bits, special) : number_of<MatrixNumber::f32>(bits, special);
    }
    double value() const { return value_of(format_of(is_f16 ? MatrixNumber::f16 : MatrixNumber::f32), bits); }
};

/// In FP32, to the nearest. The sum of what is no number is one certain NaN.
std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
    const float sum = std::bit_cast<float>(a) + std::bit_cast<float>(b);
    return std::isnan(sum) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(sum);
}

template <MatrixNumber input, class Bits>
void add_floats(const MatrixShape& shape, const void* a, const void* b, const void* c, void* d) {
    constexpr int fraction_bits = format_of(input).fraction_bits;
    constexpr bool is_f8 = sizeof(Bits) == 1;
    static thread_local Factors of_a, of_b;
    take_apart<input, Bits>(a, shape.m, shape.k, of_a);
    take_apart<input, Bits>(b, shape.n, shape.k, of_b);
    const bool to_f16 = shape.sum == MatrixNumber::f16;
    const bool from_f16 = shape.sum_before == MatrixNumber::f16;
    for (unsigned row = 0; row < shape.m; ++row) {
        for (unsigned col = 0; col < shape.n; ++col) {
            const unsigned place = row * shape.n + col;
            const Sum before = {from_f16, from_f16 ? load<std::uint16_t>(c, place) : load<std::uint32_t>(c, place)};
            Sum sum = is_f8 ? Sum{false, 0} : before;
            Special special = Special::none;
            Number number = sum.taken_apart(special);
            if (special != Special::none || of_a.special[row] != Special::none || of_b.special[col] != Special::none) {
                const double value = special_sum<input, Bits>(a, b, shape.k, row, col, sum.value());
                sum = {to_f16, special_bits(value, to_f16)};
            } else {
                for (unsigned first = 0; first < shape.k && special == Special::none; first += shape.group) {
                    const unsigned count = std::min(shape.group, shape.k - first);
                    int unit = 0;
                    const std::int64_t total = add_group<fraction_bits>(of_a, of_b, row, col, first, count, number,
                                                                        sum.is_f16 ? 10 : 23, unit);
                    sum = {to_f16, total == 0 ? 0 : to_f16 ? round_to_f16(total, unit) : round_to_f32(total, unit)};
                    number = sum.taken_apart(special);
                }
            }
            if constexpr (is_f8) sum.bits = add_f32(before.bits, sum.bits);
            if (to_f16) {
                const auto result = static_cast<std::uint16_t>(sum.bits);
                std::memcpy(static_cast<unsigned char*>(d) + place * sizeof result, &result, sizeof result);
            } else {
                std::memcpy(static_cast<unsigned char*>(d) + place * sizeof sum.bits, &sum.bits, sizeof sum.bits);
            }
        }
    }
}

template <class Byte>
void add_integers(const MatrixShape& shape, const void* a, const void* b, const void* c, void* d) {
    const Byte* const of_a = static_cast<const Byte*>(a);
    const Byte* const of_b = static_cast<const Byte*>(b);
    for (unsigned row = 0; row < shape.m; ++row) {
        for (unsigned col = 0; col < shape.n; ++col) {
            const unsigned place = row * shape.n + col;
            std::int64_t sum = static_cast<std::int32_t>(load<std::uint32_t>(c, place));
            for (unsigned i = 0; i < shape.k; ++i)
                sum += static_cast<std::int32_t>(of_a[row * shape.k + i]) * of_b[col * shape.k + i];
            if (shape.saturates) {
                sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                               std::numeric_limits<std::int32_t>::max());
            }
            const auto result = static_cast<std::int32_t>(sum);
            std::memcpy(static_cast<unsigned char*>(d) + place * sizeof result, &result, sizeof result);
        }
    }
}

/// A fused multiply-add of doubles. Of several NaN it returns that of b, else that of c.
double multiply_add(double a, double b, double c) {
    const double result = std::fma(a, b, c);
    if (!std::isnan(result)) return result;
    constexpr std::uint64_t quiet = 0x0008000000000000u, invalid = 0xFFF8000000000000u;
    for (const double value : {b, c, a})
        if (std::isnan(value)) return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | quiet);
    return std::bit_cast<double>(invalid);
}

/// In double precision, as a chain of fused multiply-adds.
void add_doubles(const MatrixShape& shape, const void* a, const void* b, const void* c, void* d) {
    const auto at = [](const void* memory, unsigned i) {
        double value;
        std::memcpy(&value, static_cast<const unsigned char*>(memory) + i * sizeof value, sizeof value);
        return value;
    };
    for (unsigned row = 0; row < shape.m; ++row) {
        for (unsigned col = 0; col < shape.n; ++col) {
            const unsigned place = row * shape.n + col;
            double sum = at(c, place);
            for (unsigned i = 0; i < shape.k; ++i)
                sum = multiply_add(at(a, row * shape.k + i), at(b, col * shape.k + i), sum);
            std::memcpy(static_cast<unsigned char*>(d) + place * sizeof sum, &sum, sizeof sum);
        }
    }
}

}  // namespace

unsigned bytes_of(MatrixNumber number) {
    switch (number) {
        case MatrixNumber::f16:
        case MatrixNumber::bf16:
            return 2;
        case MatrixNumber::e4m3:
        case MatrixNumber::e5m2:
        case MatrixNumber::s8:
        case MatrixNumber::u8:
            return 1;
        case MatrixNumber::f64:
            return 8;
        default:
            return 4;
    }
}

void add_products(const MatrixShape& shape, const void* a, const void* b, const void* c, void* d) {
    switch (shape.input) {
        case MatrixNumber::f16:
            return add_floats<MatrixNumber::f16, std::uint16_t>(shape, a, b, c, d);
        case MatrixNumber::bf16:
            return add_floats<MatrixNumber::bf16, std::uint16_t>(shape, a, b, c, d);
        case MatrixNumber::tf32:
            return add_floats<MatrixNumber::tf32, std::uint32_t>(shape, a, b, c, d);
        case MatrixNumber::e4m3:
            return add_floats<MatrixNumber::e4m3, std::uint8_t>(shape, a, b, c, d);
        case MatrixNumber::e5m2:
            return add_floats<MatrixNumber::e5m2, std::uint8_t>(shape, a, b, c, d);
        case MatrixNumber::s8:
            return add_integers<signed char>(shape, a, b, c, d);
        case MatrixNumber::u8:
            return add_integers<unsigned char>(shape, a, b, c, d);
        default:
            return add_doubles(shape, a, b, c, d);
    }
}

}  // namespace cpu_device
