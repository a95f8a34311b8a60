// What lesson.cu (floats) and tensor_cores.cu (TF32 and bf16) have in common: the product C
// = A B on host and device, its double-precision reference, and the library that all steps
// are measured against.
//
//     Product<Precision::tf32> problem({4096, 4096, 4096});
//     kernel<<<...>>>(problem.d_a.data(), problem.d_b.data(), problem.d_c.data(), ...);
//     if (!problem.compare().passed) ...
//
// Inputs are rounded to the precision of the table *before* they go to the device. Products
// of two such numbers are exact in float (11 + 11 bits for TF32, 8 + 8 for bf16), so what
// is left to err is the sum, which every table adds up in float: one tolerance serves all.
// What the rounding of the inputs costs is a column of its own.
#pragma once

#include <cuda_runtime.h>

#ifndef __CPU_DEVICE__
#include <cuda_bf16.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/parallel_for.h"
#include "common/lesson/lesson.h"

namespace examples {

/// What the numbers of A and B are rounded to. C is float, and so are the sums, in all of
/// them.
enum class Precision {
    fp32,  ///< 24 significant bits: nothing is rounded
    tf32,  ///< 11 significant bits, in a float whose lower 13 bits are 0
    bf16,  ///< 8 significant bits, in 16 bits
};

constexpr unsigned significant_bits(Precision precision) {
    return precision == Precision::fp32 ? 24 : precision == Precision::tf32 ? 11 : 8;
}

/// `value`, rounded to the nearest number of so many significant bits; ties to even. Finite
/// values only.
inline float rounded_to(Precision precision, float value) {
    const unsigned dropped = 24 - significant_bits(precision);
    if (dropped == 0) return value;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const std::uint32_t is_odd = bits >> dropped & 1;
    bits += (std::uint32_t{1} << (dropped - 1)) - 1 + is_odd;
    bits &= ~((std::uint32_t{1} << dropped) - 1);
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}

/// 90 for compute capability 9.0: what the current device can do.
inline int compute_capability() {
    int device = 0, major = 0, minor = 0;
    warpwise::check(cudaGetDevice(&device));
    warpwise::check(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    warpwise::check(
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return 10 * major + minor;
}

/// C = A B with m x k, k x n and m x n elements. A: m rows of k elements, each row
/// contiguous, in every table. B: for fp32 k rows of n elements, for tf32 and bf16
/// transposed, n rows of k elements (K-major, which tensor cores take). C: m rows of n
/// floats.
template <Precision precision>
struct Product {
#ifdef __CPU_DEVICE__
    using Element = float;
    static_assert(precision == Precision::fp32, "the CPU device has no tensor cores");
#else
    using Element = std::conditional_t<precision == Precision::bf16, __nv_bfloat16, float>;
#endif
    static constexpr bool b_is_transposed = precision != Precision::fp32;

    std::size_t m, n, k;
    std::vector<float> a, b;  // before they are rounded; b as it lies on the device
    warpwise::DeviceBuffer<Element> d_a, d_b;
    warpwise::DeviceBuffer<float> d_c;

    explicit Product(const warpwise::Size& size)
        : m(size[0]),
          n(size[1]),
          k(size[2]),
          a(warpwise::uniform<float>(m * k, 41)),
          b(warpwise::uniform<float>(k * n, 42)),
          d_a(elements(a)),
          d_b(elements(b)),
          d_c(m * n) {
        choose_checked();
        expected_ = references([](float value) { return rounded_to(precision, value); });
        tolerance_ = warpwise::sum_tolerance(k, std::numeric_limits<float>::epsilon(),
                                             largest_magnitudes());
    }

    void poison() { d_c.fill_bytes(0xFF); }

    /// Compares all elements of a small product, and a sample of a large one. Of that, all
    /// elements are looked at as far as finding those that nobody wrote: they are still
    /// NaN.
    warpwise::Comparison compare() {
        const std::vector<float> c = d_c.download();
        std::vector<float> got(checked_.size());
        for (std::size_t i = 0; i < checked_.size(); ++i) got[i] = c[checked_[i]];
        warpwise::Comparison result =
            warpwise::compare(got, expected_, {.absolute = tolerance_});
        for (warpwise::Mismatch& mismatch : result.mismatches)
            mismatch.index = checked_[mismatch.index];
        if (result.passed && checked_.size() < c.size()) {
            const auto unwritten = std::find_if(
                c.begin(), c.end(), [](float value) { return std::isnan(value); });
            if (unwritten != c.end()) {
                result.passed = false;
                result.mismatched = 1;
                result.mismatches.push_back(
                    {static_cast<std::size_t>(unwritten - c.begin()), *unwritten,
                     std::nan("")});
                result.note = "element " + std::to_string(unwritten - c.begin()) +
                              " is NaN: nobody wrote it";
            }
        }
        got_ = std::move(got);
        return result;
    }

    /// Additions and multiplications. The bytes do not matter if the work is done well, so
    /// none are stated.
    warpwise::Work work() const { return {.operations = 2.0 * m * n * k}; }

    /// The largest difference, over the compared elements, from the product of inputs that
    /// were not rounded.
    std::vector<warpwise::Figure> figures() {
        if (precision == Precision::fp32) return {};
        if (unrounded_.empty()) unrounded_ = references([](float value) { return value; });
        double largest = 0;
        for (std::size_t i = 0; i < std::min(got_.size(), unrounded_.size()); ++i)
            largest = std::max(largest, std::fabs(got_[i] - unrounded_[i]));
        return {{"error with rounding", largest}};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return sizeof(Element) * (size[0] * size[2] + size[2] * size[1]) +
               sizeof(float) * size[0] * size[1];
    }

private:
    static std::vector<Element> elements(const std::vector<float>& values) {
        std::vector<Element> result(values.size());
        warpwise::parallel_for(values.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                // Exact.
                result[i] = static_cast<Element>(rounded_to(precision, values[i]));
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
                    sum += static_cast<double>(round(a[row * k + p])) * round(b_at(p, col));
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
        // Rounded inputs may be longer by half a unit of 8 bits, each.
        constexpr double rounding = 1 + 1.0 / 64;
        return rounding * std::sqrt(largest(squares_a) * largest(squares_b));
    }

    std::vector<std::size_t> checked_;          // numbers of compared elements of C
    std::vector<double> expected_, unrounded_;  // references, in the order of checked_
    std::vector<float> got_;                    // what the last comparison saw
    double tolerance_ = 0;
};

using FloatProduct = Product<Precision::fp32>;

#ifndef __CPU_DEVICE__

using Tf32Product = Product<Precision::tf32>;
using Bf16Product = Product<Precision::bf16>;

/// The steps on tensor cores that this chip can run, in order, the vendor's routine last;
/// none on a chip that has no tensor cores for this precision. Each step is right for any
/// m, n and k: 0, odd, narrow, wide. Defined in tensor_cores.cu.
std::vector<warpwise::Step<Tf32Product>> tf32_steps();
std::vector<warpwise::Step<Bf16Product>> bf16_steps();

#endif

}  // namespace examples
