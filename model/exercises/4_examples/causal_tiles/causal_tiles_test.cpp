#include "exercises/4_examples/causal_tiles/causal_tiles.h"

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
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"4_examples", "causal_tiles"};

namespace {

constexpr std::size_t dims = 32;

/// Which keys a query sees.
enum class Sees { itself_and_earlier, all, earlier };

/// Queries, keys, and values, with the results in double as they should be, and as some
/// mistakes make them.
struct Tokens {
    Tokens(std::vector<float> queries_, std::vector<float> keys_, std::uint64_t stream)
        : count(queries_.size() / dims),
          queries(std::move(queries_)),
          keys(std::move(keys_)),
          values(grading::random_floats(count * dims, 10 * stream + 3)),
          out(results(Sees::itself_and_earlier)) {}

    std::vector<double> results(Sees sees) const {
        std::vector<double> result(count * dims);
        for (std::size_t token = 0; token < count; ++token) {
            const std::size_t seen = sees == Sees::all       ? count
                                     : sees == Sees::earlier ? token
                                                             : token + 1;
            std::vector<double> weights(seen);
            double most = -std::numeric_limits<double>::infinity(), sum = 0;
            for (std::size_t key = 0; key < seen; ++key) {
                for (std::size_t d = 0; d < dims; ++d)
                    weights[key] += double{queries[token * dims + d]} *
                                    keys[key * dims + d] / std::sqrt(double{dims});
                most = std::max(most, weights[key]);
            }
            for (double& weight : weights) sum += weight = std::exp(weight - most);
            for (std::size_t key = 0; key < seen; ++key)
                for (std::size_t d = 0; d < dims; ++d)
                    result[token * dims + d] += weights[key] / sum * values[key * dims + d];
        }
        return result;
    }

    /// A score is a sum of 32 products, and its absolute error is a relative one of the
    /// weight. By Cauchy-Schwarz, no sum of magnitudes is larger than the longest query
    /// times the longest key. Sums of weights and of weighted values add a rounding per
    /// key. Values are at most 1, and results are their means.
    warpwise::Tolerance tolerance() const {
        const double rounding = std::numeric_limits<float>::epsilon() / 2;
        const double largest = longest(queries) * longest(keys) / std::sqrt(double{dims});
        const double of_score = rounding * (4 * std::sqrt(double{dims}) + 8) * largest;
        return {.absolute = 2 * of_score + rounding * (32 + 12 * std::sqrt(double(count)))};
    }

    static double longest(const std::vector<float>& rows) {
        double result = 0;
        for (std::size_t first = 0; first < rows.size(); first += dims) {
            double squares = 0;
            for (std::size_t d = 0; d < dims; ++d)
                squares += double{rows[first + d]} * rows[first + d];
            result = std::max(result, squares);
        }
        return std::sqrt(result);
    }

    std::size_t count;
    std::vector<float> queries, keys, values;
    std::vector<double> out;
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
            .when(grading::equals(data.results(Sees::all)),
                  "All tokens attend to all others. Which scores does the mask hide?")
            .when(grading::equals(data.results(Sees::earlier)),
                  "The tokens attend to earlier ones, but not to themselves. Where does "
                  "the mask begin?"));
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_queries, grading::Unchanged());
    CHECK_THAT(d_keys, grading::Unchanged());
    CHECK_THAT(d_values, grading::Unchanged());
    if (data.count > 0) {
        CHECK_THAT(d_out, grading::WrittenByThreads(data.count));
        CHECK_THAT(d_out, grading::WrittenByBlocks(data.count / 128));
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                "cudaHostRegister"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

}  // namespace

TEST_CASE("attends to itself and to earlier tokens") {
    for (const std::size_t count : {1, 2, 32, 64}) check_attention(random_tokens(count));
}

TEST_CASE("attends with any number of tokens") {
    for (const std::size_t count : grading::sizes({5, 31, 33, 63, 65, 100}, 2, 150))
        check_attention(random_tokens(count));
}

TEST_CASE("hides later tokens with the largest scores") {
    check_attention(tokens_with_scores(
        70, [](std::size_t key) { return 0.125f * static_cast<float>(key); }));
    check_attention(
        tokens_with_scores(70, [](std::size_t key) { return key == 69 ? 20.0f : 0.0f; }));
}

TEST_CASE("does not overflow") {
    check_attention(random_tokens(40, 500.0f, 1));
    check_attention(tokens_with_scores(40, [](std::size_t) { return 20.0f; }));
}

TEST_CASE("hides tokens whose scores are far below 0") {
    check_attention(tokens_with_scores(40, [](std::size_t) { return -20.0f; }));
    check_attention(tokens_with_scores(
        40, [](std::size_t key) { return -2000.0f * (key % 2 == 0 ? 1.0f : 0.9f); }));
}

TEST_CASE("handles 0 tokens") { check_attention(random_tokens(0)); }

// With tiles of 32 x 32, 256 tokens have 64 tiles, and 36 of them contain a score that
// counts. The keys and values of a tile have 8192 bytes, as much as the queries and results
// of a block.
TEST_CASE("loads no tiles above the diagonal") {
    const grading::Instrumented instrumented = check_attention(random_tokens(256));
    CHECK_THAT(instrumented,
               grading::BytesMovedAtMost(
                   1.1 * (36 + 8) * 8192,
                   "Up to which tile of keys does the block with the first 32 queries have "
                   "to go, and up to which one the block with the last?"));
}

// A tile of the stub takes 96 loads from shared memory for each of 32 queries: 32 of the
// query, 32 of keys, and 32 of values.
TEST_CASE("computes no tiles above the diagonal") {
    const grading::Instrumented instrumented = check_attention(random_tokens(256));
    if (!instrumented.countable) return;
    const warpwise::Counts counts = warpwise::sum_of(instrumented.launches);
    CHECK_THAT(grading::figure("loads from shared memory by warps, as a share of 36 tiles",
                               counts.shared_load.requests / (36.0 * 32 * 96),
                               {.call = instrumented.name}),
               grading::AtMost(1.1, "Which tiles does a warp compute only to mask them?"));
}
