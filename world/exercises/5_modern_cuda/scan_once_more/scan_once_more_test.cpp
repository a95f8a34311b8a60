#include "exercises/5_modern_cuda/scan_once_more/scan_once_more.h"

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

const grading::Exercise grading::exercise{"5_modern_cuda", "scan_once_more"};

namespace {

constexpr int left_by_earlier_call = 77'777'777;  // in the results
constexpr std::size_t most_threads = 1024;        // of the launch

struct Expected {
    std::vector<double> sums, maxima;
    std::vector<double> sums_without_end;  ///< the running sums if rows did not end
};

Expected along_rows(const std::vector<int>& values) {
    Expected expected;
    double sum = 0, largest = 0, all = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % row_length == 0) {
            sum = 0;
            largest = values[i];
        }
        sum += values[i];
        all += values[i];
        largest = std::max<double>(largest, values[i]);
        expected.sums.push_back(sum);
        expected.maxima.push_back(largest);
        expected.sums_without_end.push_back(all);
    }
    return expected;
}

void check_rows(std::size_t rows, int low, int high, std::uint64_t stream) {
    INFO(grading::counted(rows, "row"));
    const std::vector<int> values =
        grading::random_ints(rows * row_length, low, high, stream);
    const Expected expected = along_rows(values);
    const grading::Guarded<int> d_values(values);
    const std::vector<int> before(values.size(), left_by_earlier_call);
    grading::Guarded<int> d_sums(before), d_maxima(before);
    const grading::Instrumented instrumented = grading::instrument([&] {
        run_along_rows(d_values.data(), static_cast<unsigned>(rows), d_sums.data(),
                       d_maxima.data());
    });
    REQUIRE_THAT(
        grading::finish(),
        grading::Succeeds()
            .when({"data race", "shared memory"},
                  "Which two calls use the storage one after the other, and what makes "
                  "all threads finish with the first of them before the second begins?")
            .when(
                {"is made for blocks"},
                "How many threads does a block have, and for how many is the scan made?"));
    CHECK_THAT(d_sums, grading::EqualTo(expected.sums)
                           .when(grading::equals(expected.sums_without_end),
                                 "Where does a row begin, and what is the sum there?"));
    CHECK_THAT(d_maxima, grading::EqualTo(expected.maxima));
    CHECK_THAT(d_sums, grading::StaysInside());
    CHECK_THAT(d_maxima, grading::StaysInside());
    CHECK_THAT(d_values, grading::Unchanged());
    if (rows == 0) return;
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(d_values, grading::ReadByThreads(std::min(values.size(), most_threads)));
}

}  // namespace

TEST_CASE("scans one row") { check_rows(1, -100, 100, 1); }

TEST_CASE("handles no row at all") { check_rows(0, -100, 100, 1); }

TEST_CASE("scans a row per block") {
    for (const std::size_t rows : {2, 7, 8}) check_rows(rows, -100, 100, rows);
}

TEST_CASE("scans several rows per block") {
    for (const std::size_t rows : grading::sizes({9, 16, 17, 31, 33}, 2, 100))
        check_rows(rows, -1000, 1000, rows);
}

TEST_CASE("handles rows of negative values") {
    check_rows(3, -1000, -1, 1);
    check_rows(20, -1000, -1, 2);
}

TEST_CASE("handles rows of equal values") {
    check_rows(11, 5, 5, 1);
    check_rows(11, 0, 0, 1);
}
