#include "exercises/5_modern_cuda/sum_in_a_cluster/sum_in_a_cluster.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"5_modern_cuda", "sum_in_a_cluster"};

namespace {

/// What the energies are if only the first `blocks` of each four neighbors among the groups
/// of 128 samples count.
std::vector<double> energies_of(const std::vector<int>& samples, std::size_t count,
                                unsigned blocks) {
    std::vector<double> energies(count);
    const std::size_t length = count == 0 ? 0 : samples.size() / count;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (i % length / 128 % blocks_per_recording < blocks)
            energies[i / length] += static_cast<double>(samples[i]) * samples[i];
    }
    return energies;
}

void check_energies(std::size_t count, std::size_t length) {
    const std::vector<int> samples =
        grading::random_ints(count * length, 1, 100, count * 1000 + length);
    INFO(grading::counted(count, "recording")
         << " of " << grading::counted(length, "sample"));
    const grading::Guarded<int> d_samples(samples);
    grading::Guarded<int> d_energies(count);
    const grading::Instrumented instrumented = grading::instrument([&] {
        add_up_energies(d_samples.data(), static_cast<unsigned>(count),
                        static_cast<unsigned>(length), d_energies.data());
    });
    REQUIRE_THAT(grading::finish(),
                 grading::Succeeds()
                     .when({"data race", "shared memory"},
                           "Which barrier do the threads of all blocks of the cluster "
                           "pass between these two accesses?")
                     .when({"use after free"},
                           "What keeps a block from ending before the others have read "
                           "its sum?"));
    CHECK_THAT(d_energies,
               grading::EqualTo(energies_of(samples, count, blocks_per_recording))
                   .when(grading::equals(energies_of(samples, count, 1)),
                         "The sums of which blocks are in this result?")
                   .when(grading::never_written(), "Which thread stores the result?"));
    CHECK_THAT(d_samples, grading::Unchanged());
    if (count == 0) return;
    CHECK_THAT(
        instrumented,
        grading::AtomicsAtMost(
            0, "How can the sums of the blocks get together without global memory?"));
    CHECK_THAT(d_energies, grading::WrittenOnce());
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented, grading::BlocksAtLeast(count * blocks_per_recording));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    // A recording begins anywhere, so each warp may touch one sector more than it needs.
    const double warps = static_cast<double>(count * (length / 32 + 1));
    CHECK_THAT(instrumented,
               grading::BytesMovedAtMost(static_cast<double>(count * length) * sizeof(int) +
                                         64 * warps + 32 * static_cast<double>(count)));
    if (length >= blocks_per_recording * 128)
        CHECK_THAT(d_samples, grading::ReadByBlocks(count * blocks_per_recording));
}

}  // namespace

TEST_CASE("adds up a recording of one sample per thread") { check_energies(1, 512); }

TEST_CASE("adds up recordings of any length") {
    for (const std::size_t length :
         grading::sizes({1, 31, 32, 33, 127, 129, 511, 513, 1009}, 2, 5000))
        check_energies(2, length);
}

TEST_CASE("adds up several recordings") {
    for (const std::size_t count : {2, 3, 7, 30}) check_energies(count, 700);
}

TEST_CASE("handles no recording at all") { check_energies(0, 100); }

TEST_CASE("handles recordings without samples") { check_energies(3, 0); }
