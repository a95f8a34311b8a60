// Kernels that were compiled for instrumenting, as graders and lessons see them. On a GPU nothing is counted, and the
// matchers have to accept that.
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/grading.h"
#include "common/grading/instrumented.h"
#include "common/grading/warp_trace.h"
#include "common/helpers/child_process.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/instrument.h"
#include "common/helpers/json.h"
#include "common/helpers/tensor_core.cuh"
#include "common/lesson/chapter.h"
#include "common/tests/device_or_skip.h"

using Catch::Matchers::ContainsSubstring;
using warpwise::DeviceBuffer;

namespace {

constexpr int kSide = 32;

__global__ void copy_strided(const float* in, float* out, int n, int stride) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float value = in[i * stride];
    out[i] = value;
}

template <int Pad>
__global__ void transpose_tile(const float* in, float* out) {
    __shared__ float tile[kSide][kSide + Pad];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * kSide + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * kSide + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void sum_with_atomics(const float* in, float* sum) { atomicAdd(sum, in[threadIdx.x]); }

__global__ void add_without_barrier(float* values) {
    __shared__ float shared[64];
    shared[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    shared[threadIdx.x] += shared[(threadIdx.x + 32) % 64];
    values[threadIdx.x] = shared[threadIdx.x];
}

__global__ void add_many_times(float* values, int times) {
    for (int i = 0; i < times; ++i) values[i % 2 * 32 + threadIdx.x] += 1;
}

__global__ void leave_round_by_round(float* values) {
    for (unsigned left = blockDim.x; left >= 32; left /= 2) {
        if (threadIdx.x >= left) return;
        __syncthreads();
        values[blockIdx.x * blockDim.x + threadIdx.x] += 1;
    }
}

__global__ void scale(const float* __restrict__ in, float* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

__global__ void scale_in_any_order(const float* in, float* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out) {
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

__global__ void read_past_the_end(const float* in, float* out, int n) {
    if (threadIdx.x < 32) out[threadIdx.x] = in[n + threadIdx.x];
}

__global__ void shuffle_once(float* values) {
    const auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    values[threadIdx.x] = warp.shfl_xor(values[threadIdx.x], 16);
}

__global__ void reduce_and_scan(float* values) {
    const auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    const float sum = cooperative_groups::reduce(warp, values[threadIdx.x], cooperative_groups::plus<float>());
    values[threadIdx.x] = cooperative_groups::inclusive_scan(warp, sum);
}

/// ldmatrix of four matrices, whose rows lie `Stride` bytes apart.
template <unsigned Stride>
__global__ void load_rows(unsigned* out) {
    __shared__ __align__(16) unsigned char tile[32 * Stride];
    *reinterpret_cast<uint4*>(tile + threadIdx.x * Stride) = make_uint4(1, 2, 3, 4);
    __syncwarp();
    unsigned fragment[4];
    warpwise::ldmatrix(fragment, warpwise::shared_address(tile + threadIdx.x * Stride));
    out[threadIdx.x] = fragment[0] + fragment[3];
}

/// The same for one matrix, of which eight lanes give the rows.
__global__ void load_eight_rows(unsigned* out) {
    __shared__ __align__(16) unsigned char tile[8 * 16];
    if (threadIdx.x < 8) *reinterpret_cast<uint4*>(tile + threadIdx.x * 16) = make_uint4(1, 2, 3, 4);
    __syncwarp();
    unsigned fragment[1];
    warpwise::ldmatrix_trans(fragment, warpwise::shared_address(tile + threadIdx.x % 8 * 16));
    out[threadIdx.x] = fragment[0];
}

grading::Instrumented instrument_copy(int n, int stride) {
    const std::vector<float> values(static_cast<std::size_t>(n) * stride, 1.0f);
    const DeviceBuffer<float> d_in(values);
    DeviceBuffer<float> d_out(static_cast<std::size_t>(n));
    return grading::instrument([&] { copy_strided<<<(n + 255) / 256, 256>>>(d_in.data(), d_out.data(), n, stride); });
}

template <int Pad>
grading::Instrumented instrument_transpose() {
    const DeviceBuffer<float> d_in(std::vector<float>(kSide * kSide, 1.0f));
    DeviceBuffer<float> d_out(kSide * kSide);
    return grading::instrument([&] { transpose_tile<Pad><<<1, dim3(kSide, kSide)>>>(d_in.data(), d_out.data()); });
}

std::string refusal(const grading::InstrumentedMatcher& matcher, const grading::Instrumented& instrumented) {
    CHECK_FALSE(matcher.match(instrumented));
    return matcher.describe();
}

}  // namespace

TEST_CASE("a group's reduction and scan count for no more than the shuffles of a GPU") {
    device_or_skip();
    DeviceBuffer<float> d_values(std::vector<float>(32, 1.0f));
    const auto steps_of = [&](void (*kernel)(float*)) -> double {
        const grading::Instrumented instrumented = grading::instrument([&] { kernel<<<1, 32>>>(d_values.data()); });
        if (!instrumented.countable) return 0.0;
        CHECK(instrumented.diagnostics.empty());
        REQUIRE(instrumented.launches.size() == 1);
        CHECK(instrumented.launches[0].total.global_load.requests == 1);
        CHECK(instrumented.launches[0].total.active_lanes_per_step() == 32);
        return instrumented.launches[0].total.steps;
    };
    const double steps = steps_of(reduce_and_scan);
    const double steps_of_a_shuffle = steps_of(shuffle_once);
    CHECK(steps <= steps_of_a_shuffle + 10);
}

TEST_CASE("neighboring accesses are accepted, strided ones are refused with the line") {
    device_or_skip();
    CHECK_THAT(instrument_copy(4096, 1), grading::SectorsPerRequestAtMost(4));
    CHECK_THAT(instrument_copy(4096, 1), grading::BytesMovedAtMost(2 * 4096 * sizeof(float)));
    const grading::Instrumented strided = instrument_copy(4096, 8);
    CHECK_THAT(strided, grading::SectorsPerRequestAtMost(4, grading::Accesses::stores));
    if (!strided.countable) SKIP("only the CPU device counts");
    const std::string text = refusal(grading::SectorsPerRequestAtMost(4.5), strided);
    CHECK_THAT(text, ContainsSubstring("global loads: 32 sectors/request on average, at most 4.5 allowed"));
    CHECK_THAT(
        text, ContainsSubstring("instrumented_test.cu:") && ContainsSubstring(": const float value = in[i * stride];"));
    CHECK_THAT(text, ContainsSubstring("32 sectors/request (128 requests, 131 kB moved)"));
}

TEST_CASE("bank conflicts are found on the array that has them") {
    device_or_skip();
    CHECK_THAT(instrument_transpose<1>(), grading::NoBankConflicts());
    CHECK_THAT(instrument_transpose<1>(), grading::NoBankConflictsOn("tile"));
    CHECK_THAT(instrument_transpose<1>(), grading::BarriersAtMost(1));
    const grading::Instrumented conflicting = instrument_transpose<0>();
    if (!conflicting.countable) SKIP("only the CPU device counts");
    CHECK_THAT(refusal(grading::NoBankConflictsOn("tile"), conflicting),
               ContainsSubstring("992 bank conflicts on tile") &&
                   ContainsSubstring(": out[threadIdx.y * kSide + threadIdx.x]") &&
                   ContainsSubstring("992 conflicts: 32 wavefronts for each of 32 requests"));
    CHECK_THAT(refusal(grading::BarriersAtMost(0), conflicting), ContainsSubstring("__syncthreads();"));
}

TEST_CASE("barriers that only the last warps reach count as much as those of all") {
    device_or_skip();
    DeviceBuffer<float> d_values(std::vector<float>(512, 0.0f));
    const grading::Instrumented instrumented =
        grading::instrument([&] { leave_round_by_round<<<2, 256>>>(d_values.data()); });
    CHECK_THAT(instrumented, grading::BarriersAtMost(4));
    if (!instrumented.countable) SKIP("only the CPU device counts");
    REQUIRE(instrumented.launches.size() == 1);
    CHECK(instrumented.launches[0].barriers_per_warp() == (8 + 4 + 2 + 1) / 8.0);
    CHECK_THAT(refusal(grading::BarriersAtMost(3), instrumented),
               ContainsSubstring("a warp of leave_round_by_round passes 4 barriers, at most 3 allowed"));
}

TEST_CASE("a restrict pointer to an array that another one changes is reported") {
    device_or_skip();
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    DeviceBuffer<float> d_in(std::vector<float>(32, 1.0f)), d_out(32);
    const auto found = [](const auto& launches) {
        const grading::Instrumented instrumented = grading::instrument(launches);
        warpwise::forget_diagnostics(instrumented.diagnostics);
        std::vector<std::string> texts;
        for (const auto& diagnostic : instrumented.diagnostics) {
            CHECK(diagnostic.kind == "broken_restrict");
            texts.push_back(diagnostic.text);
        }
        return texts;
    };
    if (!warpwise::can_instrument()) SKIP("only the CPU device looks for errors");
    CHECK(found([&] { scale<<<1, 32>>>(d_in.data(), d_out.data()); }).empty());
    CHECK(found([&] { scale_in_any_order<<<1, 32>>>(d_in.data(), d_in.data()); }).empty());
    CHECK(found([&] { add<<<1, 32>>>(d_in.data(), d_in.data(), d_out.data()); }).empty());  // nobody changes `in`
    const std::vector<std::string> in_place = found([&] { scale<<<1, 32>>>(d_in.data(), d_in.data()); });
    REQUIRE(in_place.size() == 1);
    CHECK_THAT(in_place[0], ContainsSubstring("'in' and 'out' of scale are the same array") &&
                                ContainsSubstring("'in' is __restrict__"));
    CHECK(found([&] { add<<<1, 32>>>(d_in.data(), d_out.data(), d_out.data()); }).size() == 1);  // once, for both
}

template <class Kernel>
std::vector<std::string> names_of_launch(Kernel kernel) {
    const DeviceBuffer<float> d_in(std::vector<float>(kSide * kSide, 1.0f));
    DeviceBuffer<float> d_out(kSide * kSide);
    const grading::Instrumented instrumented =
        grading::instrument([&] { kernel<<<1, dim3(kSide, kSide)>>>(d_in.data(), d_out.data()); });
    if (!instrumented.countable) return {};
    REQUIRE(instrumented.launches.size() == 1);
    std::vector<std::string> names = {instrumented.launches[0].kernel};
    for (const auto& array : instrumented.launches[0].arrays) names.push_back(array.name);
    return names;
}

// A function that is called like the kernel that it launches.
void shuffle_once(DeviceBuffer<float>& values) { shuffle_once<<<1, 32>>>(values.data()); }

TEST_CASE("a kernel that is launched through a variable has its own name, and so have its arrays") {
    device_or_skip();
    const std::vector<std::string> names = names_of_launch(transpose_tile<1>);
    if (names.empty()) SKIP("only the CPU device counts");
    CHECK(names.front() == "transpose_tile<1>");
    CHECK(std::set(names.begin() + 1, names.end()) == std::set<std::string>{"in", "tile", "out"});
    CHECK(names_of_launch(&transpose_tile<0>).front() == "transpose_tile<0>");
    DeviceBuffer<float> d_values(std::vector<float>(32, 1.0f));
    CHECK(grading::instrument([&] { shuffle_once(d_values); }).launches.at(0).kernel == "shuffle_once");
}

TEST_CASE("lanes, atomics and launches are counted") {
    device_or_skip();
    const DeviceBuffer<float> d_in(std::vector<float>(64, 1.0f));
    DeviceBuffer<float> d_sum(std::vector<float>(1, 0.0f));
    const grading::Instrumented instrumented = grading::instrument([&] {
        sum_with_atomics<<<1, 64>>>(d_in.data(), d_sum.data());
        sum_with_atomics<<<1, 8>>>(d_in.data(), d_sum.data());
    });
    CHECK_THAT(instrumented, grading::AtomicsAtMost(72));
    CHECK_THAT(instrumented, grading::LaunchesAtMost(2));
    CHECK_THAT(instrumented, grading::ActiveLanesAtLeast(8));
    if (!instrumented.countable) SKIP("only the CPU device counts");
    CHECK_THAT(refusal(grading::AtomicsAtMost(2), instrumented),
               ContainsSubstring("72 atomic operations") && ContainsSubstring("69 of them wait"));
    CHECK_THAT(refusal(grading::LaunchesAtMost(1), instrumented), ContainsSubstring("2 launches"));
    CHECK_THAT(refusal(grading::ActiveLanesAtLeast(28), instrumented), ContainsSubstring("24 of 32 lanes"));
}

TEST_CASE("counts of a sample of the blocks are scaled up") {
    device_or_skip();
    if (!warpwise::can_instrument()) SKIP("only the CPU device counts");
    const int n = 256 * 64;
    const DeviceBuffer<float> d_in(std::vector<float>(n, 1.0f));
    DeviceBuffer<float> d_out(n);
    const std::vector<warpwise::LaunchCounts> launches = warpwise::count_launches(
        [&] { copy_strided<<<64, 256>>>(d_in.data(), d_out.data(), n, 1); }, {.blocks = 16, .lines = false});
    REQUIRE(launches.size() == 1);
    CHECK(launches[0].instrumented_blocks == 16);
    CHECK(launches[0].lines.empty());
    CHECK(warpwise::sum_of(launches).global_load.requests == n / 32);
}

TEST_CASE("a trace has what each warp of the first block did in its order") {
    device_or_skip();
    const DeviceBuffer<float> in(4 * kSide * kSide);
    const DeviceBuffer<float> out(4 * kSide * kSide);
    const auto trace_of = [](const auto& launch) {
        const std::vector<warpwise::LaunchCounts> counted = warpwise::count_launches(launch, {.traced_blocks = 1});
        return counted.empty() ? nlohmann::json() : warpwise::parse_json<nlohmann::json>(counted.front().trace);
    };
    const auto kinds = [](const nlohmann::json& warp) {
        std::string text;
        for (const nlohmann::json& event : warp["events"]) {
            if (event["kind"] != "step") text += event["kind"].get<std::string>() + " ";
        }
        return text;
    };
    const auto find = [](const nlohmann::json& warp, const char* kind) {
        for (const nlohmann::json& event : warp["events"]) {
            if (event["kind"] == kind) return event;
        }
        return nlohmann::json();
    };

    nlohmann::json trace =
        trace_of([&] { transpose_tile<0><<<4, dim3(kSide, kSide)>>>(in.data(), const_cast<float*>(out.data())); });
    if (!warpwise::can_instrument()) {
        CHECK(trace.is_null());
        SKIP("only the CPU device keeps traces");
    }
    REQUIRE(trace["warps"].size() == 32);
    const nlohmann::json& fourth = trace["warps"][3];
    CHECK(fourth["block"] == nlohmann::json{0, 0, 0});
    CHECK(fourth["warp"] == 3);
    CHECK(fourth["threads"] == 32);
    CHECK(fourth["cut"] == false);
    CHECK(kinds(fourth) == "global_load shared_store barrier shared_load global_store ");
    const nlohmann::json load = find(fourth, "global_load");
    CHECK(load["first"] == 3 * 128);
    CHECK(load["stride"] == 4);
    CHECK(load["sectors"] == 4);
    CHECK(trace["arrays"][load["array"].get<int>()]["space"] == "global");
    const nlohmann::json column = find(fourth, "shared_load");
    CHECK(column["first"] == 3 * 4);
    CHECK(column["stride"] == 128);
    CHECK(column["wavefronts"] == 32);
    CHECK(column["least_wavefronts"] == 1);
    const nlohmann::json& tile = trace["arrays"][column["array"].get<int>()];
    CHECK(tile["name"] == "tile");
    CHECK(tile["space"] == "shared");
    CHECK(tile["bytes"] == 4096);
    const std::string file = trace["files"][load["file"].get<int>()];
    CHECK_THAT(file, ContainsSubstring("instrumented_test.cu"));
    CHECK(find(fourth, "barrier")["line"].get<int>() == load["line"].get<int>() + 1);

    // The last warp is not full, and of it only some lanes go on.
    trace = trace_of([&] { copy_strided<<<1, 48>>>(in.data(), const_cast<float*>(out.data()), 40, 3); });
    REQUIRE(trace["warps"].size() == 2);
    const nlohmann::json& last = trace["warps"][1];
    CHECK(last["threads"] == 16);
    CHECK(last["events"][0]["kind"] == "step");
    CHECK(last["events"][0]["lanes"] == "0000ffff");
    CHECK(find(last, "global_load")["lanes"] == "000000ff");
    CHECK(find(last, "global_load")["first"] == 32 * 3 * 4);
}

TEST_CASE("ldmatrix is one request, with the bank conflicts of its rows") {
    device_or_skip();
    DeviceBuffer<unsigned> out(32);
    const auto shared_loads = [&](auto kernel) {
        const auto counted = warpwise::count_launches([&] { kernel<<<1, 32>>>(out.data()); }, {});
        return counted.front().total.shared_load;
    };
    if (!warpwise::can_instrument()) SKIP("only the CPU device counts");
    const auto close = shared_loads(load_rows<16>);
    CHECK(close.requests == 1);
    CHECK(close.lanes == 32);
    CHECK(close.wavefronts == 4);
    CHECK(close.least_wavefronts == 4);
    const auto in_one_bank = shared_loads(load_rows<128>);
    CHECK(in_one_bank.requests == 1);
    CHECK(in_one_bank.wavefronts == 32);
    CHECK(in_one_bank.least_wavefronts == 4);
    const auto padded = shared_loads(load_rows<144>);
    CHECK(padded.wavefronts == 4);
    const auto one_matrix = shared_loads(load_eight_rows);
    CHECK(one_matrix.requests == 1);
    CHECK(one_matrix.lanes == 8);
    CHECK(one_matrix.wavefronts == 1);
}

TEST_CASE("a warp that does more than is kept has a trace that is cut") {
    device_or_skip();
    DeviceBuffer<float> values(64);
    const std::vector<warpwise::LaunchCounts> counted =
        warpwise::count_launches([&] { add_many_times<<<1, 32>>>(values.data(), 1000); }, {.traced_blocks = 1});
    if (!warpwise::can_instrument()) SKIP("only the CPU device keeps traces");
    const nlohmann::json trace = warpwise::parse_json<nlohmann::json>(counted.front().trace);
    CHECK(trace["warps"][0]["cut"] == true);
    CHECK(trace["warps"][0]["events"].size() > 100);
    CHECK(counted.front().total.global_load.requests == 1000);
}

TEST_CASE("a grader sees what each warp did, operation by operation") {
    device_or_skip();
    const DeviceBuffer<float> in(4 * kSide * kSide);
    const DeviceBuffer<float> out(kSide * kSide);
    const std::vector<grading::WarpTrace> warps = grading::trace_warps(
        [&] {
            transpose_tile<0><<<4, dim3(kSide, kSide)>>>(in.data(), const_cast<float*>(out.data()));
            copy_strided<<<1, 48>>>(in.data(), const_cast<float*>(out.data()), 40, 3);
        },
        {.blocks = 2});
    if (!warpwise::can_instrument()) {
        CHECK(warps.empty());
        SKIP("only the CPU device keeps traces");
    }
    using Kind = grading::WarpEvent::Kind;
    REQUIRE(warps.size() == 2 * 32 + 2);
    const grading::WarpTrace& fourth = warps[3];
    CHECK(fourth.launch == 0);
    CHECK(fourth.warp == 3);
    CHECK(fourth.threads == 32);
    CHECK_FALSE(fourth.cut);
    std::vector<Kind> kinds;
    for (const grading::WarpEvent& event : fourth.events) kinds.push_back(event.kind);
    CHECK(kinds ==
          std::vector{Kind::global_load, Kind::shared_store, Kind::barrier, Kind::shared_load, Kind::global_store});
    CHECK(fourth.events[0].array == "in");
    CHECK(fourth.events[0].array_bytes == in.bytes());
    CHECK(fourth.events[0].bytes == 4);
    REQUIRE(fourth.events[0].lanes.size() == 32);
    CHECK(fourth.events[0].lanes[5] == std::pair<unsigned, std::int64_t>{5, 3 * 128 + 5 * 4});
    CHECK(fourth.events[3].array == "tile");
    CHECK(fourth.events[3].lanes[5].second == 3 * 4 + 5 * 128);
    CHECK(fourth.events[4].array_bytes == out.bytes());
    CHECK_THAT(grading::place_text(fourth.events[0]),
               ContainsSubstring("instrumented_test.cu:") && ContainsSubstring("tile[threadIdx.y][threadIdx.x] = in"));

    const grading::WarpTrace& last = warps.back();
    CHECK(last.launch == 1);
    CHECK(last.threads == 16);
    REQUIRE(last.events.size() == 2);
    CHECK(last.events[0].lanes.size() == 8);

    const std::vector<grading::WarpTrace> cut =
        grading::trace_warps([&] { add_many_times<<<1, 32>>>(const_cast<float*>(out.data()), 1000); }, {.events = 50});
    REQUIRE(cut.size() == 1);
    CHECK(cut[0].cut);
    CHECK(cut[0].events.size() <= 50);
    const std::vector<grading::WarpTrace> whole =
        grading::trace_warps([&] { add_many_times<<<1, 32>>>(const_cast<float*>(out.data()), 1000); });
    REQUIRE(whole.size() == 1);
    CHECK_FALSE(whole[0].cut);
    CHECK(whole[0].events.size() == 2000);
}

TEST_CASE("mistakes are told by their matchers, and not once more") {
    device_or_skip();
    if (!warpwise::can_instrument()) SKIP("only the CPU device looks for errors");
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    DeviceBuffer<float> d_values(std::vector<float>(64, 1.0f));
    const grading::Instrumented racing = grading::instrument([&] { add_without_barrier<<<1, 64>>>(d_values.data()); });
    CHECK_THAT(racing, grading::CleanMemory());
    CHECK_THAT(refusal(grading::NoRace("Is a barrier missing?"), racing),
               ContainsSubstring("shared") && ContainsSubstring("instrumented_test.cu") &&
                   ContainsSubstring("Is a barrier missing?"));
    CHECK_THAT(grading::finish(), grading::Succeeds());  // nothing left to tell

    const grading::Instrumented outside =
        grading::instrument([&] { read_past_the_end<<<1, 64>>>(d_values.data(), d_values.data(), 64); });
    CHECK_THAT(outside, grading::NoRace());
    CHECK_FALSE(grading::finish().diagnostics.empty());  // not asked for by its matcher: told here
    CHECK_FALSE(grading::CleanMemory().match(outside));
    grading::forget_diagnostics();
}

__global__ void use_the_heap(float* out) {
    auto* own = static_cast<float*>(malloc(4 * sizeof(float)));
    if (own == nullptr) return;
    for (int i = 0; i < 4; ++i) own[i] = static_cast<float>(i);
    out[threadIdx.x] = own[3];
    free(own);
}

struct Place {
    float x, y, z;
};

/// The second tile is loaded while others still look at the first.
__global__ void look_at_tiles(const Place* places, float* out, int tiles) {
    __shared__ Place tile[64];
    float sum = 0;
    for (int first = 0; first < tiles * 64; first += 64) {
        tile[threadIdx.x] = places[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; ++k) sum += tile[k].x * tile[k].y + tile[k].z;
    }
    out[threadIdx.x] = sum;
}

/// The same with single floats, and as many loads in between as are asked for.
__global__ void overwrite_what_others_read(const float* in, float* out, int loads) {
    __shared__ float shared[64];
    shared[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float sum = shared[63 - threadIdx.x];
    for (int i = 0; i < loads; ++i) sum += in[i * 64 + threadIdx.x];
    shared[threadIdx.x] = sum + 1;
    out[threadIdx.x] = sum;
}

TEST_CASE("a race is found wherever counting stops the threads in between") {
    if (!warpwise::can_instrument()) SKIP("only the CPU device looks for errors");
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    std::vector<Place> places(192);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = {static_cast<float>(i), 1, 2};
    DeviceBuffer<Place> d_places(places);
    DeviceBuffer<float> d_in(std::vector<float>(64 * 150, 1.0f));
    DeviceBuffer<float> d_out(64);
    for (const bool counters : {false, true}) {
        const warpwise::Instrumentation both({.counters = counters, .diagnostics = true});
        const auto races = [&](const auto& launch) {
            const std::vector<warpwise::Diagnostic> diagnostics = warpwise::diagnostics_during(launch);
            warpwise::forget_diagnostics(diagnostics);
            std::size_t count = 0;
            for (const warpwise::Diagnostic& diagnostic : diagnostics) count += diagnostic.kind == "data_race";
            return count;
        };
        INFO("counters " << counters);
        CHECK(races([&] { look_at_tiles<<<1, 64>>>(d_places.data(), d_out.data(), 2); }) > 0);
        CHECK(races([&] { look_at_tiles<<<1, 64>>>(d_places.data(), d_out.data(), 1); }) == 0);
        for (int loads = 0; loads < 150; ++loads) {
            INFO(loads << " loads");
            CHECK(races([&] { overwrite_what_others_read<<<1, 64>>>(d_in.data(), d_out.data(), loads); }) > 0);
        }
    }
}

__global__ void write_far_away(float* out, std::size_t step) {
    out[threadIdx.x * step] = static_cast<float>(threadIdx.x);
}

TEST_CASE("a write far outside of everything ends the kernel, and not the program") {
    if (!warpwise::can_instrument()) SKIP("only the CPU device looks for errors");
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    for (std::size_t step = 1 << 12; step <= 1 << 22; step *= 2) {
        INFO("a step of " << step << " floats");
        float* d_out = nullptr;
        REQUIRE(cudaMalloc(&d_out, 64 * sizeof(float)) == cudaSuccess);
        cudaError_t error = cudaSuccess;
        const std::vector<warpwise::Diagnostic> diagnostics = warpwise::diagnostics_during([&] {
            write_far_away<<<1, 64>>>(d_out, step);
            error = cudaDeviceSynchronize();
        });
        warpwise::forget_diagnostics(diagnostics);
        CHECK(error == cudaErrorIllegalAddress);
        CHECK_FALSE(diagnostics.empty());
        cudaDeviceReset();  // after a kernel has died, nothing else can be done
    }
}

TEST_CASE("what a kernel takes from the heap is its own memory") {
    device_or_skip();
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    DeviceBuffer<float> d_out(64);
    const grading::Instrumented instrumented = grading::instrument([&] { use_the_heap<<<1, 64>>>(d_out.data()); });
    CHECK_THAT(instrumented, grading::CleanMemory());
    CHECK(d_out.download() == std::vector<float>(64, 3.0f));
}

TEST_CASE("an error that a call has returned is shown with the call and its line") {
    if (!warpwise::can_instrument()) SKIP("only the CPU device knows the lines of calls");
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    grading::forget_diagnostics();
    DeviceBuffer<float> d_rows(64);
    const std::vector<float> rows(64);
    const auto place_of = [](int line) { return "cudaMemcpy2D in instrumented_test.cu:" + std::to_string(line); };
    const auto copy_rows = [&](std::size_t pitch) {
        return cudaMemcpy2D(d_rows.data(), pitch, rows.data(), 32, 32, 2, cudaMemcpyHostToDevice);
    };
    const int line = __LINE__ - 2;

    const grading::Succeeds one{};
    CHECK_FALSE(one.match(copy_rows(8)));
    CHECK_THAT(one.describe(),
               ContainsSubstring("\n" + place_of(line) + " returned this error:  return cudaMemcpy2D(") &&
                   ContainsSubstring("Which of the pitches"));
    cudaGetLastError();

    // The program has dropped the status.
    (void)copy_rows(8);
    const grading::Outcome outcome = grading::finish();
    CHECK(outcome.status == cudaErrorInvalidPitchValue);
    CHECK_THAT(Catch::Detail::stringify(outcome), ContainsSubstring(place_of(line)));
    const grading::Succeeds all{};
    CHECK_FALSE(all.match(outcome));
    CHECK_THAT(all.describe(), ContainsSubstring("Which of the pitches"));

    // A copy that is too long is a diagnostic as well, and the status alone does not hide it.
    const grading::Succeeds told{};
    CHECK_FALSE(told.match(copy_rows(1024)));
    CHECK_THAT(told.describe(), ContainsSubstring("out of bounds: cudaMemcpy2D") &&
                                    ContainsSubstring("instrumented_test.cu:" + std::to_string(line)) &&
                                    ContainsSubstring("hint: "));
    cudaGetLastError();
    CHECK_THAT(grading::finish(), grading::Succeeds());
}

__global__ void write_together(float* out) { out[0] = static_cast<float>(threadIdx.x); }

TEST_CASE("mistakes of several launches can be forgotten") {
    if (!warpwise::can_instrument()) SKIP("only the CPU device looks for errors");
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    DeviceBuffer<float> d_out(1);
    const std::vector<warpwise::Diagnostic> found = warpwise::diagnostics_during([&] {
        for (int launch = 0; launch < 3; ++launch) write_together<<<1, 32>>>(d_out.data());
    });
    CHECK_FALSE(found.empty());
    warpwise::forget_diagnostics(found);
    CHECK(warpwise::take_diagnostics().empty());
}

#ifdef __CPU_DEVICE__
__global__ void never_end() {
    while (true) {
    }
}

TEST_CASE("an instrumented kernel is stopped that says nothing and never ends") {
    const warpwise::Instrumentation instrumenting({.counters = true, .diagnostics = true});
    cpu_device::set_watchdog_seconds(0.3);
    never_end<<<2, 64>>>();
    cpu_device::set_watchdog_seconds(20);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    const std::vector<warpwise::Diagnostic> found = warpwise::take_diagnostics();
    REQUIRE(found.size() == 1);
    CHECK(found.front().kind == "endless_kernel");
    CHECK(cudaDeviceReset() == cudaSuccess);
}

__device__ float half_of(float x) { return x * 0.5f; }

constexpr int line_of_endless_loop = __LINE__ + 4;
__global__ void never_advance(const float* in, float* out, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;) {
        out[i] = half_of(in[i]);
        (void)stride;
    }
}

TEST_CASE("an instrumented kernel that never ends is stopped in its loop, and not at its launch") {
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    float *in = nullptr, *out = nullptr;  // freed by cudaDeviceReset
    REQUIRE(cudaMalloc(&in, 256 * sizeof(float)) == cudaSuccess);
    REQUIRE(cudaMalloc(&out, 256 * sizeof(float)) == cudaSuccess);
    REQUIRE(cudaMemset(in, 0, 256 * sizeof(float)) == cudaSuccess);
    cpu_device::set_watchdog_seconds(0.3);
    never_advance<<<2, 64>>>(in, out, 256);
    cpu_device::set_watchdog_seconds(20);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    const std::vector<warpwise::Diagnostic> found = warpwise::take_diagnostics();
    REQUIRE(found.size() == 1);
    CHECK(found.front().kind == "endless_kernel");
    const auto place = [](int line) { return "instrumented_test.cu:" + std::to_string(line) + ":"; };
    CHECK((found.front().text.find(place(line_of_endless_loop)) != std::string::npos ||
           found.front().text.find(place(line_of_endless_loop - 1)) != std::string::npos));
    CHECK(cudaDeviceReset() == cudaSuccess);
}
#endif

// ---- lessons -----------------------------------------------------------------------------------------------------

namespace {

struct Copy {
    explicit Copy(const warpwise::Size& size)
        : count(static_cast<int>(size[0])), d_in(std::vector<float>(8 * size[0], 1.0f)), d_out(size[0]) {}
    void poison() { d_out.fill_bytes(0xFF); }
    warpwise::Comparison compare() {
        return warpwise::compare_each(d_out.download(), d_out.size(), [](std::size_t) { return 1.0; });
    }
    warpwise::Work work() const { return {.bytes = 8.0 * count, .operations = 0}; }
    static std::size_t device_bytes(const warpwise::Size& size) { return 9 * sizeof(float) * size[0]; }

    void copy(int stride) { copy_strided<<<(count + 255) / 256, 256>>>(d_in.data(), d_out.data(), count, stride); }

    int count;
    DeviceBuffer<float> d_in;
    DeviceBuffer<float> d_out;
};

std::optional<warpwise::Counts> counted_by_lesson;

void copies(warpwise::Lesson& lesson) {
    lesson.steps<Copy>({.gpu = {1 << 17}, .cpu = {1 << 17}, .awkward = {{1}, {33}}},
                       {{"fill", "a loop on the host",
                         [](Copy& problem) { problem.d_out.upload(std::vector<float>(problem.d_out.size(), 1.0f)); },
                         warpwise::StepKind::host},
                        {"strided", "eight floats apart", [](Copy& problem) { problem.copy(8); }},
                        {"neighbors", "side by side", [](Copy& problem) { problem.copy(1); }}});
    Copy problem({1024});
    counted_by_lesson = lesson.count([&] { problem.copy(8); });
}

void races(warpwise::Lesson& lesson) {
    lesson.steps<Copy>({.gpu = {64}, .cpu = {64}}, {{"racing", "no barrier", [](Copy& problem) {
                                                         problem.copy(1);
                                                         add_without_barrier<<<1, 64>>>(problem.d_out.data());
                                                     }}});
}

const warpwise::Chapter chapter = {
    8, "Instrumented", "8_instrumented", {{"copies", "two copies", copies}, {"races", "a race", races}}};

struct Captured {
    int status;
    std::string out;
    nlohmann::json json;
};

Captured run(std::vector<std::string> arguments) {
    const warpwise::TemporaryFile out;
    const warpwise::TemporaryFile json;
    arguments.insert(arguments.begin(), {"8_instrumented", "--json", json.path(), "--device",
                                         warpwise::Lesson::on_gpu() ? "cuda" : "cpu"});
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    std::FILE* file = std::fopen(out.path().c_str(), "w");
    dup2(fileno(file), STDOUT_FILENO);
    std::fclose(file);
    const int status = warpwise::run_chapter(static_cast<int>(arguments.size()), argv.data(), chapter);
    std::fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    return {status, out.read(), warpwise::json_or_discarded<nlohmann::json>(json.read())};
}

// Running text without the line breaks of the terminal's width, which move when a number in it has another digit.
std::string words_of(const std::string& text) {
    std::string words;
    std::istringstream stream(text);
    for (std::string word; stream >> word;) words += (words.empty() ? "" : " ") + word;
    return words;
}

}  // namespace

TEST_CASE("a lesson's table shows the counters of its steps") {
    device_or_skip();
    const Captured captured = run({"copies"});
    CHECK(captured.status == 0);
    CHECK(counted_by_lesson.has_value() == warpwise::can_instrument());
    if (!warpwise::can_instrument()) SKIP("only the CPU device counts");
    CHECK(counted_by_lesson->global_load.sectors_per_request() == 32);
    CHECK_THAT(captured.out, ContainsSubstring("sectors/ld  sectors/st    moved"));
    CHECK_THAT(captured.out, ContainsSubstring("    32 of 4      4 of 4  4.72 MB"));
    CHECK_THAT(captured.out, ContainsSubstring("     4 of 4      4 of 4  1.05 MB"));
    CHECK(captured.out.find("~ limited by") == std::string::npos);
    const Captured estimated = run({"copies", "--gpu-model", "H200"});
    CHECK_THAT(estimated.out, ContainsSubstring("~ H200 time"));
    CHECK_THAT(estimated.out, ContainsSubstring("~ limited by"));
    CHECK_THAT(captured.out, ContainsSubstring("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"));
    CHECK_THAT(words_of(captured.out),
               ContainsSubstring("a sample of 256 blocks of each launch (the largest has 512)"));
    // There is no plain program beside this one, so that nothing times host code: no column, and no word about it.
    CHECK(captured.out.find("time (host)") == std::string::npos);
    CHECK(captured.out.find("not timed") == std::string::npos);

    const nlohmann::json& steps = captured.json["lessons"][0]["steps"];
    CHECK(steps[0]["launches"].is_null());
    const nlohmann::json& launch = steps[1]["launches"][0];
    CHECK(launch["kernel"] == "copy_strided");
    CHECK(launch["blocks"] == 512);
    CHECK(launch["instrumented_blocks"] == 256);
    CHECK(launch["counters"]["global_load"]["requests"] == 256 * 8);
    CHECK(launch["counters"]["global_load"]["sectors"] == 256 * 8 * 32);
    CHECK(launch["counters"]["global_load"]["needed_sectors"] == 256 * 8 * 4);
    CHECK(launch["registers"].is_null());  // nobody said how many
    CHECK(launch["occupancy"] == 1);       // and block and shared memory set no limit
    CHECK_FALSE(launch["lines"].empty());
    CHECK(launch["arrays"].size() >= 2);
}

TEST_CASE("options choose how kernels are counted") {
    device_or_skip();
    if (!warpwise::can_instrument()) SKIP("only the CPU device counts");
    const Captured all = run({"copies", "--all-blocks", "--registers", "128"});
    CHECK(all.out.find("a sample of") == std::string::npos);
    const nlohmann::json& launch = all.json["lessons"][0]["steps"][1]["launches"][0];
    CHECK(launch["instrumented_blocks"] == 512);
    CHECK(launch["registers"] == 128);
    CHECK(launch["occupancy"] == 0.25);  // 65536 registers of an SM hold 512 of its 2048 threads
    const Captured none = run({"copies", "--no-counters"});
    CHECK(none.out.find("sectors/ld") == std::string::npos);
    CHECK(none.json["lessons"][0]["steps"][1]["launches"].is_null());
}

TEST_CASE("the lines of a kernel are shown with their counts") {
    device_or_skip();
    if (!warpwise::can_instrument()) SKIP("only the CPU device counts");
    const Captured captured = run({"copies", "--lines", "--step", "strided"});
    CHECK_THAT(captured.out, ContainsSubstring("Lines of step strided\n\nKernel copy_strided\n"));
    CHECK_THAT(captured.out, ContainsSubstring("__global__ void copy_strided(const float* in, float* out"));
    CHECK_THAT(captured.out, ContainsSubstring("    4096       32  4.19 MB  > "));
    CHECK_THAT(captured.out, ContainsSubstring("const float value = in[i * stride];"));
}

TEST_CASE("the traces of a lesson are written with their source") {
    device_or_skip();
    const warpwise::TemporaryFile file;
    CHECK(run({"copies", "--trace", file.path()}).status == 0);
    const nlohmann::json document = warpwise::json_or_discarded<nlohmann::json>(file.read());
    CHECK(document["warpwise_trace"] == 1);
    if (!warpwise::can_instrument()) {
        CHECK(document["launches"].empty());
        return;
    }
    const nlohmann::json& launch = document["launches"][0];
    CHECK(launch["kernel"] == "copy_strided");
    CHECK(launch["step"].is_string());
    const nlohmann::json& source = launch["files"][0];
    bool found = false;
    for (const nlohmann::json& event : launch["warps"][0]["events"]) {
        if (event["kind"] != "global_load") continue;
        const std::string line = source["lines"][event["line"].get<std::size_t>() - source["first"].get<std::size_t>()];
        CHECK_THAT(line, ContainsSubstring("in[i * stride]"));
        found = true;
    }
    CHECK(found);
    CHECK(run({"copies", "--trace", file.path(), "--no-counters"}).status == 2);
    CHECK(run({"copies", "--trace", "/no/such/folder/trace.json"}).status == 2);
}

TEST_CASE("mistakes in a lesson's kernels are looked for when asked") {
    device_or_skip();
    if (!warpwise::can_instrument()) SKIP("only the CPU device looks for errors");
    const Captured checked = run({"races", "--diagnose"});
    CHECK(checked.status == 1);
    CHECK_THAT(checked.out, ContainsSubstring("error"));
    CHECK(checked.json["lessons"][0]["steps"][0]["diagnostics"][0]["kind"] == "data_race");
    const Captured sampled = run({"copies", "--diagnose"});
    CHECK(sampled.status == 0);
    CHECK_THAT(words_of(sampled.out),
               ContainsSubstring("Examined ") && ContainsSubstring("--all-blocks examines every block"));
}

// ---- who wrote and read what ---------------------------------------------------------------------------------------

namespace {

__global__ void add_one(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}

__global__ void add_one_alone(const float* in, float* out, int n) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < n; ++i) out[i] = in[i] + 1;
    }
}

__global__ void add_one_twice(const float* in, float* out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] += 1;
}

__global__ void set_bytes(unsigned char* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = static_cast<unsigned char>(i);
}

__global__ void copy_four(const float4* in, float4* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

__global__ void do_nothing() {}

template <class T, class Matcher>
std::string refusal_of(const Matcher& matcher, const grading::Guarded<T>& buffer) {
    CHECK_FALSE(matcher.match(buffer));
    return matcher.describe();
}

}  // namespace

TEST_CASE("an output counts as written by kernels only if they were the last to write it") {
    device_or_skip();
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    if (!warpwise::can_log()) SKIP("nobody sees who writes");
    constexpr int n = 1000;
    const grading::Guarded<float> d_in(std::vector<float>(n, 1.0f));
    grading::Guarded<float> d_out(n);

    grading::instrument([&] { add_one<<<4, 256>>>(d_in.data(), d_out.data(), n); });
    CHECK_THAT(d_out, grading::WrittenByKernels());
    CHECK_THAT(d_out, grading::WrittenByThreads(n));
    CHECK_THAT(d_out, grading::WrittenByThreads(2 * n));  // no more than there are elements
    CHECK_THAT(d_out, grading::WrittenByBlocks(4));
    CHECK_THAT(d_out, grading::WrittenOnce());
    CHECK_THAT(
        refusal_of(grading::WrittenByBlocks(5), d_out),
        ContainsSubstring("1000 threads of 4 blocks wrote the 1000 elements; the task asks for at least 5 blocks"));
    CHECK_THAT(d_in, grading::ReadByKernels());
    CHECK_THAT(d_in, grading::ReadByThreads(n));
    CHECK_THAT(d_in, grading::ReadByBlocks(4));
    CHECK_THAT(refusal_of(grading::WrittenByKernels(), d_in),
               ContainsSubstring("all elements were not written by any kernel"));

    // The host does it all.
    const std::vector<float> result(n, 2.0f);
    grading::instrument([&] {
        do_nothing<<<1, 1>>>();
        cudaMemcpy(d_out.data(), result.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    });
    CHECK_THAT(refusal_of(grading::WrittenByKernels(), d_out),
               ContainsSubstring("all elements were copied from host memory"));
    CHECK_THAT(refusal_of(grading::ReadByKernels(), d_in),
               ContainsSubstring("all elements were not read by any kernel"));

    // A detour over other device memory changes nothing about that; the work of kernels stays theirs.
    DeviceBuffer<float> d_other(n);
    grading::instrument([&] {
        cudaMemcpy(d_other.data(), result.data(), n * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemcpy(d_out.data(), d_other.data(), n * sizeof(float), cudaMemcpyDeviceToDevice);
    });
    CHECK_FALSE(grading::WrittenByKernels().match(d_out));
    grading::instrument([&] {
        add_one<<<4, 256>>>(d_in.data(), d_other.data(), n);
        cudaMemcpy(d_out.data(), d_other.data(), n * sizeof(float), cudaMemcpyDeviceToDevice);
    });
    CHECK_THAT(d_out, grading::WrittenByThreads(n));
    grading::instrument([&] {
        add_one<<<4, 256>>>(d_in.data(), d_out.data(), n);
        std::vector<float> back(n);
        cudaMemcpy(back.data(), d_out.data(), n * sizeof(float), cudaMemcpyDeviceToHost);
        cudaMemcpy(d_out.data(), back.data(), 4 * sizeof(float), cudaMemcpyHostToDevice);
    });
    CHECK_THAT(refusal_of(grading::WrittenByKernels(), d_out),
               ContainsSubstring("elements 0 to 3 (4 of 1000) were copied"));

    grading::instrument([&] { cudaMemset(d_out.data(), 0, n * sizeof(float)); });
    CHECK_THAT(refusal_of(grading::WrittenByKernels(), d_out), ContainsSubstring("last set by cudaMemset"));
    CHECK(grading::finish().diagnostics.empty());
}

TEST_CASE("one thread that does everything is told from many") {
    device_or_skip();
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    if (!warpwise::can_log()) SKIP("nobody sees who writes");
    constexpr int n = 100;
    const grading::Guarded<float> d_in(std::vector<float>(n, 1.0f));
    grading::Guarded<float> d_out(n);
    grading::instrument([&] { add_one_alone<<<4, 32>>>(d_in.data(), d_out.data(), n); });
    CHECK_THAT(d_out, grading::WrittenByKernels());
    CHECK_THAT(refusal_of(grading::WrittenByThreads(32), d_out),
               ContainsSubstring("1 thread of 1 block wrote the 100 elements; the task asks for at least 32 threads"));
    CHECK_THAT(refusal_of(grading::ReadByThreads(32), d_in), ContainsSubstring("1 thread of 1 block read"));

    grading::instrument([&] { add_one_twice<<<1, 32>>>(d_in.data(), d_out.data(), n); });
    CHECK_THAT(d_out, grading::WrittenByThreads(32));
    CHECK_THAT(refusal_of(grading::WrittenOnce(), d_out), ContainsSubstring("written more than once, up to 2 times"));

    grading::Guarded<unsigned char> d_bytes(n);
    grading::instrument([&] { set_bytes<<<4, 32>>>(d_bytes.data(), n); });
    CHECK_THAT(d_bytes, grading::WrittenByKernels());
    CHECK_THAT(d_bytes, grading::WrittenByThreads(n / 4));  // the last of each four counts
    grading::instrument([&] { set_bytes<<<4, 32>>>(d_bytes.data(), n - 1); });
    CHECK_THAT(refusal_of(grading::WrittenByKernels(), d_bytes), ContainsSubstring("element 99 (1 of 100)"));

    const std::vector<grading::ElementActivity> activity = grading::activity_of(d_bytes);
    CHECK(activity[40].written_by == warpwise::KernelThread{1, 1, 11});
}

TEST_CASE("inputs end at memory that no kernel may touch") {
    device_or_skip();
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    if (!warpwise::is_diagnosing()) SKIP("nobody sees where kernels go");
    // Where an end is that of a page, going on from there ends the kernel, too.
    for (const int n : {1, 31, 63, 300, 500}) {
        const grading::Guarded<float> d_in(std::vector<float>(static_cast<std::size_t>(n), 1.0f));
        grading::Guarded<float> d_out(static_cast<std::size_t>(n) + 1);
        CHECK(reinterpret_cast<std::uintptr_t>(d_in.data()) % 256 == 0);
        copy_strided<<<(n + 1 + 255) / 256, 256>>>(d_in.data(), d_out.data(), n, 1);
        CHECK(grading::finish().diagnostics.empty());
        copy_strided<<<(n + 1 + 255) / 256, 256>>>(d_in.data(), d_out.data(), n + 1, 1);
        CHECK_THAT(grading::finish().diagnostics, ContainsSubstring("reads") && !ContainsSubstring("grading.cpp"));
        copy_strided<<<1, 32>>>(d_in.data() - 1, d_out.data(), 1, 1);
        CHECK_THAT(grading::finish().diagnostics, ContainsSubstring("reads"));
    }
    const grading::Guarded<float> d_in(64), d_none(0);
    grading::Guarded<float> d_out(64);
    copy_four<<<1, 16>>>(reinterpret_cast<const float4*>(d_in.data()), reinterpret_cast<float4*>(d_out.data()), 16);
    CHECK(grading::finish().diagnostics.empty());
    CHECK(d_none.data() != nullptr);
}

TEST_CASE("any access width is efficient when neighbors use neighboring elements") {
    device_or_skip();
    const grading::Guarded<float> d_in(std::vector<float>(4096, 1.0f));
    grading::Guarded<float> d_out(4096);
    const auto efficiency = [&](auto launch) {
        const grading::Instrumented instrumented = grading::instrument(launch);
        return instrumented.countable ? warpwise::sum_of(instrumented.launches).global_load.sector_efficiency() : -1;
    };
    if (efficiency([&] { add_one<<<16, 256>>>(d_in.data(), d_out.data(), 4096); }) < 0) SKIP("nothing is counted");
    CHECK(efficiency([&] { add_one<<<16, 256>>>(d_in.data(), d_out.data(), 4096); }) == 1);
    CHECK(efficiency([&] {
              copy_four<<<4, 256>>>(reinterpret_cast<const float4*>(d_in.data()),
                                    reinterpret_cast<float4*>(d_out.data()), 1024);
          }) == 1);
    CHECK(efficiency([&] { add_one<<<1, 32>>>(d_in.data() + 1, d_out.data(), 32); }) == 0.8);
    CHECK(efficiency([&] { add_one<<<1, 32>>>(d_in.data(), d_out.data(), 3); }) == 1);  // few lanes
    CHECK(efficiency([&] { copy_strided<<<1, 32>>>(d_in.data(), d_out.data(), 32, 8); }) == 0.125);
    CHECK(efficiency([&] { copy_strided<<<1, 32>>>(d_in.data(), d_out.data(), 32, 0); }) == 1);  // all the same
}

TEST_CASE("calls of the runtime API are logged in their order") {
    device_or_skip();
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    if (!warpwise::can_log()) SKIP("nobody logs");
    grading::Instrumented instrumented = grading::instrument([] {
        float* memory = nullptr;
        cudaMalloc(&memory, 64);
        cudaMemset(memory, 0, 64);
        do_nothing<<<1, 32>>>();
        float back[16];
        cudaMemcpy(back, memory, 64, cudaMemcpyDeviceToHost);
        cudaMemcpyAsync(memory, back, 32, cudaMemcpyHostToDevice);
        cudaEvent_t event;
        cudaEventCreate(&event);
        cudaDeviceSynchronize();
        cudaFree(memory);
    });
    std::vector<std::string> names;
    for (const warpwise::ApiCall& call : instrumented.calls) names.push_back(call.function);
    CHECK(names == std::vector<std::string>{"cudaMalloc", "cudaMemset", "<<<>>>", "cudaMemcpy", "cudaMemcpyAsync",
                                            "cudaEventCreate", "cudaDeviceSynchronize", "cudaFree"});
    CHECK(instrumented.calls[3].direction == "cudaMemcpyDeviceToHost");
    CHECK(instrumented.calls[3].bytes == 64);
    CHECK(instrumented.calls[4].bytes == 32);
    CHECK_THAT(refusal(grading::ReleasesWhatItMakes(), instrumented), ContainsSubstring("1 event made"));
    instrumented.calls.push_back({.function = "cudaMalloc"});
    instrumented.calls.push_back({.function = "cudaEventDestroy"});
    CHECK_THAT(refusal(grading::ReleasesWhatItMakes(), instrumented),
               ContainsSubstring("2 allocations of device memory made"));
    CHECK(grading::instrument([] {}).calls.empty());
}

TEST_CASE("calls are logged with their streams, and words with the copy that wrote them") {
    device_or_skip();
    const warpwise::Instrumentation instrumenting({.diagnostics = true});
    if (!warpwise::can_log()) SKIP("nobody logs");
    cudaStream_t stream;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    float* memory = nullptr;
    float* host = nullptr;
    REQUIRE(cudaMalloc(&memory, 256) == cudaSuccess);
    REQUIRE(cudaMallocHost(&host, 256) == cudaSuccess);
    std::fill(host, host + 64, 1.0f);
    const grading::Instrumented instrumented = grading::instrument([&] {
        cudaMemcpyAsync(memory, host, 256, cudaMemcpyHostToDevice, stream);
        add_many_times<<<1, 32, 0, stream>>>(memory, 1);
        cudaMemcpy2DAsync(host, 128, memory, 128, 128, 2, cudaMemcpyDeviceToHost, stream);
        cudaMemsetAsync(memory, 0, 4);
        cudaStreamSynchronize(stream);
    });
    REQUIRE(instrumented.calls.size() == 5);
    for (int i = 0; i < 3; ++i) CHECK(instrumented.calls[static_cast<std::size_t>(i)].stream == stream);
    CHECK(instrumented.calls[2].direction == "cudaMemcpyDeviceToHost");
    CHECK(instrumented.calls[2].bytes == 256);
    CHECK(instrumented.calls[3].stream == nullptr);
    CHECK(!instrumented.calls[0].waits);
    CHECK(instrumented.calls[4].waits);
    CHECK_THAT(refusal(grading::WaitsForNothing(), instrumented),
               ContainsSubstring("cudaStreamSynchronize was called"));
    const std::vector<warpwise::WordActivity> on_device = warpwise::activity_of(memory, 256);
    CHECK(on_device[0].copied_by == 0);  // cudaMemsetAsync
    CHECK(on_device[63].copied_by == 1);
    const std::vector<warpwise::WordActivity> on_host = warpwise::activity_of(host, 256);
    CHECK(on_host[0].copied_by == 3);
    CHECK(on_host[0].written_by.launch == 1);
    CHECK(on_host[63].copied_by == 3);
    CHECK(on_host[63].written_by.launch == 0);
    cudaFree(memory);
    cudaFreeHost(host);
    cudaStreamDestroy(stream);
}
