#include "exercises/2_memory_model/constant_coefficients/constant_coefficients.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
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

const grading::Exercise grading::exercise{"2_memory_model", "constant_coefficients"};

namespace {

constexpr double most_outputs_of_thread =
    4;  // a thread may use a coefficient for so many outputs

std::vector<double> filtered(const std::vector<float>& coefficients,
                             const std::vector<float>& signal) {
    std::vector<double> outputs(signal.size() - (taps - 1));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (std::size_t k = 0; k < taps; ++k)
            outputs[i] += double{coefficients[k]} * signal[i + k];
    }
    return outputs;
}

// A product and up to 32 additions in any order, of terms of at most 1: each rounds by at
// most 2^-24 of 32. A term that is missing is 1/16 at least.
constexpr warpwise::Tolerance rounding{.absolute = 33.0 * taps / (1 << 24)};

void check_outputs(const grading::Guarded<float>& d_out,
                   const std::vector<float>& coefficients,
                   const std::vector<float>& signal) {
    const std::vector<float> mirrored(coefficients.rbegin(), coefficients.rend());
    // What a copy of `taps` bytes leaves: the other constants are as they were at first.
    std::vector<float> few(taps, 0.0f);
    std::copy_n(coefficients.begin(), taps / sizeof(float), few.begin());
    CHECK_THAT(
        d_out,
        grading::CloseTo(filtered(coefficients, signal), rounding)
            .when(grading::equals(filtered(mirrored, signal)),
                  "These are the results with the coefficients in the opposite order.")
            .when(grading::equals(filtered(few, signal)),
                  "These are the results with the first 8 coefficients and 24 zeros. How "
                  "many floats does your copy to constant memory bring?"));
}

// Checks the filtered signal, and returns what the kernels did.
grading::Instrumented check_filter(std::size_t n) {
    INFO(grading::counted(n, "output"));
    const std::vector<float> coefficients = grading::random_floats(taps, 2 * n);
    const std::vector<float> signal = grading::random_floats(n + taps - 1, 2 * n + 1);
    const grading::Guarded<float> d_in(signal);
    grading::Guarded<float> d_out(n);
    grading::Instrumented instrumented = grading::instrument([&] {
        filter_signal(coefficients.data(), d_in.data(), d_out.data(), static_cast<int>(n));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_outputs(d_out, coefficients, signal);
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_in, grading::Unchanged());
    if (n > 0) {
        CHECK_THAT(d_in, grading::ReadByKernels());
        CHECK_THAT(d_out, grading::WrittenByKernels());
        CHECK_THAT(d_out, grading::WrittenOnce());
    }
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

// "constant_coefficients.cu:17: 32 wavefronts for each of 64 reads", one line for each line
// of source that reads constants.
std::string lines_that_read_constants(const grading::Instrumented& instrumented) {
    std::string text;
    for (const warpwise::LineCounts& line : warpwise::lines_of(instrumented.launches)) {
        const warpwise::RequestCounts& reads = line.counts.constant_load;
        if (reads.requests == 0) continue;
        text += std::filesystem::path(line.file).filename().string() + ":" +
                std::to_string(line.line) + ": " +
                warpwise::ratio_text(reads.wavefronts_per_request()) +
                " wavefronts for each of " +
                grading::counted(reads.requests, "read of constant memory") + "\n";
    }
    return text;
}

grading::Figure note_wavefronts_per_output(const grading::Instrumented& instrumented,
                                           std::size_t outputs) {
    const warpwise::RequestCounts reads =
        warpwise::sum_of(instrumented.launches).constant_load;
    return grading::figure(
        "wavefronts of constant memory per output",
        reads.wavefronts / static_cast<double>(outputs),
        {.lines = lines_that_read_constants(instrumented), .call = instrumented.name});
}

}  // namespace

TEST_CASE("filters signals of any length") {
    for (const std::size_t n :
         grading::sizes({1, 2, 31, 32, 33, 127, 128, 129, 1009, 5000}, 3, 5'000))
        check_filter(n);
}

TEST_CASE("does nothing for an empty signal") { check_filter(0); }

// All calls find their coefficients at the same address, which is overwritten as soon as a
// call has returned.
TEST_CASE("uses the coefficients of the call") {
    const std::vector<float> signal = grading::random_floats(100 + taps - 1);
    const grading::Guarded<float> d_in(signal);
    grading::Guarded<float> d_first(100), d_second(100), d_third(100);
    std::vector<float> coefficients(taps);
    std::uint64_t stream = 30;
    const std::vector<float> of_first = grading::random_floats(taps, stream);
    for (grading::Guarded<float>* d_out : {&d_first, &d_second, &d_third}) {
        const std::vector<float> own = grading::random_floats(taps, stream++);
        std::copy(own.begin(), own.end(), coefficients.begin());
        filter_signal(coefficients.data(), d_in.data(), d_out->data(), 100);
        std::fill(coefficients.begin(), coefficients.end(), 100.0f);
    }
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    stream = 30;
    for (const grading::Guarded<float>* results : {&d_first, &d_second, &d_third}) {
        const grading::Guarded<float>& d_out = *results;
        INFO("call " << stream - 29
                     << " of 3, each with coefficients of its own at the same address");
        CHECK_THAT(
            d_out,
            grading::CloseTo(filtered(grading::random_floats(taps, stream++), signal),
                             rounding)
                .when(grading::equals(filtered(of_first, signal)),
                      "These are the results with the coefficients of the first call. "
                      "Which line copies those of this call to constant memory, and does "
                      "each call reach it?"));
    }
}

TEST_CASE("shares the outputs among many threads") {
    const std::size_t n = 4096;
    const std::vector<float> coefficients = grading::random_floats(taps);
    const grading::Guarded<float> d_in(grading::random_floats(n + taps - 1));
    grading::Guarded<float> d_out(n);
    grading::instrument([&] {
        filter_signal(coefficients.data(), d_in.data(), d_out.data(), static_cast<int>(n));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::WrittenByThreads(1024));
    CHECK_THAT(d_out, grading::WrittenByBlocks(4));
}

// A read of constant memory takes a wavefront for each address that the lanes of a warp ask
// for.
TEST_CASE("reads one coefficient at a time in a warp") {
    for (const std::size_t n : {4096, 1009}) {
        const grading::Instrumented instrumented = check_filter(n);
        if (!instrumented.countable) {
            grading::note_left_out();
            continue;
        }
        const warpwise::RequestCounts reads =
            warpwise::sum_of(instrumented.launches).constant_load;
        if (reads.requests == 0) {
            FAIL(
                "No kernel read a __constant__ variable.\nWhere does your kernel take the "
                "coefficients from?");
        }
        note_wavefronts_per_output(instrumented, n);
        CHECK_THAT(grading::figure("wavefronts per read of constant memory, on average",
                                   reads.wavefronts_per_request(),
                                   {.lines = lines_that_read_constants(instrumented),
                                    .call = instrumented.name}),
                   grading::AtMost(1.05,
                                   "Which coefficients do the lanes of a warp read at the "
                                   "same time?"));
    }
}

TEST_CASE("takes few wavefronts for an output") {
    constexpr std::size_t n = 4096;
    const grading::Instrumented instrumented = check_filter(n);
    if (instrumented.countable) {
        const warpwise::RequestCounts reads =
            warpwise::sum_of(instrumented.launches).constant_load;
        CHECK_THAT(note_wavefronts_per_output(instrumented, n),
                   grading::AtMost(1.1,
                                   "How many outputs does a warp get for one read of a "
                                   "coefficient?"));
        CHECK_THAT(grading::figure("coefficients read from constant memory per output",
                                   reads.lanes / n, {.call = instrumented.name}),
                   grading::AtLeast(taps / most_outputs_of_thread,
                                    "From where do the lanes take the other "
                                    "coefficients?"));
    } else {
        grading::note_left_out();
    }
}

// A warp for each output would launch 32 threads per output, of which 31 have nothing to do
// once each lane has an output of its own.
TEST_CASE("launches no more threads than it needs") {
    constexpr std::size_t n = 4096;
    const grading::Instrumented instrumented = check_filter(n);
    if (!instrumented.countable) {
        grading::note_left_out();
        return;
    }
    std::size_t threads = 0;
    for (const warpwise::LaunchCounts& launch : instrumented.launches) {
        threads += std::size_t{launch.grid[0]} * launch.grid[1] * launch.grid[2] *
                   launch.block[0] * launch.block[1] * launch.block[2];
    }
    CHECK_THAT(
        grading::figure("threads launched per output", static_cast<double>(threads) / n,
                        {.call = instrumented.name}),
        grading::AtMost(2,
                        "How many outputs does a block compute now, and how many "
                        "blocks does that make?"));
}

// Neighboring floats that begin anywhere touch five sectors at most where four are needed.
TEST_CASE("reads and writes the signal side by side") {
    CHECK_THAT(check_filter(4096), grading::GlobalEfficiencyAtLeast(0.75));
}

TEST_CASE("filters a long signal") {
    // Not instrumented: what it costs was judged above, and here it would take seconds.
    const std::size_t n = 200'007;
    const std::vector<float> coefficients = grading::random_floats(taps);
    const std::vector<float> signal = grading::random_floats(n + taps - 1, 1);
    const grading::Guarded<float> d_in(signal);
    grading::Guarded<float> d_out(n);
    filter_signal(coefficients.data(), d_in.data(), d_out.data(), static_cast<int>(n));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_outputs(d_out, coefficients, signal);
}

#ifndef __CPU_DEVICE__
// A copy moves as many bytes. 32 multiply-adds for 8 bytes are more than that, but not many
// times more.
TEST_CASE("takes less than eight times the time of a copy of the signal") {
    constexpr int n = 1 << 24;
    const std::vector<float> coefficients = grading::random_floats(taps);
    warpwise::DeviceBuffer<float> d_in(std::size_t{n} + taps - 1);
    warpwise::DeviceBuffer<float> d_out(n);
    d_in.fill_bytes(1);
    const auto [answer, copy] = grading::measure_beside_copy(
        [&] { filter_signal(coefficients.data(), d_in.data(), d_out.data(), n); },
        d_out.data(), d_in.data(), d_out.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(
        grading::time_beside(answer, copy, "a copy of the signal"),
        grading::AtMost(8, "How many coefficients does a warp ask for at the same time?"));
}
#endif
