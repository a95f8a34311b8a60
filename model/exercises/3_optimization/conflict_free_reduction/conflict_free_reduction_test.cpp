#include "exercises/3_optimization/conflict_free_reduction/conflict_free_reduction.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

#ifndef __CPU_DEVICE__
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"3_optimization", "conflict_free_reduction"};

namespace {

constexpr std::size_t frame_size = 512;
constexpr int many = 64 * frame_size;      // samples, where costs are judged
constexpr std::size_t least_threads = 64;  // of a frame
constexpr std::size_t longest_chain =
    16;  // squares that a thread adds one after the other, where 64 threads work
constexpr double bytes_of_sector = 32;

// Magnitudes from 1/2 to 1, so that every square shows in its sum.
std::vector<float> recording(int count) {
    std::vector<float> samples = grading::random_floats(static_cast<std::size_t>(count));
    for (float& sample : samples)
        sample = std::copysign(0.5f + 0.5f * std::abs(sample), sample);
    return samples;
}

// Checks the energies, and returns what the kernels did.
grading::Instrumented check_energies(int count) {
    INFO(grading::counted(count, "sample"));
    const std::vector<float> samples = recording(count);
    std::vector<double> expected((samples.size() + frame_size - 1) / frame_size);
    std::vector<double> sums = expected;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        expected[i / frame_size] += double{samples[i]} * samples[i];
        sums[i / frame_size] += samples[i];
    }
    // Of a whole frame. Each product is rounded as well, by less than a sum that it goes
    // into.
    std::vector<float> squares;
    for (std::size_t i = 0; i < std::min(frame_size, samples.size()); ++i)
        squares.push_back(samples[i] * samples[i]);
    const grading::Guarded<float> d_samples(samples);
    grading::Guarded<float> d_energies(expected.size());
    grading::Instrumented instrumented = grading::instrument(
        [&] { frame_energies(d_samples.data(), count, d_energies.data()); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_energies, grading::WrittenEverywhere());
    CHECK_THAT(
        d_energies,
        grading::CloseTo(expected, grading::sum_tolerance_of(squares, longest_chain, 12))
            .when(grading::equals(sums),
                  "These are the sums of the samples, not of their squares.")
            .when(grading::times(0.5), "Half of the squares is missing. In which round?"));
    CHECK_THAT(d_energies, grading::StaysInside());
    CHECK_THAT(d_samples, grading::Unchanged());
    if (count > 0) {
        CHECK_THAT(d_energies, grading::WrittenByBlocks(expected.size()));
        CHECK_THAT(d_samples,
                   grading::ReadByThreads(least_threads * (samples.size() / frame_size)));
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    return instrumented;
}

}  // namespace

TEST_CASE("adds up frames of 512 samples") {
    check_energies(512);
    check_energies(5 * 512);
}

TEST_CASE("handles a last frame that is short") {
    const std::vector<std::size_t> counts = grading::sizes(
        {1, 2, 31, 32, 33, 255, 256, 511, 513, 1009, 2049, 10'007}, 4, 20'000);
    for (const std::size_t count : counts) check_energies(static_cast<int>(count));
}

TEST_CASE("handles a recording without samples") { check_energies(0); }

// The last five rounds have no work for a whole warp in any answer.
TEST_CASE("lets 29 of 32 lanes work on average") {
    const grading::Instrumented instrumented = check_energies(many);
    CHECK_THAT(instrumented, grading::ActiveLanesAtLeast(29));
}

TEST_CASE("has no bank conflicts on the parts") {
    for (const int count : {512, many}) {
        const grading::Instrumented instrumented = check_energies(count);
        CHECK_THAT(instrumented, grading::UsesSharedMemory());
        CHECK_THAT(instrumented,
                   grading::NoBankConflicts("Word w of shared memory is in bank w % 32."));
    }
}

// A tree that leaves its last rounds to a warp takes 4, shuffles take 1.
TEST_CASE("passes at most five barriers") {
    const grading::Instrumented instrumented = check_energies(many);
    CHECK_THAT(instrumented, grading::BarriersAtMost(5));
}

TEST_CASE("still reads each sample once in whole sectors") {
    const grading::Instrumented instrumented = check_energies(many);
    CHECK_THAT(instrumented,
               grading::GlobalEfficiencyAtLeast(0.8, grading::Accesses::loads));
    // Each energy is a sector.
    const double least = sizeof(float) * many + bytes_of_sector * many / frame_size;
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(1.1 * least));
}

#ifndef __CPU_DEVICE__
// A copy moves twice the bytes. With idle lanes, conflicts and 18 barriers the sums set the
// pace, not the bytes.
TEST_CASE("takes less than three times as long as a copy of the samples") {
    constexpr int count = 1 << 26;
    const warpwise::DeviceBuffer<float> d_samples(recording(count));
    warpwise::DeviceBuffer<float> d_copy(count), d_energies(count / frame_size);
    const auto [answer, copy] = grading::measure_beside_copy(
        [&] { frame_energies(d_samples.data(), count, d_energies.data()); }, d_copy.data(),
        d_samples.data(), d_samples.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(grading::time_beside(answer, copy, "a copy of the samples"),
               grading::AtMost(3,
                               "What do most lanes of a block do while the last rounds of "
                               "the tree are added up?"));
}
#endif
