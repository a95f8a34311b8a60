// Comparing results with a double-precision reference, so that NaN never passes.
//
//     Comparison c = compare(d_out.download(), reference, {.absolute = sum_tolerance(n, eps, sum_of_magnitudes)});
//     if (!c.passed) for (const Mismatch& mismatch : c.mismatches) ...
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "common/helpers/parallel_for.h"

namespace warpwise {

/// A value passes when |got - expected| <= absolute + relative * |expected|.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};

struct Mismatch {
    std::size_t index;
    double got;
    double expected;
};

struct Comparison {
    bool passed = false;
    std::size_t compared = 0;
    std::size_t mismatched = 0;
    double largest_error = 0;               ///< largest |got - expected|; NaN where a result is NaN
    double tolerance = 0;                   ///< what was allowed at the element with the largest error
    std::vector<Mismatch> mismatches = {};  ///< the first few
    std::string note = {};                  ///< why the comparison could not be made, such as different sizes

    /// "max error 3.1e-08 <= 1.2e-07", or "exact", or "3 of 1024 wrong".
    std::string summary() const;
};

/// How many mismatches a Comparison keeps.
inline constexpr std::size_t kept_mismatches = 5;

/// Compares `got` with `expected`, element by element. T: float, double or an integer type (compared as double:
/// integers beyond 2^53 never pass). Infinity passes for the same infinity only; NaN never passes. Different sizes, or
/// a tolerance that is negative or not finite, fail with a note.
template <class T>
Comparison compare(const std::vector<T>& got, const std::vector<double>& expected, Tolerance tolerance = {});

/// Compares without a vector of expected values: `expected(i)` gives the double reference of element i.
/// Runs on all host cores for large arrays, so `expected` must be safe to call from several threads.
template <class T, class Expected>
Comparison compare_each(const std::vector<T>& got, std::size_t count, const Expected& expected,
                        Tolerance tolerance = {});

/// Bound of the rounding error of a sum of `count` terms in any order that a parallel program uses:
/// safety * sqrt(count) * eps * sum_of_magnitudes, never less than eps * sum_of_magnitudes. The square root is the
/// statistical growth of rounding errors (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
/// section 2.8).
double sum_tolerance(std::size_t count, double eps, double sum_of_magnitudes, double safety = 4);

namespace detail {

/// Empty when a comparison of `got` with `expected` elements can be made, else why not.
std::string why_not_comparable(std::size_t got, std::size_t expected, Tolerance tolerance);

/// Adds one element to a comparison.
inline void compare_one(Comparison& result, std::size_t index, double got, double expected, Tolerance tolerance) {
    ++result.compared;
    if (got == expected) return;  // infinities too, whose difference would be NaN
    const double difference = std::fabs(got - expected);
    const double allowed = tolerance.absolute + tolerance.relative * std::fabs(expected);
    if (!(difference <= result.largest_error) && !std::isnan(result.largest_error)) {
        result.largest_error = difference;
        result.tolerance = allowed;
    }
    // An infinite expectation makes a relative tolerance infinite; it must not admit every finite value.
    if (difference <= allowed && std::isfinite(difference)) return;
    if (result.mismatches.size() < kept_mismatches) result.mismatches.push_back({index, got, expected});
    ++result.mismatched;
}

/// Joins the comparisons of consecutive parts of an array.
Comparison join(const std::vector<Comparison>& parts, Tolerance tolerance);

/// The value of an element as double; NaN for an integer that a double cannot hold.
template <class T>
double as_double(T value) {
    if constexpr (std::is_integral_v<T> && sizeof(T) > 4) {
        constexpr T limit = T(1) << 53;
        if (value > limit || (std::is_signed_v<T> && value < -limit)) return NAN;
    }
    return static_cast<double>(value);
}

}  // namespace detail

template <class T, class Expected>
Comparison compare_each(const std::vector<T>& got, std::size_t count, const Expected& expected, Tolerance tolerance) {
    Comparison refused;
    refused.note = detail::why_not_comparable(got.size(), count, tolerance);
    if (!refused.note.empty()) return refused;
    std::vector<Comparison> parts(parallel_parts(count));
    parallel_for_parts(count, parts.size(), [&](std::size_t part, std::size_t begin, std::size_t end) {
        Comparison result;  // local: neighbors in `parts` would share cache lines
        for (std::size_t i = begin; i < end; ++i) {
            detail::compare_one(result, i, detail::as_double(got[i]), expected(i), tolerance);
        }
        parts[part] = result;
    });
    return detail::join(parts, tolerance);
}

template <class T>
Comparison compare(const std::vector<T>& got, const std::vector<double>& expected, Tolerance tolerance) {
    return compare_each(
        got, expected.size(), [&](std::size_t i) { return expected[i]; }, tolerance);
}

}  // namespace warpwise
