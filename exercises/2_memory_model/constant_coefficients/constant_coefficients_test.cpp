#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
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

const grading::Exercise grading::exercise{"2_memory_model", "constant_coefficients"};

namespace {

// Checks the filtered signal, and returns what the kernels did. All values are random, from -1 to 1.
grading::Watched check_filter(int n, std::uint64_t seed, const std::string& hint) {
    INFO(n << " outputs");
    const std::size_t outputs = static_cast<std::size_t>(n);
    const std::vector<float> coefficients = warpwise::uniform<float>(taps, seed);
    const std::vector<float> signal = warpwise::uniform<float>(outputs + taps - 1, seed + 1);
    std::vector<double> expected(outputs);
    for (std::size_t i = 0; i < outputs; ++i) {
        for (std::size_t k = 0; k < taps; ++k) expected[i] += double{coefficients[k]} * signal[i + k];
    }
    const grading::Guarded<float> d_in(signal);
    grading::Guarded<float> d_out(outputs);
    grading::Watched watched =
        grading::watch([&] { filter_signal(coefficients.data(), d_in.data(), d_out.data(), n); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::WrittenEverywhere("Does every output have a thread that writes it?"));
    // A product and up to 32 additions in any order, of terms of at most 1: each rounds by at most 2^-24 of 32.
    CHECK_THAT(d_out, grading::CloseTo(expected, {.absolute = 33.0 * taps / (1 << 24)}, hint));
    CHECK_THAT(d_out, grading::StaysInside("There are n outputs."));
    CHECK_THAT(d_in, grading::Unchanged());
    return watched;
}

// "constant_coefficients.cu:17: 32 passes for each of 64 reads", one line for each line of source that reads constants.
std::string lines_that_read_constants(const grading::Watched& watched) {
    std::string text;
    for (const warpwise::LineCounts& line : warpwise::lines_of(watched.launches)) {
        const warpwise::RequestCounts& reads = line.counts.constant_load;
        if (reads.requests == 0) continue;
        text += std::filesystem::path(line.file).filename().string() + ":" + std::to_string(line.line) + ": " +
                warpwise::ratio_text(reads.wavefronts_per_request()) + " passes for each of " +
                warpwise::count_text(reads.requests) + " reads of constant memory\n";
    }
    return text;
}

}  // namespace

TEST_CASE("filters signals of any length") {
    for (const int n : {1, 2, 31, 32, 33, 127, 128, 129, 1009, 5000}) {
        check_filter(n, 20, "Does coefficient k go with the input k places ahead?");
    }
}

TEST_CASE("does nothing for an empty signal") { check_filter(0, 20, ""); }

TEST_CASE("uses the coefficients of the call") {
    for (const std::uint64_t seed : {30u, 40u, 50u}) {
        check_filter(100, seed, "Each call brings other coefficients. Are the coefficients copied in every call?");
    }
}

// A read of constant memory takes a pass for each address that the lanes of a warp ask for.
TEST_CASE("reads one coefficient at a time in a warp") {
    for (const int n : {4096, 1009}) {
        const grading::Watched watched = check_filter(n, 20, "");
        if (!watched.countable) continue;
        const warpwise::RequestCounts reads = warpwise::sum_of(watched.launches).constant_load;
        if (reads.requests == 0) FAIL("constant memory was not read: leave the coefficients there");
        INFO(lines_that_read_constants(watched)
             << "Lanes that ask for different addresses of constant memory wait for each other. Which index do all "
                "lanes of a warp have in common, and which one differs from lane to lane?");
        CHECK(reads.wavefronts_per_request() <= 1.05);
    }
}

TEST_CASE("takes few passes for an output") {
    constexpr int n = 4096;
    const grading::Watched watched = check_filter(n, 20, "");
    if (watched.countable) {
        const double passes = warpwise::sum_of(watched.launches).constant_load.wavefronts / n;
        INFO(lines_that_read_constants(watched) << "That is " << warpwise::ratio_text(passes)
                                                << " passes for each output. One is enough: 32 reads for 32 outputs.");
        CHECK(passes <= 1.1);
    }
}

TEST_CASE("reads and writes the signal side by side") {
    CHECK_THAT(check_filter(4096, 20, ""),
               grading::SectorsPerRequestAtMost(5, "Do neighboring lanes read and write neighboring elements?"));
}

#ifndef __CPU_DEVICE__
// A copy moves as many bytes. 32 multiply-adds for 8 bytes are more than that, but not many times more.
TEST_CASE("takes less than eight times the time of a copy of the signal") {
    constexpr int n = 1 << 24;
    const std::vector<float> coefficients = warpwise::uniform<float>(taps, 20);
    warpwise::DeviceBuffer<float> d_in(std::size_t{n} + taps - 1);
    warpwise::DeviceBuffer<float> d_out(n);
    d_in.fill_bytes(1);
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {{[&] { filter_signal(coefficients.data(), d_in.data(), d_out.data(), n); }, false},
         {[&] { warpwise::check(cudaMemcpyAsync(d_out.data(), d_in.data(), d_out.bytes(), cudaMemcpyDeviceToDevice)); },
          false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double share = timings[0].median / timings[1].median;
    INFO("your function: " << timings[0].median * 1e6 << " us; a copy: " << timings[1].median * 1e6 << " us");
    INFO("A warp that gets one output out of 32 passes over constant memory takes many times as long.");
    CHECK(share <= 8);
}
#endif
