// The graders' own tools: what they notice and what they say. Only runtime calls, so it needs no kernel and runs on
// every device.
#include "common/grading/grading.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/grading/schedules.h"
#include "common/grading/watched.h"
#include "common/helpers/child_process.h"

using Catch::Matchers::ContainsSubstring;

namespace {

/// Message of a matcher that must not accept the buffer.
template <class T, class Matcher>
std::string refusal(const Matcher& matcher, const grading::Guarded<T>& buffer) {
    CHECK_FALSE(matcher.match(buffer));
    return matcher.describe();
}

template <class T>
void write(T* at, const std::vector<T>& values) {
    REQUIRE(cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
}

std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
}

std::vector<double> as_double(const std::vector<float>& values) { return {values.begin(), values.end()}; }

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("names elements by ranges") {
    CHECK(grading::name_elements({5}) == "element 5");
    CHECK(grading::name_elements({5, 6, 7}) == "elements 5 to 7");
    CHECK(grading::name_elements({0, 1, 4}) == "elements 0 to 1 and 4");
    CHECK(grading::name_elements({0, 2, 4, 6}) == "elements 0, 2, 4, ...");
}

TEST_CASE("names elements of a matrix by row and column") {
    CHECK(grading::name_elements({7}, 5) == "row 1, column 2");
    CHECK(grading::name_elements({3, 4, 5, 6}, 5) == "row 0, columns 3 to 4; row 1, columns 0 to 1");
    CHECK(grading::name_elements({0, 5, 10, 15}, 5) == "row 0, column 0; row 1, column 0; row 2, column 0; ...");
}

TEST_CASE("a fresh buffer holds poison and was not written") {
    const grading::Guarded<float> buffer(33);
    for (float value : buffer.download()) CHECK(value != value);
    CHECK_THAT(refusal(grading::WrittenEverywhere(), buffer), ContainsSubstring("none was ever written"));
    CHECK_THAT(buffer, grading::StaysInside());
}

TEST_CASE("an empty buffer passes everything") {
    const grading::Guarded<float> buffer(0);
    CHECK_THAT(buffer, grading::WrittenEverywhere());
    CHECK_THAT(buffer, grading::StaysInside());
    CHECK_THAT(buffer, grading::EqualTo({}));
}

TEST_CASE("names the elements that were never written, with the hint") {
    grading::Guarded<float> buffer(100);
    write(buffer.data(), ramp(32));
    write(buffer.data() + 64, ramp(36));
    const std::string text = refusal(grading::WrittenEverywhere("Try this."), buffer);
    CHECK_THAT(text, ContainsSubstring("elements 32 to 63 were never written"));
    CHECK_THAT(text, ContainsSubstring("32 of 100"));
    CHECK_THAT(text, ContainsSubstring("\nTry this."));
}

TEST_CASE("a NaN that a kernel computed counts as written but not as right") {
    grading::Guarded<float> buffer(2);
    write(buffer.data(), {1.0f, not_a_number});
    CHECK_THAT(buffer, grading::WrittenEverywhere());
    CHECK_THAT(refusal(grading::CloseTo({1, 2}, {.absolute = 1e9, .relative = 1e9}), buffer),
               ContainsSubstring("1 wrong\nelement 1 is nan, should be 2\nlargest error nan"));
}

TEST_CASE("names wrong values and the tolerance") {
    grading::Guarded<float> buffer(ramp(40));
    CHECK_THAT(buffer, grading::EqualTo(as_double(ramp(40))));
    std::vector<double> expected = as_double(ramp(40));
    for (std::size_t i : {3, 5, 7, 9}) expected[i] += 0.5;
    CHECK_THAT(buffer, grading::CloseTo(expected, {.absolute = 0.5}));
    const std::string text = refusal(grading::CloseTo(expected, {.absolute = 0.25}), buffer);
    CHECK_THAT(text, ContainsSubstring("4 wrong\nelement 3 is 3, should be 3.5\nelement 5"));
    CHECK_THAT(text, ContainsSubstring("and 1 more\nlargest error 0.5, allowed 0.25"));
    CHECK_THAT(refusal(grading::EqualTo({1, 2}), buffer), ContainsSubstring("40"));
}

TEST_CASE("names elements by row and column when told the row length") {
    grading::Guarded<int> buffer(std::vector<int>(6, 1));
    buffer.show_as_rows_of(3);
    CHECK_THAT(refusal(grading::EqualTo({1, 1, 1, 1, 2, 1}), buffer),
               ContainsSubstring("row 1, column 1 is 1, should be 2"));
}

TEST_CASE("notices writes behind the array") {
    grading::Guarded<float> buffer(ramp(10));
    write(buffer.data() + 10, {1.0f});
    CHECK_THAT(refusal(grading::StaysInside(), buffer),
               ContainsSubstring("element 10 written: past the end of an array whose last element is element 9"));
    write(buffer.data() + 11, ramp(3));
    CHECK_THAT(refusal(grading::StaysInside(), buffer), ContainsSubstring("elements 10 to 13 written"));
}

TEST_CASE("notices writes before the array") {
    grading::Guarded<double> buffer(10);
    write(buffer.data() - 2, {1.5, 2.5});
    CHECK_THAT(refusal(grading::StaysInside(), buffer), ContainsSubstring("from element -2 to element -1"));
}

TEST_CASE("notices the last element of a red zone") {
    grading::Guarded<float> buffer(std::size_t{3}, 64);
    write(buffer.data() + 3 + 63, {1.0f});
    CHECK_THAT(refusal(grading::StaysInside(), buffer), ContainsSubstring("element 66 written"));
}

TEST_CASE("notices that an input was changed") {
    grading::Guarded<float> buffer(ramp(10));
    CHECK_THAT(buffer, grading::Unchanged());
    write(buffer.data() + 4, {40.0f});
    const std::string text = refusal(grading::Unchanged(), buffer);
    CHECK_THAT(text, ContainsSubstring("element 4 is 40, should be 4"));
    CHECK_THAT(text, ContainsSubstring("only to be read"));
}

TEST_CASE("poisons again") {
    grading::Guarded<float> buffer(ramp(10));
    buffer.poison();
    CHECK_FALSE(grading::WrittenEverywhere().match(buffer));
    CHECK_THAT(buffer, grading::StaysInside());
}

TEST_CASE("finish returns the pending error once") {
    cudaSetDevice(9999);
    grading::forget_findings();
    CHECK(grading::finish().status == cudaErrorInvalidDevice);
    CHECK_THAT(grading::finish(), grading::Succeeds());
}

TEST_CASE("shows statuses by name and text") {
    CHECK_THAT(grading::text_of(cudaErrorInvalidConfiguration),
               ContainsSubstring("cudaErrorInvalidConfiguration: invalid configuration"));
    CHECK_FALSE(grading::Succeeds().match(cudaErrorInvalidValue));
    CHECK(Catch::Detail::stringify(cudaErrorInvalidValue) == grading::text_of(cudaErrorInvalidValue));
}

// ---- what kernels do ---------------------------------------------------------------------------------------------

namespace {

using grading::Watched;
using warpwise::Counts;
using warpwise::LaunchCounts;
using warpwise::RequestCounts;

std::string refusal(const grading::WatchedMatcher& matcher, const Watched& watched) {
    CHECK_FALSE(matcher.match(watched));
    return matcher.describe();
}

/// Accesses of 4 bytes by full warps.
RequestCounts global_requests(double requests, double sectors_per_request) {
    return {.requests = requests,
            .lanes = 32 * requests,
            .bytes = 128 * requests,
            .sectors = sectors_per_request * requests};
}

RequestCounts shared_requests(double requests, double wavefronts_per_request) {
    return {.requests = requests,
            .lanes = 32 * requests,
            .bytes = 128 * requests,
            .wavefronts = wavefronts_per_request * requests,
            .least_wavefronts = requests};
}

/// A transpose through a tile without padding that was launched once, as the CPU device would have counted it, and its
/// source: loads in line 3, stores in line 5.
struct Transpose {
    Transpose() {
        std::ofstream(file.path()) << "__global__ void transpose(const float* in, float* out) {\n"
                                      "    __shared__ float tile[32][32];\n"
                                      "    tile[threadIdx.y][threadIdx.x] = in[index(32)];\n"
                                      "    __syncthreads();\n"
                                      "    out[index(1)] = tile[threadIdx.x][threadIdx.y];\n}\n";
        Counts load, barrier, store;
        load.global_load = global_requests(8192, 32);
        load.shared_store = shared_requests(8192, 1);
        load.steps = store.steps = 8192;
        load.active_lanes = 8192 * 32;
        store.active_lanes = 8192 * 8;
        barrier.barriers = 8192;
        store.shared_load = shared_requests(8192, 32);
        store.global_store = global_requests(8192, 4);
        LaunchCounts launch;
        launch.kernel = "transpose";
        launch.file = file.path();
        launch.line = 20;
        launch.grid = {32, 8, 1};
        launch.block = {32, 32, 1};
        launch.blocks = launch.watched_blocks = 256;
        launch.lines = {{file.path(), 3, load}, {file.path(), 4, barrier}, {file.path(), 5, store}};
        launch.total = load;
        launch.total += barrier;
        launch.total += store;
        Counts tile;
        tile.shared_store = load.shared_store;
        tile.shared_load = store.shared_load;
        Counts halo;
        halo.shared_load = shared_requests(8, 1);
        launch.arrays = {{"tile", tile}, {"halo", halo}};
        watched = {.countable = true, .launches = {launch}, .mistakes = {}};
        name = std::filesystem::path(file.path()).filename().string();
    }

    warpwise::TemporaryFile file;
    std::string name;
    Watched watched;
};

const Watched nothing_launched{.countable = true, .launches = {}, .mistakes = {}};

}  // namespace

TEST_CASE("sectors for each request are judged, and the lines that cost most are named") {
    const Transpose transpose;
    CHECK_THAT(transpose.watched, grading::SectorsPerRequestAtMost(32));
    CHECK_THAT(transpose.watched, grading::SectorsPerRequestAtMost(4, grading::Accesses::stores));
    const std::string text = refusal(grading::SectorsPerRequestAtMost(4.5, "Try this."), transpose.watched);
    CHECK(text == "global loads: 32 sectors/request on average, at most 4.5 allowed\n" + transpose.name +
                      ":3: tile[threadIdx.y][threadIdx.x] = in[index(32)];\n"
                      "    32 sectors/request (8192 requests, 8.39 MB moved)\nTry this.");
    CHECK_THAT(refusal(grading::SectorsPerRequestAtMost(4.5, grading::Accesses::loads), transpose.watched),
               ContainsSubstring("global loads"));
    CHECK_THAT(refusal(grading::SectorsPerRequestAtMost(3, grading::Accesses::stores), transpose.watched),
               ContainsSubstring("global stores: 4 sectors/request") && ContainsSubstring(":5: out[index(1)]"));
}

TEST_CASE("bytes moved are judged, the most expensive line first") {
    const Transpose transpose;
    CHECK_THAT(transpose.watched, grading::BytesMovedAtMost(8192 * 36 * 32));
    const std::string text = refusal(grading::BytesMovedAtMost(2e6), transpose.watched);
    CHECK_THAT(text, ContainsSubstring("9.44 MB of global memory moved, at most 2.00 MB allowed"));
    CHECK(text.find(":3: ") < text.find(":5: "));
}

TEST_CASE("bank conflicts are judged for all arrays or for one") {
    const Transpose transpose;
    const std::string text = refusal(grading::NoBankConflicts(), transpose.watched);
    CHECK_THAT(text, ContainsSubstring("253952 bank conflicts\n" + transpose.name + ":5: out[index(1)] = tile"));
    CHECK_THAT(text, ContainsSubstring("\n    253952 conflicts: 32 passes for each of 8192 requests"));
    CHECK_THAT(refusal(grading::NoBankConflictsOn("tile"), transpose.watched),
               ContainsSubstring("253952 bank conflicts on tile"));
    CHECK_THAT(transpose.watched, grading::NoBankConflictsOn("halo"));
    CHECK_THAT(refusal(grading::NoBankConflictsOn("buffer"), transpose.watched),
               ContainsSubstring("no __shared__ array called buffer was used; used were: tile, halo"));
}

TEST_CASE("active lanes, barriers, atomics and launches are judged") {
    Transpose transpose;
    CHECK_THAT(transpose.watched, grading::ActiveLanesAtLeast(20));
    const std::string lanes = refusal(grading::ActiveLanesAtLeast(28), transpose.watched);
    CHECK_THAT(lanes, ContainsSubstring("20 of 32 lanes active on average, at least 28 wanted"));
    CHECK_THAT(lanes, ContainsSubstring(":5: ") && ContainsSubstring("8 active lanes, run 8192 times by a warp"));
    CHECK(lanes.find(":3: ") == std::string::npos);  // all of its lanes are active

    CHECK_THAT(transpose.watched, grading::BarriersAtMost(1));
    CHECK_THAT(refusal(grading::BarriersAtMost(0), transpose.watched),
               ContainsSubstring("a warp of transpose passes 1 barriers, at most 0 allowed") &&
                   ContainsSubstring(":4: __syncthreads();\n    8192 barriers of warps"));

    CHECK_THAT(transpose.watched, grading::AtomicsAtMost(0));
    Counts atomics;
    atomics.global_atomic = {.requests = 10, .lanes = 320, .same_address = 310};
    transpose.watched.launches[0].total += atomics;
    transpose.watched.launches[0].lines[2].counts += atomics;
    CHECK_THAT(refusal(grading::AtomicsAtMost(10), transpose.watched),
               ContainsSubstring("320 atomic operations on global memory, at most 10 allowed") &&
                   ContainsSubstring("320 operations, 310 of them wait"));

    CHECK_THAT(transpose.watched, grading::LaunchesAtMost(1));
    transpose.watched.launches.push_back(transpose.watched.launches[0]);
    CHECK_THAT(refusal(grading::LaunchesAtMost(1), transpose.watched),
               ContainsSubstring("2 launches, at most 1 allowed\n" + transpose.name + ":20: transpose\n"));
}

TEST_CASE("an answer that launches nothing does not pass for its frugality") {
    for (const grading::WatchedMatcher& matcher :
         {grading::SectorsPerRequestAtMost(4), grading::BytesMovedAtMost(1e9), grading::NoBankConflicts(),
          grading::NoBankConflictsOn("tile"), grading::ActiveLanesAtLeast(1), grading::BarriersAtMost(9),
          grading::AtomicsAtMost(9)}) {
        CHECK(refusal(matcher, nothing_launched) == "no kernel was launched");
    }
    CHECK_THAT(nothing_launched, grading::LaunchesAtMost(0));
}

TEST_CASE("races and mistakes with memory are told apart") {
    Watched watched = nothing_launched;
    CHECK_THAT(watched, grading::NoRace());
    CHECK_THAT(watched, grading::CleanMemory());
    watched.mistakes = {{"data_race", "a.cu:7", "data race: two threads", "{}"},
                        {"uninitialized_read", "a.cu:9", "uninitialized read: of tile", "{}"},
                        {"out_of_bounds", "a.cu:8", "out of bounds: in", "{}"}};
    CHECK(refusal(grading::NoRace("A barrier?"), watched) == "data race: two threads\nA barrier?");
    CHECK(refusal(grading::CleanMemory(), watched) == "uninitialized read: of tile\n\nout of bounds: in");
}

TEST_CASE("what nobody could see is accepted, and remembered") {
    const Watched unseen;
    CHECK_THAT(unseen, grading::SectorsPerRequestAtMost(4));
    CHECK_THAT(unseen, grading::NoBankConflictsOn("tile"));
    CHECK_THAT(unseen, grading::LaunchesAtMost(0));
    CHECK_THAT(unseen, grading::NoRace());
    CHECK(grading::counts_were_left_out());
}

TEST_CASE("watch runs its body once and passes on what it throws") {
    int runs = 0;
    const Watched watched = grading::watch([&] { ++runs; });
    CHECK(runs == 1);
    CHECK(watched.launches.empty());
    CHECK(watched.mistakes.empty());
    CHECK_THROWS_AS(grading::watch([] { throw std::runtime_error("stop"); }), std::runtime_error);
}

TEST_CASE("shows what was watched") {
    const Transpose transpose;
    CHECK(Catch::Detail::stringify(transpose.watched) == "1 launch of transpose:");
    CHECK(Catch::Detail::stringify(nothing_launched) == "0 launches:");
    CHECK(Catch::Detail::stringify(Watched{}) == "kernels that nobody watched");
}

// ---- other orders of threads -------------------------------------------------------------------------------------

TEST_CASE("an answer is run in several orders, and the first that fails is told") {
    const auto run = [](const std::string& script) {
        return grading::first_failing_schedule({"/bin/sh", "-c", script}, {1, 2, 3});
    };
    CHECK_FALSE(run("exit 0").has_value());
    const auto failing = run("echo in order $CPU_DEVICE_SEED; test $CPU_DEVICE_SEED -lt 2");
    REQUIRE(failing.has_value());
    CHECK(failing->seed == 2);
    CHECK(failing->output == "in order 2\n");
    CHECK(run("kill -SEGV $$").has_value());
}
