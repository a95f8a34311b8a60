#include "common/helpers/benchmark.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/tests/device_or_skip.h"

using Catch::Approx;
using warpwise::BenchmarkClock;
using warpwise::BenchmarkOptions;
using warpwise::Candidate;
using warpwise::measure_in_turn;
using warpwise::measure_rounds;
using warpwise::Timing;
using warpwise::timing_of;

namespace {

/// A clock that stands still but for what the candidates add to it.
struct FakeClock {
    double time = 0;
    BenchmarkClock clock() {
        return {[this](const Candidate& candidate) {
                    const double begin = time;
                    candidate.run();
                    return time - begin;
                },
                [this] { return time; }};
    }
    Candidate taking(double seconds, std::string& log, char name) {
        return {[this, seconds, &log, name] {
                    time += seconds;
                    log += name;
                },
                true};
    }
};

}  // namespace

TEST_CASE("median, extremes and percentiles of samples") {
    const Timing odd = timing_of({3, 1, 2});
    CHECK(odd.median == 2);
    CHECK(odd.minimum == 1);
    CHECK(odd.maximum == 3);
    CHECK(odd.samples == 3);
    CHECK(timing_of({4, 1, 2, 3}).median == 2.5);

    const Timing eleven = timing_of({10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
    CHECK(eleven.p10 == Approx(1));
    CHECK(eleven.p90 == Approx(9));
    CHECK(eleven.spread() == Approx(8.0 / 5));
}

TEST_CASE("one sample has no spread") {
    const Timing timing = timing_of({0.25});
    CHECK(timing.median == 0.25);
    CHECK(timing.spread() == 0);
}

TEST_CASE("one slow sample does not move the median") { CHECK(timing_of({1, 1, 1, 1, 100}).median == 1); }

TEST_CASE("no samples are refused") { CHECK_THROWS_AS(timing_of({}), std::invalid_argument); }

TEST_CASE("candidates run in turn") {
    FakeClock fake;
    std::string log;
    const std::vector<Candidate> candidates = {fake.taking(0.125, log, 'a'), fake.taking(0.25, log, 'b')};
    const std::vector<Timing> timings = measure_rounds(candidates, {.samples = 3, .seconds = 0}, fake.clock());
    CHECK(log == "ababab");
    REQUIRE(timings.size() == 2);
    CHECK(timings[0].median == Approx(0.125));
    CHECK(timings[1].median == Approx(0.25));
}

TEST_CASE("a fast candidate runs until it has taken the seconds asked for") {
    FakeClock fake;
    std::string log;
    const std::vector<Timing> timings =
        measure_rounds({fake.taking(0.125, log, 'a')}, {.samples = 2, .seconds = 1}, fake.clock());
    CHECK(timings[0].samples == 8);
}

TEST_CASE("a slow candidate leaves the rounds early, the others go on") {
    FakeClock fake;
    std::string log;
    const BenchmarkOptions options = {.samples = 6, .seconds = 0.5, .samples_when_slow = 3, .longest = 5};
    const std::vector<Timing> timings =
        measure_rounds({fake.taking(4, log, 's'), fake.taking(0.5, log, 'f')}, options, fake.clock());
    CHECK(timings[0].samples == 3);
    CHECK(timings[1].samples == 6);
    CHECK(log == "sfsfsffff");
}

TEST_CASE("progress is told every round") {
    FakeClock fake;
    std::string log;
    std::vector<int> rounds;
    BenchmarkOptions options = {.samples = 3, .seconds = 0};
    options.progress = [&](int round) { rounds.push_back(round); };
    measure_rounds({fake.taking(1, log, 'a')}, options, fake.clock());
    CHECK(rounds == std::vector<int>{0, 1, 2});
}

TEST_CASE("no candidates take no time") { CHECK(measure_in_turn({}).empty()); }

TEST_CASE("what a candidate throws reaches the caller") {
    const Candidate broken = {[] { throw std::runtime_error("broken"); }, true};
    CHECK_THROWS_AS(measure_in_turn({broken}), std::runtime_error);
}

TEST_CASE("host and device candidates are measured with their own clocks") {
    device_or_skip();
    int host_runs = 0;
    int device_runs = 0;
    const std::vector<Candidate> candidates = {
        {[&] { ++host_runs; }, true},
        {[&] { ++device_runs; }, false},
    };
    const std::vector<Timing> timings = measure_in_turn(candidates, {.samples = 4, .seconds = 0});
    REQUIRE(timings.size() == 2);
    CHECK(timings[0].samples == 4);
    CHECK(host_runs == 4);   // no warm-up
    CHECK(device_runs > 4);  // warmed up
    CHECK(timings[1].minimum >= 0);
}

TEST_CASE("once means once") {
    device_or_skip();
    int runs = 0;
    warpwise::measure_only_once(true);
    const std::vector<Timing> timings = measure_in_turn({{[&] { ++runs; }, false}}, {.samples = 4, .seconds = 0});
    warpwise::measure_only_once(false);
    CHECK(runs == 1);
    CHECK(timings.at(0).samples == 1);
}
