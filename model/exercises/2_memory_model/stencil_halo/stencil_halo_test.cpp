#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/counts.h"

const grading::Exercise grading::exercise{"2_memory_model", "stencil_halo"};

namespace {

constexpr int largest_radius = 5000;

/// Sums of the elements from `i - left` to `i + right`, as far as they exist.
std::vector<double> window_sums(const std::vector<float>& values, std::ptrdiff_t left,
                                std::ptrdiff_t right) {
    const auto count = static_cast<std::ptrdiff_t>(values.size());
    std::vector<double> before(
        values.size() +
        1);  // sum of all elements in front of element i: exact enough in double
    for (std::size_t i = 0; i < values.size(); ++i)
        before[i + 1] = before[i] + double{values[i]};
    std::vector<double> sums;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const auto first = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, i - left));
        const auto last =
            static_cast<std::size_t>(std::min<std::ptrdiff_t>(count - 1, i + right));
        sums.push_back(before[last + 1] - before[first]);
    }
    return sums;
}

/// What comes out if the first and the last element are repeated outside of the array.
std::vector<double> sums_with_repeated_ends(const std::vector<float>& values, int radius) {
    std::vector<double> sums = window_sums(values, radius, radius);
    const std::size_t count = values.size();
    const auto reach = static_cast<std::size_t>(radius);
    for (std::size_t i = 0; i < count; ++i) {
        if (i < reach) sums[i] += static_cast<double>(reach - i) * double{values.front()};
        if (i + reach >= count)
            sums[i] += static_cast<double>(i + reach - (count - 1)) * double{values.back()};
    }
    return sums;
}

/// What comes out if windows end where the block's own elements do.
std::vector<double> sums_without_halo(const std::vector<float>& values, int radius,
                                      int threads_per_block) {
    const auto block = static_cast<std::size_t>(threads_per_block);
    const auto reach = static_cast<std::size_t>(radius);
    std::vector<double> sums(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t begin = i / block * block;
        const std::size_t end = std::min(begin + block, values.size());
        for (std::size_t k = std::max(begin, i - std::min(i, reach));
             k < std::min(end, i + reach + 1); ++k) {
            sums[i] += values[k];
        }
    }
    return sums;
}

/// What rounding may cost, whatever the order in which a window is added up: as many
/// roundings as it has elements, each of a partial sum, which is no larger than the number
/// of its elements and than the largest sum of neighbors.
warpwise::Tolerance tolerance_of(const std::vector<float>& values, int radius) {
    const auto window = static_cast<double>(
        std::min(values.size(), 2 * static_cast<std::size_t>(radius) + 1));
    double before = 0, least = 0, most = 0;
    for (const float value : values) {
        before += double{value};
        least = std::min(least, before);
        most = std::max(most, before);
    }
    return {.absolute = window * std::min(window, most - least) / (1 << 24)};
}

void check_values(const grading::Guarded<float>& d_out, const std::vector<float>& values,
                  int radius, int threads_per_block) {
    const auto windows_end_early = [&](const grading::MismatchedArray& mismatch) {
        return radius > 0 &&
               grading::equals(window_sums(values, radius, radius - 1))(mismatch);
    };
    CHECK_THAT(
        d_out,
        grading::CloseTo(window_sums(values, radius, radius), tolerance_of(values, radius))
            .when(windows_end_early,
                  "The last element of each window is missing there. Where does the window "
                  "end?")
            .when(grading::equals(sums_without_halo(values, radius, threads_per_block)),
                  "These are the sums over the block's own elements alone. Which threads "
                  "load the halo?")
            .when(grading::equals(sums_with_repeated_ends(values, radius)),
                  "There the first or last element stands for those outside of the array, "
                  "which count as "
                  "0."));
}

// Checks the sums, and returns what the kernels did.
grading::Instrumented check_sums(std::size_t count, int radius, int threads_per_block) {
    INFO(grading::counted(count, "element")
         << ", radius " << radius << ", blocks of "
         << grading::counted(threads_per_block, "thread"));
    const std::vector<float> values = grading::random_floats(count, count);
    const grading::Guarded<float> d_in(values);
    grading::Guarded<float> d_out(count);
    grading::Instrumented instrumented = grading::instrument([&] {
        sum_windows(d_in.data(), d_out.data(), static_cast<int>(count), radius,
                    threads_per_block);
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(d_out, values, radius, threads_per_block);
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_in, grading::Unchanged());
    if (count > 0) {
        CHECK_THAT(d_out, grading::WrittenByKernels());
        CHECK_THAT(instrumented,
                   grading::EveryLaunchHas(
                       {0, 1, 1}, {static_cast<unsigned>(threads_per_block), 1, 1}));
    }
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

/// On average, at least so many lanes of a warp take part in a load from global memory.
grading::InstrumentedMatcher LoadingLanesAtLeast(double lanes) {
    const auto judge =
        [lanes](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) {
            grading::note_left_out();
            return {true, "not counted on this device"};
        }
        const double average =
            warpwise::sum_of(instrumented.launches).global_load.lanes_per_request();
        return {average >= lanes,
                "on average " + warpwise::ratio_text(average) +
                    " lanes of a warp take part in a load from global memory, at least " +
                    warpwise::ratio_text(lanes) + " wanted"};
    };
    return {judge,
            "Which elements of the halo does each lane load, and which lanes load none?"};
}

}  // namespace

// Radius 0 has no halo, and a window of one element.
TEST_CASE("copies the array for radius 0") {
    check_sums(1, 0, 32);
    check_sums(1000, 0, 128);
}

TEST_CASE("sums the windows of one block") {
    check_sums(128, 1, 128);
    check_sums(512, 16, 512);
}

TEST_CASE("takes elements outside of the array for 0") {
    check_sums(64, 4, 64);
    check_sums(1, 3, 64);
    check_sums(5, 10, 64);
}

TEST_CASE("takes the halo from the neighboring blocks") {
    check_sums(4096, 1, 256);
    check_sums(4096, 16, 256);
    check_sums(2048, 64, 128);
}

TEST_CASE("handles a last block that is not full") {
    for (const std::size_t count : {1, 31, 33, 255, 257, 1009}) check_sums(count, 3, 128);
}

// Down to one thread, and with halos larger than a block: no thread has a number that it
// can be sure of.
TEST_CASE("works with blocks smaller than a window") {
    for (const int threads_per_block : {40, 33, 32, 31, 16, 8, 3, 2, 1})
        check_sums(300, 12, threads_per_block);
    check_sums(1000, 100, 32);
}

TEST_CASE("works with blocks of any size") {
    for (const int threads_per_block : {64, 100, 127, 500, 1000, 1024})
        check_sums(3000, 20, threads_per_block);
    for (const std::size_t count : grading::sizes({}, 4, 5'000)) {
        const auto radius = static_cast<int>(grading::random_size(0, 100, count));
        const auto threads_per_block =
            static_cast<int>(grading::random_size(1, 1024, count + 1));
        check_sums(count, radius, threads_per_block);
    }
}

TEST_CASE("works with windows of any size") {
    check_sums(2000, 700, 128);
    check_sums(300, 1500, 1024);
    check_sums(300, largest_radius, 1024);
    check_sums(130, largest_radius, 3);
    check_sums(500, static_cast<int>(grading::random_size(101, 2'000)), 64);
}

TEST_CASE("handles an empty array") { check_sums(0, 3, 64); }

// A sum that slides on, to which elements are added and from which they are subtracted,
// would keep what rounding cost next to the large element.
TEST_CASE("lets a large element spoil no other window") {
    const std::size_t count = 1000;
    const int radius = 5;
    std::vector<float> values = grading::random_floats(count);
    values[300] = 3e9f;
    const grading::Guarded<float> d_in(values);
    grading::Guarded<float> d_out(count);
    sum_windows(d_in.data(), d_out.data(), static_cast<int>(count), radius, 128);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::CloseTo(window_sums(values, radius, radius),
                                       {.absolute = 1e-5, .relative = 1e-6}));
}

// A tile of 256 elements with 16 more on either side is loaded with 36 sectors and written
// with 32: 8.5 bytes per element. Windows from global memory ask for more than 600.
TEST_CASE("reads each input little more than once") {
    constexpr int count = 8192;
    const grading::Instrumented instrumented = check_sums(count, 16, 256);
    INFO(grading::counted(count, "element")
         << " of 8 bytes each: what is read and written of them");
    CHECK_THAT(instrumented, grading::UsesSharedMemory());
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(12.0 * count));
}

TEST_CASE("shares loads and sums among the threads of a block") {
    constexpr std::size_t count = 8192;
    const std::vector<float> values = grading::random_floats(count);
    const grading::Guarded<float> d_in(values);
    grading::Guarded<float> d_out(count);
    const grading::Instrumented instrumented = grading::instrument(
        [&] { sum_windows(d_in.data(), d_out.data(), static_cast<int>(count), 16, 256); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(instrumented, LoadingLanesAtLeast(16));
    CHECK_THAT(d_out, grading::WrittenByThreads(count / 4));
    CHECK_THAT(d_out, grading::WrittenByBlocks(4));
}

TEST_CASE("works with more than two million elements") {
    // Not instrumented: what it costs was judged above, and here it would take seconds.
    const std::vector<float> values = grading::random_floats(2'100'000);
    const grading::Guarded<float> d_in(values);
    grading::Guarded<float> d_out(values.size());
    sum_windows(d_in.data(), d_out.data(), static_cast<int>(values.size()), 1, 32);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(d_out, values, 1, 32);
}
