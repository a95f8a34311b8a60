#include "exercises/3_optimization/compensated_sum/compensated_sum.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"
#include "common/helpers/inputs.h"

const grading::Exercise grading::exercise{"3_optimization", "compensated_sum"};

namespace {

constexpr int threads = 128;  // of a block
constexpr double unit_roundoff = 0x1p-24;
constexpr float huge = 0x1p60f;  // its neighbors are 2^37 away: adding anything small changes nothing

/// Values whose exact sum is known: apart from pairs of a huge number and its negative, which add up to 0, all are
/// whole multiples of 2^-20, and are added as 64-bit integers, which do not round.
struct Terms {
    std::vector<float> values;
    std::int64_t units = 0;  // of 2^-20
    double magnitudes = 0;

    explicit Terms(int count) : values(static_cast<std::size_t>(count)) {}

    void set(int i, float value) {
        values[static_cast<std::size_t>(i)] = value;
        magnitudes += std::fabs(value);
        if (std::fabs(value) != huge) units += static_cast<std::int64_t>(value * 0x1p20);
    }

    double sum() const { return static_cast<double>(units) * 0x1p-20; }

    /// What the header promises. `units` fit into 53 bits, so the reference is exact.
    double tolerance() const {
        const double n = static_cast<double>(values.size());
        return 2 * unit_roundoff * std::fabs(sum()) + 4 * n * n * unit_roundoff * unit_roundoff * magnitudes;
    }
};

/// Where nothing but huge pairs and small numbers occur, a sum in two floats is exact until the last rounding.
constexpr double only_the_last_rounding = -1;

void check_sum(const Terms& terms, int blocks, double tolerance, const std::string& hint) {
    INFO(terms.values.size() << " elements, blocks: " << blocks << ", exact sum: " << terms.sum());
    if (tolerance == only_the_last_rounding) tolerance = unit_roundoff * std::fabs(terms.sum());
    const grading::Guarded<float> d_values(terms.values);
    grading::Guarded<float> d_block_sums(static_cast<std::size_t>(blocks));
    grading::Guarded<float> d_block_lost(static_cast<std::size_t>(blocks));
    grading::Guarded<float> d_sum(1);
    add_up(d_values.data(), static_cast<int>(terms.values.size()), d_block_sums.data(), d_block_lost.data(),
           d_sum.data(), blocks);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sum, grading::WrittenEverywhere());
    CHECK_THAT(d_sum, grading::CloseTo({terms.sum()}, {.absolute = tolerance}, hint));
    CHECK_THAT(d_sum, grading::StaysInside("There is one sum."));
    CHECK_THAT(d_block_sums, grading::StaysInside("There is one sum a block."));
    CHECK_THAT(d_block_lost, grading::StaysInside("There is one lost part a block."));
    CHECK_THAT(d_values, grading::Unchanged());
}

/// Random multiples of 2^-20 in [-1024, 1024] that cancel but for a few, hidden among larger and larger pairs.
Terms ill_conditioned(int count, std::uint64_t seed) {
    Terms terms(count);
    std::vector<float> values;
    for (int i = 0; i + 1 < count; i += 2) {
        const std::uint64_t bits = warpwise::random_bits(seed, static_cast<std::uint64_t>(i));
        const double size = std::ldexp(1.0, static_cast<int>(bits % 28));  // up to 2^27
        const double fraction = static_cast<double>((bits >> 32) % 1024 + 1) * 0x1p-10;
        const float value = static_cast<float>(size * fraction);  // at most 11 bits: exact
        values.push_back(value);
        values.push_back(-value);
    }
    if (count % 2 != 0) values.push_back(0x1.8p-9f);
    for (std::size_t i = values.size(); i-- > 1;) {
        std::swap(values[i], values[warpwise::random_bits(seed + 1, i) % (i + 1)]);
    }
    for (int i = 0; i < count; ++i) terms.set(i, values[static_cast<std::size_t>(i)]);
    return terms;
}

}  // namespace

TEST_CASE("adds up whole numbers") {
    for (const int count : {0, 1, 2, 31, 127, 129, 1009, 5000}) {
        Terms terms(count);
        for (int i = 0; i < count; ++i) terms.set(i, static_cast<float>(1 + i % 100));
        check_sum(terms, 3, 0, "Nothing is lost in these sums: every partial sum fits into a float.");
    }
}

TEST_CASE("keeps the last digits of small values") {
    // The first thread begins with 2^25, where floats are 4 apart, and goes on with ones. The others add zeros.
    for (const int turns : {2, 3, 101, 1025}) {
        Terms terms(turns * threads);
        terms.set(0, 0x1p25f);
        for (int turn = 1; turn < turns; ++turn) terms.set(turn * threads, 1);
        check_sum(terms, 1, only_the_last_rounding,
                  "One thread adds 1 to a sum of 2^25 and more, where floats are 4 apart; all others add zeros.\n"
                  "What the addition drops is (larger - next) + smaller. Which of the two is the larger one in each "
                  "branch?");
    }
}

TEST_CASE("keeps the last digits of the sum") {
    // The first thread's sum is small when the huge value comes, and is all that is left when it goes.
    for (const int before : {1, 2, 100}) {
        Terms terms((before + 3) * threads);
        for (int turn = 0; turn < before; ++turn) terms.set(turn * threads, 3);
        terms.set(before * threads, huge);
        terms.set((before + 1) * threads, 5);
        terms.set((before + 2) * threads, -huge);
        check_sum(terms, 1, only_the_last_rounding,
                  "One thread adds 3 a few times, then 2^60, then 5, then -2^60; all others add zeros.\n"
                  "When the value is the larger one, it is the sum that loses its digits. Where do they go?");
    }
}

TEST_CASE("keeps what is lost between threads") {
    // A value for each thread: nothing is lost before the threads' totals are put together.
    for (const int thread : {1, 2, 31, 64, 127}) {
        Terms terms(threads);
        for (int i = 0; i < threads; ++i) terms.set(i, i == 0 ? huge : i == thread ? -huge : 1.0f);
        check_sum(
            terms, 1, only_the_last_rounding,
            "Each thread has one value, so the loops lose nothing: thread 0 has 2^60, thread " +
                std::to_string(thread) +
                " has -2^60, all others 1.\nDoes total_of_block carry both parts of a total through the tree, and "
                "what its own additions lose?");
    }
}

TEST_CASE("keeps what several threads lose") {
    // Every thread has lost something before the tree begins: a 1 each. The huge parts cancel in the tree.
    Terms terms(2 * threads);
    for (int i = 0; i < threads; ++i) {
        terms.set(i, i % 2 == 0 ? huge : -huge);
        terms.set(threads + i, 1);
    }
    check_sum(
        terms, 1, only_the_last_rounding,
        "Each thread has 2^60 or -2^60, then 1, which is all in its lost part; the huge parts cancel in the tree.\n"
        "Does the lost part of each thread arrive at the end?");
}

TEST_CASE("keeps what several blocks lose") {
    for (const int blocks : {2, 8, 130, 300}) {
        Terms terms(2 * blocks * threads);
        for (int block = 0; block < blocks; ++block) {
            if (blocks % 2 == 0) terms.set(block * threads, block % 2 == 0 ? huge : -huge);
            terms.set((blocks + block) * threads, 3);
        }
        check_sum(terms, blocks, only_the_last_rounding,
                  "Each block has 2^60 or -2^60, and a 3, which fits only into the lost part of its total.\n"
                  "What do blocks leave behind for the second kernel?");
    }
}

TEST_CASE("is right where nearly everything cancels") {
    for (const int count : {33, 257, 1009, 4097}) {
        for (const int blocks : {1, 4}) {
            const Terms terms = ill_conditioned(count, static_cast<std::uint64_t>(count + blocks));
            check_sum(
                terms, blocks, terms.tolerance(),
                "The values come with their negatives, but for one. Whatever is lost on the way is missing here.");
        }
    }
}

TEST_CASE("reads each value once") {
    Terms terms(64 * threads);
    for (int i = 0; i < 64 * threads; ++i) terms.set(i, 1);
    const grading::Guarded<float> d_values(terms.values);
    grading::Guarded<float> d_block_sums(4), d_block_lost(4), d_sum(1);
    const grading::Watched watched = grading::watch(
        [&] { add_up(d_values.data(), 64 * threads, d_block_sums.data(), d_block_lost.data(), d_sum.data(), 4); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(watched, grading::NoRace());
    CHECK_THAT(watched, grading::LaunchesAtMost(2, "The sum takes two launches."));
    CHECK_THAT(watched, grading::BytesMovedAtMost(1.1 * 4 * 64 * threads + 1024,
                                                  "A compensated sum reads its values once; the second part of a total "
                                                  "stays in a register."));
}
