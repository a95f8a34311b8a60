#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/counts.h"

#ifndef __CPU_DEVICE__
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"2_memory_model", "shared_histogram"};

namespace {

constexpr std::size_t bins = 256;
constexpr int many = 1 << 18;  // bytes, where costs are judged

std::vector<unsigned char> random_bytes(int count) {
    const std::vector<int> values =
        grading::random_ints(static_cast<std::size_t>(count), 0, 255, 17);
    return {values.begin(), values.end()};
}

std::vector<unsigned char> constant_bytes(int count) {
    return std::vector<unsigned char>(static_cast<std::size_t>(count), 200);
}

// The smallest of three random bytes: small values are frequent, large ones rare.
std::vector<unsigned char> skewed_bytes(int count) {
    const std::size_t size = static_cast<std::size_t>(count);
    const std::vector<int> values = grading::random_ints(3 * size, 0, 255, 18);
    std::vector<unsigned char> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        const int smallest =
            std::min({values[3 * i], values[3 * i + 1], values[3 * i + 2]});
        bytes[i] = static_cast<unsigned char>(smallest);
    }
    return bytes;
}

std::vector<unsigned char> sorted_bytes(int count) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<unsigned char>(i * bins / bytes.size());
    return bytes;
}

/// What d_counts holds before the call, as it may in a program.
std::vector<unsigned> old_counts() {
    const std::vector<int> values = grading::random_ints(bins, 1, 5000, 19);
    return {values.begin(), values.end()};
}

void check_values(const grading::Guarded<unsigned>& d_counts,
                  const std::vector<unsigned char>& bytes) {
    std::vector<double> expected(bins);
    for (const unsigned char byte : bytes) ++expected[byte];
    const std::vector<unsigned> before = old_counts();
    std::vector<double> added(bins);
    for (std::size_t v = 0; v < bins; ++v) added[v] = expected[v] + before[v];
    CHECK_THAT(
        d_counts,
        grading::EqualTo(expected)
            .when(grading::equals(added),
                  "These counts contain what d_counts held before the call.")
            .when(grading::too_small(),
                  "Each wrong count is too small. Which bytes of this value were not "
                  "counted, or were counted only after their block had added its counter "
                  "to d_counts?"));
}

// Checks the counts, and returns what the kernels did.
grading::Instrumented check_counts(const std::string& what,
                                   const std::vector<unsigned char>& bytes) {
    INFO(grading::counted(bytes.size(), "byte") << ", " << what);
    const grading::Guarded<unsigned char> d_bytes(bytes);
    grading::Guarded<unsigned> d_counts(old_counts());
    grading::Instrumented instrumented = grading::instrument([&] {
        count_bytes(d_bytes.data(), d_counts.data(), static_cast<int>(bytes.size()));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(d_counts, bytes);
    CHECK_THAT(d_counts, grading::StaysInside());
    CHECK_THAT(d_bytes, grading::Unchanged());
    CHECK_THAT(d_bytes, grading::ReadByKernels());
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

// Wavefronts that the atomics of shared memory take for 32 bytes, on average: at most
// `limit`.
grading::InstrumentedMatcher SharedAtomicPassesAtMost(double limit, std::size_t bytes,
                                                      std::string hint) {
    const auto judge =
        [limit, bytes](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) {
            grading::note_left_out();
            return {true, "not counted on this device"};
        }
        const double wavefronts =
            warpwise::sum_of(instrumented.launches).shared_atomic.wavefronts;
        const double for_a_warp = wavefronts / static_cast<double>(bytes) * 32;
        return {for_a_warp <= limit,
                warpwise::ratio_text(for_a_warp) +
                    " wavefronts of shared memory for 32 bytes, at most " +
                    warpwise::ratio_text(limit) + " allowed"};
    };
    return {judge, std::move(hint)};
}

}  // namespace

TEST_CASE("counts bytes of any number") {
    for (const std::size_t count : grading::sizes(
             {1, 2, 15, 16, 31, 32, 33, 255, 256, 257, 1009, 4099, 65537}, 4, 50'000)) {
        check_counts("random", random_bytes(static_cast<int>(count)));
    }
}

TEST_CASE("handles no bytes") { check_counts("none", {}); }

TEST_CASE("counts bytes of any kind") {
    for (const int count : {33, 1009, 20011}) {
        check_counts("all the same", constant_bytes(count));
        check_counts("skewed", skewed_bytes(count));
        check_counts("sorted", sorted_bytes(count));
    }
}

// All values occur, so kernels write all counts. Readers are known per word of four bytes:
// where threads read single bytes, only one in four of them shows, so 64 stand for the 256
// threads that the task asks for.
TEST_CASE("shares the bytes among many threads") {
    const std::vector<unsigned char> bytes = random_bytes(many);
    const grading::Guarded<unsigned char> d_bytes(bytes);
    grading::Guarded<unsigned> d_counts(bins);
    grading::instrument([&] { count_bytes(d_bytes.data(), d_counts.data(), many); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_bytes, grading::ReadByThreads(64));
    CHECK_THAT(d_bytes, grading::ReadByBlocks(4));
    CHECK_THAT(d_counts, grading::WrittenByKernels());
}

TEST_CASE("adds to the counts in global memory only now and then") {
    for (const bool random : {true, false}) {
        const grading::Instrumented instrumented =
            random ? check_counts("random", random_bytes(many))
                   : check_counts("all the same", constant_bytes(many));
        std::uint64_t blocks = 0;
        for (const warpwise::LaunchCounts& launch : instrumented.launches)
            blocks += launch.blocks;
        const bool each_adds_its_counters =
            warpwise::sum_of(instrumented.launches).global_atomic.lanes <=
            256.0 * static_cast<double>(blocks);
        CHECK_THAT(
            instrumented,
            grading::AtomicsAtMost(
                many / 8.0, each_adds_its_counters
                                ? "At its end, each block adds its 256 counters. How "
                                  "many bytes does it count before that, and how "
                                  "many blocks are there?"
                                : ""));
    }
}

// 1 byte for each that is read, and 32 for the sector of each addition: twice the bytes
// leave room.
TEST_CASE("moves little more than the bytes") {
    CHECK_THAT(check_counts("random", random_bytes(many)),
               grading::BytesMovedAtMost(2.0 * many));
    CHECK_THAT(check_counts("all the same", constant_bytes(many)),
               grading::BytesMovedAtMost(2.0 * many));
}

// One histogram per block: three to four wavefronts with random bytes, one where all are
// equal. 32 is the worst.
TEST_CASE("does not queue at the counters in shared memory") {
    for (const auto& [what, bytes] : {std::pair{"random", random_bytes(many)},
                                      std::pair{"all the same", constant_bytes(many)},
                                      std::pair{"sorted", sorted_bytes(many)}}) {
        const grading::Instrumented instrumented = check_counts(what, bytes);
        INFO(what);
        CHECK_THAT(instrumented, grading::UsesSharedMemory());
        CHECK_THAT(instrumented, SharedAtomicPassesAtMost(
                                     4, many,
                                     "Which lanes of a warp add to the same counter at the "
                                     "same time, and how many counters could share that?"));
    }
}

// More than 16 bits can count, even if 32 blocks share them. Not instrumented: that would
// take seconds.
TEST_CASE("counts two million equal bytes") {
    const std::vector<unsigned char> bytes = constant_bytes(2'100'007);
    const grading::Guarded<unsigned char> d_bytes(bytes);
    grading::Guarded<unsigned> d_counts(old_counts());
    count_bytes(d_bytes.data(), d_counts.data(), static_cast<int>(bytes.size()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(d_counts, bytes);
}

#ifndef __CPU_DEVICE__
// A copy reads and writes every byte. Counters in global memory take some hundred times as
// long.
TEST_CASE("takes less than ten times as long as a copy of the bytes") {
    constexpr int count = 1 << 28;
    for (const bool constant : {false, true}) {
        const warpwise::DeviceBuffer<unsigned char> d_bytes(constant ? constant_bytes(count)
                                                                     : random_bytes(count));
        warpwise::DeviceBuffer<unsigned char> d_copy(count);
        warpwise::DeviceBuffer<unsigned> d_counts(bins);
        const auto [answer, copy] = grading::measure_beside_copy(
            [&] { count_bytes(d_bytes.data(), d_counts.data(), count); }, d_copy.data(),
            d_bytes.data(), count);
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        INFO((constant ? "all bytes the same" : "random bytes"));
        CHECK_THAT(grading::time_beside(answer, copy, "a copy of the bytes"),
                   grading::AtMost(10,
                                   "How many threads add to the same counter at a time, "
                                   "and in which memory does it lie?"));
    }
}
#endif
