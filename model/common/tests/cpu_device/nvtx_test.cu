// Ranges of NVTX: what the log keeps of them, and what is told of those that nobody ends.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nvtx3/nvtx3.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cpu_device/activity_log.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"
#include "cpu_device/range_log.h"

namespace {

using Catch::Matchers::ContainsSubstring;
using cpu_device::LoggedRange;

__global__ void do_nothing() {}

struct Library {
    static constexpr const char* name = "library";
};

/// What is logged of the ranges while `body` runs.
template <class Body>
std::vector<LoggedRange> ranges_during(const Body& body) {
    cpu_device::start_log();
    cpu_device::forget_ranges();
    body();
    cpu_device::stop_log();
    return cpu_device::logged_ranges();
}

std::size_t launches_in(const LoggedRange& range) {
    std::size_t launches = 0;
    const std::vector<cpu_device::LoggedCall> calls = cpu_device::logged_calls();
    for (std::size_t i = range.first_call; i < range.end_call; ++i) launches += calls.at(i).launch != 0 ? 1 : 0;
    return launches;
}

}  // namespace

TEST_CASE("ranges and their levels are logged with the calls inside of them") {
    const std::vector<LoggedRange> ranges = ranges_during([] {
        do_nothing<<<1, 1>>>();
        CHECK(nvtxRangePushA("outer") == 0);
        do_nothing<<<1, 1>>>();
        CHECK(nvtxRangePushW(L"inner") == 1);
        do_nothing<<<1, 1>>>();
        do_nothing<<<1, 1>>>();
        CHECK(nvtxRangePop() == 1);
        nvtxMarkA("here");
        CHECK(nvtxRangePop() == 0);
        do_nothing<<<1, 1>>>();
    });
    REQUIRE(ranges.size() == 3);
    CHECK(ranges[0].name == "outer");
    CHECK(ranges[0].level == 0);
    CHECK(launches_in(ranges[0]) == 3);
    CHECK(ranges[1].name == "inner");
    CHECK(ranges[1].level == 1);
    CHECK(launches_in(ranges[1]) == 2);
    CHECK(ranges[2].name == "here");
    CHECK(ranges[2].is_mark);
    CHECK(ranges[0].has_ended);
}

TEST_CASE("scoped ranges of C++ have domains, and end when an exception passes") {
    const std::vector<LoggedRange> ranges = ranges_during([] {
        const nvtx3::scoped_range outer("outer");
        try {
            const nvtx3::scoped_range_in<Library> inner(std::string("inner"), nvtx3::rgb(1, 2, 3));
            throw 1;
        } catch (int) {
        }
        do_nothing<<<1, 1>>>();
    });
    REQUIRE(ranges.size() == 2);
    CHECK(ranges[1].domain == "library");
    CHECK(ranges[1].level == 0);
    CHECK(ranges[1].has_ended);
    CHECK(launches_in(ranges[1]) == 0);
    CHECK(ranges[0].domain.empty());
    CHECK(launches_in(ranges[0]) == 1);
}

TEST_CASE("a range of the process may be ended by another thread, and others are not touched") {
    const std::vector<LoggedRange> ranges = ranges_during([] {
        const nvtxRangeId_t first = nvtxRangeStartA("first");
        const nvtxRangeId_t second = nvtxRangeStartA("second");
        CHECK(first != second);
        std::thread([first] {
            CHECK(nvtxRangePop() < 0);  // nothing was pushed there
            nvtxRangeEnd(first);
        }).join();
        do_nothing<<<1, 1>>>();
        nvtxRangeEnd(second);
        nvtxRangeEnd(second);
        nvtxRangeEnd(12345678);
    });
    REQUIRE(ranges.size() == 2);
    CHECK(launches_in(ranges[0]) == 0);
    CHECK(launches_in(ranges[1]) == 1);
}

TEST_CASE("a range of an earlier log does not change a later one") {
    const std::vector<LoggedRange> open = ranges_during([] { nvtxRangePushA("early"); });
    REQUIRE(open.size() == 1);
    CHECK(!open[0].has_ended);
    const std::vector<LoggedRange> later = ranges_during([] {
        nvtxRangePushA("late");
        CHECK(nvtxRangePop() == 1);
        CHECK(nvtxRangePop() == 0);
    });
    REQUIRE(later.size() == 1);
    CHECK(later[0].name == "late");
    CHECK(later[0].has_ended);
}

TEST_CASE("a range that nobody ends is told once for each line, and as a note") {
    const cpu_device::InstrumentOptions before = cpu_device::instrument({.diagnostics = true});
    const bool printing = cpu_device::print_diagnostics(false);
    cpu_device::take_diagnostics();
    for (int k = 0; k < 2; ++k) nvtxRangePushA("never ended");
    nvtxRangePushA("ended");
    nvtxRangePop();
    cpu_device::report_leaks();
    const std::vector<cpu_device::Diagnostic> found = cpu_device::take_diagnostics();
    REQUIRE(found.size() == 1);
    CHECK(found[0].is_note);
    CHECK(found[0].count == 2);
    CHECK_THAT(found[0].message, ContainsSubstring("2 ranges of NVTX were never ended"));
    CHECK_THAT(found[0].hint, ContainsSubstring("nvtx3::scoped_range"));
    nvtxRangePop();
    nvtxRangePop();
    cpu_device::print_diagnostics(printing);
    cpu_device::instrument(before);
}

TEST_CASE("where nobody listens, ranges return what NVTX returns then") {
    CHECK(nvtxRangePushA("unheard") == NVTX_NO_PUSH_POP_TRACKING);
    CHECK(nvtxRangePop() == NVTX_NO_PUSH_POP_TRACKING);
}
