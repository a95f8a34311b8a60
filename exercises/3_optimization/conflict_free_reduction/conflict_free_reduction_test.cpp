#include "exercises/3_optimization/conflict_free_reduction/conflict_free_reduction.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"
#include "common/helpers/inputs.h"

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"3_optimization", "conflict_free_reduction"};

namespace {

constexpr std::size_t frame_size = 512;
constexpr int many = 64 * frame_size;  // samples, where costs are judged

// Whole numbers from -20 to 20: the energy of a frame is below 2^18, and exact in any order.
std::vector<float> recording(int count) {
    const std::vector<int> numbers = warpwise::uniform_integers(static_cast<std::size_t>(count), 31, -20, 20);
    return {numbers.begin(), numbers.end()};
}

// Checks the energies, and returns what the kernels did.
grading::Watched check_energies(int count) {
    INFO(count << " samples");
    const std::vector<float> samples = recording(count);
    std::vector<double> expected((samples.size() + frame_size - 1) / frame_size);
    for (std::size_t i = 0; i < samples.size(); ++i) expected[i / frame_size] += double{samples[i]} * samples[i];
    const grading::Guarded<float> d_samples(samples);
    grading::Guarded<float> d_energies(expected.size());
    grading::Watched watched = grading::watch([&] { frame_energies(d_samples.data(), count, d_energies.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_energies, grading::WrittenEverywhere("Does one thread of each block write a sum?"));
    CHECK_THAT(d_energies, grading::EqualTo(expected, "Is each of the 512 squares added once, and only once?"));
    CHECK_THAT(d_energies, grading::StaysInside("There is one energy a frame."));
    CHECK_THAT(d_samples, grading::Unchanged());
    return watched;
}

}  // namespace

TEST_CASE("adds up frames of 512 samples") {
    check_energies(512);
    check_energies(5 * 512);
}

TEST_CASE("handles a last frame that is short") {
    for (const int count : {1, 2, 31, 32, 33, 255, 256, 511, 513, 1009, 2049, 10007}) check_energies(count);
}

TEST_CASE("handles a recording without samples") { check_energies(0); }

// The last five rounds have no work for a whole warp in any answer.
TEST_CASE("lets 29 of 32 lanes work on average") {
    const std::string hint =
        "Do the threads that add stand side by side, so that the other warps are done with a look?";
    CHECK_THAT(check_energies(many), grading::ActiveLanesAtLeast(29, hint));
}

TEST_CASE("has no bank conflicts on the parts") {
    const std::string hint = "Which words do the 32 lanes of a warp want in a round? Word w is in bank w % 32.";
    CHECK_THAT(check_energies(512), grading::NoBankConflictsOn("part", hint));
    CHECK_THAT(check_energies(many), grading::NoBankConflictsOn("part", hint));
}

// A tree that leaves its last rounds to a warp takes 4, shuffles take 1.
TEST_CASE("passes at most five barriers") {
    const std::string hint = "How many waits does a round need? And who waits for whom when 64 parts are left?";
    CHECK_THAT(check_energies(many), grading::BarriersAtMost(5, hint));
}

TEST_CASE("still reads each sample once in whole sectors") {
    const std::string hint = "Each sample is read once, neighboring ones by neighboring threads.";
    const grading::Watched watched = check_energies(many);
    CHECK_THAT(watched, grading::SectorsPerRequestAtMost(4, grading::Accesses::loads, hint));
    CHECK_THAT(watched, grading::BytesMovedAtMost(1.5 * sizeof(float) * many, hint));
}

#ifndef __CPU_DEVICE__
// A copy moves twice the bytes. With idle lanes, conflicts and 18 barriers the sums set the pace, not the bytes.
TEST_CASE("takes less than three times as long as a copy of the samples") {
    constexpr int count = 1 << 26;
    const warpwise::DeviceBuffer<float> d_samples(recording(count));
    warpwise::DeviceBuffer<float> d_copy(count), d_energies(count / frame_size);
    const std::vector<warpwise::Timing> timings =
        warpwise::measure_in_turn({{[&] { frame_energies(d_samples.data(), count, d_energies.data()); }, false},
                                   {[&] {
                                        warpwise::check(cudaMemcpyAsync(d_copy.data(), d_samples.data(),
                                                                        d_samples.bytes(), cudaMemcpyDeviceToDevice));
                                    },
                                    false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double share = timings[0].median / timings[1].median;
    INFO("your kernel: " << timings[0].median * 1e6 << " us; a copy: " << timings[1].median * 1e6 << " us");
    INFO("What does a round cost that a warp has no work in? And a barrier for 16 warps?");
    CHECK(share <= 3.0);
}
#endif
