#include "exercises/2_memory_model/vector_loads/vector_loads.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"
#include "common/helpers/counts.h"
#include "common/helpers/device_buffer.h"

const grading::Exercise grading::exercise{"2_memory_model", "vector_loads"};

namespace {

constexpr float gain = 0.7071f, offset = -0.3125f;

// A product and a sum of at most 1, rounded once or twice.
constexpr warpwise::Tolerance rounding{.absolute = 4.0 / (1 << 24)};

struct Graded {
    std::size_t threads = 0;
    std::size_t blocks = 0;
};

/// `ahead` floats and then the samples, in an allocation that ends with the last one.
/// Memory of the device begins at a multiple of 256.
std::vector<float> array_of(std::size_t ahead, std::size_t n) {
    return grading::random_floats(ahead + n, 10 * n + ahead);
}

/// Of elements that are not to be touched: reads and writes.
void check_floats_ahead(const grading::Guarded<float>& d_array, std::size_t ahead) {
    if (!warpwise::can_log()) {
        grading::note_left_out();
        return;
    }
    const std::vector<grading::ElementActivity> activity = grading::activity_of(d_array);
    std::vector<std::size_t> read, written;
    for (std::size_t i = 0; i < ahead; ++i) {
        if (activity[i].reads > 0) read.push_back(ahead - i);
        if (activity[i].writes > 0) written.push_back(ahead - i);
    }
    if (!written.empty()) {
        FAIL("A kernel wrote memory before the first sample, "
             << grading::counted(written.back(), "float")
             << " ahead of it.\nAt which address does the first vector begin, and which "
                "samples come before it?");
    }
    if (!read.empty()) {
        FAIL("A kernel read memory before the first sample, "
             << grading::counted(read.back(), "float")
             << " ahead of it.\nAt which address does the first vector begin, and which "
                "samples come before it?");
    }
}

/// Each sample is written by one thread, once. The floats ahead are no samples.
void check_writers(const grading::Guarded<float>& d_array, std::size_t ahead,
                   Graded graded) {
    if (!warpwise::can_log()) {
        grading::note_left_out();
        return;
    }
    const std::vector<grading::ElementActivity> activity = grading::activity_of(d_array);
    std::vector<std::size_t> by_others, several_times;
    std::set<warpwise::KernelThread> threads;
    std::set<std::uint64_t> blocks;
    for (std::size_t i = ahead; i < activity.size(); ++i) {
        if (activity[i].writer != warpwise::Writer::kernel) by_others.push_back(i - ahead);
        if (activity[i].writes > 1) several_times.push_back(i - ahead);
        threads.insert(activity[i].written_by);
        blocks.insert(activity[i].written_by.block);
    }
    if (!by_others.empty()) {
        FAIL("not written by any kernel: "
             << grading::name_elements(by_others)
             << "\nWhich thread takes the samples before the first vector, and after the "
                "last one?");
    }
    if (!several_times.empty()) {
        FAIL("written more than once: " << grading::name_elements(several_times)
                                        << "\nWhich two threads take them?");
    }
    if (threads.size() < graded.threads || blocks.size() < graded.blocks) {
        FAIL_CHECK("Only " << grading::counted(threads.size(), "thread") << " in "
                           << grading::counted(blocks.size(), "block")
                           << " wrote the samples; at least " << graded.threads << " in "
                           << graded.blocks
                           << " are wanted.\nHow many samples does each thread take?");
    }
}

/// Checks the samples, and returns what the kernels did.
grading::Instrumented check_samples(std::size_t ahead, std::size_t n, Graded graded = {}) {
    INFO("n is " << n << ", and the samples begin " << 4 * ahead
                 << " bytes after a multiple of 256");
    const std::vector<float> before = array_of(ahead, n);
    grading::Guarded<float> d_array(before);
    grading::Instrumented instrumented = grading::instrument(
        [&] { adjust_samples(d_array.data() + ahead, static_cast<int>(n), gain, offset); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const std::vector<float> after = d_array.download();
    for (std::size_t i = 0; i < ahead; ++i) {
        if (after[i] == before[i]) continue;
        FAIL("A float before the first sample was changed, "
             << ahead - i
             << " ahead of it.\nAt which address does the first vector begin?");
    }
    std::vector<double> expected, untouched, twice;
    for (std::size_t i = ahead; i < before.size(); ++i) {
        const double once = double{gain} * before[i] + double{offset};
        expected.push_back(once);
        untouched.push_back(before[i]);
        twice.push_back(double{gain} * once + double{offset});
    }
    const auto start = after.begin() + static_cast<std::ptrdiff_t>(ahead);
    const std::vector<float> samples(start, after.end());
    CHECK_THAT(samples,
               grading::CloseTo(expected, rounding)
                   .when(grading::equals(untouched), "These samples were not changed.")
                   .when(
                       [twice](const grading::MismatchedArray& mismatch) {
                           return std::all_of(
                               mismatch.wrong.begin(), mismatch.wrong.end(),
                               [&](std::size_t i) {
                                   return std::abs(mismatch.got[i] - twice[i]) <= 1e-6;
                               });
                       },
                       "These samples were changed twice."));
    CHECK_THAT(d_array, grading::StaysInside());
    for (const warpwise::ApiCall& call : instrumented.calls) {
        if (call.direction.empty()) continue;
        FAIL(call.function << " was called. The samples are changed in place, and nothing "
                              "has to be copied.\nWhich line of yours copies?");
    }
    if (ahead > 0) check_floats_ahead(d_array, ahead);
    if (n > 0) check_writers(d_array, ahead, graded);
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

/// At most n / 128 + 16 requests of either kind.
grading::InstrumentedMatcher FewRequestsFor(std::size_t n) {
    const auto judge =
        [n](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) {
            grading::note_left_out();
            return {true, "not counted on this device"};
        }
        const double limit = static_cast<double>(n) / 128 + 16;
        const warpwise::Counts counts = warpwise::sum_of(instrumented.launches);
        const double loads = counts.global_load.requests;
        const double stores = counts.global_store.requests;
        return {loads <= limit && stores <= limit,
                grading::counted(loads, "load request") + " and " +
                    grading::counted(stores, "store request") + ", at most " +
                    warpwise::count_text(limit) + " of each allowed for " +
                    grading::counted(n, "sample")};
    };
    return {judge,
            "How many bytes does one request of a warp move, if each lane moves four and "
            "if each lane moves sixteen? (Members of a float4 that are read or written one "
            "after the other are requests of their own.)"};
}

}  // namespace

TEST_CASE("adjusts arrays that begin at a multiple of 16 bytes") {
    for (const std::size_t n :
         grading::sizes({1, 2, 3, 4, 5, 31, 32, 33, 128, 1009, 4096}, 3, 5'000)) {
        check_samples(0, n);
    }
}

TEST_CASE("adjusts arrays that begin anywhere") {
    for (const std::size_t ahead : {1, 2, 3, 4, 5, 6, 7}) {
        for (const std::size_t n : grading::sizes({1021, 4099}, 1, 5'000, ahead))
            check_samples(ahead, n);
    }
}

TEST_CASE("adjusts arrays that are hardly longer than their head") {
    for (const std::size_t ahead : {0, 1, 2, 3}) {
        for (std::size_t n = 1; n <= 9; ++n) check_samples(ahead, n);
        for (const std::size_t n : {31, 32, 33}) check_samples(ahead, n);
    }
}

TEST_CASE("accepts arrays without samples") {
    check_samples(0, 0);
    check_samples(3, 0);
}

TEST_CASE("shares the samples among many threads") {
    check_samples(0, 16'384, {.threads = 512, .blocks = 4});
    check_samples(3, 16'384, {.threads = 512, .blocks = 4});
}

TEST_CASE("makes few requests for whole sectors") {
    for (const std::size_t ahead : {0, 1, 2, 3, 4, 5}) {
        const std::size_t n = grading::random_size(20'000, 40'000, ahead);
        const grading::Instrumented instrumented = check_samples(ahead, n);
        INFO(grading::counted(n, "sample")
             << ", which begin " << 4 * ahead << " bytes after a multiple of 256");
        CHECK_THAT(instrumented, FewRequestsFor(n));
        CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.9));
    }
}

TEST_CASE("adjusts many samples") {
    // Not instrumented: what it costs was judged above. More vectors than 16 bits count.
    const std::size_t ahead = 1, n = 300'007;
    const std::vector<float> before = array_of(ahead, n);
    grading::Guarded<float> d_array(before);
    adjust_samples(d_array.data() + ahead, static_cast<int>(n), gain, offset);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    std::vector<double> expected = {before[0]};
    for (std::size_t i = ahead; i < before.size(); ++i)
        expected.push_back(double{gain} * before[i] + double{offset});
    CHECK_THAT(d_array, grading::CloseTo(expected, rounding));
}

#ifndef __CPU_DEVICE__
// Both move the same bytes. On an H200, the solution takes as long as the copy, and the
// stub 1.65 times as long.
TEST_CASE("takes less than 1.4 times as long as a copy of the samples") {
    constexpr int n = 1 << 27;
    warpwise::DeviceBuffer<float> d_samples(n + 1), d_copy(n + 1);
    d_samples.fill_bytes(0);
    const auto [answer, copy] =
        grading::measure_beside_copy([&] { adjust_samples(d_samples.data() + 1, n, 1, 0); },
                                     d_copy.data(), d_samples.data(), d_samples.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(grading::time_beside(answer, copy, "a copy of the samples"),
               grading::AtMost(1.4,
                               "How many bytes does each load ask for, and how many "
                               "blocks share the work?"));
}
#endif
