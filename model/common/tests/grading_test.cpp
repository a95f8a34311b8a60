// The graders' own tools: what they notice and what they say. Only runtime calls, so it needs no kernel and runs on
// every device.
#include "common/grading/grading.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/facts.h"
#include "common/grading/failure.h"
#include "common/grading/figure.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/grading/reporter.h"
#include "common/grading/schedules.h"
#include "common/grading/supervisor.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/child_process.h"
#include "common/helpers/instrument.h"

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
    grading::forget_diagnostics();
    CHECK(grading::finish().status == cudaErrorInvalidDevice);
    CHECK_THAT(grading::finish(), grading::Succeeds());
}

TEST_CASE("shows statuses by name and text") {
    CHECK_THAT(grading::text_of(cudaErrorInvalidConfiguration),
               ContainsSubstring("cudaErrorInvalidConfiguration: invalid configuration"));
    CHECK_FALSE(grading::Succeeds().match(cudaErrorInvalidValue));
    const grading::Outcome race{cudaSuccess, "data race: two threads\n  hint: use an atomic\n\nout of bounds", ""};
    const grading::Succeeds asking = grading::Succeeds()
                                         .when({"data race", "shared"}, "Which part?")
                                         .when({"data race", "threads"}, "Which other thread?");
    CHECK_FALSE(asking.match(race));
    CHECK_THAT(asking.describe(), ContainsSubstring("Which other thread?"));
    CHECK(grading::take_failed_match().value().hint == "Which other thread?");
    const grading::Outcome refused{cudaErrorInvalidValue, "",
                                   "the launch of add was refused: a grid of 0 x 1 x 1 blocks has no block"};
    CHECK_THAT(Catch::Detail::stringify(refused), ContainsSubstring("\nthe launch of add was refused"));
    CHECK_FALSE(grading::Succeeds().match(refused));
    CHECK_THAT(grading::take_failed_match().value().hint, ContainsSubstring("How many blocks"));
    CHECK(Catch::Detail::stringify(cudaErrorInvalidValue) == grading::text_of(cudaErrorInvalidValue));
    const grading::Succeeds asking_of_status = grading::Succeeds().when({"cudaErrorInvalidValue"}, "Which value?");
    CHECK_FALSE(asking_of_status.match(cudaErrorInvalidValue));
    CHECK(grading::take_failed_match().value().hint == "Which value?");
    CHECK_FALSE(asking_of_status.match(cudaErrorMemoryAllocation));
    CHECK(grading::take_failed_match().value().hint != "Which value?");
}

TEST_CASE("a number has its noun in the singular or the plural") {
    CHECK(grading::counted(1, "launch") == "1 launch");
    CHECK(grading::counted(0, "launch") == "0 launches");
    CHECK(grading::counted(std::size_t{2}, "allocation of device memory") == "2 allocations of device memory");
    CHECK(grading::counted(1234567, "thread") == "1234567 threads");
    CHECK(grading::counted(1.0, "request") == "1 request");
    CHECK(grading::counted(1.05e6, "request") == "1.05 M requests");
    CHECK(grading::counted("2 x 1", "block") == "2 x 1 blocks");
}

// ---- what kernels do ---------------------------------------------------------------------------------------------

namespace {

using grading::Instrumented;
using warpwise::Counts;
using warpwise::LaunchCounts;
using warpwise::RequestCounts;

std::string refusal(const grading::InstrumentedMatcher& matcher, const Instrumented& instrumented) {
    CHECK_FALSE(matcher.match(instrumented));
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
        launch.blocks = launch.instrumented_blocks = 256;
        launch.lines = {{file.path(), 3, load}, {file.path(), 4, barrier}, {file.path(), 5, store}};
        launch.total = load;
        launch.total += barrier;
        launch.most_barriers = 1;
        launch.total += store;
        Counts tile;
        tile.shared_store = load.shared_store;
        tile.shared_load = store.shared_load;
        Counts halo;
        halo.shared_load = shared_requests(8, 1);
        launch.arrays = {{"tile", tile}, {"halo", halo}};
        instrumented = {.countable = true, .launches = {launch}, .diagnostics = {}};
        name = std::filesystem::path(file.path()).filename().string();
    }

    warpwise::TemporaryFile file;
    std::string name;
    Instrumented instrumented;
};

const Instrumented nothing_launched{.countable = true, .launches = {}, .diagnostics = {}};

}  // namespace

TEST_CASE("sectors for each request are judged, and the lines that cost most are named") {
    const Transpose transpose;
    CHECK_THAT(transpose.instrumented, grading::SectorsPerRequestAtMost(32));
    CHECK_THAT(transpose.instrumented, grading::SectorsPerRequestAtMost(4, grading::Accesses::stores));
    const std::string text = refusal(grading::SectorsPerRequestAtMost(4.5, "Try this."), transpose.instrumented);
    CHECK(text == "global loads: 32 sectors/request on average, at most 4.5 allowed\n" + transpose.name +
                      ":3: tile[threadIdx.y][threadIdx.x] = in[index(32)];\n"
                      "    32 sectors/request (8192 requests, 8.39 MB moved)\nTry this.");
    CHECK_THAT(refusal(grading::SectorsPerRequestAtMost(4.5, grading::Accesses::loads), transpose.instrumented),
               ContainsSubstring("global loads"));
    CHECK_THAT(refusal(grading::SectorsPerRequestAtMost(3, grading::Accesses::stores), transpose.instrumented),
               ContainsSubstring("global stores: 4 sectors/request") && ContainsSubstring(":5: out[index(1)]"));
}

TEST_CASE("bytes moved are judged, the most expensive line first") {
    const Transpose transpose;
    CHECK_THAT(transpose.instrumented, grading::BytesMovedAtMost(8192 * 36 * 32));
    const std::string text = refusal(grading::BytesMovedAtMost(2e6), transpose.instrumented);
    CHECK_THAT(text, ContainsSubstring("9.44 MB of global memory moved, at most 2.00 MB allowed"));
    CHECK(text.find(":3: ") < text.find(":5: "));
}

TEST_CASE("bank conflicts are judged for all arrays or for one") {
    const Transpose transpose;
    const std::string text = refusal(grading::NoBankConflicts(), transpose.instrumented);
    CHECK_THAT(text, ContainsSubstring("253952 bank conflicts in shared memory\n" + transpose.name +
                                       ":5: out[index(1)] = tile"));
    CHECK_THAT(text, ContainsSubstring("\n    253952 conflicts: 32 wavefronts for each of 8192 requests"));
    CHECK_THAT(refusal(grading::NoBankConflictsOn("tile"), transpose.instrumented),
               ContainsSubstring("253952 bank conflicts on tile"));
    CHECK_THAT(transpose.instrumented, grading::NoBankConflictsOn("halo"));
    // It may have another name, or be dynamic shared memory: then all of it is judged.
    CHECK_THAT(refusal(grading::NoBankConflictsOn("buffer"), transpose.instrumented),
               ContainsSubstring("253952 bank conflicts in shared memory\n" + transpose.name + ":5: "));
    Transpose without;
    for (LaunchCounts& launch : without.instrumented.launches) {
        launch.total.shared_load = launch.total.shared_store = {};
        launch.arrays.clear();
    }
    CHECK(refusal(grading::NoBankConflictsOn("tile"), without.instrumented) == "no shared memory was used");
    CHECK(refusal(grading::UsesSharedMemory(), without.instrumented) == "no shared memory was used");
    CHECK_THAT(transpose.instrumented, grading::UsesSharedMemory());
}

TEST_CASE("active lanes, barriers, atomics and launches are judged") {
    Transpose transpose;
    CHECK_THAT(transpose.instrumented, grading::ActiveLanesAtLeast(20));
    const std::string lanes = refusal(grading::ActiveLanesAtLeast(28), transpose.instrumented);
    CHECK_THAT(lanes, ContainsSubstring("20 of 32 lanes active on average, at least 28 wanted"));
    CHECK_THAT(lanes, ContainsSubstring(":5: ") && ContainsSubstring("8 active lanes, run 8192 times by a warp"));
    CHECK(lanes.find(":3: ") == std::string::npos);  // all of its lanes are active

    CHECK_THAT(transpose.instrumented, grading::BarriersAtMost(1));
    CHECK_THAT(refusal(grading::BarriersAtMost(0), transpose.instrumented),
               ContainsSubstring("a warp of transpose passes 1 barrier, at most 0 allowed") &&
                   ContainsSubstring(":4: __syncthreads();\n    8192 barriers of warps"));

    CHECK_THAT(transpose.instrumented, grading::AtomicsAtMost(0));
    Counts atomics;
    atomics.global_atomic = {.requests = 10, .lanes = 320, .same_address = 310};
    transpose.instrumented.launches[0].total += atomics;
    transpose.instrumented.launches[0].lines[2].counts += atomics;
    CHECK_THAT(refusal(grading::AtomicsAtMost(10), transpose.instrumented),
               ContainsSubstring("320 atomic operations on global memory, at most 10 allowed") &&
                   ContainsSubstring("320 operations, 310 of them wait"));

    CHECK_THAT(transpose.instrumented, grading::LaunchesAtMost(1));
    transpose.instrumented.launches.push_back(transpose.instrumented.launches[0]);
    CHECK_THAT(refusal(grading::LaunchesAtMost(1), transpose.instrumented),
               ContainsSubstring("2 launches, at most 1 allowed\n" + transpose.name +
                                 ":20: transpose<<<(32, 8), (32, 32)>>>\n"));
}

TEST_CASE("an answer that launches nothing does not pass for its frugality") {
    for (const grading::InstrumentedMatcher& matcher :
         {grading::SectorsPerRequestAtMost(4), grading::BytesMovedAtMost(1e9), grading::NoBankConflicts(),
          grading::NoBankConflictsOn("tile"), grading::ActiveLanesAtLeast(1), grading::BarriersAtMost(9),
          grading::AtomicsAtMost(9)}) {
        CHECK(refusal(matcher, nothing_launched) == "no kernel was launched");
    }
    CHECK_THAT(nothing_launched, grading::LaunchesAtMost(0));
}

TEST_CASE("races and mistakes with memory are told apart") {
    Instrumented instrumented = nothing_launched;
    CHECK_THAT(instrumented, grading::NoRace());
    CHECK_THAT(instrumented, grading::CleanMemory());
    instrumented.diagnostics = {{"data_race", "a.cu:7", "data race: two threads", "{}"},
                                {"uninitialized_read", "a.cu:9", "uninitialized read: of tile", "{}"},
                                {"out_of_bounds", "a.cu:8", "out of bounds: in", "{}"}};
    CHECK(refusal(grading::NoRace("A barrier?"), instrumented) == "data race: two threads\nA barrier?");
    CHECK(refusal(grading::CleanMemory(), instrumented) == "uninitialized read: of tile\n\nout of bounds: in");
}

TEST_CASE("what nobody could see is accepted, and remembered") {
    const Instrumented unseen;
    CHECK_THAT(unseen, grading::SectorsPerRequestAtMost(4));
    CHECK_THAT(unseen, grading::NoBankConflictsOn("tile"));
    CHECK_THAT(unseen, grading::LaunchesAtMost(0));
    CHECK_THAT(unseen, grading::NoRace());
    CHECK(grading::counts_were_left_out());
}

TEST_CASE("instrument runs its body once and passes on what it throws") {
    int runs = 0;
    const Instrumented instrumented = grading::instrument([&] { ++runs; });
    CHECK(runs == 1);
    CHECK(instrumented.launches.empty());
    CHECK(instrumented.diagnostics.empty());
    CHECK_THROWS_AS(grading::instrument([] { throw std::runtime_error("stop"); }), std::runtime_error);
}

TEST_CASE("shows what was instrumented") {
    const Transpose transpose;
    CHECK(Catch::Detail::stringify(transpose.instrumented) == "1 launch of transpose:");
    CHECK(Catch::Detail::stringify(nothing_launched) == "0 launches:");
    CHECK(Catch::Detail::stringify(Instrumented{}) == "kernels that nobody instrumented");
}

// ---- other orders of threads -------------------------------------------------------------------------------------

TEST_CASE("an answer is run several times, and the first run that fails is told") {
    const auto run = [](const std::string& script) {
        return grading::first_failing_run(
            {"/bin/sh", "-c", script},
            {{{"CPU_DEVICE_SEED", "1"}}, {{"CPU_DEVICE_SEED", "2"}, {"OTHER", "3"}}, {{"CPU_DEVICE_SEED", "3"}}});
    };
    CHECK_FALSE(run("exit 0").has_value());
    const auto failing = run("echo in order $CPU_DEVICE_SEED; test $CPU_DEVICE_SEED -lt 2");
    REQUIRE(failing.has_value());
    CHECK(failing->variables == grading::Variables{{"CPU_DEVICE_SEED", "2"}, {"OTHER", "3"}});
    CHECK(failing->output == "in order 2\n");
    CHECK(run("kill -SEGV $$").has_value());
}

TEST_CASE("further runs draw their inputs, unless the environment names a seed") {
    const std::vector<grading::Variables> runs = grading::further_runs();
    REQUIRE_FALSE(runs.empty());
    for (const grading::Variables& variables : runs) {
        REQUIRE_FALSE(variables.empty());
        CHECK(variables[0].first == grading::grading_seed_variable);
        CHECK(std::stoi(variables[0].second) >= 2);
    }
    setenv(grading::grading_seed_variable, "7", 1);
    for (const grading::Variables& variables : grading::further_runs()) {
        for (const auto& [name, value] : variables) CHECK(name != grading::grading_seed_variable);
    }
    setenv("CPU_DEVICE_SEED", "1", 1);
    CHECK(grading::further_runs().empty());
    unsetenv("CPU_DEVICE_SEED");
    unsetenv(grading::grading_seed_variable);
}

// ---- whoever ends the program --------------------------------------------------------------------------------------

TEST_CASE("only a grader that came to its end can pass") {
    const auto status_of = [](const char* how, std::string* output = nullptr) {
        const warpwise::TemporaryFile file;
        warpwise::ChildProcess program({WARPWISE_SUPERVISED_PROGRAM, how}, {}, file.path());
        const int status = program.wait();
        if (output != nullptr) *output = file.read();
        return status;
    };
    CHECK(status_of("passes") == 0);
    CHECK(status_of("fails") == 1);
    CHECK(status_of("forks and waits") == 0);  // whatever else the answer starts
    CHECK(status_of("exits late with 0") == 1);
    CHECK(status_of("SIGTERM") == 128 + SIGTERM);
    for (const char* how : {"before main", "exit", "_Exit", "quick_exit", "says solved", "abort handler", "execs true",
                            "forks and leaves", "writes everywhere"}) {
        INFO(how);
        std::string output;
        CHECK(status_of(how, &output) == 1);
        CHECK_THAT(output,
                   ContainsSubstring("The answer ended the program with exit status 0 before the grader was done. "
                                     "Nothing has passed."));
    }
    CHECK(status_of("closes everything") != 0);
    std::string output;
    CHECK(status_of("exit with 1", &output) == 1);
    CHECK_THAT(output, ContainsSubstring("with exit status 1 before the grader was done"));
    const warpwise::TemporaryFile file;
    warpwise::ChildProcess alone({WARPWISE_SUPERVISED_PROGRAM, "passes"}, {{grading::alone_variable, "1"}},
                                 file.path());
    CHECK(alone.wait() == 2);  // for debuggers, never a pass
}

// ---- efficiency, shapes and calls ----------------------------------------------------------------------------------

TEST_CASE("sectors are compared with those that the bytes need, whatever the access width") {
    Instrumented instrumented = nothing_launched;
    instrumented.launches.emplace_back();
    Counts& total = instrumented.launches[0].total;
    total.global_load = {.requests = 10, .lanes = 320, .bytes = 5120, .sectors = 160, .needed_sectors = 160};
    total.global_store = {.requests = 10, .lanes = 320, .bytes = 1280, .sectors = 50, .needed_sectors = 40};
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));  // float4 loads, misaligned float stores
    CHECK_THAT(
        refusal(grading::GlobalEfficiencyAtLeast(0.9), instrumented),
        ContainsSubstring("global stores: 80 % of the 32-byte sectors that were touched are needed, at least 90 %"));
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.9, grading::Accesses::loads));
    total.global_load.sectors = 320;
    CHECK_THAT(refusal(grading::GlobalEfficiencyAtLeast(0.8), instrumented), ContainsSubstring("global loads: 50 %"));
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8, grading::Accesses::stores));
    instrumented.launches[0].lines = {{"a.cu", 7, total}};
    CHECK_THAT(refusal(grading::GlobalEfficiencyAtLeast(0.8), instrumented),
               ContainsSubstring("a.cu:7\n    32 sectors per request, 16 needed (10 requests)"));
}

TEST_CASE("the shape of launches is judged") {
    Instrumented instrumented = nothing_launched;
    CHECK(refusal(grading::EveryLaunchHas({1, 1, 1}, {0, 0, 0}), instrumented) == "no kernel was launched");
    CHECK(refusal(grading::ThreadsAtLeast(1), instrumented) == "no kernel was launched");
    CHECK(refusal(grading::BlocksAtLeast(1), instrumented) == "no kernel was launched");
    LaunchCounts launch;
    launch.kernel = "add";
    launch.file = "dir/a.cu";
    launch.line = 9;
    launch.grid = {4, 1, 1};
    launch.block = {64, 1, 1};
    launch.blocks = 4;
    instrumented.launches = {launch};
    CHECK_THAT(instrumented, grading::EveryLaunchHas({4, 1, 1}, {64, 1, 1}));
    CHECK_THAT(instrumented, grading::EveryLaunchHas({0, 0, 0}, {64, 0, 0}));
    CHECK(refusal(grading::EveryLaunchHas({0, 1, 1}, {32, 1, 1}), instrumented) ==
          "the launch has another shape than grid (any, 1, 1) and block (32, 1, 1)\na.cu:9: add<<<4, 64>>>");
    CHECK_THAT(instrumented, grading::ThreadsAtLeast(256));
    CHECK_THAT(refusal(grading::ThreadsAtLeast(257), instrumented),
               ContainsSubstring("has 256 threads, at least 257 wanted"));
    CHECK_THAT(instrumented, grading::BlocksAtLeast(4));
    CHECK_THAT(refusal(grading::BlocksAtLeast(5), instrumented), ContainsSubstring("has 4 blocks, at least 5 wanted"));
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(refusal(grading::LaunchesExactly(2), instrumented),
               ContainsSubstring("1 launch, 2 wanted\na.cu:9: add"));
}

TEST_CASE("calls of the runtime API are judged") {
    Instrumented instrumented = nothing_launched;
    instrumented.calls = {{"cudaMalloc"},
                          {"cudaMemcpy", 0, "cudaMemcpyHostToDevice", 64},
                          {"<<<>>>", 1},
                          {"cudaMemcpyAsync", 0, "cudaMemcpyDefault", 64},
                          {"cudaEventCreate"}};
    CHECK_THAT(instrumented, grading::CallsNot({"cudaFree", "cudaDeviceSynchronize"}));
    CHECK(refusal(grading::CallsNot({"cudaFree", "cudaMalloc"}), instrumented) == "cudaMalloc was called 1 time");
    CHECK_THAT(instrumented, grading::Calls({"cudaMalloc", "cudaMemcpy"}));
    CHECK(refusal(grading::Calls({"cudaMalloc", "cudaFree"}), instrumented) == "cudaFree was not called");
    CHECK(refusal(grading::CopiesNothing("cudaMemcpyDeviceToHost"), instrumented) ==
          "copied 1 time with cudaMemcpyDeviceToHost");  // cudaMemcpyDefault may be that
    CHECK(instrumented.copies("cudaMemcpyHostToDevice") == 2);
    CHECK_THAT(instrumented, grading::WaitsForNothing());
    instrumented.calls[1].waits = true;
    CHECK(refusal(grading::WaitsForNothing(), instrumented) == "cudaMemcpy was called, which waits for the device");
    CHECK(instrumented.calls_of({"cudaMemcpy", "cudaMemcpyAsync"}) == 2);
    CHECK_THAT(refusal(grading::ReleasesWhatItMakes(), instrumented), ContainsSubstring("1 event made"));
    instrumented.calls.push_back({"cudaEventDestroy"});
    CHECK_THAT(refusal(grading::ReleasesWhatItMakes(), instrumented),
               ContainsSubstring("1 allocation of device memory made") && ContainsSubstring("0 released"));
    instrumented.calls.push_back({"cudaFree"});
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    instrumented.calls.insert(instrumented.calls.end(), 2, {"cudaMalloc"});
    CHECK_THAT(refusal(grading::ReleasesWhatItMakes(), instrumented),
               ContainsSubstring("3 allocations of device memory made") && ContainsSubstring("1 released"));
}

TEST_CASE("a hint on what was instrumented is given for its cause only") {
    const Transpose transpose;
    const auto matcher = [] {
        return grading::NoBankConflicts()
            .when([](const Instrumented& instrumented) { return instrumented.launches.size() > 1; }, "Two launches?")
            .when([](const Instrumented& instrumented) { return instrumented.launches.size() == 1; }, "One launch?");
    };
    const std::string text = refusal(matcher(), transpose.instrumented);
    CHECK(text.ends_with("\nOne launch?"));
    CHECK(text.find("Two") == std::string::npos);
}

// ---- causes --------------------------------------------------------------------------------------------------------

namespace {

grading::MismatchedArray mismatch(const std::vector<double>& got, const std::vector<double>& expected,
                                  std::size_t row_length = 0) {
    return grading::mismatch_of(got, expected, {}, row_length);
}

}  // namespace

TEST_CASE("causes: which elements are wrong") {
    const grading::MismatchedArray tail = mismatch({1, 2, 0, 0}, {1, 2, 3, 4});
    CHECK(grading::only_tail_wrong()(tail));
    CHECK(grading::only_tail_wrong_from_multiple_of(2)(tail));
    CHECK_FALSE(grading::only_tail_wrong_from_multiple_of(4)(tail));
    CHECK(grading::only_first_right(2)(tail));
    CHECK_FALSE(grading::only_first_right(1)(tail));
    CHECK_FALSE(grading::all_wrong()(tail));

    const grading::MismatchedArray hole = mismatch({1, 0, 3, 0}, {1, 2, 3, 4});
    CHECK_FALSE(grading::only_tail_wrong()(hole));
    CHECK(grading::only_multiples_right(2)(hole));
    CHECK_FALSE(grading::only_multiples_wrong(2)(hole));
    CHECK(grading::only_multiples_wrong(2)(mismatch({0, 2, 0, 4}, {1, 2, 3, 4})));

    const grading::MismatchedArray all = mismatch({0, 0}, {1, 2});
    CHECK(grading::all_wrong()(all));
    CHECK_FALSE(grading::only_tail_wrong()(all));
    CHECK_FALSE(grading::only_first_wrong(2)(all));
    CHECK(grading::only_first_wrong(1)(mismatch({0, 2}, {1, 2})));

    CHECK(grading::only_last_column_wrong()(mismatch({1, 0, 3, 0}, {1, 2, 3, 4}, 2)));
    CHECK_FALSE(grading::only_last_column_wrong()(mismatch({1, 0, 3, 0}, {1, 2, 3, 4})));
    CHECK(grading::only_last_row_wrong()(mismatch({1, 2, 0, 4}, {1, 2, 3, 4}, 2)));
    CHECK_FALSE(grading::only_last_row_wrong()(mismatch({1, 0, 0, 4}, {1, 2, 3, 4}, 2)));
}

TEST_CASE("causes: what wrong elements hold") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(grading::never_written()(mismatch({1, nan, 2147319805}, {1, 2, 3})));
    CHECK_FALSE(grading::never_written()(mismatch({1, nan, 0}, {1, 2, 3})));
    CHECK(grading::equal(0)(mismatch({1, 0, 0}, {1, 2, 3})));
    CHECK_FALSE(grading::equal(0)(mismatch({1, 0, 1}, {1, 2, 3})));
    CHECK(grading::equals({7, 8, 9})(mismatch({1, 8, 9}, {1, 2, 3})));
    CHECK_FALSE(grading::equals({7, 8, 9})(mismatch({1, 8, 8}, {1, 2, 3})));
    CHECK(grading::times(2)(mismatch({1, 4, 6}, {1, 2, 3})));
    CHECK_FALSE(grading::times(2)(mismatch({1, 4, 7}, {1, 2, 3})));
    CHECK(grading::some_factor()(mismatch({3, 6, 9}, {1, 2, 3})));
    CHECK_FALSE(grading::some_factor()(mismatch({3, 6, 8}, {1, 2, 3})));
    CHECK_FALSE(grading::some_factor()(mismatch({1, 2, 9}, {1, 2, 3})));  // one element says nothing
    CHECK_FALSE(grading::some_factor()(mismatch({0, 0, 0}, {1, 2, 3})));
    CHECK(grading::plus(1)(mismatch({2, 3, 4}, {1, 2, 3})));
    CHECK(grading::shifted_by(1)(mismatch({2, 3, 99}, {1, 2, 3})));
    CHECK_FALSE(grading::shifted_by(-1)(mismatch({2, 3, 99}, {1, 2, 3})));
    CHECK(grading::too_small()(mismatch({0, 1}, {1, 2})));
    CHECK_FALSE(grading::too_small()(mismatch({0, 3}, {1, 2})));
    CHECK(grading::too_large()(mismatch({1, 3}, {1, 2})));
    CHECK(grading::not_a_number()(mismatch({1, nan}, {1, 2})));
    // 2 x 3 that should be 1 2 3; 4 5 6, and is stored column by column.
    CHECK(grading::transposed(2, 3)(mismatch({1, 4, 2, 5, 3, 6}, {1, 2, 3, 4, 5, 6})));
    CHECK_FALSE(grading::transposed(2, 3)(mismatch({1, 4, 2, 5, 6, 3}, {1, 2, 3, 4, 5, 6})));
    CHECK(grading::both(grading::too_small(), grading::unless(grading::all_wrong()))(mismatch({1, 1}, {1, 2})));
    CHECK(grading::either(grading::too_large(), grading::too_small())(mismatch({1, 1}, {1, 2})));
}

TEST_CASE("a hint is given for the first cause that holds, and for no other") {
    grading::Guarded<float> buffer(std::vector<float>{1, 2, 0, 0});
    const std::vector<double> expected{1, 2, 3, 4};
    const auto matcher = [&] {
        return grading::EqualTo(expected)
            .when(grading::all_wrong(), "All?")
            .when(grading::only_tail_wrong(), "The tail?")
            .when(grading::equal(0), "Zero?");
    };
    const std::string text = refusal(matcher(), buffer);
    CHECK(text.ends_with("\nThe tail?"));
    CHECK(text.find("All?") == std::string::npos);
    write(buffer.data(), {1.0f, 0.0f, 3.0f, 9.0f});
    const std::string other = refusal(matcher(), buffer);
    CHECK(other.find('?') == std::string::npos);
    const grading::Guarded<float> fresh(3);
    CHECK(
        refusal(grading::WrittenEverywhere().when(grading::all_wrong(), "Launched?"), fresh).ends_with("\nLaunched?"));
}

TEST_CASE("vectors and numbers of the host are compared as well") {
    const std::vector<int> values{1, 2, 3};
    CHECK_THAT(values, grading::EqualTo({1, 2, 3}));
    const auto wrong = grading::EqualTo({1, 2, 4});
    CHECK_FALSE(wrong.match(values));
    CHECK_THAT(wrong.describe(), ContainsSubstring("1 wrong\nelement 2 is 3, should be 4"));
    CHECK_THAT(2.5f, grading::EqualTo(2.5));
    const auto close = grading::CloseTo(3.0, {.absolute = 0.25}).when(grading::times(0.5), "Half?");
    CHECK_FALSE(close.match(1.5f));
    CHECK(close.describe() == "is 1.5, should be 3 (error 1.5, allowed 0.25)\nHalf?");
    CHECK_FALSE(close.match(std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("an input that holds a NaN can be unchanged") {
    grading::Guarded<float> buffer(std::vector<float>{1, not_a_number});
    CHECK_THAT(buffer, grading::Unchanged());
    write(buffer.data(), {2.0f});
    CHECK_FALSE(grading::Unchanged().match(buffer));
}

TEST_CASE("red zones hold what shows in every result") {
    const grading::Guarded<float> floats(std::vector<float>{1});
    const grading::Guarded<double> doubles(std::vector<double>{1});
    const grading::Guarded<int> ints(std::vector<int>{1}), others(std::vector<int>{1});
    if (!warpwise::is_diagnosing()) {  // else nobody may read there
        float one_float[2];
        double one_double[2];
        int one_int[2], other_int[2];
        REQUIRE(cudaMemcpy(one_float, floats.data() - 1, sizeof one_float, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK((std::isnan(one_float[0]) && one_float[1] == 1));
        REQUIRE(cudaMemcpy(one_double, doubles.data(), sizeof one_double, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK((one_double[0] == 1 && std::isnan(one_double[1])));
        REQUIRE(cudaMemcpy(one_int, ints.data(), sizeof one_int, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(one_int[1] > 2'000'000'000);
        REQUIRE(cudaMemcpy(other_int, others.data(), sizeof other_int, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(one_int[1] != other_int[1]);  // copied past both ends, it would show
    }
}

// ---- inputs --------------------------------------------------------------------------------------------------------

TEST_CASE("random inputs hold nothing special") {
    const std::vector<float> values = grading::random_floats(10000);
    CHECK(values == grading::random_floats(10000));
    CHECK(values != grading::random_floats(10000, 1));
    double sum = 0;
    for (const float value : values) {
        REQUIRE(std::fabs(value) >= 0.25f);
        REQUIRE(std::fabs(value) <= 1);
        REQUIRE(value != std::floor(value));
        sum += value;
    }
    CHECK(std::fabs(sum) < 200);  // signs are mixed
    for (const double value : grading::random_doubles(1000)) REQUIRE((value != 0 && std::fabs(value) <= 1));
    for (const float value : grading::random_positive_floats(1000)) REQUIRE((value > 0 && value <= 1));
    for (const float value : grading::random_whole_floats(1000, 9)) {
        REQUIRE((value >= 1 && value <= 9 && value == std::floor(value)));
    }
    const std::vector<int> ints = grading::random_ints(10000, -3, 3, 0, true);
    CHECK(std::count(ints.begin(), ints.end(), 0) == 0);
    CHECK(*std::min_element(ints.begin(), ints.end()) == -3);
    CHECK(*std::max_element(ints.begin(), ints.end()) == 3);
    const std::vector<int> whole =
        grading::random_ints(1000, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
    CHECK(std::any_of(whole.begin(), whole.end(), [](int value) { return value < -1'000'000'000; }));
}

TEST_CASE("the order of a sum of random floats shows in its last bits") {
    const std::vector<float> values = grading::random_floats(1000);
    const float forwards = std::accumulate(values.begin(), values.end(), 0.0f);
    const float backwards = std::accumulate(values.rbegin(), values.rend(), 0.0f);
    const double exact = std::accumulate(values.begin(), values.end(), 0.0);
    CHECK(forwards != backwards);
    const warpwise::Tolerance tolerance = grading::sum_tolerance_of(values);
    CHECK_THAT(forwards, grading::CloseTo(exact, tolerance));
    CHECK_THAT(backwards, grading::CloseTo(exact, tolerance));
}

TEST_CASE("the tolerance of a sum admits every order, and no element that was left out") {
    for (const std::size_t n : {10, 1000, 100'000, 1'000'000}) {
        const std::vector<float> values = grading::random_floats(n);
        const double exact = std::accumulate(values.begin(), values.end(), 0.0);
        const warpwise::Tolerance tolerance = grading::sum_tolerance_of(values);
        CHECK(tolerance.absolute < 0.25);
        std::vector<float> parts(97);  // as threads that stride
        for (std::size_t i = 0; i < n; ++i) parts[i % parts.size()] += values[i];
        CHECK_THAT(std::accumulate(parts.begin(), parts.end(), 0.0f), grading::CloseTo(exact, tolerance));
        CHECK_THAT(std::accumulate(values.begin(), values.end(), 0.0f), grading::CloseTo(exact, tolerance));

        const std::vector<float> positive = grading::random_positive_floats(n);
        const double sum = std::accumulate(positive.begin(), positive.end(), 0.0);
        const warpwise::Tolerance by_chains = grading::sum_tolerance_of(positive, 128);
        CHECK(by_chains.absolute < 0.5);
        float total = 0;
        for (std::size_t first = 0; first < n; first += 128) {
            const std::size_t end = std::min(first + 128, n);
            total += std::accumulate(&positive[0] + first, &positive[0] + end, 0.0f);
        }
        if (n <= 1000) CHECK_THAT(total, grading::CloseTo(sum, by_chains));
    }
}

TEST_CASE("sizes are the fixed ones and further ones within the limit") {
    const std::vector<std::size_t> sizes = grading::sizes({0, 32}, 20, 1000);
    REQUIRE(sizes.size() == 22);
    CHECK(sizes[0] == 0);
    CHECK(sizes[1] == 32);
    for (std::size_t i = 2; i < sizes.size(); ++i) CHECK((sizes[i] >= 1 && sizes[i] <= 1000));
    CHECK(sizes == grading::sizes({0, 32}, 20, 1000));
    CHECK(sizes != grading::sizes({0, 32}, 20, 1000, 1));
    for (std::uint64_t stream = 0; stream < 50; ++stream) {
        const std::size_t size = grading::random_size(5, 7, stream);
        CHECK((size >= 5 && size <= 7));
    }
}

TEST_CASE("extreme values take the place of some others") {
    const std::vector<float> values = grading::with_extremes(grading::random_floats(1000), true);
    const auto has = [&](auto test) { return std::any_of(values.begin(), values.end(), test); };
    CHECK(has([](float value) { return std::isnan(value); }));
    CHECK(has([](float value) { return value == std::numeric_limits<float>::infinity(); }));
    CHECK(has([](float value) { return value == std::numeric_limits<float>::lowest(); }));
    CHECK(has([](float value) { return value != 0 && std::fabs(value) < std::numeric_limits<float>::min(); }));
    const std::vector<float> numbers = grading::with_extremes(grading::random_floats(1000), false);
    CHECK(std::none_of(numbers.begin(), numbers.end(), [](float value) { return std::isnan(value); }));
    const std::vector<int> ints = grading::with_extremes(grading::random_ints(1000, 1, 5));
    CHECK(std::count(ints.begin(), ints.end(), std::numeric_limits<int>::min()) > 0);
    CHECK(grading::with_extremes(std::vector<int>{}).empty());
}

// ---- what a learner reads ------------------------------------------------------------------------------------------

TEST_CASE("a failure is told without what only repeats it") {
    using grading::observation;
    CHECK(observation("d_y, grading::EqualTo(expected, visits)", "96 elements: 64 wrong\nelement 32 is 4") ==
          "d_y, 96 elements: 64 wrong\nelement 32 is 4");
    CHECK(observation("grading::finish(), grading::Succeeds()", "data race: ... (should end without an error)") ==
          "data race: ...");
    CHECK(observation("instrumented, grading::NoRace()", "1 launch of add: data race") == "1 launch of add: data race");
    CHECK(observation("sum, grading::CloseTo(x, {.absolute = 1})", "3.0f is 3, should be 4") ==
          "sum is 3, should be 4");
    CHECK(observation("out, grading::EqualTo(x)", "{ 1, 2 } 1 wrong\nelement 0 is 1, should be 2") ==
          "out 1 wrong\nelement 0 is 1, should be 2");
    CHECK(observation("a == b", "1 == 2") == "a == b\nthat is: 1 == 2");
    CHECK(observation("f(a, b)", "false") == "f(a, b)\nthat is: false");
    CHECK(observation("false", "false") == "false");
}

namespace {

/// An array in which `wrong` are 1 too large and `missing` were never written.
grading::MismatchedArray array_with(std::size_t n, const std::vector<std::size_t>& wrong,
                                    const std::vector<std::size_t>& missing, std::size_t row_length = 0) {
    std::vector<double> expected(n), got;
    for (std::size_t i = 0; i < n; ++i) expected[i] = static_cast<double>(i);
    got = expected;
    for (const std::size_t i : wrong) got[i] += 1;
    const grading::Guarded<float> poisoned(1);
    for (const std::size_t i : missing) got[i] = static_cast<double>(poisoned.download()[0]);
    return grading::mismatch_of(got, expected, {}, row_length);
}

std::vector<std::size_t> from_to(std::size_t first, std::size_t last) {
    std::vector<std::size_t> indices;
    for (std::size_t i = first; i <= last; ++i) indices.push_back(i);
    return indices;
}

std::vector<std::string> texts(const std::vector<grading::Line>& lines) {
    std::vector<std::string> result;
    for (const grading::Line& line : lines) result.push_back(grading::text_of(line));
    return result;
}

grading::Failure failure_about(const grading::MismatchedArray& array, const std::string& hint = "") {
    grading::FailedMatch match{.judgement = grading::judge_values(array.got, array.expected, {}, array.row_length),
                               .hint = hint,
                               .place = "my.cu:7: thread 3 of block 1 wrote element 35",
                               .call = {}};
    return grading::make_failure("d_out", "", {"96 elements"}, match);
}

}  // namespace

TEST_CASE("a strip shows which parts of an array are right, wrong, and never written") {
    CHECK(texts(grading::picture_of(array_with(16, from_to(4, 7), from_to(8, 11)))) ==
          std::vector<std::string>{"0 [....xxxx____....] 15", "  . right   x wrong   _ never written   "});
    const std::vector<std::string> long_one = texts(grading::picture_of(array_with(1009, {}, from_to(768, 1008))));
    CHECK(long_one ==
          std::vector<std::string>{"0 [" + std::string(48, '.') + std::string(16, '_') + "] 1008",
                                   "  . right   _ never written   (16 elements per character, which shows the worst)"});
    // One wrong element among sixteen shows, and is not hidden by missing ones.
    CHECK_THAT(texts(grading::picture_of(array_with(1024, from_to(500, 507), {508, 509})))[0],
               ContainsSubstring("[" + std::string(31, '.') + "x" + std::string(32, '.') + "]"));
}

TEST_CASE("a map shows which parts of a matrix are wrong") {
    std::vector<std::size_t> last_columns;
    for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t col = 6; col < 8; ++col) last_columns.push_back(row * 8 + col);
    }
    CHECK(texts(grading::picture_of(array_with(32, last_columns, {0}, 8))) ==
          std::vector<std::string>{"0 [_.....xx]", "1 [......xx]", "2 [......xx]", "3 [......xx]",
                                   "   downwards: rows 0 to 3, to the right: columns 0 to 7",
                                   "   . right   x wrong   _ never written   "});
    const std::vector<std::string> large =
        texts(grading::picture_of(array_with(96 * 100, from_to(4800, 9599), {}, 96)));
    REQUIRE(large.size() == 7);
    CHECK(large[0] == " 0 [" + std::string(48, '.') + "]");
    CHECK(large[1] == "   [" + std::string(48, '.') + "]");
    CHECK(large[2] == "   [" + std::string(48, 'x') + "]");
    CHECK(large[4] == "99 [" + std::string(48, 'x') + "]");
    CHECK(large[5] == "    downwards: rows 0 to 99, to the right: columns 0 to 95");
    CHECK_THAT(large[6], ContainsSubstring("(20 rows x 2 columns per character, which shows the worst)"));
}

TEST_CASE("there is no picture where it says no more than a sentence or a table") {
    CHECK(grading::picture_of(array_with(100, from_to(0, 99), {})).empty());
    CHECK(grading::picture_of(array_with(100, {}, from_to(0, 99))).empty());
    CHECK(grading::picture_of(array_with(100, {3, 50}, {})).empty());
    CHECK_FALSE(grading::picture_of(array_with(100, {3, 50}, {51})).empty());
}

TEST_CASE("a sentence says how many elements are wrong, and which") {
    using grading::sentence_about;
    CHECK(sentence_about(array_with(96, from_to(32, 95), {})) == "64 of 96 elements are wrong: elements 32 to 95");
    CHECK(sentence_about(array_with(96, {7}, {})) == "1 of 96 elements is wrong: element 7");
    CHECK(sentence_about(array_with(96, {}, {7})) == "1 of 96 elements was never written: element 7");
    CHECK(sentence_about(array_with(6, from_to(0, 5), {})) == "all 6 elements are wrong");
    CHECK(sentence_about(array_with(6, {}, from_to(0, 5))) == "none of the 6 elements was ever written");
    CHECK(sentence_about(array_with(6, {1}, {2, 3})) ==
          "3 of 6 elements are wrong, 2 of them because no thread wrote them: elements 1 to 3");
    CHECK(sentence_about(array_with(12, {5}, {}, 4)) == "1 of 12 elements is wrong: row 1, column 1");
    CHECK(sentence_about(array_with(1, {0}, {})) == "it is 1, and should be 0");
}

TEST_CASE("poison that a kernel wrote was computed from memory that nobody has written") {
    using grading::sentence_about;
    const std::string computed = "what its elements hold was computed from memory that nobody has written";
    CHECK(sentence_about(array_with(6, {}, from_to(0, 5)), true) == computed);
    CHECK(sentence_about(array_with(96, {}, {7}), true) == computed);
    CHECK(sentence_about(array_with(96, {7}, {}), true) == "1 of 96 elements is wrong: element 7");
}

TEST_CASE("a NaN that was computed is a wrong value, without a sign") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(grading::number_text(-nan) == "nan");
    CHECK(grading::number_text(nan) == "nan");
    CHECK(grading::number_text(0.1f) == "0.100000001");
    CHECK_FALSE(grading::is_never_written(nan));
    CHECK_FALSE(grading::is_never_written(-nan));
    CHECK_FALSE(grading::is_never_written(static_cast<double>(std::numeric_limits<float>::quiet_NaN())));
    CHECK_FALSE(grading::is_never_written(1.5));
    const grading::Guarded<float> floats(1);
    const grading::Guarded<double> doubles(1);
    const grading::Guarded<int> ints(1);
    CHECK(grading::is_never_written(static_cast<double>(floats.download()[0])));
    CHECK(grading::is_never_written(doubles.download()[0]));
    CHECK(grading::is_never_written(static_cast<double>(ints.download()[0])));
    CHECK_THAT(grading::judge_values({-nan, 2}, {1, 2}, {}, 0).text,
               ContainsSubstring("element 0 is nan, should be 1"));
}

TEST_CASE("the table holds the first wrong elements") {
    CHECK(grading::value_rows(array_with(96, from_to(32, 95), {}), 2) ==
          std::vector<grading::ValueRow>{{"32", "33", "32"}, {"33", "34", "33"}});
    CHECK(grading::value_rows(array_with(12, {6}, {5}, 4), 6) ==
          std::vector<grading::ValueRow>{{"(1, 1)", "never written", "5"}, {"(1, 2)", "7", "6"}});
}

TEST_CASE("the table of a matrix says that the row comes first") {
    const std::vector<std::string> lines = texts(grading::lines_of(failure_about(array_with(12, {6, 7, 8}, {}, 4))));
    CHECK(std::find(lines.begin(), lines.end(), "  (row, column)   got   expected") != lines.end());
    CHECK(std::find(lines.begin(), lines.end(), "         (1, 2)     7          6") != lines.end());
}

TEST_CASE("a failure says what is wrong, with what, where, and asks one question, in few lines") {
    const std::vector<std::string> lines =
        texts(grading::lines_of(failure_about(array_with(96, from_to(32, 95), {}), "Which thread takes element 32?")));
    CHECK(lines == std::vector<std::string>{"d_out: 64 of 96 elements are wrong: elements 32 to 95.", "  96 elements",
                                            "", "  index   got   expected", "     32    33         32",
                                            "     33    34         33", "     34    35         34", "  and 61 more", "",
                                            "  0 [" + std::string(16, '.') + std::string(32, 'x') + "] 95",
                                            "    . right   x wrong   (2 elements per character, which shows the worst)",
                                            "", "  my.cu:7: thread 3 of block 1 wrote element 35",
                                            "  Which thread takes element 32?"});
    // Without a cause that was established, it asks what can be asked of any.
    CHECK(failure_about(array_with(96, {5}, {})).question ==
          "Work out element 5 by hand: which line of yours gives "
          "another value?");
    CHECK(failure_about(array_with(96, {}, {5})).question == "Which thread should write element 5?");
    // When all elements are wrong, the table is longer, and there is no picture.
    const grading::Failure all_wrong = failure_about(array_with(96, from_to(0, 95), {}));
    CHECK(all_wrong.values.size() == 6);
    CHECK(all_wrong.after_values == "and 90 more");
    // What was never written has no values to show.
    CHECK(failure_about(array_with(96, {}, from_to(32, 95))).values.empty());
}

TEST_CASE("of several diagnostics the first one is shown, and its hint is what to try") {
    const std::string text =
        "out of bounds: a thread reads past the end of 'in'\n  my.cu:9:  out[i] = in[i];\n"
        "  in kernel add; 15 times in this launch\n  hint: let only threads whose index is inside do this\n\n"
        "out of bounds: a thread writes past the end of 'out'\n  my.cu:9:  out[i] = in[i];";
    const std::vector<std::string> lines =
        texts(grading::lines_of(grading::make_failure("", text, {"1009 elements"}, std::nullopt)));
    CHECK(lines == std::vector<std::string>{"out of bounds: a thread reads past the end of 'in'", "  1009 elements",
                                            "    my.cu:9:  out[i] = in[i];",
                                            "    in kernel add; 15 times in this launch",
                                            "  (and more, which may have the same cause)", "",
                                            "  Try: let only threads whose index is inside do this"});
    // A grader's own question replaces the hint, and is shown once.
    const grading::FailedMatch own{
        .judgement = {false, ""}, .hint = "Which thread writes it?\nAnd when?", .place = {}, .call = {}};
    const grading::Failure with_own = grading::make_failure(
        "", "data race: two threads\n  hint: use an atomic\nWhich thread writes it?\nAnd when?", {}, own);
    CHECK(with_own.question == own.hint);
    CHECK(with_own.details.empty());
    CHECK(grading::make_failure("", "x\n  hint: does some loop never end?", {}, std::nullopt).question ==
          "Does some loop never end?");
    // Question marks of the grader's own messages.
    const grading::Failure asked = grading::make_failure("", "wrong", {"call 2", "Who waits?"}, std::nullopt);
    CHECK(asked.question == "Who waits?");
    CHECK(asked.context == std::vector<std::string>{"call 2"});
}

TEST_CASE("a figure says its value, the limit, what belongs to it, and asks its question") {
    const grading::Figure waits = grading::figure("waits of a thread", 8, {.lines = "my.cu:7: a[i]\n"});
    const auto failed = [](const grading::Figure& figure, const grading::FigureMatcher& matcher) {
        grading::take_failed_match();
        CHECK_FALSE(matcher.match(figure));
        const std::optional<grading::FailedMatch> match = grading::take_failed_match();
        REQUIRE(match);
        CHECK(match->names_its_subject);
        return grading::make_failure("", "", {}, match);
    };
    const grading::Failure failure = failed(waits, grading::AtMost(3, "Which loads could go first?"));
    CHECK(failure.observation == "waits of a thread: 8, at most 3 allowed");
    CHECK(failure.details == std::vector<std::string>{"my.cu:7: a[i]"});
    CHECK(failure.question == "Which loads could go first?");
    const auto says = [&](double value, const grading::FigureMatcher& matcher, const std::string& unit = "") {
        return failed(grading::figure("x", value, {.unit = unit}), matcher).observation;
    };
    CHECK(says(0.5, grading::AtLeast(0.67, "Why?")) == "x: 0.5, at least 0.67 wanted");
    CHECK(says(65, grading::Between(4, 64, "Why?")) == "x: 65, should be 4 to 64");
    CHECK(says(3, grading::Between(2, 2, "Why?")) == "x: 3, should be 2");
    CHECK(says(50000, grading::AtMost(49152, "Why?"), "bytes") == "x: 50000 bytes, at most 49152 bytes allowed");
    CHECK(says(0.0123, grading::AtMost(0.01, "Why?")) == "x: 0.012, at most 0.01 allowed");
    CHECK_FALSE(grading::AtMost(1, "Why?").match(grading::figure("x", std::nan(""))));
    CHECK_FALSE(grading::AtLeast(1, "Why?").match(grading::figure("x", std::nan(""))));
    CHECK(grading::AtMost(3, "Why?").match(grading::figure("x", 3)));
    CHECK(grading::AtLeast(3, "Why?").match(grading::figure("x", 3)));
    CHECK(grading::Between(2, 4, "Why?").match(grading::figure("x", 2)));
    CHECK(grading::noted_figures().back().test ==
          "a figure says its value, the limit, what belongs to it, and asks its question");

    const grading::Figure time = grading::time_beside({.median = 3e-4}, {.median = 1e-4}, "a copy");
    CHECK(time.value == Catch::Approx(3));
    CHECK(time.details.lines == "your kernel: 300 us; a copy: 100 us");
}

TEST_CASE("an answer is timed beside a copy in device memory") {
    const std::vector<int> values{3, 1, 2};
    const grading::Guarded<int> d_from(values);
    grading::Guarded<int> d_to(values.size());
    int runs = 0;
    warpwise::measure_only_once(true);
    const auto [answer, copy] =
        grading::measure_beside_copy([&] { ++runs; }, d_to.data(), d_from.data(), values.size() * sizeof(int));
    warpwise::measure_only_once(false);
    CHECK(runs == 1);
    CHECK(answer.samples == 1);
    CHECK(copy.samples == 1);
    CHECK(d_to.download() == values);
}

TEST_CASE("whoever fails is asked something, by every matcher") {
    const grading::Instrumented nothing{.countable = true, .launches = {}, .diagnostics = {}};
    const auto question = [&](const auto& matcher) {
        grading::take_failed_match();
        CHECK_FALSE(matcher.match(nothing));
        const std::optional<grading::FailedMatch> match = grading::take_failed_match();
        return match ? match->judgement.question : "";
    };
    CHECK_THAT(question(grading::UsesSharedMemory()), Catch::Matchers::EndsWith("?"));
    CHECK_THAT(question(grading::LaunchesExactly(1)), Catch::Matchers::EndsWith("?"));
    CHECK_THAT(question(grading::EveryLaunchHas({1, 1, 1}, {32, 1, 1})), Catch::Matchers::EndsWith("?"));
    CHECK_THAT(question(grading::ThreadsAtLeast(1)), Catch::Matchers::EndsWith("?"));
    CHECK_THAT(question(grading::BlocksAtLeast(1)), Catch::Matchers::EndsWith("?"));
    CHECK_THAT(question(grading::Calls({"cudaMallocPitch"})), Catch::Matchers::EndsWith("?"));
    CHECK_THAT(question(grading::BytesMovedAtMost(-1)), Catch::Matchers::EndsWith("?"));
}

TEST_CASE("long messages are cut, and say where the rest is") {
    std::string text = "too many";
    for (int i = 0; i < 20; ++i) text += "\nline " + std::to_string(i);
    const grading::Failure failure = grading::make_failure("", text, {"a", "b", "c", "d"}, std::nullopt);
    const std::vector<std::string> lines = texts(grading::lines_of(failure));
    CHECK(lines.size() == 12);
    CHECK(lines.back() == "  ... (13 more lines with --full)");
    CHECK(failure.full.size() == 25);
}

TEST_CASE("text is broken at spaces only, and goes on below its beginning") {
    using Lines = std::vector<std::string>;
    CHECK(grading::broken_at_spaces("", 10) == Lines{""});
    CHECK(grading::broken_at_spaces("  one two", 9) == Lines{"  one two"});
    CHECK(grading::broken_at_spaces("  one two three", 9) == Lines{"  one two", "  three"});
    CHECK(grading::broken_at_spaces("one  two three", 9) == Lines{"one  two", "  three"});
    CHECK(grading::broken_at_spaces("  answers/grid.cu:21:  no thread", 12) ==
          Lines{"  answers/grid.cu:21:", "  no thread"});
    CHECK(grading::broken_at_spaces("  cudaMemcpyHostToDevice", 12) == Lines{"  cudaMemcpyHostToDevice"});
    CHECK(grading::broken_at_spaces("  no thread of add<<<4, 64>>> wrote", 24) ==
          Lines{"  no thread of", "  add<<<4, 64>>> wrote"});
    CHECK(grading::broken_at_spaces("add<<<4, 64>>> wrote", 10) == Lines{"add<<<4, 64>>>", "  wrote"});
    CHECK(grading::broken_at_spaces("  12345678   ", 8) == Lines{"  12345678   "});

    grading::Failure failure = failure_about(array_with(96, from_to(32, 95), {}), "Which thread takes element 32?");
    failure.question =
        "Which thread should take these elements, in which turn of its loop, and why does it not get there?";
    for (const std::size_t width : {40, 60, 100}) {
        std::istringstream lines(grading::shown(failure, {.width = width}));
        for (std::string line; std::getline(lines, line);) {
            INFO(line);
            const bool is_of_picture =
                line.find("[...") != std::string::npos || line.find("per character") != std::string::npos;
            if (!is_of_picture) CHECK(line.size() <= width);  // a picture stays whole
        }
    }
    CHECK_THAT(grading::shown(failure, {.width = 60}),
               ContainsSubstring("  Which thread should take these elements, in which turn of\n  its loop, and why"));
}

#ifdef WARPWISE_GRADED_PROGRAM

TEST_CASE("a grader shows its first failed test, names the others, and Catch2's output only on request") {
    const auto graded = [](std::vector<std::string> arguments, warpwise::TemporaryFile* facts = nullptr) {
        const warpwise::TemporaryFile output;
        arguments.insert(arguments.begin(), WARPWISE_GRADED_PROGRAM);
        std::vector<std::pair<std::string, std::string>> variables = {
            {grading::later_tests_seconds_variable, "60"}, {grading::facts_variable, facts ? facts->path() : ""}};
        warpwise::ChildProcess program(arguments, variables, output.path());
        CHECK(program.wait() == 1);
        return output.read();
    };
    const std::string text = graded({});
    CHECK_THAT(text, ContainsSubstring("d_out: 4 of 16 elements are wrong: elements 12 to 15.\n  16 elements\n"));
    CHECK_THAT(text, ContainsSubstring("In the test \"writes the tail\" (graded_program.cpp:"));
    CHECK_THAT(text, ContainsSubstring("2 more tests do not pass: \"says \"quoted\", and more\", \"writes all\"\n"));
    CHECK_THAT(text, !ContainsSubstring("CHECK_THAT") && !ContainsSubstring("should be"));
    CHECK_THAT(text, ContainsSubstring("a_grader: not yet.") && !ContainsSubstring("not tried"));

    const std::string stopped = "The run stopped at the first failed check: 3 of 5 tests were not tried.";
    CHECK_THAT(graded({"--catch2"}),
               ContainsSubstring("CHECK_THAT( d_out, grading::EqualTo(") && ContainsSubstring(stopped));
    CHECK_THAT(graded({"--catch2", "-x", "1000"}), !ContainsSubstring("not tried"));
    CHECK_THAT(graded({"writes all", "--catch2"}), !ContainsSubstring("not tried"));
    CHECK_THAT(
        graded({"--full"}),
        ContainsSubstring("FAILED: writes the tail\n  16 elements\n  d_out 4 wrong\n  element 12 is 2, should be 1"));
    CHECK_THAT(graded({"writes all"}), !ContainsSubstring("more test"));

    warpwise::TemporaryFile facts;
    CHECK_THAT(graded({}, &facts), !ContainsSubstring("not yet"));  // the guide says that
    const std::string json = facts.read();
    CHECK_THAT(json, ContainsSubstring("\"test\": \"writes the tail\"") && ContainsSubstring("\"more_failing\": ["));
    CHECK_THAT(json, ContainsSubstring("\"question\": \"Who writes the last four?\""));
    // Catch2's words are at hand. They count the tests of a run that has stopped.
    CHECK_THAT(json, ContainsSubstring("CHECK_THAT( d_out") && ContainsSubstring(stopped));
}

#endif
