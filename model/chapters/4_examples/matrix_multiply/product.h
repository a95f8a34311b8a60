// What the matrix products of chapters 4 (floats) and 5 (tensor cores) have in common: the
// product C = A B on host and device, and its double-precision reference.
//
//     Product<Fp32> problem({4096, 4096, 4096});
//     kernel<<<...>>>(problem.d_a.data(), problem.d_b.data(), problem.d_c.data(), ...);
//     if (!problem.compare().passed) ...
//
// `Format` says what the numbers of A and B are on the device, and is what Fp32 is below.
// Inputs are rounded to it *before* they go there, and the reference is that of the rounded
// inputs. So what is left to err is the sum. What the rounding costs is a column of its
// own.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/parallel_for.h"
#include "common/lesson/lesson.h"

namespace examples {

/// Floats as they are.
struct Fp32 {
    using Element = float;  ///< of A and B
    using Sum = float;      ///< of C
    static constexpr bool b_is_transposed =
        false;                             ///< else K-major, as tensor cores take B
    static constexpr bool rounds = false;  ///< inputs
    static constexpr double scale = 1;     ///< elements are inputs times this

    static Element element(float input) { return input; }  ///< as it is on the device
    static double value(Element element) { return element; }

    /// How far a sum of k products may be off. `magnitude`: a bound of the sum of their
    /// magnitudes.
    static double tolerance(std::size_t k, double magnitude) {
        return warpwise::sum_tolerance(k, std::numeric_limits<float>::epsilon(), magnitude);
    }
};

/// C = A B with m x k, k x n and m x n elements. A: m rows of k elements, each row
/// contiguous. B: k rows of n elements, or transposed, n rows of k elements (K-major). C: m
/// rows of n sums.
template <class Format>
struct Product {
    using Element = typename Format::Element;
    using Sum = typename Format::Sum;
    static constexpr bool b_is_transposed = Format::b_is_transposed;

    std::size_t m, n, k;
    std::vector<float> a, b;  // before they are rounded; b as it lies on the device
    warpwise::DeviceBuffer<Element> d_a, d_b;
    warpwise::DeviceBuffer<Sum> d_c;

    /// Inputs are evenly distributed over [low, 1].
    explicit Product(const warpwise::Size& size, float low = -1)
        : m(size[0]),
          n(size[1]),
          k(size[2]),
          a(warpwise::uniform<float>(m * k, 41, low)),
          b(warpwise::uniform<float>(k * n, 42, low)),
          d_a(elements(a)),
          d_b(elements(b)),
          d_c(m * n) {
        choose_checked();
        expected_ =
            references([](float input) { return Format::value(Format::element(input)); });
        tolerance_ = Format::tolerance(k, largest_magnitudes());
    }

    /// Floats become NaN, and integers become one that no sum of 2^16 products of bytes is.
    void poison() { d_c.fill_bytes(std::is_floating_point_v<Sum> ? 0xFF : 0x80); }

    /// Compares all elements of a small product, and a sample of a large one. Of that, all
    /// elements are looked at as far as finding those that nobody wrote: they are still
    /// NaN.
    warpwise::Comparison compare() {
        const std::vector<Sum> c = d_c.download();
        std::vector<Sum> got(checked_.size());
        for (std::size_t i = 0; i < checked_.size(); ++i) got[i] = c[checked_[i]];
        warpwise::Comparison result =
            warpwise::compare(got, expected_, {.absolute = tolerance_});
        for (warpwise::Mismatch& mismatch : result.mismatches)
            mismatch.index = checked_[mismatch.index];
        if (result.passed && checked_.size() < c.size()) {
            const auto unwritten = std::find_if(c.begin(), c.end(), is_poison);
            if (unwritten != c.end()) {
                result.passed = false;
                result.mismatched = 1;
                result.mismatches.push_back(
                    {static_cast<std::size_t>(unwritten - c.begin()),
                     static_cast<double>(*unwritten), std::nan("")});
                result.note =
                    "element " + std::to_string(unwritten - c.begin()) + " was not written";
            }
        }
        got_ = std::move(got);
        return result;
    }

    /// Additions and multiplications. The bytes do not matter if the work is done well, so
    /// none are stated.
    warpwise::Work work() const { return {.operations = 2.0 * m * n * k}; }

    /// The largest difference, over the compared elements, from the reference of the last
    /// comparison: what the sums err.
    double error_of_sums() const { return largest_difference(expected_, 1); }

    /// The same from the product of inputs that were not rounded.
    double error_with_rounding() {
        if (unrounded_.empty()) unrounded_ = references([](float input) { return input; });
        return largest_difference(unrounded_, Format::scale * Format::scale);
    }

    std::vector<warpwise::Figure> figures() {
        if (!Format::rounds) return {};
        return {{"error with rounding", error_with_rounding()}};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return sizeof(Element) * (size[0] * size[2] + size[2] * size[1]) +
               sizeof(Sum) * size[0] * size[1];
    }

private:
    static bool is_poison(Sum sum) {
        if constexpr (std::is_floating_point_v<Sum>) return std::isnan(sum);
        return static_cast<std::uint32_t>(sum) == 0x80808080u;
    }

    double largest_difference(const std::vector<double>& reference, double scale) const {
        double largest = 0;
        for (std::size_t i = 0; i < std::min(got_.size(), reference.size()); ++i) {
            const double difference = std::fabs(got_[i] / scale - reference[i]);
            if (!(difference <= largest) && !std::isnan(largest)) largest = difference;
        }
        return largest;
    }

    static std::vector<Element> elements(const std::vector<float>& values) {
        std::vector<Element> result(values.size());
        warpwise::parallel_for(values.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                result[i] = Format::element(values[i]);
        });
        return result;
    }

    float b_at(std::size_t p, std::size_t col) const {
        return b_is_transposed ? b[col * k + p] : b[p * n + col];
    }

    // Which elements of C are compared: all of them if that is affordable; else the four
    // corners, places at the edges of tiles (whose sides are multiples of 8), places along
    // the matrix' own edges, and random ones.
    void choose_checked() {
        constexpr double affordable = 1 << 24;
        constexpr std::size_t sample = 4096;
        const std::size_t count = m * n;
        if (count <= sample || (static_cast<double>(count) * k <= affordable &&
                                count <= std::size_t{1} << 22)) {
            checked_.resize(count);
            std::iota(checked_.begin(), checked_.end(), std::size_t{0});
            return;
        }
        const auto near_tile_edge = [](std::uint64_t bits, std::size_t extent) {
            const std::size_t edge = bits % (extent / 8 + 1) * 8;
            return std::min(extent - 1, bits >> 63 != 0 && edge != 0 ? edge - 1 : edge);
        };
        checked_ = {0, n - 1, (m - 1) * n, count - 1};
        for (std::size_t i = checked_.size(); i < sample; ++i) {
            const std::uint64_t one = warpwise::random_bits(43, i),
                                two = warpwise::random_bits(44, i);
            const bool edges = i % 4 == 0, lower = i % 4 == 1, right = i % 4 == 2;
            const std::size_t row = edges   ? near_tile_edge(one, m)
                                    : lower ? m - 1 - one % std::min(m, sample)
                                            : one % m;
            const std::size_t col = edges   ? near_tile_edge(two, n)
                                    : right ? n - 1 - two % std::min(n, sample)
                                            : two % n;
            checked_.push_back(row * n + col);
        }
    }

    /// The elements of `checked_`, of inputs that `round` has gone over, summed up in
    /// double precision.
    template <class Round>
    std::vector<double> references(const Round& round) const {
        std::vector<double> sums(checked_.size());
        const auto sum_range = [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t row = checked_[i] / n, col = checked_[i] % n;
                double sum = 0;
                for (std::size_t p = 0; p < k; ++p)
                    sum += double{round(a[row * k + p])} * double{round(b_at(p, col))};
                sums[i] = sum;
            }
        };
        const std::size_t parts =
            std::min(checked_.size(), warpwise::parallel_parts(checked_.size() * (k + 1)));
        if (parts == 0) return sums;
        warpwise::parallel_for_parts(checked_.size(), parts,
                                     [&](std::size_t, std::size_t begin, std::size_t end) {
                                         sum_range(begin, end);
                                     });
        return sums;
    }

    /// A bound of sum |a||b| for all elements of C (Cauchy-Schwarz): the longest row of A
    /// times the longest column of B.
    double largest_magnitudes() const {
        std::vector<double> squares_a(m), squares_b(n);
        for (std::size_t i = 0; i < a.size(); ++i)
            squares_a[i / k] += static_cast<double>(a[i]) * a[i];
        for (std::size_t i = 0; i < b.size(); ++i)
            squares_b[b_is_transposed ? i / k : i % n] += static_cast<double>(b[i]) * b[i];
        const auto largest = [](const std::vector<double>& squares) {
            return squares.empty() ? 0 : *std::max_element(squares.begin(), squares.end());
        };
        // Inputs rounded to four significant bits may be longer by a sixteenth.
        constexpr double rounding = (1 + 1.0 / 16) * (1 + 1.0 / 16);
        return rounding * Format::scale * Format::scale *
               std::sqrt(largest(squares_a) * largest(squares_b));
    }

    std::vector<std::size_t> checked_;          // numbers of compared elements of C
    std::vector<double> expected_, unrounded_;  // references, in the order of checked_
    std::vector<Sum> got_;                      // what the last comparison saw
    double tolerance_ = 0;
};

using FloatProduct = Product<Fp32>;

}  // namespace examples
