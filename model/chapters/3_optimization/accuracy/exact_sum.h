// The exact sum of floats, to measure other sums against.
//
//     ExactSum exact = exact_sum_of(values);
//     const double error = exact.error_of(result);     // |result - exact sum|, whatever
//     the terms are
//
// How: a float is a whole number of 24 bits times a power of two. So there is a bucket for
// every power, and each term's whole number goes into the bucket of its power, as 64-bit
// integers, which round nothing and hold 2^39 terms. A double is three such pieces. The
// error of a result is the exact sum less the result: the result is added with its sign
// turned, like one more term, and nothing is rounded until the difference is asked for.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/helpers/parallel_for.h"

namespace optimization {

class ExactSum {
public:
    void add(double term) {
        int power = 0;
        double fraction = std::frexp(term, &power);  // term = fraction * 2^power
        for (; fraction != 0; power -= 24) {
            fraction *= 0x1p24;
            const double whole = std::trunc(fraction);
            buckets_[static_cast<std::size_t>(power + kLowest)] +=
                static_cast<std::int64_t>(whole);
            fraction -= whole;
        }
    }

    void add(const ExactSum& other) {
        for (std::size_t k = 0; k < buckets_.size(); ++k) buckets_[k] += other.buckets_[k];
    }

    // The sum as a double, right to one unit in its last place. First each bucket keeps one
    // bit and carries the rest into the next; then the bits are added from the top, where
    // additions are exact until 53 bits are full.
    double value() const {
        std::vector<double> bits;
        std::int64_t carry = 0;
        for (std::size_t k = 0; k < buckets_.size() + 64; ++k) {
            const std::int64_t total = carry + (k < buckets_.size() ? buckets_[k] : 0);
            carry = total >> 1;  // rounds down, for negative numbers too
            bits.push_back(std::ldexp(static_cast<double>(total & 1),
                                      static_cast<int>(k) - kLowest - 24));
        }
        double sum = std::ldexp(static_cast<double>(carry),
                                static_cast<int>(bits.size()) - kLowest - 24);
        for (std::size_t k = bits.size(); k-- > 0;) sum += bits[k];
        return sum;
    }

    // How far `result` is off; infinitely far when no sum of floats can have that value.
    double error_of(double result) const {
        const double magnitude = std::fabs(result);
        if (magnitude != 0 && !(magnitude >= 0x1p-149 && magnitude < 0x1p200))
            return HUGE_VAL;
        ExactSum difference = *this;
        difference.add(-result);
        return std::fabs(difference.value());
    }

private:
    static constexpr int kLowest =
        448;  // powers of floats, of their sums, and of the pieces of doubles near them
    std::array<std::int64_t, 2 * 448> buckets_{};
};

inline ExactSum exact_sum_of(const std::vector<float>& values) {
    std::vector<ExactSum> parts(warpwise::parallel_parts(values.size()));
    warpwise::parallel_for_parts(values.size(), parts.size(),
                                 [&](std::size_t part, std::size_t begin, std::size_t end) {
                                     ExactSum own;
                                     for (std::size_t i = begin; i < end; ++i)
                                         own.add(values[i]);
                                     parts[part] = own;
                                 });
    ExactSum sum;
    for (const ExactSum& part : parts) sum.add(part);
    return sum;
}

// Sum of the magnitudes, the S of error bounds; in double.
inline double magnitudes_of(const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += std::fabs(value);
    return sum;
}

}  // namespace optimization
