#include "exercises/2_memory_model/hunt_in_a_histogram/hunt_in_a_histogram.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"

const grading::Exercise grading::exercise{"2_memory_model", "hunt_in_a_histogram"};

namespace {

constexpr std::size_t bins = 256;
using Bytes = std::vector<unsigned char>;

Bytes random_bytes(std::size_t n, std::uint64_t stream) {
    const std::vector<int> values = grading::random_ints(n, 0, 255, stream);
    return {values.begin(), values.end()};
}

/// The counter that calls share: set to zero here and never again.
using Ticket = grading::Guarded<unsigned>;
Ticket new_ticket() { return Ticket(std::vector<unsigned>{0}); }

/// The arrays of one call.
struct Call {
    explicit Call(Bytes values)
        : bytes(std::move(values)),
          counts(bins),
          d_bytes(bytes),
          d_counts(old_counts()),
          d_mode(1) {
        for (const unsigned char byte : bytes) ++counts[byte];
        mode = static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) -
                                        counts.begin());
    }

    /// What d_counts holds before the call, as it may in a program.
    static std::vector<unsigned> old_counts() {
        const std::vector<int> values = grading::random_ints(bins, 1, 5000, 19);
        return {values.begin(), values.end()};
    }

    grading::Instrumented run(Ticket& d_ticket) {
        return grading::instrument([&] { call(d_ticket); });
    }

    void call(Ticket& d_ticket) {
        count_and_find_mode(d_bytes.data(), static_cast<int>(bytes.size()), d_counts.data(),
                            d_mode.data(), d_ticket.data());
    }

    void check_values() {
        std::vector<double> lost(bins);
        for (std::size_t i = 0; i < bins; ++i) lost[i] = counts[i] + d_counts.uploaded()[i];
        {
            INFO("the counts");
            CHECK_THAT(d_counts, grading::EqualTo(counts).when(
                                     grading::equals(lost),
                                     "These counts contain what d_counts held before the "
                                     "call."));
        }
        INFO("the mode");
        CHECK_THAT(d_mode, grading::EqualTo({static_cast<double>(mode)}));
    }

    Bytes bytes;
    std::vector<double> counts;
    std::size_t mode = 0;
    grading::Guarded<unsigned char> d_bytes;
    grading::Guarded<unsigned> d_counts, d_mode;
};

/// Checks all that a call has to do.
void check_call(Bytes bytes, Ticket& d_ticket) {
    INFO(grading::counted(bytes.size(), "byte"));
    Call call(std::move(bytes));
    const grading::Instrumented instrumented = call.run(d_ticket);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    call.check_values();
    CHECK_THAT(call.d_counts, grading::StaysInside());
    CHECK_THAT(call.d_mode, grading::StaysInside());
    CHECK_THAT(d_ticket, grading::StaysInside());
    CHECK_THAT(call.d_bytes, grading::Unchanged());
    CHECK_THAT(call.d_bytes, grading::ReadByKernels());
    CHECK_THAT(call.d_mode, grading::WrittenByKernels());
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    if (!warpwise::can_log()) return;
    const std::vector<grading::ElementActivity> activity =
        grading::activity_of(call.d_counts);
    for (std::size_t v = 0; v < bins; ++v) {
        if (call.counts[v] == 0 || activity[v].writer == warpwise::Writer::kernel) continue;
        FAIL("no kernel wrote the count of the value "
             << v << ".\nWhich thread should write it?");
    }
}

/// How often a launch did what was found.
std::uint64_t times_of(const warpwise::Diagnostic& found) {
    const std::string key = "\"count\": ";
    const std::size_t at = found.json.find(key);
    return at == std::string::npos ? 1 : std::stoull(found.json.substr(at + key.size()));
}

/// What somebody sees who runs the program and looks at its results, without knowing where
/// in the source it comes from.
class Symptoms {
public:
    void look_at_two_calls(std::size_t n) {
        INFO(grading::counted(n, "byte"));
        Ticket d_ticket = new_ticket();
        Call first(random_bytes(n, n)), second(random_bytes(n, n + 1));
        for (Call* call : {&first, &second}) {
            const grading::Instrumented instrumented = call->run(d_ticket);
            bool others = false;
            for (const warpwise::Diagnostic& found : instrumented.diagnostics) {
                const bool is_race = found.kind == "data_race";
                const bool is_read = found.kind == "uninitialized_read";
                if (is_race) races_ += times_of(found);
                if (is_read) uninitialized_ += times_of(found);
                others = others || !(is_race || is_read || found.is_note);
            }
            // Nobody planted this: it is shown as in any other exercise.
            const grading::Outcome outcome = grading::finish();
            if (outcome.status != cudaSuccess || others)
                REQUIRE_THAT(outcome, grading::Succeeds());
        }
        const bool first_is_there = !grading::is_poison(first.d_mode.download()[0]);
        const bool second_is_there = !grading::is_poison(second.d_mode.download()[0]);
        unwritten_ = unwritten_ || !second_is_there;
        never_ = never_ || !first_is_there;
    }

    /// A line for each symptom.
    std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        // The numbers tell who has mended half of a mistake that something has changed.
        if (uninitialized_ > 0) {
            lines.push_back(
                "A thread may read memory before anything was written there, so "
                "results depend on what the memory held before (seen " +
                grading::counted(uninitialized_, "time") + " in all calls).");
        }
        if (races_ > 0) {
            lines.push_back(
                "Two threads use the same memory without waiting for each "
                "other, so results depend on their order (seen " +
                grading::counted(races_, "time") + " in all calls).");
        }
        if (never_) {
            lines.push_back("No thread writes the mode.");
        } else if (unwritten_) {
            lines.push_back(
                "In the first call a thread writes the mode, but in the second "
                "call with the same ticket counter none does.");
        }
        return lines;
    }

private:
    std::uint64_t uninitialized_ = 0, races_ = 0;
    bool unwritten_ = false, never_ = false;
};

}  // namespace

// Each of the three planted mistakes shows one symptom, whatever became of the other two.
TEST_CASE("shows no symptom") {
    Symptoms symptoms;
    for (const std::size_t n : {5000, 700}) symptoms.look_at_two_calls(n);
    const std::vector<std::string> lines = symptoms.lines();
    std::ostringstream text;
    for (const std::string& line : lines) text << "\n  - " << line;
    if (!lines.empty()) {
        FAIL(lines.size() << " of 3 symptoms " << (lines.size() == 1 ? "is" : "are")
                          << " left:" << text.str() << "\nWhich memory is "
                          << (lines.size() == 1 ? "it" : "the first of them")
                          << " about, and which lines write and read that memory?");
    }
}

TEST_CASE("counts bytes of any number") {
    for (const std::size_t n : grading::sizes(
             {1, 2, 31, 32, 33, 127, 128, 129, 1023, 1024, 1009, 4099}, 3, 20'000)) {
        Ticket d_ticket = new_ticket();
        check_call(random_bytes(n, n), d_ticket);
    }
}

TEST_CASE("counts no bytes") {
    Ticket d_ticket = new_ticket();
    check_call({}, d_ticket);
    check_call({}, d_ticket);
}

TEST_CASE("is right in every call with the same ticket counter") {
    Ticket d_ticket = new_ticket();
    std::size_t call = 0;
    for (const std::size_t n : {3000, 3000, 100, 0, 20'011, 5000, 1, 5000}) {
        INFO("call " << ++call << " with the same ticket counter");
        check_call(random_bytes(n, call), d_ticket);
    }
}

TEST_CASE("finds the mode of bytes of any kind") {
    Ticket d_ticket = new_ticket();
    Bytes all_values;
    for (std::size_t i = 0; i < 4 * bins; ++i)
        all_values.push_back(static_cast<unsigned char>(255 - i % bins));
    check_call(all_values, d_ticket);  // all counts are 4: the lowest value is the mode
    for (const unsigned char value : {0, 127, 128, 255}) {
        check_call(Bytes(2000, value), d_ticket);
        Bytes one_more = all_values;
        one_more.push_back(value);
        check_call(one_more, d_ticket);
    }
    Bytes two_of_many = random_bytes(3000, 5);
    two_of_many.insert(two_of_many.end(), 900, 200);
    two_of_many.insert(two_of_many.end(), 900, 70);
    check_call(two_of_many, d_ticket);
}

// Readers are known per word of four bytes: where threads read single bytes, only one in
// four of them shows, so 64 stand for the 256 threads that the task asks for.
TEST_CASE("shares the bytes among many threads") {
    Ticket d_ticket = new_ticket();
    Call call(random_bytes(65'536, 3));
    (void)call.run(d_ticket);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(call.d_bytes, grading::ReadByThreads(64));
    CHECK_THAT(call.d_bytes, grading::ReadByBlocks(4));
}

TEST_CASE("counts many bytes") {
    // Not instrumented: here it would take seconds. Counts of 139,300 and 60,703, which
    // exchange their order if only the last 16 or the last 10 bits of a count are kept.
    const std::size_t n = 200'003;
    Bytes bytes(n, 200);
    for (std::size_t k = 0; k < 139'300; ++k) bytes[k * 7919 % n] = 9;
    Ticket d_ticket = new_ticket();
    Call call(bytes);
    call.call(d_ticket);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    call.check_values();
}
