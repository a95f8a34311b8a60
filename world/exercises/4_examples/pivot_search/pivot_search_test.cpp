#include "exercises/4_examples/pivot_search/pivot_search.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"4_examples", "pivot_search"};

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::size_t threads = 256;

/// The rule, for one row after the other. Without a rule for NaN, or for ties, the results
/// of these mistakes.
enum class Ties { lowest, highest };
enum class NaNs { win, are_passed_over };
std::size_t pivot(const std::vector<float>& values, std::size_t first,
                  Ties ties = Ties::lowest, NaNs nans = NaNs::win) {
    std::size_t best = first;
    for (std::size_t row = first + 1; row < values.size(); ++row) {
        const bool is_nan = std::isnan(values[row]), best_is_nan = std::isnan(values[best]);
        const float magnitude = std::fabs(values[row]), largest = std::fabs(values[best]);
        bool better = magnitude > largest;
        if (is_nan != best_is_nan) better = is_nan == (nans == NaNs::win);
        if (is_nan == best_is_nan && (is_nan || magnitude == largest))
            better = ties == Ties::highest;
        if (better) best = row;
    }
    return best;
}

/// The row with the largest element, sign included.
std::size_t largest_element(const std::vector<float>& values, std::size_t first) {
    return static_cast<std::size_t>(
        std::max_element(values.begin() + static_cast<std::ptrdiff_t>(first),
                         values.end()) -
        values.begin());
}

std::vector<double> row(std::size_t number) { return {static_cast<double>(number)}; }

/// In the matrix, the column from row `column` on was read by as many threads as it has
/// rows, up to 256.
auto ColumnReadByAllThreads(std::size_t pitch, std::size_t column) {
    const auto judge =
        [pitch, column](const grading::GuardedMemory& matrix) -> grading::Judgement {
        const std::vector<grading::ElementActivity> elements = grading::activity_of(matrix);
        std::set<warpwise::KernelThread> readers;
        std::vector<std::size_t> unread;
        for (std::size_t i = column * pitch + column; i < elements.size(); i += pitch) {
            if (elements[i].all_read) {
                readers.insert(elements[i].read_by);
            } else {
                unread.push_back(i);
            }
        }
        if (elements.empty()) return {true, "nobody saw who read"};
        if (!unread.empty())
            return {false,
                    grading::name_elements(unread, pitch) + " not read by any kernel"};
        const std::size_t wanted = std::min(threads, elements.size() / pitch - column);
        const std::string text =
            grading::counted(readers.size(), "thread") + " read the column";
        if (readers.size() >= wanted) return {true, text};
        return {false, text + "; the task asks for " + std::to_string(wanted)};
    };
    return grading::BufferMatcher(judge,
                                  "Which rows should thread 1 of the block look at?");
}

/// No warp was missing at a barrier. That warps without work have exited in the end is no
/// excuse: the barrier waits only for threads that have not.
grading::InstrumentedMatcher AllWarpsComeToEachBarrier() {
    const auto judge = [](const grading::Instrumented& instrumented) -> grading::Judgement {
        for (const warpwise::LaunchCounts& launch : instrumented.launches) {
            const double warps = static_cast<double>(threads) / 32,
                         barriers = launch.total.barriers;
            if (std::fmod(barriers, warps) == 0) continue;
            return {false, "the " + warpwise::count_text(warps) +
                               " warps of the block passed barriers " +
                               warpwise::count_text(barriers) +
                               " times in all, so not every warp came to each"};
        }
        return {true, "all warps came"};
    };
    return {judge,
            "Every thread of the block has to come to each barrier, with or without work "
            "in the round."};
}

void check_row(const std::vector<float>& values, std::size_t column,
               const grading::Guarded<int>& d_pivot_row) {
    const double expected = static_cast<double>(pivot(values, column));
    INFO("the element of row " << expected << " is "
                               << values[static_cast<std::size_t>(expected)]);
    CHECK_THAT(
        d_pivot_row,
        grading::EqualTo({expected})
            .when(grading::equals(row(pivot(values, 0))),
                  "That is the pivot of the whole column, but the rows above the diagonal "
                  "have been pivots before.")
            .when(grading::equals(row(pivot(values, column, Ties::highest))),
                  "The elements of both rows are equally good. Which one does the rule ask "
                  "for?")
            .when(grading::equals(
                      row(pivot(values, column, Ties::lowest, NaNs::are_passed_over))),
                  "NaN counts as larger than any number. What do comparisons with NaN say?")
            .when(grading::equals(row(largest_element(values, column))),
                  "That is the row of the largest element. Which row has the largest "
                  "magnitude?"));
}

/// Searches a column with these values, and returns what the kernels did. All elements
/// beside it and above it are NaN or infinite, so that they would win.
grading::Instrumented check_pivot(const std::vector<float>& values, std::size_t column = 0,
                                  std::size_t padding = 3) {
    INFO(grading::counted(values.size(), "row")
         << ", column " << column << ", " << grading::counted(column + 1 + padding, "float")
         << " per row");
    const std::size_t pitch = column + 1 + padding;
    std::vector<float> matrix(values.size() * pitch);
    for (std::size_t i = 0; i < matrix.size(); ++i)
        matrix[i] = i % 2 == 0 ? infinity : not_a_number;
    for (std::size_t row = 0; row < values.size(); ++row)
        matrix[row * pitch + column] = values[row];
    const grading::Guarded<float> d_matrix(matrix);
    // What the result holds before is no row, and neither atomicMin nor atomicMax on it
    // comes out right.
    const std::vector<int> before = {
        values.size() % 2 == 0 ? -5 : std::numeric_limits<int>::max()};
    grading::Guarded<int> d_pivot_row(before);
    const grading::Instrumented instrumented = grading::instrument([&] {
        find_pivot(d_matrix.data(), pitch, static_cast<int>(values.size()),
                   static_cast<int>(column), d_pivot_row.data());
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_row(values, column, d_pivot_row);
    CHECK_THAT(d_pivot_row, grading::StaysInside());
    CHECK_THAT(d_matrix, grading::Unchanged());
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented, grading::EveryLaunchHas({1, 1, 1}, {threads, 1, 1}));
    CHECK_THAT(d_pivot_row, grading::WrittenByKernels());
    CHECK_THAT(d_matrix, ColumnReadByAllThreads(pitch, column));
    CHECK_THAT(instrumented, AllWarpsComeToEachBarrier());
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                "cudaHostRegister"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

/// Magnitudes that are all different and no whole numbers, in no order, with both signs.
/// The largest one is negative, and all are below 1.
std::vector<float> different_values(std::size_t count, std::uint64_t stream = 0) {
    const std::vector<float> noise = grading::random_floats(count, stream);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return noise[a] < noise[b]; });
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const float magnitude = (static_cast<float>(i) + 0.75f) / static_cast<float>(count);
        values[order[i]] = i + 1 == count || noise[i] < 0 ? -magnitude : magnitude;
    }
    return values;
}

}  // namespace

TEST_CASE("finds the largest magnitude") {
    for (const std::size_t rows :
         grading::sizes({256, 1, 2, 31, 33, 64, 255, 257, 1009, 5000}, 3, 4000)) {
        check_pivot(different_values(rows, rows));
    }
    check_pivot({0.0f, -0.0f, -0.375f, 0.25f});
}

TEST_CASE("finds it wherever it is") {
    for (std::size_t place = grading::random_size(0, 6); place < 600; place += 11) {
        std::vector<float> values = different_values(600, place);
        values[place] = place % 2 == 0 ? -1.5f : 1.5f;
        check_pivot(values, 0, place % 5);
    }
}

TEST_CASE("begins with the row of the column") {
    for (const std::size_t column : {1, 5, 31, 64, 299}) {
        std::vector<float> values = different_values(300, column);
        values[grading::random_size(0, column - 1, column)] =
            2.5f;  // not to be found: it is above the diagonal
        check_pivot(values, column);
        values[column] = -1.25f;
        check_pivot(values, column);
    }
    for (const std::size_t column : {1, 64})
        check_pivot(std::vector<float>(300, 0), column);
}

TEST_CASE("takes the lowest row of equal magnitudes") {
    check_pivot(std::vector<float>(1000, 2.5f));
    check_pivot(std::vector<float>(77, 0));
    check_pivot(std::vector<float>(500, infinity), 3);
    for (const std::size_t low : {3, 130, 200, 255, 300}) {
        for (const std::size_t more : {1, 56, 127, 128, 256, 300}) {
            std::vector<float> values = different_values(700, low + more);
            values[low] = 1.5f;
            values[low + more] = -1.5f;
            check_pivot(values);
        }
    }
}

TEST_CASE("takes NaN for the largest") {
    for (const std::size_t place : {0, 1, 128, 255, 256, 511, 699}) {
        std::vector<float> values = different_values(700, place);
        values[place] = not_a_number;
        check_pivot(values);
        values[(place + 350) % 700] = infinity;
        check_pivot(values);
        values[(place + 129) % 700] = not_a_number;
        check_pivot(values);
    }
    check_pivot(std::vector<float>(300, not_a_number));
}

TEST_CASE("takes any float") {
    // Infinities, the largest and smallest numbers, denormals, and zeros of both signs;
    // then NaN as well.
    for (const std::size_t rows : grading::sizes({40, 513}, 2, 2000, 7)) {
        check_pivot(grading::with_extremes(different_values(rows, 3), false, rows));
        check_pivot(grading::with_extremes(different_values(rows, 4), true, rows));
    }
    // Magnitudes between which there is no other float, large and small.
    const float huge = std::numeric_limits<float>::max(),
                tiny = std::numeric_limits<float>::denorm_min();
    std::vector<float> values(700, std::nextafter(huge, 0.0f));
    values[grading::random_size(0, 699)] = -huge;
    check_pivot(values);
    values.assign(700, 0.0f);
    values[grading::random_size(0, 699)] = -tiny;
    check_pivot(values);
    values.assign(700, 0.1f);
    values[grading::random_size(0, 699)] = std::nextafter(0.1f, 1.0f);
    check_pivot(values);
}

TEST_CASE("gives the same row every time") {
    // On a GPU the warps mostly come by in an order that hides the mistake.
    for (int run = 0; run < 10; ++run) {
        INFO("run " << run);
        check_pivot(different_values(3000, 50 + static_cast<std::uint64_t>(run)), 0, 0);
    }
}

TEST_CASE("searches millions of rows") {
    const std::size_t rows = 2'100'000 + grading::random_size(0, 255);
    INFO(grading::counted(rows, "row") << ", column 0, 1 float per row");
    std::vector<float> values = grading::random_floats(rows);
    values[grading::random_size(rows - 5000, rows - 1)] = -1.5f;
    const grading::Guarded<float> d_matrix(values);
    grading::Guarded<int> d_pivot_row(std::vector<int>{-5});
    find_pivot(d_matrix.data(), 1, static_cast<int>(rows), 0, d_pivot_row.data());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_row(values, 0, d_pivot_row);
}

TEST_CASE("lets all threads look through their rows") {
    const grading::Instrumented instrumented = check_pivot(different_values(20'000), 0, 0);
    CHECK_THAT(instrumented, grading::ActiveLanesAtLeast(16));
}

TEST_CASE("waits once per round") {
    const grading::Instrumented instrumented = check_pivot(different_values(1000));
    CHECK_THAT(instrumented, grading::BarriersAtMost(10));
}
