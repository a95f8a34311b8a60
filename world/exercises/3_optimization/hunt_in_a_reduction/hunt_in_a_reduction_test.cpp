#include "exercises/3_optimization/hunt_in_a_reduction/hunt_in_a_reduction.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/instrument.h"

const grading::Exercise grading::exercise{"3_optimization", "hunt_in_a_reduction"};

namespace {

constexpr std::size_t large = 300'007;
constexpr float untouched = -12345.0f;

std::vector<float> values_of(std::size_t n, std::uint64_t stream = 0) {
    return grading::random_floats(n, stream);
}

double sum_of(const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += double{value} * value;
    return sum;
}

/// What the sum may be off by, with at most `chain` values in one chain.
warpwise::Tolerance tolerance_of(const std::vector<float>& values,
                                 std::size_t chain = 4096) {
    std::vector<float> squares;
    for (const float value : values) squares.push_back(value * value);
    return grading::sum_tolerance_of(squares, std::min(chain, values.size()), 12);
}

bool fits(double got, double expected, warpwise::Tolerance tolerance) {
    return std::abs(got - expected) <=
           tolerance.absolute + tolerance.relative * std::abs(expected);
}

struct Result {
    cudaError_t status = cudaSuccess;
    float sum = untouched;
    grading::Instrumented instrumented;
};

Result run(const std::vector<float>& values) {
    Result result;
    result.instrumented = grading::instrument([&] {
        result.status =
            sum_of_squares(values.data(), static_cast<int>(values.size()), &result.sum);
    });
    return result;
}

/// For looking at symptoms: what was found and what is pending is dropped.
void forget() {
    static_cast<void>(grading::finish());
    static_cast<void>(cudaGetLastError());
    grading::forget_diagnostics();
}

std::string sum_symptom(const Result& result, const std::vector<float>& values) {
    std::ostringstream text;
    text.precision(9);
    text << "sum_of_squares of " << grading::counted(values.size(), "value");
    if (result.status != cudaSuccess) {
        text << " returns " << grading::text_of(result.status);
    } else {
        text << ": the sum is " << result.sum << ", should be " << sum_of(values);
    }
    return text.str();
}

/// A single value is its own sum, however it is added.
std::string first_symptom() {
    for (const std::uint64_t stream : {1, 2, 3}) {
        const std::vector<float> values = values_of(1, stream);
        const Result result = run(values);
        forget();
        if (result.status != cudaSuccess || !fits(result.sum, sum_of(values), {0, 1e-6}))
            return sum_symptom(result, values);
    }
    return "";
}

/// Independent of what is added up.
std::string second_symptom() {
    const Result result = run(values_of(1000));
    forget();
    for (const warpwise::Diagnostic& diagnostic : result.instrumented.diagnostics) {
        if (diagnostic.kind == "data_race")
            return "sum_of_squares of 1000 values: the CPU device sees a data race: two "
                   "threads use the same word of memory, one of them writes it, and "
                   "nothing "
                   "orders the two";
    }
    return "";
}

/// Independent of which values were copied, and how they are added: it is about whether
/// what was launched has run.
std::string third_symptom() {
    const std::vector<float> values = values_of(large);
    const warpwise::Instrumentation not_instrumented({});  // would take long
    Result result;
    result.status =
        sum_of_squares(values.data(), static_cast<int>(values.size()), &result.sum);
    static_cast<void>(cudaDeviceSynchronize());
    const cudaError_t pending = cudaPeekAtLastError();
    forget();
    if (result.status != cudaSuccess) return sum_symptom(result, values);
    if (pending == cudaSuccess) return "";
    return "sum_of_squares of " + std::to_string(large) +
           " values returns cudaSuccess, and afterwards cudaGetLastError() returns " +
           grading::text_of(pending);
}

void check_sum(const std::vector<float>& values) {
    const std::size_t n = values.size();
    INFO("n = " << n);
    const std::vector<float> before = values;
    const Result result = run(values);
    REQUIRE_THAT(result.status, grading::Succeeds());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(result.sum, grading::CloseTo(sum_of(values), tolerance_of(values)));
    if (values != before) {
        FAIL(
            "`values` were changed. They are only to be read.\nWhich copy has them as its "
            "destination?");
    }
    CHECK_THAT(result.instrumented, grading::ReleasesWhatItMakes());
    CHECK_THAT(result.instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                       "cudaHostRegister"}));
    if (!result.instrumented.countable || n == 0) return;
    std::size_t copied_in = 0, copied_out = 0;
    for (const warpwise::ApiCall& call : result.instrumented.calls) {
        // cudaMemcpyDefault does not say where it copies to: in favor of the answer.
        if (call.direction == "cudaMemcpyHostToDevice" ||
            call.direction == "cudaMemcpyDefault")
            copied_in += call.bytes;
        if (call.direction == "cudaMemcpyDeviceToHost") copied_out += call.bytes;
    }
    const std::size_t bytes_of_values = 4 * n;
    const std::string values_have =
        ", and the values have " + grading::counted(bytes_of_values, "byte");
    if (copied_in < bytes_of_values) {
        FAIL(copied_in << " bytes were copied to the device" << values_have
                       << ".\nHow many bytes does the copy of the values move?");
    }
    const std::size_t most_copied_out = bytes_of_values / 32 + 64;
    if (copied_out > most_copied_out) {
        FAIL(copied_out << " bytes were copied back to the host, at most "
                        << most_copied_out
                        << " are allowed.\nWhich sums could the device add up?");
    }
    const warpwise::Counts counts = warpwise::sum_of(result.instrumented.launches);
    const auto loaded = static_cast<std::size_t>(counts.global_load.bytes);
    if (loaded < bytes_of_values) {
        FAIL("kernels load " << grading::counted(loaded, "byte") << " from global memory"
                             << values_have << ".\nWhich values does no thread load?");
    }
    // Of all launches: whoever works piece by piece has fewer threads at a time.
    std::size_t threads = 0;
    for (const warpwise::LaunchCounts& launch : result.instrumented.launches) {
        threads += launch.blocks * launch.block[0] * launch.block[1] * launch.block[2];
    }
    if (threads < (n + 63) / 64) {
        FAIL("all launches together have "
             << grading::counted(threads, "thread") << ", at least " << (n + 63) / 64
             << " are wanted.\nHow many values does each thread take?");
    }
}

}  // namespace

TEST_CASE("the symptoms are gone") {
    std::vector<std::string> left;
    std::size_t looked_for = 2;
    for (const std::string& symptom : {first_symptom(), third_symptom()}) {
        if (!symptom.empty()) left.push_back(symptom);
    }
    if (warpwise::can_instrument()) {
        ++looked_for;
        if (const std::string symptom = second_symptom(); !symptom.empty())
            left.push_back(symptom);
    }
    if (left.empty()) return;
    std::string text = std::to_string(left.size()) + " of " + std::to_string(looked_for) +
                       (left.size() == 1 ? " symptoms is left:" : " symptoms are left:");
    for (const std::string& symptom : left) text += "\n- " + symptom;
    FAIL(text << "\nWhich line can cause "
              << (left.size() == 1 ? "it" : "the first of them")
              << ", and for how many values?");
}

TEST_CASE("adds up any number of squares") {
    for (const std::size_t n : grading::sizes(
             {1, 2, 31, 32, 33, 255, 256, 257, 1000, 1023, 1024, 1025, 10'007}, 4, 20'000))
        check_sum(values_of(n));
}

TEST_CASE("adds up nothing") { check_sum({}); }

TEST_CASE("adds up many squares") { check_sum(values_of(large)); }

TEST_CASE("adds up two million squares") {
    const std::vector<float> values = values_of(2'000'000);
    const warpwise::Instrumentation not_instrumented({});  // would take long
    float sum = untouched;
    REQUIRE_THAT(sum_of_squares(values.data(), static_cast<int>(values.size()), &sum),
                 grading::Succeeds());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    // The sums of thousands of warps may be added to the total one after the other.
    CHECK_THAT(sum, grading::CloseTo(sum_of(values), tolerance_of(values, 65536)));
}

// An error that is pending when the launches are asked for their status is told by
// cudaGetLastError, whoever made it.
TEST_CASE("asks for the status of its launches") {
    const std::vector<float> values = values_of(100);
    static_cast<void>(cudaSetDevice(9999));  // fails
    const cudaError_t pending = cudaPeekAtLastError();
    if (pending == cudaSuccess) FAIL("the grader could not make a call fail");
    float sum = untouched;
    const cudaError_t status =
        sum_of_squares(values.data(), static_cast<int>(values.size()), &sum);
    forget();
    if (status == cudaSuccess) {
        FAIL("Before the call, the grader made another call fail, with "
             << grading::text_of(pending)
             << ".\ncudaGetLastError tells that after the launches, and sum_of_squares "
                "returned cudaSuccess.\nIs every launch asked for its status?");
    }
}
