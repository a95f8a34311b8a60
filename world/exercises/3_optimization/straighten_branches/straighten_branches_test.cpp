#include "exercises/3_optimization/straighten_branches/straighten_branches.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"3_optimization", "straighten_branches"};

namespace {

using Words = std::vector<unsigned>;

unsigned scramble(unsigned word, unsigned kind) {
    for (int round = 0; round < 96; ++round) {
        if (kind == 1) {
            word ^= word << 13;
            word ^= word >> 17;
            word ^= word << 5;
        } else {
            word = (word ^ (word >> 15)) * 0x2C1B3C6Du;
        }
    }
    return word;
}

// Odd and even by chance, from 0 to the largest, and some of the ends of the range.
Words random_words(int count) {
    using Limits = std::numeric_limits<int>;
    const auto n = static_cast<std::size_t>(count);
    const std::vector<int> bits =
        grading::with_extremes(grading::random_ints(n, Limits::min(), Limits::max()));
    Words words(n);
    std::transform(bits.begin(), bits.end(), words.begin(),
                   [](int each) { return static_cast<unsigned>(each); });
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

constexpr std::size_t most_of_a_thread = 32;   // words
constexpr std::size_t most_of_a_block = 2048;  // words

std::vector<double> scrambled_by(const Words& words, unsigned (*function)(unsigned)) {
    std::vector<double> results(words.size());
    std::transform(words.begin(), words.end(), results.begin(), function);
    return results;
}

// Checks the scrambled words, and returns what the kernels did.
grading::Instrumented check_words(const Words& words) {
    INFO(grading::counted(words.size(), "word"));
    const std::vector<double> expected =
        scrambled_by(words, [](unsigned word) { return scramble(word, word % 2); });
    const std::vector<double> other_kind =
        scrambled_by(words, [](unsigned word) { return scramble(word, 1 - word % 2); });
    const grading::Guarded<unsigned> d_words(words);
    grading::Guarded<unsigned> d_scrambled(words.size());
    grading::Instrumented instrumented = grading::instrument([&] {
        scramble_words(d_words.data(), d_scrambled.data(), static_cast<int>(words.size()));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_scrambled, grading::WrittenEverywhere());
    CHECK_THAT(d_scrambled, grading::EqualTo(expected).when(
                                grading::equals(other_kind),
                                "These words went through the rounds of the other kind."));
    CHECK_THAT(d_scrambled, grading::StaysInside());
    CHECK_THAT(d_words, grading::Unchanged());
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    if (!words.empty()) {
        CHECK_THAT(d_scrambled, grading::WrittenByThreads(words.size() / most_of_a_thread));
        CHECK_THAT(d_scrambled, grading::WrittenByBlocks(words.size() / most_of_a_block));
    }
    return instrumented;
}

// Counters may go to the host, words may not.
grading::InstrumentedMatcher CopiesLittle() {
    const auto judge = [](const grading::Instrumented& instrumented) -> grading::Judgement {
        std::size_t bytes = 0;
        for (const warpwise::ApiCall& call : instrumented.calls) {
            if (call.direction != "cudaMemcpyDeviceToDevice") bytes += call.bytes;
        }
        return {bytes <= 1024,
                std::to_string(bytes) +
                    " bytes copied between host and device, at most 1024 allowed"};
    };
    return {judge, "Which numbers does the host need, and where could the words stay?"};
}

// Stretches of code (basic blocks) that warps go through, for each 32 words. A round of
// either kind is one.
grading::InstrumentedMatcher StretchesAtMost(double limit, std::size_t words) {
    const auto judge =
        [limit, words](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) return {true, "not counted on this device"};
        const double stretches =
            warpwise::sum_of(instrumented.launches).steps * 32 / static_cast<double>(words);
        return {stretches <= limit,
                warpwise::ratio_text(stretches) +
                    " stretches of code for 32 words, at most " +
                    warpwise::ratio_text(limit) + " allowed",
                nullptr,
                "Which warps go through the rounds of both kinds, and for which lanes?"};
    };
    return {judge, ""};
}

}  // namespace

TEST_CASE("scrambles any number of words") {
    const std::vector<std::size_t> counts =
        grading::sizes({1, 2, 31, 32, 33, 255, 256, 257, 1009, 4099}, 3, 6000);
    for (const std::size_t count : counts) {
        check_words(random_words(static_cast<int>(count)));
        check_words(counted_words(static_cast<int>(count)));
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

// In blocks of 256 threads one warp of eight may have both kinds; a branch for each lane
// has about 16.
TEST_CASE("has nearly all lanes active") {
    for (const Words& words :
         {random_words(many), counted_words(many), words_with_strangers(many, 0)}) {
        const grading::Instrumented instrumented = check_words(words);
        CHECK_THAT(instrumented, grading::ActiveLanesAtLeast(24));
        CHECK_THAT(instrumented, CopiesLittle());
    }
}

// 96 rounds are needed, 192 are both kinds.
TEST_CASE("goes through little more than its own rounds") {
    for (const Words& words :
         {random_words(many), counted_words(many), words_with_strangers(many, 1)}) {
        const grading::Instrumented instrumented = check_words(words);
        CHECK_THAT(instrumented, StretchesAtMost(160, many));
    }
}

// Lines of the rounds: those that warps run through 90 times or more for each 32 words.
// With them, how often.
std::map<int, double> lines_of_rounds(const grading::Instrumented& instrumented,
                                      std::size_t words) {
    std::map<int, double> lines;
    for (const warpwise::LineCounts& line : warpwise::lines_of(instrumented.launches)) {
        const double times = line.counts.steps * 32 / static_cast<double>(words);
        if (times >= 90) lines[line.line] += times;
    }
    return lines;
}

// A loop without branches is one stretch of code for each round, even if it computes both
// kinds. Then odd and even words run through the same lines.
TEST_CASE("computes one kind of rounds for a word") {
    const std::map<int, double> odd = lines_of_rounds(check_words(Words(many, 5)), many);
    const std::map<int, double> even = lines_of_rounds(check_words(Words(many, 4)), many);
    double stretches = 0;
    bool same_lines = !odd.empty() && odd.size() == even.size();
    for (const auto& [line, times] : odd) {
        same_lines = same_lines && even.contains(line);
        stretches += times;
    }
    if (same_lines && stretches < 1.5 * 96) {
        FAIL_CHECK(
            "Odd and even words run through the same code, without a branch, in each of "
            "the 96 rounds.\nSo every word pays for both kinds of rounds.\nWhich lanes "
            "have to come together, so that a warp computes only one kind?");
    }
}

#ifndef __CPU_DEVICE__
// Words of both kinds may take as long as half of them of either kind, and a little for
// sorting. If every warp goes through both loops, they take twice as long.
TEST_CASE(
    "takes less than one and a half times as long for mixed words as for sorted ones") {
    constexpr int count = 1 << 26;
    warpwise::DeviceBuffer<unsigned> d_scrambled(count);
    const warpwise::DeviceBuffer<unsigned> d_mixed(random_words(count));
    const warpwise::DeviceBuffer<unsigned> d_even(Words(count, 4));
    const warpwise::DeviceBuffer<unsigned> d_odd(Words(count, 5));
    const auto candidate = [&](const warpwise::DeviceBuffer<unsigned>& d_words) {
        return warpwise::Candidate{
            [&] { scramble_words(d_words.data(), d_scrambled.data(), count); }, false};
    };
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {candidate(d_mixed), candidate(d_even), candidate(d_odd)});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    warpwise::Timing sorted;
    sorted.median = (timings[1].median + timings[2].median) / 2;
    CHECK_THAT(grading::time_beside(timings[0], sorted, "words sorted by kind"),
               grading::AtMost(1.5, "How many warps go through the rounds of both kinds?"));
}
#endif
