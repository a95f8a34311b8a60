#include "exercises/1_basics_and_pi/five_moves/five_moves.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/grading/diagnostics.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"
#include "common/helpers/compare.h"
#include "common/helpers/instrument.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "five_moves"};

namespace {

// What the grader writes into `out` before the call; no result has this value.
constexpr float untouched = -7;

/// The arrays of one call, in ordinary host memory, with space before and after `out`.
struct Call {
    explicit Call(std::size_t count)
        : n(count),
          factor(grading::random_floats(1, 1)[0]),
          in(grading::random_floats(n + zone, 2)),
          in_before(in),
          around_out(zone + n + n + zone, untouched) {}

    cudaError_t run() { return scale(in.data(), out(), static_cast<int>(n), factor); }

    float* out() { return around_out.data() + zone; }
    std::vector<float> result() {
        std::vector<float> values(n);
        std::copy_n(out(), n, values.begin());
        return values;
    }

    std::vector<double> expected() const {
        std::vector<double> values;
        for (std::size_t i = 0; i < n; ++i) values.push_back(double{factor} * in[i]);
        return values;
    }

    bool stays_inside() {
        const auto is_untouched = [](float value) { return value == untouched; };
        return std::all_of(around_out.data(), out(), is_untouched) &&
               std::all_of(out() + n, around_out.data() + around_out.size(), is_untouched);
    }

    static constexpr std::size_t zone = 256;
    std::size_t n;
    float factor;
    std::vector<float> in, in_before, around_out;
};

/// Threads of the only launch; 0 where there are several, or where nobody saw them.
std::size_t launched_threads(const grading::Instrumented& instrumented) {
    if (instrumented.launches.size() != 1) return 0;
    const auto& block = instrumented.launches[0].block;
    return instrumented.launches[0].blocks * block[0] * block[1] * block[2];
}

/// Right to about one rounding, whether computed in float or in double.
constexpr warpwise::Tolerance rounding{.relative = 1.0 / (1 << 22)};

void check_values(Call& call, const grading::Instrumented& instrumented) {
    const std::size_t threads = launched_threads(instrumented);
    const grading::Cause no_thread_left = [&](const grading::MismatchedArray& mismatch) {
        return threads > 0 && grading::only_first_right(threads)(mismatch);
    };
    const grading::Cause one_quarter = [&](const grading::MismatchedArray& mismatch) {
        return call.n >= 8 && grading::only_first_right(call.n / sizeof(float))(mismatch);
    };
    std::vector<double> in(call.in_before.begin(),
                           call.in_before.begin() + static_cast<std::ptrdiff_t>(call.n));
    const std::vector<float> out = call.result();
    CHECK_THAT(
        out, grading::CloseTo(call.expected(), rounding)
                 .when(no_thread_left,
                       "The launch has " + grading::counted(threads, "thread") +
                           ", and only as many elements are right. How many blocks do " +
                           grading::counted(call.n, "element") + " need?")
                 .when(one_quarter,
                       "Exactly the first quarter is right. In which unit do cudaMalloc "
                       "and cudaMemcpy take a size?")
                 .when(grading::equal(double{untouched}),
                       "These elements of `out` still hold what the grader had put there "
                       "before the call. Which move writes to `out`?")
                 .when(grading::equals(in),
                       "These elements equal those of `in`: they were not multiplied by "
                       "the factor.")
#ifdef __CPU_DEVICE__
                 .when(grading::not_a_number(),
                       "The CPU device fills memory of cudaMalloc with NaN (\"not a "
                       "number\"). Which thread should have written these elements?")
#endif
    );
    if (call.in != call.in_before) {
        FAIL(
            "`in` was changed. It is only to be read.\nWhich copy has `in` as its "
            "destination?");
    }
    if (!call.stays_inside()) {
        FAIL("The host memory before or after `out` was written: `out` has "
             << grading::counted(call.n, "element")
             << ".\nHow many bytes does the copy to `out` move?");
    }
}

/// What the CPU device found, with what was never freed, and errors of calls and launches
/// that nobody looked at.
std::vector<warpwise::Diagnostic> all_found(const grading::Instrumented& instrumented) {
    std::vector<warpwise::Diagnostic> found = instrumented.diagnostics;
    const std::vector<warpwise::Diagnostic> left =
        warpwise::diagnostics_during(warpwise::report_leaks);
    found.insert(found.end(), left.begin(), left.end());
    return found;
}

/// Whether there is an error that no forgotten move explains.
bool has_other_error(const std::vector<warpwise::Diagnostic>& found) {
    return std::any_of(found.begin(), found.end(),
                       [](const warpwise::Diagnostic& diagnostic) {
                           return !diagnostic.is_note && diagnostic.kind != "memory_leak" &&
                                  diagnostic.kind != "uninitialized_read";
                       });
}

/// Moves that were not made.
struct Missing {
    std::string lines;     ///< one for each, begun by a line break; empty where nobody saw
    std::string question;  ///< about the first of them

    void add(const char* line, const char* asked) {
        lines += std::string("\n  ") + line;
        if (question.empty()) question = asked;
    }
};

Missing missing_moves(const grading::Instrumented& instrumented) {
    Missing missing;
    if (!warpwise::can_log()) {
        grading::note_left_out();
        return missing;
    }
    if (instrumented.calls_of({"cudaMalloc", "cudaMallocAsync", "cudaMallocPitch",
                               "cudaMalloc3D", "cudaMallocFromPoolAsync",
                               "cudaMallocManaged"}) == 0) {
        missing.add("allocate: no device memory was allocated (cudaMalloc)",
                    "Which arrays can a kernel read and write, when `in` and `out` are in "
                    "host memory?");
    }
    if (instrumented.copies("cudaMemcpyHostToDevice") == 0) {
        missing.add("copy in: nothing was copied from the host to the device (cudaMemcpy)",
                    "What does the kernel read when nothing was copied to the device?");
    }
    if (instrumented.launches.empty()) {
        missing.add("launch: no kernel was launched (kernel<<<blocks, threads>>>(...))",
                    "Which line of yours makes the device compute something?");
    }
    if (instrumented.copies("cudaMemcpyDeviceToHost") == 0) {
        missing.add("copy out: nothing was copied from the device to the host (cudaMemcpy)",
                    "A kernel writes its results to device memory. What does `out` hold "
                    "then?");
    }
    if (instrumented.calls_of({"cudaFree", "cudaFreeAsync"}) == 0) {
        missing.add("free: no device memory was freed (cudaFree)",
                    "How much device memory is in use after a thousand calls of scale?");
    }
    return missing;
}

/// What came of the moves that were made: for the learner who forgets one on purpose.
std::string what_happened(Call& call, const std::vector<warpwise::Diagnostic>& found) {
    const warpwise::Comparison compared =
        warpwise::compare(call.result(), call.expected(), rounding);
    const std::size_t right = compared.compared - compared.mismatched;
    std::string text = "\nscale returned cudaSuccess. Elements of `out` that are right: " +
                       std::to_string(right) + " of " + std::to_string(call.n) + ".";
    std::set<std::string> said;
    for (const warpwise::Diagnostic& diagnostic : found) {
        std::string line = diagnostic.text.substr(0, diagnostic.text.find('\n'));
        for (const std::string_view prefix : {"CPU device: ", "note: "})
            if (line.starts_with(prefix)) line.erase(0, prefix.size());
        if (said.insert(diagnostic.kind).second) text += "\nThe CPU device says: " + line;
    }
    if (said.empty()) {
        text += "\nThe CPU device says nothing: the calls that were made have no error.";
    }
    return text;
}

/// What to say where as many bytes were copied as there are elements; empty otherwise.
std::string too_few_bytes(const grading::Instrumented& instrumented, std::size_t n) {
    for (const bool to_device : {true, false}) {
        std::size_t bytes = 0;
        for (const warpwise::ApiCall& call : instrumented.calls) {
            const bool counts = call.direction == (to_device ? "cudaMemcpyHostToDevice"
                                                             : "cudaMemcpyDeviceToHost");
            if (counts) bytes += call.bytes;
        }
        if (n == 0 || bytes != n) continue;
        return grading::counted(bytes, "byte") + (bytes == 1 ? " was" : " were") +
               " copied to the " + (to_device ? "device" : "host") + ". The array has " +
               grading::counted(n, "element") + " of type float, which are " +
               grading::counted(n * sizeof(float), "byte") + ".";
    }
    return "";
}

/// Calls the answer for `n` elements and judges everything that shows in ordinary host
/// memory.
grading::Instrumented check_scale(std::size_t n) {
    Call call(n);
    INFO("n is " << n << ", factor is " << call.factor);
    cudaError_t status = cudaErrorUnknown;
    const grading::Instrumented instrumented =
        grading::instrument([&] { status = call.run(); });
    const std::vector<warpwise::Diagnostic> found = all_found(instrumented);
    if (status == cudaSuccess && !has_other_error(found) && n > 0) {
        const Missing missing = missing_moves(instrumented);
        if (!missing.lines.empty()) {
            grading::forget_diagnostics();  // of what follows from it
            FAIL("Of the five moves, these are missing:"
                 << missing.lines << what_happened(call, found) << "\n"
                 << missing.question);
        }
    }
    const std::string too_few = too_few_bytes(instrumented, n);
    if (!too_few.empty()) {
        grading::forget_diagnostics();  // of what follows from it
        FAIL(too_few << "\nWhat does the third argument of cudaMemcpy count?");
    }
    // No guard of the kernel helps where the array is too small for its elements.
    const std::string too_small = " " + grading::counted(n, "byte") + " of device memory";
    REQUIRE_THAT(grading::finish(),
                 grading::Succeeds().when(
                     {"out of bounds: a thread", too_small},
                     "An array of the device has as many bytes as `out` has elements. What "
                     "does the second argument of cudaMalloc count, and how many bytes do "
                     "so many floats have?"));
    if (status != cudaSuccess) {
        FAIL("scale returned " << grading::text_of(status)
                               << (n == 0 ? "\nHow many blocks does your launch have when "
                                            "there are no elements?"
                                          : "\nWhich of your calls returned it?"));
    }
    check_values(call, instrumented);
    CHECK_THAT(instrumented,
               grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc", "cudaHostRegister"},
                                 "This exercise is about copies between two memories, so "
                                 "the task asks for device memory, as of cudaMalloc."));
    return instrumented;
}

/// Whether all launches are calls that return their status, such as cudaLaunchKernel.
bool launches_return_status(const grading::Instrumented& instrumented) {
    std::string_view before;
    for (const warpwise::ApiCall& call : instrumented.calls) {
        if (call.function == "<<<>>>" && before != "launch_function") return false;
        before = call.function;
    }
    return true;
}

/// Fails unless kernels computed all of `out`, with a thread of its own for each element,
/// and CUDA copied it from there. Sees nothing on a GPU.
void check_who_wrote(const float* out, std::size_t n) {
    const std::vector<warpwise::WordActivity> elements =
        warpwise::activity_of(out, n * sizeof(float));
    std::vector<std::size_t> not_copied, not_computed;
    std::set<warpwise::KernelThread> threads;
    for (std::size_t i = 0; i < n; ++i) {
        if (elements[i].copied_by == 0) {
            not_copied.push_back(i);
        } else if (elements[i].writer != warpwise::Writer::kernel) {
            not_computed.push_back(i);
        } else {
            threads.insert(elements[i].written_by);
        }
    }
    if (!not_copied.empty()) {
        FAIL("not copied from device memory to `out` by a function of CUDA: "
             << grading::name_elements(not_copied)
             << "\nWhich of your calls copies to `out`, and how many bytes?");
    }
    if (!not_computed.empty()) {
        FAIL("copied to `out` from device memory that no kernel had written: "
             << grading::name_elements(not_computed)
             << "\nTo which device array does the kernel write, and which one is copied "
                "back?");
    }
    if (threads.size() < n) {
        FAIL(grading::counted(threads.size(), "thread")
             << " computed the " << grading::counted(n, "element")
             << "; the task asks for a thread of its own for each.\nWhich element should "
                "thread 1 of block 0 compute?");
    }
}

/// Pinned (page-locked) host memory: of copies to ordinary host memory the CPU device keeps
/// no log.
class LoggedFloats {
public:
    explicit LoggedFloats(std::size_t count) {
        REQUIRE_THAT(
            cudaMallocHost(reinterpret_cast<void**>(&memory_), count * sizeof(float)),
            grading::Succeeds());
    }
    ~LoggedFloats() { (void)cudaFreeHost(memory_); }
    LoggedFloats(const LoggedFloats&) = delete;
    LoggedFloats& operator=(const LoggedFloats&) = delete;

    float* data() { return memory_; }

private:
    float* memory_ = nullptr;
};

std::size_t free_bytes() {
    std::size_t free = 0, total = 0;
    REQUIRE_THAT(cudaMemGetInfo(&free, &total), grading::Succeeds());
    return free;
}

}  // namespace

TEST_CASE("makes all five moves") { check_scale(1009); }

TEST_CASE("scales every element of arrays of any length") {
    for (const std::size_t n :
         grading::sizes({1, 31, 32, 33, 256, 257, 1024, 100'003}, 4, 20'000))
        check_scale(n);
}

// If the two numbers of a launch are exchanged, its blocks are refused for more than
// 1024 x 1024 elements: they would have more than 1024 threads. Fewer elements hide it.
TEST_CASE("scales an array of a million elements") {
    // Looking for mistakes would take seconds with so many threads.
    const warpwise::Instrumentation nothing({});
    Call call(1'100'003);
    INFO("n is " << call.n << ", factor is " << call.factor);
    const cudaError_t status = call.run();
    const std::string refused = status == cudaSuccess ? "" : grading::take_refused_launch();
    if (!refused.empty()) {
        FAIL("scale returned " << grading::text_of(status) << "\n"
                               << refused
                               << "\nA launch takes the number of blocks and the number of "
                                  "threads per block. Which of the two grows with n in "
                                  "yours?");
    }
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    if (status != cudaSuccess) {
        FAIL("scale returned " << grading::text_of(status)
                               << "\nWhich of your calls returned it?");
    }
    check_values(call, {});
}

TEST_CASE("accepts arrays without elements") { check_scale(0); }

// No launch of a right answer is refused. But cudaGetLastError and cudaPeekAtLastError also
// return an error from before the launch, so whoever calls them finds that one.
TEST_CASE("looks at the status of the launch") {
    if (!warpwise::can_log()) {
        grading::note_left_out();
        return;
    }
    Call call(1009);
    cudaError_t status = cudaErrorUnknown;
    const grading::Instrumented instrumented = grading::instrument([&] {
        cudaSetDevice(9999);  // fails, and leaves its error to whoever asks next
        status = call.run();
    });
    const bool nobody_asked =
        status == cudaSuccess && cudaGetLastError() == cudaErrorInvalidDevice;
    (void)cudaDeviceReset();  // what is left after an error is not graded
    (void)cudaGetLastError();
    grading::forget_diagnostics();
    if (nobody_asked && !launches_return_status(instrumented)) {
        FAIL(
            "Before this call of scale, the grader made a call fail on purpose.\n"
            "cudaGetLastError() after the launch would have returned that error, as it "
            "returns the error of a refused launch.\n"
            "But scale returned cudaSuccess, and the error is still there.\nWhat would "
            "scale return if its launch was refused?");
    }
}

TEST_CASE("gives every element a thread of its own") {
    if (!warpwise::can_log()) {
        grading::note_left_out();
        return;
    }
    for (const std::size_t n : {1, 33, 1009, 20'011}) {
        INFO("n is " << n);
        LoggedFloats in(n), out(n);
        const std::vector<float> values = grading::random_floats(n, 2);
        std::copy(values.begin(), values.end(), in.data());
        std::fill(out.data(), out.data() + n, untouched);
        cudaError_t status = cudaErrorUnknown;
        (void)grading::instrument(
            [&] { status = scale(in.data(), out.data(), static_cast<int>(n), 0.75f); });
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        if (status != cudaSuccess) {
            FAIL("scale returned " << grading::text_of(status)
                                   << "\nWhich of your calls returned it?");
        }
        check_who_wrote(out.data(), n);
    }
}

#ifndef __CPU_DEVICE__
// The CPU device names what was never freed, in every test.
TEST_CASE("frees what it allocates") {
    Call call(std::size_t{1} << 24);
    REQUIRE_THAT(call.run(), grading::Succeeds());  // for what CUDA itself keeps
    const std::size_t before = free_bytes();
    constexpr std::size_t repeats = 8;
    for (std::size_t i = 0; i < repeats; ++i) {
        REQUIRE_THAT(call.run(), grading::Succeeds());
    }
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const std::size_t after = free_bytes();
    const std::size_t lost = before > after ? before - after : 0;
    if (lost >= repeats / 2 * call.n * sizeof(float)) {
        FAIL_CHECK("After " << repeats << " calls, " << lost / 1'000'000
                            << " MB less of device memory are free than before.\nIs all of "
                               "it freed (cudaFree), whichever way the function ends?");
    }
}
#endif

#ifdef __CPU_DEVICE__
// Not on a GPU: other programs may need its memory, the one that shows the screen among
// them. Stays last: an answer that launches its kernel without memory leaves a lost device.
TEST_CASE("returns the error of an allocation that fails") {
    constexpr std::size_t n = std::size_t{1} << 21;
    constexpr std::size_t array_bytes = n * sizeof(float);
    for (const std::size_t left : {array_bytes / 2, array_bytes + array_bytes / 2}) {
        Call call(n);
        void* occupied = nullptr;
        if (cudaMalloc(&occupied, free_bytes() - left) != cudaSuccess) {
            // Where the system promises no more memory than it has.
            (void)cudaGetLastError();
            grading::forget_diagnostics();
            return;
        }
        const cudaError_t status = call.run();
        (void)cudaGetLastError();  // of the allocation that failed
        const std::string situation =
            std::string("The device had ") +
            (left < array_bytes ? "too little memory for an array of "
                                : "memory for one array, but not for two, of ") +
            std::to_string(n) + " floats.\nTherefore cudaMalloc returned " +
            grading::text_of(cudaErrorMemoryAllocation) + ".\n";
        // An answer may need less memory than two arrays.
        const bool needs_less =
            status == cudaSuccess && call.result() != std::vector<float>(n, untouched);
        if (!needs_less && status != cudaErrorMemoryAllocation) {
            grading::forget_diagnostics();  // of what follows from it
            FAIL(situation << "scale returned " << grading::text_of(status)
                           << ".\nWhat does your function do with the status that "
                              "cudaMalloc returns?");
        }
        if (needs_less) {
            check_values(call, {});
        } else if (cudaDeviceSynchronize() != cudaSuccess) {
            grading::forget_diagnostics();
            FAIL(situation
                 << "But scale went on: its kernel died, because it accessed memory "
                    "that is not there.\nWhich moves make sense after an "
                    "allocation has failed?");
        }
        // Also frees what the answer has left behind: after an error that is not graded.
        (void)cudaDeviceReset();
        (void)cudaGetLastError();
        grading::forget_diagnostics();
    }
}
#endif
