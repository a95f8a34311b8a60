#include "exercises/2_memory_model/hunt_in_a_filter/hunt_in_a_filter.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"2_memory_model", "hunt_in_a_filter"};

namespace {

std::vector<double> sharpened(const std::vector<float>& signal, float amount) {
    constexpr double weights[] = {1, 6, 15, 20, 15, 6, 1};
    std::vector<double> outputs(signal.size());
    for (std::size_t i = 0; i < signal.size(); ++i) {
        double mean = 0;
        for (std::size_t k = 0; k < 7; ++k) {
            if (i + k < 3 || i + k - 3 >= signal.size()) continue;
            mean += weights[k] / 64 * signal[i + k - 3];
        }
        outputs[i] = signal[i] + double{amount} * (signal[i] - mean);
    }
    return outputs;
}

// Seven products and their sum, a difference, a product, and a sum, of numbers up to 3. An
// element that is left out is 2^-17 at least, which is 7.6e-6.
constexpr warpwise::Tolerance rounding{.absolute = 2e-6};

/// The arrays of one call.
struct Call {
    explicit Call(std::size_t n)
        : Call(n, 0.5f + grading::random_positive_floats(1, n + 1)[0] / 2) {}
    Call(std::size_t n, float amount_)
        : signal(grading::random_floats(n, n)),
          amount(amount_),
          outputs(sharpened(signal, amount)),
          d_in(signal),
          d_out(n) {}

    grading::Instrumented run() {
        return grading::instrument([this] {
            sharpen_signal(d_in.data(), d_out.data(), static_cast<int>(signal.size()),
                           amount);
        });
    }

    std::vector<float> signal;
    float amount;
    std::vector<double> outputs;
    grading::Guarded<float> d_in, d_out;
};

/// Checks all that a call has to do, and returns what the kernels did.
grading::Instrumented check_call(std::size_t n, std::size_t threads = 0,
                                 std::size_t blocks = 0) {
    INFO("a signal of " << grading::counted(n, "element"));
    Call call(n);
    grading::Instrumented instrumented = call.run();
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(call.d_out, grading::CloseTo(call.outputs, rounding));
    CHECK_THAT(call.d_out, grading::StaysInside());
    CHECK_THAT(call.d_in, grading::Unchanged());
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    if (n == 0) return instrumented;
    CHECK_THAT(call.d_in, grading::ReadByKernels());
    CHECK_THAT(call.d_out, grading::WrittenByThreads(threads));
    CHECK_THAT(call.d_out, grading::WrittenByBlocks(blocks));
    return instrumented;
}

/// What somebody sees who runs the program and looks at its results, without knowing where
/// in the source it comes from.
class Symptoms {
public:
    void look_at(std::size_t n) {
        Call call(n);
        const grading::Instrumented instrumented = call.run();
        const bool has_race = std::any_of(
            instrumented.diagnostics.begin(), instrumented.diagnostics.end(),
            [](const warpwise::Diagnostic& found) { return found.kind == "data_race"; });
        const bool only_races =
            std::all_of(instrumented.diagnostics.begin(), instrumented.diagnostics.end(),
                        [](const warpwise::Diagnostic& found) {
                            return found.is_note || found.kind == "data_race";
                        });
        const grading::Outcome outcome = grading::finish();
        // Nobody planted this: it is shown as in any other exercise.
        if (outcome.status != cudaSuccess || !only_races) {
            INFO("a signal of " << grading::counted(n, "element"));
            REQUIRE_THAT(outcome, grading::Succeeds());
        }
        if (has_race) race_ += race_.empty() ? number(n) : ", " + number(n);
        std::vector<std::size_t> missing, wrong;
        const std::vector<float> got = call.d_out.download();
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (std::fabs(got[i] - call.outputs[i]) <= rounding.absolute) continue;
            (grading::is_poison(got[i]) ? missing : wrong).push_back(i);
        }
        note(missing_, missing, n);
        // What is wrong in a run with a race may come from the race.
        if (!has_race) note(wrong_, wrong, n);
    }

    /// A line for each symptom.
    std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        if (!missing_.empty()) {
            lines.push_back(
                "Outputs are missing: no thread writes them. For n = " + missing_ + ".");
        }
        if (!wrong_.empty()) {
            lines.push_back("Outputs are written, but wrong. For n = " + wrong_ + ".");
        }
        if (!race_.empty()) {
            lines.push_back(
                "Two threads use the same memory without waiting for each "
                "other, so that outputs depend on their order. For n = " +
                race_ + ".");
        }
        return lines;
    }

private:
    static std::string number(std::size_t n) { return std::to_string(n); }

    /// The first case of a symptom says enough.
    static void note(std::string& symptom, const std::vector<std::size_t>& elements,
                     std::size_t n) {
        if (!symptom.empty() || elements.empty()) return;
        symptom = number(n) + ": " + number(elements.size()) + " of " + number(n) +
                  " outputs, the first one is output " + number(elements[0]);
    }

    std::string missing_, wrong_, race_;
};

}  // namespace

// Each of the three planted mistakes shows one symptom, whatever became of the other two.
TEST_CASE("shows no symptom") {
    Symptoms symptoms;
    for (const std::size_t n : {1000, 259, 514, 33, 769, 5000}) symptoms.look_at(n);
    const std::vector<std::string> lines = symptoms.lines();
    std::ostringstream text;
    for (const std::string& line : lines) text << "\n  - " << line;
    if (!lines.empty()) {
        FAIL(lines.size() << " of 3 symptoms " << (lines.size() == 1 ? "is" : "are")
                          << " left:" << text.str() << "\nWhich line can cause "
                          << (lines.size() == 1 ? "it" : "the first of them")
                          << ", and for which values of n?");
    }
}

TEST_CASE("sharpens signals of any length") {
    for (const std::size_t n :
         grading::sizes({1,   2,   3,   4,   31,  32,  33,   255,  256,  257,
                         258, 259, 260, 511, 512, 513, 1009, 2048, 2049, 4099},
                        4, 5'000)) {
        check_call(n);
    }
}

TEST_CASE("sharpens by any amount from 0 to 1") {
    for (const float amount : {0.0f, 0.1f, 1.0f}) {
        INFO("amount " << amount);
        Call call(1000, amount);
        call.run();
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        CHECK_THAT(call.d_out, grading::CloseTo(call.outputs, rounding));
    }
}

TEST_CASE("does nothing for an empty signal") { check_call(0); }

TEST_CASE("shares the outputs among many threads") { check_call(16'384, 1024, 4); }

TEST_CASE("sharpens a long signal") {
    // Not instrumented: here it would take seconds.
    Call call(100'003);
    sharpen_signal(call.d_in.data(), call.d_out.data(),
                   static_cast<int>(call.signal.size()), call.amount);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(call.d_out, grading::CloseTo(call.outputs, rounding));
}
