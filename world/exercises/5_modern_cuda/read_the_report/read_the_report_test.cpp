#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/counts.h"

#ifndef __CPU_DEVICE__
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"5_modern_cuda", "read_the_report"};

namespace {

struct Expected {
    std::vector<double> sums;
    std::vector<double> exclusive;    ///< without the bin's own count
    std::vector<double> without_end;  ///< if histograms did not end
};

Expected added_up(const std::vector<unsigned>& counts) {
    Expected expected;
    double sum = 0, all = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (i % bins == 0) sum = 0;
        expected.exclusive.push_back(sum);
        sum += counts[i];
        all += counts[i];
        expected.sums.push_back(sum);
        expected.without_end.push_back(all);
    }
    return expected;
}

// Checks the sums, and returns what the kernels did.
grading::Instrumented check_histograms(std::size_t histograms, int most,
                                       std::size_t threads = 0, std::size_t blocks = 0) {
    INFO(grading::counted(histograms, "histogram"));
    std::vector<unsigned> counts;
    for (const int count : grading::random_ints(histograms * bins, 0, most, histograms))
        counts.push_back(static_cast<unsigned>(count));
    const Expected expected = added_up(counts);
    const grading::Guarded<unsigned> d_counts(counts);
    grading::Guarded<unsigned> d_sums(counts.size());
    d_sums.show_as_rows_of(bins);
    grading::Instrumented instrumented = grading::instrument([&] {
        add_up_histograms(d_counts.data(), static_cast<unsigned>(histograms),
                          d_sums.data());
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sums,
               grading::EqualTo(expected.sums)
                   .when(grading::equals(expected.exclusive),
                         "These sums lack the count of their own bin.")
                   .when(grading::equals(expected.without_end),
                         "Where does a histogram begin, and what is the sum there?"));
    CHECK_THAT(d_sums, grading::StaysInside());
    CHECK_THAT(d_counts, grading::Unchanged());
    if (!counts.empty()) {
        CHECK_THAT(d_counts, grading::ReadByKernels());
        CHECK_THAT(d_sums, grading::WrittenByThreads(threads));
        CHECK_THAT(d_sums, grading::WrittenByBlocks(blocks));
    }
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

}  // namespace

TEST_CASE("adds up one histogram") {
    check_histograms(1, 1000);
    check_histograms(1, 0);
}

TEST_CASE("adds up several histograms") {
    for (const std::size_t histograms : grading::sizes({2, 3, 7, 33}, 2, 100))
        check_histograms(histograms, 1'000'000);
}

TEST_CASE("handles no histogram") { check_histograms(0, 1); }

TEST_CASE("shares the bins among many threads") { check_histograms(40, 9, 1280, 40); }

TEST_CASE("still reads and writes whole sectors") {
    const grading::Instrumented instrumented = check_histograms(20, 1000);
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.95));
    CHECK_THAT(instrumented,
               grading::BytesMovedAtMost(1.1 * 2 * sizeof(unsigned) * bins * 20));
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
}

// The stub has about 2 lanes per request, and 528 requests per histogram.
TEST_CASE("lets all threads add") {
    const grading::Instrumented instrumented = check_histograms(20, 1000);
    if (!instrumented.countable) return grading::note_left_out();
    const warpwise::Counts counts = warpwise::sum_of(instrumented.launches);
    CHECK_THAT(
        grading::figure("active lanes of a warp, on average",
                        counts.active_lanes_per_step(), {.call = instrumented.name}),
        grading::AtLeast(
            20, "How many lanes have work between two barriers, and how many wait?"));
    CHECK_THAT(grading::figure("requests of shared memory per histogram",
                               counts.shared().requests / 20, {.call = instrumented.name}),
               grading::AtMost(300,
                               "How often does the block read each count from shared "
                               "memory? A scan needs few additions per count."));
}

TEST_CASE("has no bank conflicts in shared memory") {
    CHECK_THAT(check_histograms(20, 1000), grading::NoBankConflicts());
}

#ifndef __CPU_DEVICE__
// On an H200 the stub takes about five times as long, and the solution about twice.
TEST_CASE("takes less than four times the time of a copy of the histograms") {
    constexpr unsigned histograms = 200'000;
    warpwise::DeviceBuffer<unsigned> d_counts(std::size_t{histograms} * bins);
    warpwise::DeviceBuffer<unsigned> d_sums(d_counts.size());
    d_counts.fill_bytes(1);
    const auto [answer, copy] = grading::measure_beside_copy(
        [&] { add_up_histograms(d_counts.data(), histograms, d_sums.data()); },
        d_sums.data(), d_counts.data(), d_counts.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(grading::time_beside(answer, copy, "a copy of the histograms"),
               grading::AtMost(4, "Which threads wait, and for whom?"));
}
#endif
