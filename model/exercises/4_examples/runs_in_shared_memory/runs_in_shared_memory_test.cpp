#include "exercises/4_examples/runs_in_shared_memory/runs_in_shared_memory.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/inputs.h"

const grading::Exercise grading::exercise{"4_examples", "runs_in_shared_memory"};

namespace {

using Keys = std::vector<unsigned>;

constexpr std::size_t tile = 256;  // keys, and threads of a block
constexpr std::size_t digits = 16;
constexpr std::size_t most_at_once = 8;  // keys that a thread may store

Keys random_keys(std::size_t count, std::uint64_t stream = 0) {
    Keys keys(count);
    for (std::size_t i = 0; i < count; ++i)
        keys[i] = static_cast<unsigned>(
            warpwise::random_bits(1000 * grading::seed() + stream, i));
    return keys;
}

struct Expected {
    Keys starts;  // of each tile and digit
    std::vector<double> sorted;

    Expected(const Keys& keys, int shift) {
        const auto digit_of = [&](unsigned key) { return key >> shift & 15; };
        const std::size_t tiles = (keys.size() + tile - 1) / tile;
        std::vector<Keys> of_digit(digits);
        starts.resize(tiles * digits);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (i % tile == 0) {
                for (std::size_t d = 0; d < digits; ++d)
                    starts[i / tile * digits + d] =
                        static_cast<unsigned>(of_digit[d].size());
            }
            of_digit[digit_of(keys[i])].push_back(keys[i]);
        }
        std::size_t before = 0;
        for (std::size_t d = 0; d < digits; ++d) {
            for (std::size_t t = 0; t < tiles; ++t)
                starts[t * digits + d] += static_cast<unsigned>(before);
            before += of_digit[d].size();
            sorted.insert(sorted.end(), of_digit[d].begin(), of_digit[d].end());
        }
    }
};

grading::Instrumented check_pass(const Keys& keys, int shift) {
    INFO(grading::counted(keys.size(), "key") << ", shift " << shift);
    const Expected expected(keys, shift);
    const grading::Guarded<unsigned> d_keys(keys), d_starts(expected.starts);
    grading::Guarded<unsigned> d_sorted(keys.size());
    grading::Instrumented instrumented = grading::instrument([&] {
        scatter_tiles(d_keys.data(), static_cast<int>(keys.size()), shift, d_starts.data(),
                      d_sorted.data());
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sorted, grading::WrittenEverywhere());
    CHECK_THAT(d_sorted, grading::EqualTo(expected.sorted));
    CHECK_THAT(d_sorted, grading::StaysInside());
    CHECK_THAT(d_keys, grading::Unchanged());
    CHECK_THAT(d_starts, grading::Unchanged());
    CHECK_THAT(instrumented, grading::LaunchesAtMost(1));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    if (!keys.empty()) {
        CHECK_THAT(instrumented,
                   grading::EveryLaunchHas(
                       {static_cast<unsigned>((keys.size() + tile - 1) / tile), 1, 1},
                       {static_cast<unsigned>(tile), 1, 1},
                       "How many tiles of 256 keys are there?"));
        CHECK_THAT(d_sorted, grading::WrittenByThreads(keys.size() / most_at_once));
    }
    return instrumented;
}

}  // namespace

TEST_CASE("stores the keys of one tile") {
    check_pass(random_keys(256), 0);
    check_pass(random_keys(256), 28);
}

TEST_CASE("stores the keys of several tiles") {
    check_pass(random_keys(512), 0);
    check_pass(random_keys(256 * 7), 12);
}

TEST_CASE("handles a last tile that is short") {
    for (const std::size_t count :
         grading::sizes({1, 2, 31, 33, 95, 255, 257, 1009, 4099}, 3, 10'000))
        check_pass(random_keys(count, count), static_cast<int>(count % 29));
}

TEST_CASE("handles tiles with a single digit") {
    for (unsigned digit = 0; digit < 16; ++digit) check_pass(Keys(300, digit << 4), 4);
}

TEST_CASE("handles an empty array") { check_pass({}, 0); }

TEST_CASE("stores runs and not single keys") {
    const grading::Instrumented instrumented = check_pass(random_keys(256 * 32, 3), 4);
    CHECK_THAT(instrumented,
               grading::GlobalEfficiencyAtLeast(
                   0.5, grading::Accesses::stores,
                   "Which threads should have the keys that go to neighboring places?"));
}

TEST_CASE("moves each key once and waits for the block at most five times") {
    constexpr std::size_t count = 256 * 32;
    const grading::Instrumented instrumented = check_pass(random_keys(count, 4), 8);
    // 128 bytes of keys per warp, and as many of results in at most twice as many sectors.
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(4.5 * sizeof(unsigned) * count));
    CHECK_THAT(instrumented, grading::BarriersAtMost(5));
}
