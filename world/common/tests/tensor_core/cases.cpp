#include "cases.h"

#include <bit>
#include <cmath>
#include <cstdio>

namespace tensor_core {

Format format_of(Number number) {
    switch (number) {
        case Number::f16:
            return {5, 10, 2, 0};
        case Number::bf16:
            return {8, 7, 2, 0};
        case Number::tf32:
            return {8, 10, 4, 13};
        case Number::e4m3:
            return {4, 3, 1, 0};
        case Number::e5m2:
            return {5, 2, 1, 0};
        case Number::s8:
        case Number::u8:
            return {0, 8, 1, 0};
        case Number::f32:
            return {8, 23, 4, 0};
        case Number::f64:
            return {11, 52, 8, 0};
        case Number::s32:
            break;
    }
    return {0, 32, 4, 0};
}

const std::vector<Operation>& operations() {
    static const std::vector<Operation> all = {
        {"mma f16 f32", 16, 8, 16, Number::f16, Number::f32},
        {"mma f16 f16", 16, 8, 16, Number::f16, Number::f16},
        {"mma bf16 f32", 16, 8, 16, Number::bf16, Number::f32},
        {"mma tf32 f32", 16, 8, 8, Number::tf32, Number::f32},
        {"mma e4m3 f32", 16, 8, 32, Number::e4m3, Number::f32},
        {"mma e5m2 f32", 16, 8, 32, Number::e5m2, Number::f32},
        {"mma s8 s32", 16, 8, 32, Number::s8, Number::s32},
        {"wmma f16 f32 16x16x16", 16, 16, 16, Number::f16, Number::f32},
        {"wmma f16 f32 32x8x16", 32, 8, 16, Number::f16, Number::f32},
        {"wmma f16 f32 8x32x16", 8, 32, 16, Number::f16, Number::f32},
        {"wmma f16 f16 16x16x16", 16, 16, 16, Number::f16, Number::f16},
        {"wmma bf16 f32 16x16x16", 16, 16, 16, Number::bf16, Number::f32},
        {"wmma tf32 f32 16x16x8", 16, 16, 8, Number::tf32, Number::f32},
        {"wmma s8 s32 16x16x16", 16, 16, 16, Number::s8, Number::s32},
        {"wmma u8 s32 16x16x16", 16, 16, 16, Number::u8, Number::s32},
        {"wmma f64 f64 8x8x4", 8, 8, 4, Number::f64, Number::f64},
    };
    return all;
}

namespace {

/// Random numbers that every machine draws alike (splitmix64).
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    /// From `least` to `most`.
    int between(int least, int most) {
        return least + static_cast<int>(bits() % static_cast<std::uint64_t>(most - least + 1));
    }
    bool one_in(int n) { return between(1, n) == 1; }

private:
    std::uint64_t state_;
};

/// Numbers of one format. An exponent counts as in the value: 0 is that of 1.0.
class Numbers {
public:
    Numbers(Number number, Random& random) : number_(number), format_(format_of(number)), random_(random) {}

    bool is_integer() const { return format_.exponent_bits == 0; }
    int smallest() const { return 1 - format_.bias(); }
    /// Of finite numbers.
    int largest() const { return number_ == Number::e4m3 ? format_.bias() + 1 : format_.bias(); }

    std::uint64_t any_bits() { return random_.bits() & mask(total_bits() + format_.unused_bits); }
    std::uint64_t any_finite() { return finite(random_.between(smallest() - 1, largest()), random_.one_in(2)); }
    /// Exponents below the smallest one stand for subnormal numbers, those above the largest for the largest.
    std::uint64_t finite(int exponent, bool negative) { return finite(exponent, negative, random_.bits()); }
    std::uint64_t finite(int exponent, bool negative, std::uint64_t fraction) {
        std::uint64_t stored = 0;
        if (exponent > largest()) exponent = largest();
        if (exponent >= smallest()) stored = static_cast<std::uint64_t>(exponent + format_.bias());
        fraction &= mask(format_.fraction_bits);
        if (number_ == Number::e4m3 && stored == 15 && fraction == 7) fraction = 6;
        return assembled(negative, stored, fraction);
    }
    std::uint64_t zero(bool negative) const { return assembled(negative, 0, 0); }
    std::uint64_t infinity(bool negative) const {
        if (number_ == Number::e4m3) return nan();
        return assembled(negative, static_cast<std::uint64_t>(format_.largest_exponent()), 0);
    }
    std::uint64_t nan() const {
        return assembled(random_.one_in(2), static_cast<std::uint64_t>(format_.largest_exponent()),
                         number_ == Number::e4m3 ? 7 : 1 + random_.bits() % mask(format_.fraction_bits));
    }
    std::uint64_t special() {
        switch (random_.between(0, 5)) {
            case 0:
            case 1:
                return infinity(random_.one_in(2));
            case 2:
                return nan();
            case 3:
                return zero(random_.one_in(2));
            default:
                return any_finite();
        }
    }
    /// A whole number; the format has to hold it.
    std::uint64_t whole(long long value) const {
        if (value == 0) return zero(false);
        const std::uint64_t magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
        const int exponent = 63 - std::countl_zero(magnitude);
        const int shift = format_.fraction_bits - exponent;
        const std::uint64_t significand = shift >= 0 ? magnitude << shift : magnitude >> -shift;
        return assembled(value < 0, static_cast<std::uint64_t>(exponent + format_.bias()),
                         significand & mask(format_.fraction_bits));
    }
    /// Bits below the fraction, which the hardware is to ignore.
    std::uint64_t with_unused(std::uint64_t bits) { return bits | (random_.bits() & mask(format_.unused_bits)); }

    double value(std::uint64_t bits) const {
        bits >>= format_.unused_bits;
        const std::uint64_t fraction = bits & mask(format_.fraction_bits);
        const int stored = static_cast<int>(bits >> format_.fraction_bits & mask(format_.exponent_bits));
        const double sign = bits >> (format_.exponent_bits + format_.fraction_bits) & 1 ? -1.0 : 1.0;
        const std::uint64_t significand = stored == 0 ? fraction : fraction | std::uint64_t{1} << format_.fraction_bits;
        return sign * std::ldexp(static_cast<double>(significand),
                                 (stored == 0 ? 1 : stored) - format_.bias() - format_.fraction_bits);
    }

private:
    int total_bits() const { return 1 + format_.exponent_bits + format_.fraction_bits; }
    static std::uint64_t mask(int bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
    std::uint64_t assembled(bool negative, std::uint64_t stored, std::uint64_t fraction) const {
        return (std::uint64_t{negative} << (format_.exponent_bits + format_.fraction_bits) |
                stored << format_.fraction_bits | fraction)
               << format_.unused_bits;
    }

    Number number_;
    Format format_;
    Random& random_;
};

Tile integer_tile(const Operation& operation, int kind, Random& random) {
    Tile tile;
    const auto byte = [&]() -> std::uint64_t {
        if (kind % 4 == 0) return random.bits() & 0xFF;
        if (kind % 4 == 1) return random.one_in(2) ? 0x80 : 0x7F;
        if (kind % 4 == 2) return random.one_in(2) ? 0xFF : 0x00;
        return 0x80;
    };
    for (int i = 0; i < operation.m * operation.k; ++i) tile.a.push_back(byte());
    for (int i = 0; i < operation.n * operation.k; ++i) tile.b.push_back(byte());
    for (int i = 0; i < operation.m * operation.n; ++i) {
        // Near the ends of the range, where the sum overflows.
        const std::uint64_t near =
            random.one_in(2) ? 0x7FFFFFFFu - random.bits() % 600000 : 0x80000000u + random.bits() % 600000;
        tile.c.push_back(kind % 3 == 0 ? random.bits() & 0xFFFFFFFFu : kind % 3 == 1 ? near : 0);
    }
    return tile;
}

/// The double nearest to a b + c, or near it: only used to choose a c that nearly cancels.
double product_of(const Numbers& inputs, const Tile& tile, int row, int col, int k) {
    double sum = 0;
    for (int i = 0; i < k; ++i)
        sum += inputs.value(tile.a[static_cast<std::size_t>(row * k + i)]) *
               inputs.value(tile.b[static_cast<std::size_t>(col * k + i)]);
    return sum;
}

}  // namespace

Tile tile_of(const Operation& operation, int index) {
    const int kind = index % kinds;
    const int m = operation.m, n = operation.n, k = operation.k;
    // Operations with the same inputs get the same tiles: what differs then are the instructions.
    Random random(static_cast<std::uint64_t>(index) * 1000003 + static_cast<std::uint64_t>(operation.input) * 10007 +
                  static_cast<std::uint64_t>(k));
    for (int i = 0; i < 4; ++i) random.bits();
    Numbers inputs(operation.input, random), sums(operation.sum, random);
    if (inputs.is_integer()) return integer_tile(operation, kind, random);

    Tile tile;
    const auto sign = [&] { return random.one_in(2); };
    const auto fill = [&](std::vector<std::uint64_t>& values, int count, auto&& next) {
        for (int i = 0; i < count; ++i) values.push_back(next(i));
    };
    // Exponents of factors reach down to `low` and up to `high`, so that products and c are around 1.
    const int high = std::min(inputs.largest() - 1, 20), low = std::max(inputs.smallest(), -20);
    const int sum_high = std::min(sums.largest() - 1, 40), sum_low = std::max(sums.smallest(), -60);
    const auto around = [&](Numbers& numbers, int exponent, int spread) {
        return numbers.finite(exponent + random.between(-spread, spread), sign());
    };
    const auto all = [&](auto&& of_a, auto&& of_b, auto&& of_c) {
        fill(tile.a, m * k, of_a);
        fill(tile.b, n * k, of_b);
        fill(tile.c, m * n, of_c);
    };
    const auto two_places = [&] {
        const int p = random.between(0, k - 1);
        return std::pair(p, (p + random.between(1, k - 1)) % k);
    };

    switch (kind) {
        case 0:  // any finite numbers
            all([&](int) { return inputs.any_finite(); }, [&](int) { return inputs.any_finite(); },
                [&](int) { return sums.any_finite(); });
            break;
        case 1:  // numbers around 1
            all([&](int) { return around(inputs, 0, 2); }, [&](int) { return around(inputs, 0, 2); },
                [&](int) { return around(sums, 1, 3); });
            break;
        case 2: {  // c nearly cancels the products
            fill(tile.a, m * k, [&](int) { return around(inputs, 0, 1); });
            fill(tile.b, n * k, [&](int) { return around(inputs, 0, 1); });
            const int unit = format_of(operation.sum).fraction_bits;
            fill(tile.c, m * n, [&](int i) -> std::uint64_t {
                const double product = product_of(inputs, tile, i / n, i % n, k);
                if (product == 0) return sums.zero(sign());
                const int exponent = std::ilogb(product);
                const double significand = std::abs(std::ldexp(product, unit - exponent));
                const std::uint64_t fraction = static_cast<std::uint64_t>(significand);
                return sums.finite(exponent, product > 0, fraction + static_cast<std::uint64_t>(random.between(-1, 1)));
            });
            break;
        }
        case 3:  // exponents far apart
            all([&](int) { return inputs.finite(random.between(low, high), sign()); },
                [&](int) { return inputs.finite(random.between(low, high), sign()); },
                [&](int) -> std::uint64_t {
                    return random.one_in(3)
                               ? sums.zero(sign())
                               : sums.finite(random.between(std::max(2 * low, sum_low), std::min(2 * high, sum_high)),
                                             sign());
                });
            break;
        case 4: {  // two large products that cancel, small ones between them: which are added at once?
            std::vector<std::pair<int, int>> places;
            for (int i = 0; i < m; ++i) places.push_back(two_places());
            const std::uint64_t large = inputs.finite(high, false);
            fill(tile.a, m * k, [&](int i) {
                const auto [p, q] = places[static_cast<std::size_t>(i / k)];
                const std::uint64_t negative =
                    inputs.finite(high, true, large >> format_of(operation.input).unused_bits);
                return i % k == p ? large : i % k == q ? negative : around(inputs, low / 2, 4);
            });
            const int exponent = std::max(low, -8);
            fill(tile.b, n * k, [&](int) { return inputs.finite(exponent, false, std::uint64_t{0}); });
            fill(tile.c, m * n, [&](int) { return random.one_in(3) ? sums.zero(false) : around(sums, -8, 8); });
            break;
        }
        case 5:  // a large c
            all([&](int) { return around(inputs, 0, 1); }, [&](int) { return around(inputs, 0, 1); },
                [&](int) { return sums.finite(random.between(8, 32), sign()); });
            break;
        case 6: {  // a large product that c cancels, small products
            const std::uint64_t large = random.bits();
            std::vector<int> places;
            for (int i = 0; i < m; ++i) places.push_back(random.between(0, k - 1));
            const int exponent = std::min(high, 12);
            fill(tile.a, m * k, [&](int i) {
                return i % k == places[static_cast<std::size_t>(i / k)]
                           ? inputs.finite(exponent, false, large)
                           : inputs.finite(random.between(std::max(low, -16), 0), sign());
            });
            fill(tile.b, n * k, [&](int) { return inputs.finite(0, false, std::uint64_t{0}); });
            const int shift = format_of(operation.sum).fraction_bits - format_of(operation.input).fraction_bits;
            const std::uint64_t fraction = large & ((std::uint64_t{1} << format_of(operation.input).fraction_bits) - 1);
            fill(tile.c, m * n,
                 [&](int) { return sums.finite(exponent + random.between(0, 1), true, fraction << shift); });
            break;
        }
        case 7:  // subnormal factors, and sums that are subnormal
            all(
                [&](int) {
                    return inputs.finite(random.one_in(2) ? inputs.smallest() - 1 : inputs.smallest(), sign());
                },
                [&](int) { return inputs.finite(random.between(inputs.smallest() - 1, inputs.largest()), sign()); },
                [&](int) { return sums.finite(sums.smallest() - random.between(-3, 1), sign()); });
            break;
        case 8:  // zeros and the smallest numbers times the largest: do they set the exponent of the sum?
            all(
                [&](int i) -> std::uint64_t {
                    const int place = (i / k) % k;
                    if (i % k == place)
                        return random.one_in(2) ? inputs.zero(sign()) : inputs.finite(inputs.smallest() - 1, sign(), 1);
                    return around(inputs, low + 4, 3);
                },
                [&](int i) {
                    return random.one_in(3) ? inputs.finite(inputs.largest(), sign())
                                            : around(inputs, low + 4 + i % 2, 3);
                },
                [&](int) -> std::uint64_t {
                    return random.one_in(2) ? sums.zero(sign()) : around(sums, std::max(2 * low, sum_low) + 6, 6);
                });
            break;
        case 9:  // infinities and NaN, seldom
            all([&](int) { return random.one_in(12) ? inputs.special() : around(inputs, 0, 3); },
                [&](int) { return random.one_in(24) ? inputs.special() : around(inputs, 0, 3); },
                [&](int) { return random.one_in(4) ? sums.special() : around(sums, 0, 3); });
            break;
        case 10:  // overflow
            all([&](int) { return inputs.finite(inputs.largest() - random.between(0, 1), random.one_in(4)); },
                [&](int) {
                    return inputs.finite(std::min(inputs.largest(), sums.largest() / 2) - random.between(0, 2),
                                         random.one_in(4));
                },
                [&](int) { return sums.finite(sums.largest() - random.between(0, 1), random.one_in(2)); });
            break;
        case 11: {  // underflow
            const int half = std::max(inputs.smallest(), sums.smallest() / 2 - 6);
            all([&](int) { return around(inputs, half - 2, 6); }, [&](int) { return around(inputs, half - 2, 6); },
                [&](int) -> std::uint64_t {
                    return random.one_in(2) ? sums.zero(sign())
                                            : sums.finite(sums.smallest() - random.between(-8, 1), sign());
                });
            break;
        }
        case 12: {  // whole numbers: ties, and sums just above a power of two
            const int unit = format_of(operation.sum).fraction_bits;
            all([&](int) { return random.one_in(3) ? inputs.whole(random.between(-3, 3)) : inputs.zero(false); },
                [&](int) { return inputs.whole(random.between(-2, 2)); },
                [&](int) {
                    const int exponent = std::min(unit + random.between(0, 2), sums.largest() - 1);
                    const std::uint64_t near = random.one_in(2) ? random.bits() % 8 : ~(random.bits() % 8);
                    return sums.finite(exponent, sign(), near);
                });
            break;
        }
        case 13:  // zeros with signs
            all([&](int) { return random.one_in(8) ? around(inputs, 0, 1) : inputs.zero(sign()); },
                [&](int) { return random.one_in(8) ? around(inputs, 0, 1) : inputs.zero(sign()); },
                [&](int) { return random.one_in(8) ? around(sums, 0, 1) : sums.zero(sign()); });
            break;
        case 14:  // any bits, also below the fraction
            all([&](int) { return random.one_in(4) ? inputs.any_bits() : inputs.with_unused(around(inputs, 0, 4)); },
                [&](int) { return random.one_in(16) ? inputs.any_bits() : inputs.with_unused(around(inputs, 0, 4)); },
                [&](int) { return random.one_in(8) ? sums.any_bits() : around(sums, 0, 4); });
            break;
        default: {  // two products and c, far apart
            std::vector<std::pair<int, int>> places;
            for (int i = 0; i < m; ++i) places.push_back(two_places());
            const int top = std::min(high, 12);
            fill(tile.a, m * k, [&](int i) -> std::uint64_t {
                const auto [p, q] = places[static_cast<std::size_t>(i / k)];
                if (i % k == p) return inputs.finite(top, sign());
                if (i % k == q) return inputs.finite(random.between(std::max(low, top - 28), top), sign());
                return inputs.zero(sign());
            });
            fill(tile.b, n * k, [&](int) { return around(inputs, 0, 2); });
            fill(tile.c, m * n, [&](int) -> std::uint64_t {
                return random.one_in(3) ? sums.zero(sign()) : sums.finite(top - random.between(-2, 30), sign());
            });
            break;
        }
    }
    return tile;
}

std::vector<std::string> lines_of(const Operation& operation) {
    const std::vector<std::uint64_t> results = run(operation, 0, recorded_tiles);
    const auto sums = static_cast<std::size_t>(operation.m * operation.n);
    const int bytes = format_of(operation.sum).bytes;
    std::vector<std::string> lines;
    for (std::size_t tile = 0; tile < static_cast<std::size_t>(recorded_tiles); ++tile) {
        std::string digits;
        std::uint64_t hash = 0xCBF29CE484222325u;
        for (std::size_t i = tile * sums; i < (tile + 1) * sums; ++i) {
            char text[20];
            std::snprintf(text, sizeof text, "%0*llx", 2 * bytes, static_cast<unsigned long long>(results[i]));
            digits += text;
            for (int byte = 0; byte < bytes; ++byte) hash = (hash ^ (results[i] >> 8 * byte & 0xFF)) * 0x100000001B3u;
        }
        char text[20];
        std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
        const bool whole = tile < static_cast<std::size_t>(kinds) && operation.name.rfind("mma", 0) == 0;
        lines.push_back(whole ? digits : text);
    }
    return lines;
}

}  // namespace tensor_core
