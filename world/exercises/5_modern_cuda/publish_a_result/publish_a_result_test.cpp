#include "exercises/5_modern_cuda/publish_a_result/publish_a_result.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

#ifdef __CPU_DEVICE__
#include "cpu_device/execution.h"
#endif

const grading::Exercise grading::exercise{"5_modern_cuda", "publish_a_result"};

namespace {

constexpr std::size_t tile = 128;            // floats, and threads of a block
constexpr float left_by_earlier_call = 1e4;  // in the means

std::vector<double> means_of(const std::vector<float>& values) {
    std::vector<double> means;
    for (std::size_t first = 0; first < values.size(); first += tile) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
        means.push_back(std::accumulate(begin, begin + tile, 0.0) / tile);
    }
    return means;
}

std::vector<double> expected_of(const std::vector<float>& values) {
    const std::vector<double> means = means_of(values);
    const std::size_t tiles = means.size();
    std::vector<double> results;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t t = i / tile;
        const double surroundings =
            (means[(t + tiles - 1) % tiles] + means[t] + means[(t + 1) % tiles]) / 3;
        results.push_back(values[i] - surroundings);
    }
    return results;
}

// A thread adds at most 2 log2(128) = 14 numbers to a mean of values up to 1 in magnitude.
// Two such means and two roundings more are behind a result.
constexpr warpwise::Tolerance tolerance{.absolute = 40 * 1.2e-7};

void check_tiles(std::size_t tiles, std::uint64_t stream = 0) {
    INFO(grading::counted(tiles, "tile"));
    const std::vector<float> values = grading::random_floats(tiles * tile, stream);
    const grading::Guarded<float> d_in(values);
    grading::Guarded<float> d_out(values.size());
    grading::Guarded<float> d_means(std::vector<float>(tiles, left_by_earlier_call));
    grading::Guarded<unsigned> d_ready(std::vector<unsigned>(tiles, 0));
    const grading::Instrumented instrumented = grading::instrument([&] {
        subtract_surroundings(d_in.data(), static_cast<int>(tiles), d_out.data(),
                              d_means.data(), d_ready.data());
    });
    CHECK_THAT(instrumented,
               grading::NoRace("Which store has to come before which, and for whom? What "
                               "does the reader have to say about its load of the flag?"));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::CloseTo(expected_of(values), tolerance)
                          .when(grading::never_written(),
                                "The results hold NaN before the call. Did all threads of "
                                "each block come to the end?"));
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_means, grading::StaysInside());
    CHECK_THAT(d_ready, grading::StaysInside());
    CHECK_THAT(d_in, grading::Unchanged());
    if (tiles == 0) return;
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented,
               grading::EveryLaunchHas({static_cast<unsigned>(tiles), 1, 1}, {tile, 1, 1}));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(d_out, grading::WrittenByThreads(values.size()));
    CHECK_THAT(d_means, grading::CloseTo(means_of(values), tolerance));
    CHECK_THAT(d_means, grading::WrittenByBlocks(tiles));
    CHECK_THAT(d_means, grading::WrittenOnce());
    CHECK_THAT(d_means, grading::ReadByKernels());
    // Not by which block: a reader may look at a flag by adding 0 to it, which counts as a
    // write.
    CHECK_THAT(d_ready, grading::WrittenByKernels());
}

/// Threads and blocks of launches run in the order of a seed, for as long as this lives.
class Order {
public:
#ifdef __CPU_DEVICE__
    explicit Order(std::uint64_t seed) { cpu_device::set_schedule_seed(seed); }
    ~Order() {
        const char* const of_grader = std::getenv("CPU_DEVICE_SEED");
        cpu_device::set_schedule_seed(
            of_grader == nullptr ? 0 : std::strtoull(of_grader, nullptr, 10));
    }
#else
    explicit Order(std::uint64_t) {}
#endif
    Order(const Order&) = delete;
    Order& operator=(const Order&) = delete;
};

}  // namespace

TEST_CASE("hands the means over between two tiles") { check_tiles(2); }

TEST_CASE("handles a single tile, its own neighbor") { check_tiles(1); }

TEST_CASE("handles no tile at all") { check_tiles(0); }

TEST_CASE("hands the means over between several tiles") {
    for (const std::size_t tiles : {3, 4, 5, 31, 33}) check_tiles(tiles, tiles);
}

TEST_CASE("computes the same in any order of the blocks") {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
        INFO("blocks in the order of seed " << seed);
        const Order order(seed);
        for (const std::size_t tiles : {2, 3, 11}) check_tiles(tiles, seed);
    }
}

TEST_CASE("handles a hundred tiles") { check_tiles(101); }
