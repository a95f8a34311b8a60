#include "exercises/2_memory_model/fuse_the_kernels/fuse_the_kernels.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/failure.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"
#include "common/helpers/counts.h"
#include "common/helpers/device_buffer.h"

const grading::Exercise grading::exercise{"2_memory_model", "fuse_the_kernels"};

namespace {

/// Which of the arrays are the same one.
enum class Same { none, y_is_x, y_is_skip, x_is_skip, all };

std::string text_of(Same same) {
    switch (same) {
        case Same::none:
            return "three different arrays";
        case Same::y_is_x:
            return "d_y is d_x";
        case Same::y_is_skip:
            return "d_y is d_skip";
        case Same::x_is_skip:
            return "d_x is d_skip";
        case Same::all:
            return "d_x, d_skip, and d_y are the same array";
    }
    return "";
}

struct Parameters {
    float scale, bias, weight;
};

Parameters parameters(std::uint64_t stream) {
    const std::vector<float> drawn = grading::random_floats(3, 1000 + stream);
    return {2 * drawn[0], drawn[1], drawn[2]};
}

double layer(double x, double skip, Parameters p) {
    const double s = p.scale * x + p.bias;
    return skip + p.weight * (s / (1 + std::exp(-s)));
}

// s is rounded twice and is 3 at most; the activation turns its error into one that is
// hardly larger, and adds those of exp, of a sum, and of a quotient.
constexpr warpwise::Tolerance rounding{.absolute = 4e-6, .relative = 1e-5};

/// The first wrong element was written, and is nan.
bool is_computed_nan(const grading::MismatchedArray& mismatch) {
    const double first = mismatch.got[mismatch.wrong.front()];
    return std::isnan(first) && !grading::is_never_written(first);
}

/// Checks the results, and returns what the kernels did.
grading::Instrumented check_layer(std::size_t n, Same same, Parameters p,
                                  std::size_t threads = 0, std::size_t blocks = 0) {
    INFO("n is " << n << ", " << text_of(same) << ", scale " << p.scale << ", bias "
                 << p.bias << ", weight " << p.weight);
    const std::vector<float> x = grading::random_floats(n, 2 * n);
    const bool one_input = same == Same::x_is_skip || same == Same::all;
    const std::vector<float> skip = one_input ? x : grading::random_floats(n, 2 * n + 1);
    std::vector<double> expected, of_wrong_skip;
    for (std::size_t i = 0; i < n; ++i) {
        expected.push_back(layer(x[i], skip[i], p));
        // What comes out if `skip` is read after the activation was stored there.
        const double activation = layer(x[i], 0, {p.scale, p.bias, 1});
        of_wrong_skip.push_back(activation + p.weight * activation);
    }

    const grading::Guarded<float> d_x(x), d_skip(skip);
    grading::Guarded<float> d_own_y(n);
    grading::Guarded<float> d_x_as_y(x), d_skip_as_y(skip);
    const bool y_is_x = same == Same::y_is_x || same == Same::all;
    grading::Guarded<float>& d_y = y_is_x                    ? d_x_as_y
                                   : same == Same::y_is_skip ? d_skip_as_y
                                                             : d_own_y;
    const float* const from_x = y_is_x ? d_y.data() : d_x.data();
    const float* const from_skip = same == Same::y_is_skip || same == Same::all ? d_y.data()
                                   : same == Same::x_is_skip                    ? d_x.data()
                                                             : d_skip.data();

    grading::Instrumented instrumented = grading::instrument([&] {
        run_layer(from_x, from_skip, d_y.data(), static_cast<int>(n), p.scale, p.bias,
                  p.weight);
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_y,
               grading::CloseTo(expected, rounding)
                   .when(grading::equals(of_wrong_skip),
                         "These results are what comes out if d_skip[i] is read after "
                         "d_y[i], its own place, was written.")
                   .when(is_computed_nan,
                         "The result nan may be infinity divided by infinity. For which "
                         "s does exp overflow in\nyour formula?"));
    CHECK_THAT(d_y, grading::StaysInside());
    CHECK_THAT(d_x, grading::Unchanged());
    CHECK_THAT(d_skip, grading::Unchanged());
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    if (n == 0) return instrumented;
    CHECK_THAT(d_y, grading::WrittenByThreads(threads));
    CHECK_THAT(d_y, grading::WrittenByBlocks(blocks));
    return instrumented;
}

/// Kernels use no shared memory.
grading::InstrumentedMatcher NoSharedMemory() {
    const auto judge = [](const grading::Instrumented& instrumented) -> grading::Judgement {
        if (!instrumented.countable) {
            grading::note_left_out();
            return {true, "not counted on this device"};
        }
        const double requests = warpwise::sum_of(instrumented.launches).shared().requests;
        return {requests == 0,
                "shared memory was used: " + grading::counted(requests, "request")};
    };
    return {judge, "A value that only its own thread needs fits into a register."};
}

void check_costs(const grading::Instrumented& instrumented, std::size_t n) {
    INFO("in one kernel, " << n << " elements need 12 bytes each, " << 12 * n
                           << " in all; in the three kernels of the stub, 28 bytes each");
    CHECK_THAT(instrumented, grading::LaunchesExactly(1));
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(13.0 * static_cast<double>(n)));
    CHECK_THAT(instrumented, NoSharedMemory());
    CHECK_THAT(instrumented,
               grading::CallsNot({"cudaMalloc", "cudaMallocAsync", "cudaMallocManaged",
                                  "cudaMallocPitch", "cudaHostAlloc"},
                                 "One kernel needs no intermediate array."));
    for (const warpwise::ApiCall& call : instrumented.calls) {
        if (call.direction.empty()) continue;
        FAIL(call.function << " was called: nothing has to be copied.\nWhich array does "
                              "the kernel read, and which one does it write?");
    }
}

constexpr Same all_cases[] = {Same::none, Same::y_is_x, Same::y_is_skip, Same::x_is_skip,
                              Same::all};

}  // namespace

TEST_CASE("computes the layer for any number of elements") {
    for (const std::size_t n :
         grading::sizes({1, 2, 31, 32, 33, 255, 257, 1009, 4096}, 4, 10'000)) {
        check_layer(n, Same::none, parameters(n));
    }
}

TEST_CASE("computes the layer in place") {
    for (const Same same : all_cases) {
        for (const std::size_t n : grading::sizes({1, 33, 1009, 5000}, 1, 5'000))
            check_layer(n, same, parameters(n));
    }
}

TEST_CASE("accepts arrays without elements") {
    check_layer(0, Same::none, parameters(1));
    check_layer(0, Same::all, parameters(2));
}

TEST_CASE("computes the layer for large and small intermediate values") {
    for (const Parameters p :
         {Parameters{1000, 0, 1}, Parameters{-1000, 0.5f, 0.5f}, Parameters{0, 100, -1},
          Parameters{1, -500, 1}, Parameters{0, 0, 1}, Parameters{1, 1, 0}}) {
        check_layer(1009, Same::none, p);
    }
}

TEST_CASE("shares the elements among many threads") {
    check_layer(16'384, Same::none, parameters(3), 1024, 4);
    check_layer(16'384, Same::all, parameters(4), 1024, 4);
}

TEST_CASE("moves each element in once and out once in one launch") {
    for (const std::size_t n : {1024, 16'384, 40'960}) {
        for (const Same same : {Same::none, Same::y_is_x, Same::y_is_skip})
            check_costs(check_layer(n, same, parameters(n)), n);
    }
}

// __ldg would be right here by chance: each thread reads its elements before it writes one.
TEST_CASE("reads its inputs by ordinary loads") {
    const grading::Instrumented instrumented =
        check_layer(1000, Same::y_is_x, parameters(6));
    if (!instrumented.countable) {
        grading::note_left_out();
        return;
    }
    REQUIRE(!instrumented.launches.empty());
    const std::string code = grading::code_of(instrumented.launches.front().file);
    REQUIRE(!code.empty());
    for (const std::string read_only : {"__ldg", "tex1D", "tex2D"}) {
        if (code.find(read_only) == std::string::npos) continue;
        FAIL("Your source reads by " << read_only
                                     << ", which promises that nobody writes this memory.\n"
                                        "Which array may be the same as d_y?");
    }
}

TEST_CASE("computes the layer for many elements") {
    // Not instrumented: what it costs was judged above.
    const std::size_t n = 200'003;
    const Parameters p = parameters(5);
    const std::vector<float> x = grading::random_floats(n, 1),
                             skip = grading::random_floats(n, 2);
    std::vector<double> expected;
    for (std::size_t i = 0; i < n; ++i) expected.push_back(layer(x[i], skip[i], p));
    const grading::Guarded<float> d_x(x), d_skip(skip);
    grading::Guarded<float> d_y(n);
    run_layer(d_x.data(), d_skip.data(), d_y.data(), static_cast<int>(n), p.scale, p.bias,
              p.weight);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_y, grading::CloseTo(expected, rounding));
}

#ifndef __CPU_DEVICE__
// A copy moves 8 bytes per element, one kernel 12, and the three kernels of the stub 28. On
// an H200, the solution takes 2.8 times as long as the copy, because it also computes, and
// the stub 9 times, most of it for its allocations.
TEST_CASE("takes less than six times as long as a copy of an array") {
    constexpr int n = 1 << 26;
    warpwise::DeviceBuffer<float> d_x(n), d_skip(n), d_y(n);
    d_x.fill_bytes(0);
    d_skip.fill_bytes(0);
    const auto [answer, copy] = grading::measure_beside_copy(
        [&] { run_layer(d_x.data(), d_skip.data(), d_y.data(), n, 1, 0, 1); }, d_y.data(),
        d_x.data(), d_x.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(grading::time_beside(answer, copy, "a copy of an array"),
               grading::AtMost(6,
                               "Which arrays are there only because one kernel hands "
                               "them to the next, and how many blocks share the work?"));
}
#endif
