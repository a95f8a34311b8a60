#include "exercises/3_optimization/straighten_branches/straighten_branches.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"
#include "common/helpers/inputs.h"

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"3_optimization", "straighten_branches"};

namespace {

using Words = std::vector<unsigned>;

unsigned scramble(unsigned word) {
    const bool odd = word % 2 == 1;
    for (int round = 0; round < 96; ++round) {
        if (odd) {
            word ^= word << 13;
            word ^= word >> 17;
            word ^= word << 5;
        } else {
            word = (word ^ (word >> 15)) * 0x2C1B3C6Du;
        }
    }
    return word;
}

// Odd and even by chance.
Words random_words(int count) {
    Words words(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<unsigned>(warpwise::random_bits(61, i));
    return words;
}

// 0, 1, 2, 3 ...
Words counted_words(int count) {
    Words words(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<unsigned>(i);
    return words;
}

// All of a kind, but for one word in 32.
Words words_with_strangers(int count, unsigned kind) {
    Words words = random_words(count);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const unsigned own_kind = i % 32 == 7 ? 1 - kind : kind;
        words[i] = words[i] - words[i] % 2 + own_kind;
    }
    return words;
}

// Checks the scrambled words, and returns what the kernels did.
grading::Watched check_words(const Words& words) {
    INFO(words.size() << " words");
    std::vector<double> expected(words.size());
    std::transform(words.begin(), words.end(), expected.begin(), scramble);
    const grading::Guarded<unsigned> d_words(words);
    grading::Guarded<unsigned> d_scrambled(words.size());
    grading::Watched watched =
        grading::watch([&] { scramble_words(d_words.data(), d_scrambled.data(), static_cast<int>(words.size())); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_scrambled, grading::WrittenEverywhere("Does every word have a thread that works on it?"));
    CHECK_THAT(d_scrambled, grading::EqualTo(expected,
                                             "Is each word scrambled by its own kind of rounds?\n"
                                             "Does each result go where its word came from?"));
    CHECK_THAT(d_scrambled, grading::StaysInside("There are as many results as words."));
    CHECK_THAT(d_words, grading::Unchanged());
    return watched;
}

// Stretches of code (basic blocks) that warps go through, for each 32 words. A round of either kind is one.
grading::WatchedMatcher StretchesAtMost(double limit, std::size_t words, std::string hint) {
    const auto judge = [limit, words](const grading::Watched& watched) -> grading::Verdict {
        if (!watched.countable) return {true, "not counted on this device"};
        const double stretches = warpwise::sum_of(watched.launches).steps * 32 / static_cast<double>(words);
        return {stretches <= limit, warpwise::ratio_text(stretches) + " stretches of code for 32 words, at most " +
                                        warpwise::ratio_text(limit) + " allowed"};
    };
    return {judge, std::move(hint)};
}

}  // namespace

TEST_CASE("scrambles any number of words") {
    for (const int count : {1, 2, 31, 32, 33, 255, 256, 257, 1009, 4099}) {
        check_words(random_words(count));
        check_words(counted_words(count));
    }
}

TEST_CASE("handles no words") { check_words({}); }

TEST_CASE("scrambles words of one kind and of nearly one kind") {
    for (const int count : {33, 300, 1009}) {
        check_words(Words(static_cast<std::size_t>(count), 4));
        check_words(Words(static_cast<std::size_t>(count), 5));
        check_words(words_with_strangers(count, 0));
        check_words(words_with_strangers(count, 1));
    }
}

constexpr int many = 1 << 13;

// In blocks of 256 threads one warp of eight may have both kinds; a branch for each lane has about 16.
TEST_CASE("has nearly all lanes active") {
    const std::string hint = "Do the lanes of a warp want the same kind of rounds?";
    CHECK_THAT(check_words(random_words(many)), grading::ActiveLanesAtLeast(24, hint));
    CHECK_THAT(check_words(counted_words(many)), grading::ActiveLanesAtLeast(24, hint));
    CHECK_THAT(check_words(words_with_strangers(many, 0)), grading::ActiveLanesAtLeast(24, hint));
}

// 96 rounds are needed, 192 are both kinds.
TEST_CASE("goes through little more than its own rounds") {
    const std::string hint =
        "Active lanes are not all: a warp that computes both kinds for all of its words is not faster.";
    CHECK_THAT(check_words(random_words(many)), StretchesAtMost(160, many, hint));
    CHECK_THAT(check_words(counted_words(many)), StretchesAtMost(160, many, hint));
    CHECK_THAT(check_words(words_with_strangers(many, 1)), StretchesAtMost(160, many, hint));
}

#ifndef __CPU_DEVICE__
// Words of both kinds may take as long as half of them of either kind, and a little for sorting. If every warp goes
// through both loops, they take twice as long.
TEST_CASE("takes less than one and a half times as long for mixed words as for sorted ones") {
    constexpr int count = 1 << 26;
    warpwise::DeviceBuffer<unsigned> d_scrambled(count);
    const warpwise::DeviceBuffer<unsigned> d_mixed(random_words(count));
    const warpwise::DeviceBuffer<unsigned> d_even(Words(count, 4));
    const warpwise::DeviceBuffer<unsigned> d_odd(Words(count, 5));
    const auto candidate = [&](const warpwise::DeviceBuffer<unsigned>& d_words) {
        return warpwise::Candidate{[&] { scramble_words(d_words.data(), d_scrambled.data(), count); }, false};
    };
    const std::vector<warpwise::Timing> timings =
        warpwise::measure_in_turn({candidate(d_mixed), candidate(d_even), candidate(d_odd)});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double sorted = (timings[1].median + timings[2].median) / 2;
    INFO("mixed words: " << timings[0].median * 1e6 << " us; half even, half odd: " << sorted * 1e6 << " us");
    INFO("Does a warp still go through both kinds of rounds?");
    CHECK(timings[0].median <= 1.5 * sorted);
}
#endif
