#include "exercises/2_memory_model/shared_histogram/shared_histogram.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"
#include "common/helpers/counts.h"
#include "common/helpers/inputs.h"

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"2_memory_model", "shared_histogram"};

namespace {

constexpr std::size_t bins = 256;
constexpr int many = 1 << 18;  // bytes, where costs are judged

std::vector<unsigned char> random_bytes(int count) {
    const std::vector<int> values = warpwise::uniform_integers(static_cast<std::size_t>(count), 17, 0, 255);
    return {values.begin(), values.end()};
}

std::vector<unsigned char> constant_bytes(int count) {
    return std::vector<unsigned char>(static_cast<std::size_t>(count), 200);
}

// The smallest of three random bytes: small values are frequent, large ones rare.
std::vector<unsigned char> skewed_bytes(int count) {
    const std::size_t size = static_cast<std::size_t>(count);
    const std::vector<int> values = warpwise::uniform_integers(3 * size, 18, 0, 255);
    std::vector<unsigned char> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        const int smallest = std::min({values[3 * i], values[3 * i + 1], values[3 * i + 2]});
        bytes[i] = static_cast<unsigned char>(smallest);
    }
    return bytes;
}

std::vector<unsigned char> sorted_bytes(int count) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * bins / bytes.size());
    return bytes;
}

// Checks the counts, and returns what the kernels did. `d_counts` holds something else before, as it may in a program.
grading::Watched check_counts(const std::string& what, const std::vector<unsigned char>& bytes) {
    INFO(bytes.size() << " bytes, " << what);
    std::vector<double> expected(bins);
    for (const unsigned char byte : bytes) ++expected[byte];
    const grading::Guarded<unsigned char> d_bytes(bytes);
    grading::Guarded<unsigned> d_counts(std::vector<unsigned>(bins, 1000u));
    grading::Watched watched =
        grading::watch([&] { count_bytes(d_bytes.data(), d_counts.data(), static_cast<int>(bytes.size())); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_counts, grading::EqualTo(expected,
                                          "Before the call, d_counts held 1000 everywhere. Is it set to 0, is "
                                          "every byte counted, and every counter of every block added?"));
    CHECK_THAT(d_counts, grading::StaysInside("There are 256 counts."));
    CHECK_THAT(d_bytes, grading::Unchanged());
    return watched;
}

// Passes that the atomics of shared memory take for 32 bytes, on average: at most `limit`.
grading::WatchedMatcher SharedAtomicPassesAtMost(double limit, std::size_t bytes, std::string hint) {
    const auto judge = [limit, bytes](const grading::Watched& watched) -> grading::Verdict {
        if (!watched.countable) return {true, "not counted on this device"};
        const double passes = warpwise::sum_of(watched.launches).shared_atomic.wavefronts;
        const double for_a_warp = passes / static_cast<double>(bytes) * 32;
        return {for_a_warp <= limit, warpwise::ratio_text(for_a_warp) +
                                         " passes over shared memory for 32 bytes, at most " +
                                         warpwise::ratio_text(limit) + " allowed"};
    };
    return {judge, std::move(hint)};
}

}  // namespace

TEST_CASE("counts bytes of any number") {
    for (const int count : {1, 2, 15, 16, 31, 32, 33, 255, 256, 257, 1009, 4099, 65537}) {
        check_counts("random", random_bytes(count));
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

TEST_CASE("adds to the counts in global memory only now and then") {
    const std::string hint = "Counters in shared memory need one addition a block and bin; so blocks should be few.";
    CHECK_THAT(check_counts("random", random_bytes(many)), grading::AtomicsAtMost(many / 8.0, hint));
    CHECK_THAT(check_counts("all the same", constant_bytes(many)), grading::AtomicsAtMost(many / 8.0, hint));
}

// 1 byte for each that is read, and 4 for each addition: twice the bytes leave room.
TEST_CASE("moves little more than the bytes") {
    const std::string hint = "Do neighboring threads read neighboring bytes?";
    CHECK_THAT(check_counts("random", random_bytes(many)), grading::BytesMovedAtMost(2.0 * many, hint));
    CHECK_THAT(check_counts("all the same", constant_bytes(many)), grading::BytesMovedAtMost(2.0 * many, hint));
}

// One histogram a block: three to four passes with random bytes, one where all are equal. 32 is the worst.
TEST_CASE("does not queue at the counters in shared memory") {
    const std::string hint =
        "In which banks are the counters that 32 lanes add to? And do all lanes add the constant 1?";
    CHECK_THAT(check_counts("random", random_bytes(many)), SharedAtomicPassesAtMost(4, many, hint));
    CHECK_THAT(check_counts("all the same", constant_bytes(many)), SharedAtomicPassesAtMost(4, many, hint));
    CHECK_THAT(check_counts("sorted", sorted_bytes(many)), SharedAtomicPassesAtMost(4, many, hint));
}

#ifndef __CPU_DEVICE__
// A copy reads and writes every byte. Counters in global memory take some hundred times as long.
TEST_CASE("takes less than ten times as long as a copy of the bytes") {
    constexpr int count = 1 << 28;
    for (const bool constant : {false, true}) {
        const warpwise::DeviceBuffer<unsigned char> d_bytes(constant ? constant_bytes(count) : random_bytes(count));
        warpwise::DeviceBuffer<unsigned char> d_copy(count);
        warpwise::DeviceBuffer<unsigned> d_counts(bins);
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
            {{[&] { count_bytes(d_bytes.data(), d_counts.data(), count); }, false},
             {[&] { warpwise::check(cudaMemcpyAsync(d_copy.data(), d_bytes.data(), count, cudaMemcpyDeviceToDevice)); },
              false}});
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        const double share = timings[0].median / timings[1].median;
        INFO((constant ? "all bytes the same" : "random bytes"));
        INFO("your kernel: " << timings[0].median * 1e6 << " us; a copy: " << timings[1].median * 1e6 << " us");
        INFO("How many threads wait for the same counter at a time?");
        CHECK(share <= 10);
    }
}
#endif
