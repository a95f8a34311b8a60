#include "exercises/5_modern_cuda/scores_of_bytes/scores_of_bytes.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"5_modern_cuda", "scores_of_bytes"};

namespace {

constexpr std::size_t kBytes = bytes_per_descriptor;

std::vector<signed char> descriptors(std::size_t count, std::uint64_t seed) {
    const std::vector<int> numbers = grading::random_ints(count * kBytes, -128, 127, seed);
    return {numbers.begin(), numbers.end()};
}

/// The scores if only the bytes from `begin` to `end` counted.
std::vector<double> scores_of(const std::vector<signed char>& queries,
                              const std::vector<signed char>& references,
                              std::size_t begin = 0, std::size_t end = kBytes) {
    std::vector<double> scores;
    for (std::size_t q = 0; q < queries.size(); q += kBytes) {
        for (std::size_t r = 0; r < references.size(); r += kBytes) {
            double sum = 0;
            for (std::size_t i = begin; i < end; ++i)
                sum += double{1} * queries[q + i] * references[r + i];
            scores.push_back(sum);
        }
    }
    return scores;
}

/// Every other word of four bytes, from word `first` on, in runs of four words.
std::vector<double> scores_of_half_words(const std::vector<signed char>& queries,
                                         const std::vector<signed char>& references,
                                         std::size_t first) {
    std::vector<double> scores(scores_of(queries, references, 0, 0).size());
    for (const std::size_t start : {first, first + 32}) {
        const std::vector<double> part = scores_of(queries, references, start, start + 16);
        for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += part[i];
    }
    return scores;
}

void check_scores(std::size_t query_count, std::size_t reference_count) {
    const std::vector<signed char> queries = descriptors(query_count, query_count + 1),
                                   references =
                                       descriptors(reference_count, reference_count + 500);
    INFO("queries: " << query_count << ", references: " << reference_count);
    const grading::Guarded<signed char> d_queries(queries), d_references(references);
    grading::Guarded<int> d_scores(query_count * reference_count);
    const grading::Instrumented instrumented = grading::instrument([&] {
        score_all(d_queries.data(), static_cast<unsigned>(query_count), d_references.data(),
                  static_cast<unsigned>(reference_count), d_scores.data());
    });
    REQUIRE_THAT(
        grading::finish(),
        grading::Succeeds()
            .when(
                {"have exited"},
                "What can a lane do whose descriptor does not exist, if it may not leave?")
            .when({"out of bounds", "d_scores"},
                  "Which of the 16 x 8 scores of a warp exist?"));
    CHECK_THAT(d_scores,
               grading::EqualTo(scores_of(queries, references))
                   .when(grading::equals(scores_of(queries, references, 0, 32)),
                         "Which bytes does the second step take?")
                   .when(grading::equals(scores_of_half_words(queries, references, 0)),
                         "Which words hold a[2], a[3], and b[1]?")
                   .when(grading::never_written(), "Which lane stores this score?"));
    CHECK_THAT(d_queries, grading::Unchanged());
    CHECK_THAT(d_references, grading::Unchanged());
    if (query_count == 0 || reference_count == 0) return;
    CHECK_THAT(d_scores, grading::WrittenByKernels());
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    if (!instrumented.countable) return;
    // Each tile of 16 x 8 scores takes two steps, of 4 + 2 loads.
    const std::size_t tiles = (query_count + 15) / 16 * ((reference_count + 7) / 8);
    const double loads =
        static_cast<double>(warpwise::sum_of(instrumented.launches).global_load.requests);
    // The last block may have three warps without a tile.
    if (loads > 12 * static_cast<double>(tiles + 3))
        FAIL_CHECK("warps load more often than for two steps per tile: "
                   << loads << " load instructions for " << grading::counted(tiles, "tile")
                   << " of 16 x 8 scores, where 12 per tile are enough\n"
                      "How many scores does one instruction of the tensor cores add to?");
}

}  // namespace

TEST_CASE("scores 16 queries with 8 references") { check_scores(16, 8); }

TEST_CASE("scores several tiles") { check_scores(48, 40); }

TEST_CASE("scores any number of queries and references") {
    for (const std::size_t count : grading::sizes({1, 7, 15, 17, 31, 33, 100}, 2, 300)) {
        check_scores(count, 9);
        check_scores(5, count);
    }
}

TEST_CASE("scores a query with itself") { check_scores(1, 1); }

TEST_CASE("handles no queries or no references") {
    check_scores(0, 5);
    check_scores(5, 0);
}
