#include "exercises/4_examples/rescale_the_sum/rescale_the_sum.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"4_examples", "rescale_the_sum"};

namespace {

constexpr std::size_t dims = 32;

/// Queries, keys, and values, with the results in double as they should be, and as the
/// mistake of the stub makes them.
struct Tokens {
    Tokens(std::vector<float> queries_, std::vector<float> keys_, std::uint64_t stream)
        : count(queries_.size() / dims),
          queries(std::move(queries_)),
          keys(std::move(keys_)),
          values(grading::random_floats(count * dims, 10 * stream + 3)),
          out(count * dims),
          without_correction(count * dims) {
        for (std::size_t token = 0; token < count; ++token) compute(token);
    }

    /// A score is a sum of 32 products, and its absolute error is a relative one of the
    /// weight. Sums of weights and of weighted values add a rounding per key. Values are at
    /// most 1, and results are their means.
    warpwise::Tolerance tolerance() const {
        const double rounding = std::numeric_limits<float>::epsilon() / 2;
        const double of_score = rounding * (4 * std::sqrt(double{dims}) + 8) * largest;
        return {.absolute = 2 * of_score + rounding * (32 + 12 * std::sqrt(double(count)))};
    }

    std::size_t count;
    std::vector<float> queries, keys, values;
    std::vector<double> out, without_correction;
    double largest = 0;  // sum of the magnitudes of a score's terms

private:
    void compute(std::size_t token) {
        std::vector<double> scores(count);
        double most = -std::numeric_limits<double>::infinity(), sum = 0;
        for (std::size_t key = 0; key < count; ++key) {
            double magnitudes = 0;
            for (std::size_t d = 0; d < dims; ++d) {
                const double term = double{queries[token * dims + d]} *
                                    keys[key * dims + d] / std::sqrt(double{dims});
                scores[key] += term;
                magnitudes += std::fabs(term);
            }
            largest = std::max(largest, magnitudes);
            most = std::max(most, scores[key]);
        }
        for (const double score : scores) sum += std::exp(score - most);
        double so_far = -std::numeric_limits<double>::infinity();
        for (std::size_t key = 0; key < count; ++key) {
            so_far = std::max(so_far, scores[key]);
            for (std::size_t d = 0; d < dims; ++d) {
                const double value = values[key * dims + d];
                out[token * dims + d] += std::exp(scores[key] - most) / sum * value;
                without_correction[token * dims + d] +=
                    std::exp(scores[key] - so_far) / sum * value;
            }
        }
    }
};

/// `factor`: of the queries, and so of the scores.
Tokens random_tokens(std::size_t count, float factor = 8, std::uint64_t stream = 0) {
    std::vector<float> queries = grading::random_floats(count * dims, 10 * stream + 1);
    for (float& x : queries) x *= factor;
    return {std::move(queries), grading::random_floats(count * dims, 10 * stream + 2),
            stream};
}

/// All queries are the same row of ones, and the elements of key i are element(i), and a
/// little more: so scores are about sqrt(32) times element(i).
Tokens tokens_with_scores(std::size_t count,
                          const std::function<float(std::size_t key)>& element) {
    std::vector<float> keys = grading::random_floats(count * dims, 7);
    for (std::size_t i = 0; i < keys.size(); ++i)
        keys[i] = keys[i] / 16 + element(i / dims);
    return {std::vector<float>(count * dims, 1.0f), std::move(keys), 4};
}

/// Computes, checks the results and who worked, and returns what the kernels did.
grading::Instrumented check_attention(const Tokens& data) {
    INFO(grading::counted(data.count, "token"));
    const grading::Guarded<float> d_queries(data.queries), d_keys(data.keys),
        d_values(data.values);
    grading::Guarded<float> d_out(data.out.size());
    d_out.show_as_rows_of(dims);
    const grading::Instrumented instrumented = grading::instrument([&] {
        attend(d_queries.data(), d_keys.data(), d_values.data(), data.count, d_out.data());
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::WrittenEverywhere());
    CHECK_THAT(
        d_out,
        grading::CloseTo(data.out, data.tolerance())
            .when(grading::not_a_number(),
                  "NaN comes from a difference of infinities, or from 0 / 0. Which "
                  "exponential can become infinite, and which sum can be 0?")
            .when(grading::equals(data.without_correction),
                  "The weights are divided by the right sum, but values that were added "
                  "before a larger score came have a weight that is too large. Which of "
                  "the two sums is formed with the new maximum?"));
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_queries, grading::Unchanged());
    CHECK_THAT(d_keys, grading::Unchanged());
    CHECK_THAT(d_values, grading::Unchanged());
    if (data.count > 0) CHECK_THAT(d_out, grading::WrittenByThreads(data.count));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                "cudaHostRegister"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

}  // namespace

TEST_CASE("attends to one token") { check_attention(random_tokens(1)); }

TEST_CASE("attends to any number of tokens") {
    for (const std::size_t count : grading::sizes({2, 7, 8, 9, 31, 33, 64}, 2, 120))
        check_attention(random_tokens(count));
}

TEST_CASE("weighs keys whose scores fall") {
    check_attention(tokens_with_scores(
        40, [](std::size_t key) { return -0.125f * static_cast<float>(key); }));
}

TEST_CASE("weighs keys whose scores rise") {
    check_attention(tokens_with_scores(
        40, [](std::size_t key) { return 0.125f * static_cast<float>(key); }));
}

TEST_CASE("weighs keys when the largest score comes late") {
    check_attention(
        tokens_with_scores(70, [](std::size_t key) { return key == 61 ? 0.5f : 0.0f; }));
}

TEST_CASE("does not overflow") {
    check_attention(random_tokens(20, 500.0f, 1));
    check_attention(tokens_with_scores(20, [](std::size_t) { return 20.0f; }));
}

TEST_CASE("weighs keys whose scores are far below 0") {
    check_attention(tokens_with_scores(20, [](std::size_t) { return -20.0f; }));
}

TEST_CASE("handles 0 tokens") { check_attention(random_tokens(0)); }

// In whole sectors, a token takes 128 bytes of its query, 256 per key, and 128 of its
// result.
TEST_CASE("reads each key and each value once per token") {
    constexpr std::size_t count = 64;
    const grading::Instrumented instrumented = check_attention(random_tokens(count));
    CHECK_THAT(instrumented,
               grading::BytesMovedAtMost(
                   1.1 * count * (count * 256 + 256),
                   "A key has 128 bytes, and so has a value. How often does a warp read "
                   "each of them, and does anything else go to memory?"));
}
