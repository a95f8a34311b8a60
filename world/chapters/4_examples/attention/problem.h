// What the kernels of the lesson attention work on, and their result in double.
//
//     Attention<Mask::none> problem({16, 8192});    // heads, tokens
//     run_mma_ahead(problem);
//     if (!problem.compare().passed) ...
//
// Queries, keys, and values are bf16 before they go to the device, so rounding them is no
// part of any step's error.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "chapters/4_examples/attention/heads.cuh"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/parallel_for.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;

constexpr double kRounding = std::numeric_limits<float>::epsilon();
constexpr double kRoundingOfBf16 = 1.0 / 256;  // half a unit of 8 bits, relative

enum class Mask {
    none,
    causal,  // a token sees itself and those before it
};

// Queries have elements up to `largest`, keys and values up to 1.
template <Mask mask>
struct Attention {
    std::size_t heads, tokens;
    std::vector<Bf16> queries, keys, values;
    DeviceBuffer<Bf16> d_queries, d_keys, d_values;
    DeviceBuffer<float> d_scores, d_out;
    DeviceBuffer<Bf16> d_weights, d_out_bf16;  // for libraries only

    explicit Attention(const warpwise::Size& size, float largest = 2)
        : heads(size[0]),
          tokens(size[1]),
          queries(random(heads * tokens, 61, largest)),
          keys(random(heads * tokens, 62, 1)),
          values(random(heads * tokens, 63, 1)),
          d_queries(queries),
          d_keys(keys),
          d_values(values),
          d_scores(mask == Mask::none ? heads * tokens * tokens : 0),
          d_out(heads * tokens * kDim) {
        choose_checked();
        compute_references();
    }

    Heads on_device() {
        return {d_queries.data(),
                d_keys.data(),
                d_values.data(),
                d_out.data(),
                static_cast<unsigned>(heads),
                static_cast<unsigned>(tokens)};
    }
    bool is_empty() const { return heads * tokens == 0; }

    void poison() {
        d_scores.fill_bytes(0xFF);
        d_out.fill_bytes(0xFF);
        d_out_bf16.fill_bytes(0xFF);
        rounds_weights = rounds_results = false;
    }

    // What a step rounds to bf16, besides its inputs: the weights, or the results.
    bool rounds_weights = false, rounds_results = false;

    // Of the compared rows.
    double furthest_score = 0, mean_of_largest_weights = 0;

    // All rows of a small problem, a sample of a large one. Of that, all elements are
    // looked at as far as finding those that nobody wrote: they are still NaN.
    warpwise::Comparison compare() {
        std::vector<float> out;
        if (rounds_results) {
            const std::vector<Bf16> narrow = d_out_bf16.download();
            out.resize(narrow.size());
            for (std::size_t i = 0; i < narrow.size(); ++i)
                out[i] = __bfloat162float(narrow[i]);
        } else {
            out = d_out.download();
        }
        std::vector<float> got(checked_.size() * kDim);
        for (std::size_t i = 0; i < got.size(); ++i) got[i] = out[place_of(i)];
        warpwise::Comparison result = warpwise::compare(got, expected_, tolerance());
        for (warpwise::Mismatch& mismatch : result.mismatches)
            mismatch.index = place_of(mismatch.index);
        const auto unwritten =
            std::find_if(out.begin(), out.end(), [](float x) { return std::isnan(x); });
        if (result.passed && unwritten != out.end()) {
            const auto place = static_cast<std::size_t>(unwritten - out.begin());
            result.passed = false;
            result.mismatched = 1;
            result.mismatches.push_back({place, *unwritten, std::nan("")});
            result.note = "element " + std::to_string(place) + " is NaN";
        }
        return result;
    }

    // A result is a mean of values, which are at most 1, with weights whose sum is 1.
    //
    //   - A score is a sum of kDim products, and the exponential turns its absolute error
    //     into a relative one of the weight. By Cauchy-Schwarz, no sum of magnitudes is
    //     larger than the longest query times the longest key. Scale and maximum add two
    //     roundings of the score, and the exponential a few of its own.
    //     Where the largest score of each row is so far above the second that none of these
    //     errors can matter, the result is the value of one key.
    //   - Numerator and denominator then add up as many terms as there are keys.
    //   - A weight that is rounded to bf16 in the numerator only has an error of up to
    //     2^-8 of itself. These errors have random signs, so together they grow like the
    //     root of the sum of the squared weights, `concentration_`: 1 where one key has all
    //     weight, and 1 / sqrt(tokens) where all have the same. Four times that is allowed,
    //     and never more than the 2^-8 that bounds them for sure.
    warpwise::Tolerance tolerance() const {
        constexpr double vanishes = 104;  // exp(-104) is 0 as a float
        double of_score = warpwise::sum_tolerance(kDim, kRounding, largest_score_) +
                          4 * kRounding * largest_score_;
        if (least_gap_ > 2 * of_score + vanishes) of_score = 0;
        warpwise::Tolerance result = {
            .absolute = 2 * (of_score + 8 * kRounding) +
                        2 * warpwise::sum_tolerance(tokens, kRounding, 1)};
        if (rounds_weights)
            result.absolute += kRoundingOfBf16 * std::min(1.0, 4 * concentration_);
        if (rounds_results) result.relative = kRoundingOfBf16;
        return result;
    }

    // Two products of tokens x tokens x kDim, of which a causal mask leaves half. Bytes do
    // not matter if the work is done well, so none are stated.
    warpwise::Work work() const {
        const double n = static_cast<double>(tokens);
        const double scores = mask == Mask::causal ? n * (n + 1) / 2 : n * n;
        return {.operations = 4.0 * kDim * static_cast<double>(heads) * scores};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        const std::size_t rows = size[0] * size[1];
        const std::size_t scores = mask == Mask::none ? rows * size[1] : 0;
        // Scores as floats and, for a library, as bf16.
        return rows * kDim * (4 * sizeof(Bf16) + sizeof(float)) + scores * 6;
    }

private:
    static std::vector<Bf16> random(std::size_t rows, std::uint64_t seed, float largest) {
        const std::vector<float> values =
            warpwise::uniform<float>(rows * kDim, seed, -largest, largest);
        std::vector<Bf16> result(values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            result[i] = __float2bfloat16(values[i]);
        return result;
    }

    std::size_t place_of(std::size_t i) const {
        return checked_[i / kDim] * kDim + i % kDim;
    }

    // Of a large problem: the first and the last row, rows beside the edges of tiles, which
    // are multiples of 8, and random ones.
    void choose_checked() {
        constexpr std::size_t all = 1024, sample = 256;
        const std::size_t rows = heads * tokens;
        if (rows <= all) {
            checked_.resize(rows);
            std::iota(checked_.begin(), checked_.end(), std::size_t{0});
            return;
        }
        checked_ = {0, tokens - 1, rows - tokens, rows - 1};
        for (std::size_t i = checked_.size(); i < sample; ++i) {
            const std::size_t row = warpwise::random_bits(64, i) % rows;
            checked_.push_back(i % 3 == 0   ? row / 8 * 8
                               : i % 3 == 1 ? std::min(rows - 1, row / 8 * 8 + 7)
                                            : row);
        }
    }

    void compute_references() {
        expected_.resize(checked_.size() * kDim);
        std::vector<Reference> rows(checked_.size());
        warpwise::parallel_for_parts(
            checked_.size(),
            std::max<std::size_t>(
                1, std::min(checked_.size(),
                            warpwise::parallel_parts(checked_.size() * (tokens + 1)))),
            [&](std::size_t, std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) rows[i] = compute_reference(i);
            });
        for (const Reference& row : rows) {
            concentration_ = std::max(concentration_, row.concentration);
            furthest_score = std::max(furthest_score, std::fabs(row.largest));
            least_gap_ = std::min(least_gap_, row.gap);
            mean_of_largest_weights +=
                row.largest_weight / static_cast<double>(rows.size());
        }
        largest_score_ = longest(queries) * longest(keys) * kScale;
    }

    struct Reference {
        double largest = -INFINITY, gap = INFINITY;  // of scores: to the second largest
        double largest_weight = 0;
        double concentration = 0;  // the root of the sum of the squared weights
    };

    // The result of checked row i.
    Reference compute_reference(std::size_t i) {
        const std::size_t row = checked_[i], first = row / tokens * tokens;
        const std::size_t seen = mask == Mask::causal ? row - first + 1 : tokens;
        std::vector<double> weights(seen);
        double sum = 0, squares = 0;
        Reference result;
        for (std::size_t key = 0; key < seen; ++key) {
            double score = 0;
            for (std::size_t d = 0; d < kDim; ++d)
                score += double{__bfloat162float(queries[row * kDim + d])} *
                         double{__bfloat162float(keys[(first + key) * kDim + d])};
            score /= std::sqrt(double{kDim});
            weights[key] = score;
            result.gap = score > result.largest
                             ? score - result.largest
                             : std::min(result.gap, result.largest - score);
            result.largest = std::max(result.largest, score);
        }
        for (double& weight : weights) {
            weight = std::exp(weight - result.largest);
            sum += weight;
            squares += weight * weight;
        }
        double* const out = expected_.data() + i * kDim;
        for (std::size_t key = 0; key < seen; ++key) {
            for (std::size_t d = 0; d < kDim; ++d)
                out[d] += weights[key] / sum *
                          double{__bfloat162float(values[(first + key) * kDim + d])};
        }
        result.largest_weight = 1 / sum;
        result.concentration = std::sqrt(squares) / sum;
        return result;
    }

    // The length of the longest row.
    static double longest(const std::vector<Bf16>& rows) {
        double result = 0;
        for (std::size_t first = 0; first < rows.size(); first += kDim) {
            double squares = 0;
            for (std::size_t d = 0; d < kDim; ++d) {
                const double x = double{__bfloat162float(rows[first + d])};
                squares += x * x;
            }
            result = std::max(result, squares);
        }
        return std::sqrt(result);
    }

    std::vector<std::size_t> checked_;  // rows that are compared
    std::vector<double> expected_;      // their results, in this order
    double concentration_ = 0, largest_score_ = 0, least_gap_ = INFINITY;
};

}  // namespace
}  // namespace examples
