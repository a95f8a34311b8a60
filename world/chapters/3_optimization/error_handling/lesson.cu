// Problem: something goes wrong on a device, and the program has to find out what, where
// and when.
//
// Nothing in CUDA throws an exception or stops a program. Every call returns a status, a
// launch by <<<...>>> returns nothing, and a kernel fails long after its launch has
// returned. So there are three moments at which a mistake can show: at the call, right
// after the launch, and at some later call that waits for the device. Here each kind of
// mistake is really made, and the table says when it showed and what was left of the device
// afterwards.
//
// Some mistakes leave the device unusable for the process that made them. So each is made
// by a second process: this program starts itself once more, and tells the copy by an
// environment variable which mistake to make.
#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chapters/3_optimization/error_handling/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/instrument.h"
#include "common/lesson/lesson.h"
#include "common/lesson/second_process.h"

namespace optimization {
namespace {

constexpr int kCount = 100;  // floats, all of them 1 before a kernel doubles them

// ---- one helper, in three steps ---------------------------------------------------------

float* array_of_ones() {
    const std::vector<float> ones(kCount, 1.0f);
    float* data = nullptr;
    warpwise::check(cudaMalloc(&data, kCount * sizeof(float)));
    warpwise::check(
        cudaMemcpy(data, ones.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
    return data;
}

// Step 1: nothing. A block of 2048 threads is twice what a device accepts. What happens is
// nothing, either: the launch is refused, and the copy succeeds and brings back what was
// there before. Every line after that works with a wrong number.
float double_with_nothing(float* d_data) {
    float first = 0;
    twice<<<1, 2048>>>(d_data, kCount);
    cudaMemcpy(&first, d_data, sizeof first, cudaMemcpyDeviceToHost);
    return first;
}

// Step 2: a macro, as most programs have it. It sees the text of its argument, and knows
// where it stands. (Usually it prints and calls exit. Here it throws, so that the lesson
// can go on.)
// Better: file, line, call and message, for one word around each call.
// Still poor: a macro belongs to no namespace and collides with every other macro of that
// name; it does not know the function in which it is used; it hides an exit in what looks
// like a call; and a launch does not fit into it.
#define CHECK_BY_MACRO(call)                                                        \
    do {                                                                            \
        const cudaError_t status_ = (call);                                         \
        if (status_ != cudaSuccess) {                                               \
            throw std::runtime_error(std::string(__FILE__) + ":" +                  \
                                     std::to_string(__LINE__) + ": " + #call ": " + \
                                     cudaGetErrorString(status_));                  \
        }                                                                           \
    } while (false)

float double_with_macro(float* d_data) {
    float first = 0;
    twice<<<1, 2048>>>(d_data, kCount);
    CHECK_BY_MACRO(cudaGetLastError());
    CHECK_BY_MACRO(cudaMemcpy(&first, d_data, sizeof first, cudaMemcpyDeviceToHost));
    return first;
}

// Step 3: a function. The trick is the default argument: std::source_location::current() is
// evaluated where the call stands, not here.
// Better: an ordinary function in a namespace, with an exception type that others can
// catch, and it names the function that contains the call. The text of the call is in the
// file, at that line: warpwise::check, which the whole book uses, reads it from there.
std::string text_of(cudaError_t code, const std::source_location& where) {
    return std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": in " +
           where.function_name() + ": " + cudaGetErrorName(code) + ": " +
           cudaGetErrorString(code);
}

class CudaFailure : public std::runtime_error {
public:
    CudaFailure(cudaError_t code, const std::source_location& where)
        : std::runtime_error(text_of(code, where)) {}
};

void check(cudaError_t status,
           const std::source_location& where = std::source_location::current()) {
    if (status != cudaSuccess) throw CudaFailure(status, where);
}

float double_with_function(float* d_data) {
    float first = 0;
    twice<<<1, 2048>>>(d_data, kCount);
    check(cudaGetLastError());
    check(cudaMemcpy(&first, d_data, sizeof first, cudaMemcpyDeviceToHost));
    return first;
}

float double_with_warpwise(float* d_data) {
    float first = 0;
    twice<<<1, 2048>>>(d_data, kCount);
    warpwise::check_launch();
    warpwise::check(cudaMemcpy(&first, d_data, sizeof first, cudaMemcpyDeviceToHost));
    return first;
}

// A message in which this file is error_handling/lesson.cu, without the folders above it,
// which differ from reader to reader.
std::string without_folders(std::string message) {
    const std::string_view file = __FILE__;
    const std::string folders(file.substr(0, file.find("error_handling/lesson.cu")));
    for (std::size_t at = message.find(folders); !folders.empty() && at != message.npos;
         at = message.find(folders)) {
        message.erase(at, folders.size());
    }
    return message;
}

std::string message_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const std::runtime_error& error) {
        return without_folders(error.what());
    }
    return "";
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != text.npos;
}

void show_helper(warpwise::Lesson& lesson) {
    float* const d_data = array_of_ones();
    const float first = double_with_nothing(d_data);
    const cudaError_t pending = cudaGetLastError();
    lesson.expect(first == 1,
                  "without a check the program goes on with what was there before");
    lesson.expect(pending != cudaSuccess,
                  "the error was there all the time, for anybody who asks");
    const std::string by_macro = message_of([&] { double_with_macro(d_data); });
    const std::string by_function = message_of([&] { double_with_function(d_data); });
    const std::string by_warpwise = message_of([&] { double_with_warpwise(d_data); });
    lesson.expect(contains(by_macro, "error_handling/lesson.cu:") &&
                      contains(by_macro, "cudaGetLastError()"),
                  "the macro names file, line and call");
    lesson.expect(contains(by_function, "error_handling/lesson.cu:") &&
                      contains(by_function, "double_with_function"),
                  "the function names file, line and function");
    lesson.expect(contains(by_warpwise, "error_handling/lesson.cu:") &&
                      contains(by_warpwise, "double_with_warpwise"),
                  "warpwise::check_launch names file, line and function");
    lesson.text("Step 1, nothing:\n\n    twice 1 is " + std::to_string(first) +
                "\n\nStep 2, the macro:\n\n    " + by_macro +
                "\n\nStep 3, the function:\n\n    " + by_function +
                "\n\nand the same with the line itself, as the book has it "
                "(common/helpers/check.h):\n\n    " +
                by_warpwise);
    warpwise::check(cudaFree(d_data));
}

// ---- the error that is kept -------------------------------------------------------------

// What was called, and what it returned.
using Answers = std::vector<std::pair<std::string, cudaError_t>>;

std::vector<std::vector<std::string>> rows_of(const Answers& answers) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [call, status] : answers)
        rows.push_back({call, cudaGetErrorName(status)});
    return rows;
}

void double_in_order(float* d_data) {
    twice<<<1, 128>>>(d_data, kCount);
    check(cudaGetLastError());
}

void show_last_error(warpwise::Lesson& lesson) {
    float* const d_data = array_of_ones();
    void* memory = nullptr;
    Answers answers;
    twice<<<1, 2048>>>(d_data, kCount);
    answers.emplace_back("cudaDeviceSynchronize()", cudaDeviceSynchronize());
    answers.emplace_back("cudaPeekAtLastError()", cudaPeekAtLastError());
    answers.emplace_back("cudaPeekAtLastError(), again", cudaPeekAtLastError());
    answers.emplace_back("cudaMalloc(...), which succeeds", cudaMalloc(&memory, 4));
    answers.emplace_back("cudaGetLastError()", cudaGetLastError());
    answers.emplace_back("cudaGetLastError(), again", cudaGetLastError());
    lesson.table({"refused_launch", "After the launch of a block of 2048 threads"},
                 {"call", "returns"}, rows_of(answers));
    constexpr std::array<bool, 6> fails = {false, true, true, false, true, false};
    for (std::size_t i = 0; i < fails.size(); ++i) {
        const bool failed = answers[i].second != cudaSuccess;
        lesson.expect(failed == fails[i],
                      answers[i].first + (fails[i] ? ": returns the error" : ": succeeds"));
    }

    (void)cudaSetDevice(9999);  // a mistake at which nobody looks
    const std::string blamed = message_of([&] { double_in_order(d_data); });
    lesson.expect(contains(blamed, "cudaErrorInvalidDevice"),
                  "an error that nobody took is found at the next look");
    lesson.text(
        "And after a launch in perfect order, after a cudaSetDevice(9999) at which nobody "
        "looked:\n\n    " +
        blamed);
    warpwise::check(cudaFree(memory));
    warpwise::check(cudaFree(d_data));
}

// ---- each mistake in a process of its own -----------------------------------------------

enum class Shows { at_the_call, after_the_launch, when_waited_for, never };

struct Mistake {
    const char* name;
    const char* call;
    cudaError_t (*make)();  // returns what the call returned; a launch returns nothing
    Shows shows;
    bool sticky;
    std::vector<cudaError_t> errors;     // one of them; versions of CUDA differ
    bool seen_by_instrumenting = false;  // and otherwise not by the CPU device
};

const std::vector<Mistake>& mistakes() {
    static const std::vector<cudaError_t> refused = {cudaErrorInvalidValue,
                                                     cudaErrorInvalidConfiguration};
    static const std::vector<Mistake> all = {
        {"more memory than there is",
         "cudaMalloc",
         [] {
             void* memory = nullptr;
             return cudaMalloc(&memory, std::size_t{1} << 60);
         },
         Shows::at_the_call,
         false,
         {cudaErrorMemoryAllocation}},
        {"a device that is not there",
         "cudaSetDevice",
         [] { return cudaSetDevice(9999); },
         Shows::at_the_call,
         false,
         {cudaErrorInvalidDevice}},
        {"memory freed twice",
         "cudaFree",
         [] {
             float* const data = array_of_ones();
             warpwise::check(cudaFree(data));
             return cudaFree(data);
         },
         Shows::at_the_call,
         false,
         {cudaErrorInvalidValue}},
        {"a block of 2048 threads", "twice<<<1, 2048>>>",
         [] {
             twice<<<1, 2048>>>(array_of_ones(), kCount);
             return cudaSuccess;
         },
         Shows::after_the_launch, false, refused},
        {"a grid without blocks", "twice<<<0, 128>>>",
         [] {
             twice<<<0, 128>>>(array_of_ones(), kCount);
             return cudaSuccess;
         },
         Shows::after_the_launch, false, refused},
        {"1 MB of shared memory", "twice<<<1, 128, 1000000>>>",
         [] {
             twice<<<1, 128, 1000000>>>(array_of_ones(), kCount);
             return cudaSuccess;
         },
         Shows::after_the_launch, false, refused},
        {"a null pointer in a kernel",
         "twice<<<1, 128>>>",
         [] {
             twice<<<1, 128>>>(nullptr, kCount);
             return cudaSuccess;
         },
         Shows::when_waited_for,
         true,
         {cudaErrorIllegalAddress}},
        {"a float4 at an odd place",
         "move_four<<<1, 1>>>",
         [] {
             float* const data = array_of_ones();
             move_four<<<1, 1>>>(data + 1, data + 8);
             return cudaSuccess;
         },
         Shows::when_waited_for,
         true,
         {cudaErrorMisalignedAddress},
         true},
        {"a failed assert",
         "assert_that<<<1, 1>>>",
         [] {
             assert_that<<<1, 1>>>(false);
             return cudaSuccess;
         },
         Shows::when_waited_for,
         true,
         {cudaErrorAssert}},
        {"a trap",
         "give_up<<<1, 1>>>",
         [] {
             give_up<<<1, 1>>>();
             return cudaSuccess;
         },
         Shows::when_waited_for,
         true,
         {cudaErrorLaunchFailure, cudaErrorIllegalInstruction}},
        {"one element past the end of an array",
         "twice_and_one_more<<<1, 128>>>",
         [] {
             twice_and_one_more<<<1, 128>>>(array_of_ones(), kCount);
             return cudaSuccess;
         },
         Shows::never,
         false,
         {cudaSuccess}},
    };
    return all;
}

// By this variable the second process is told which mistake to make.
constexpr const char* kVariable = "WARPWISE_ERROR_HANDLING_MISTAKE";
constexpr const char* kChain = "chain of calls";

Answers answers_to(const Mistake& mistake) {
    Answers answers;
    answers.emplace_back("the call itself", mistake.make());
    answers.emplace_back("cudaGetLastError", cudaGetLastError());
    answers.emplace_back("cudaDeviceSynchronize", cudaDeviceSynchronize());
    (void)cudaGetLastError();
    do_nothing<<<1, 1>>>();
    answers.emplace_back("after that", cudaDeviceSynchronize());
    return answers;
}

// What calls without a fault of their own return after a kernel has died.
Answers answers_after_a_dead_kernel() {
    float* const d_data = array_of_ones();
    float first = 0;
    void* memory = nullptr;
    Answers answers;
    twice<<<1, 128>>>(nullptr, kCount);
    answers.emplace_back("cudaGetLastError(), after the launch", cudaGetLastError());
    answers.emplace_back("cudaMemcpy of another array",
                         cudaMemcpy(&first, d_data, sizeof first, cudaMemcpyDeviceToHost));
    answers.emplace_back("cudaMalloc", cudaMalloc(&memory, 4));
    do_nothing<<<1, 1>>>();
    answers.emplace_back("cudaGetLastError(), after another launch", cudaGetLastError());
    answers.emplace_back("cudaDeviceSynchronize()", cudaDeviceSynchronize());
    return answers;
}

// The second process: makes its mistake, prints one line for each answer, and ends without
// cleaning up.
[[noreturn]] void make_mistake(std::string_view name) {
    Answers answers;
    if (name == kChain) answers = answers_after_a_dead_kernel();
    for (const Mistake& mistake : mistakes()) {
        if (name == mistake.name) answers = answers_to(mistake);
    }
    for (const auto& [call, status] : answers)
        std::printf("\n@%d %s", static_cast<int>(status), call.c_str());
    std::printf("\n");
    std::fflush(stdout);
    std::_Exit(EXIT_SUCCESS);
}

// What the second process printed: its answers, and, in `found`, what the CPU device said
// of the mistake, such as "illegal access".
Answers answers_in(const std::vector<std::string>& lines, std::string* found = nullptr) {
    Answers answers;
    for (const std::string& line : lines) {
        const std::string_view report = "CPU device: ";
        if (found != nullptr && found->empty() && line.starts_with(report)) {
            *found =
                line.substr(report.size(), line.find(": ", report.size()) - report.size());
        }
        const std::size_t space = line.find(' ');
        if (!line.starts_with('@') || space == line.npos) continue;
        answers.emplace_back(line.substr(space + 1),
                             static_cast<cudaError_t>(std::atoi(line.c_str() + 1)));
    }
    return answers;
}

// When the mistake showed, by the first answer that was not cudaSuccess.
Shows shown_by(const Answers& answers) {
    if (answers[0].second != cudaSuccess) return Shows::at_the_call;
    if (answers[1].second != cudaSuccess) return Shows::after_the_launch;
    if (answers[2].second != cudaSuccess) return Shows::when_waited_for;
    return Shows::never;
}

void show_mistakes(warpwise::Lesson& lesson) {
    // All of them at a time: starting a program that uses a GPU takes long.
    std::deque<warpwise::SecondProcess> processes;
    for (const Mistake& mistake : mistakes())
        processes.emplace_back("error_handling", kVariable, mistake.name);

    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < processes.size(); ++i) {
        const Mistake& mistake = mistakes()[i];
        const std::string name = mistake.name;
        std::string found;
        const Answers answers = answers_in(processes[i].wait(), &found);
        lesson.expect(answers.size() == 4, name + ": the second process has answered");
        if (answers.size() != 4) continue;
        const Shows shows = shown_by(answers);
        const cudaError_t error =
            shows == Shows::never ? cudaSuccess : answers[static_cast<int>(shows)].second;
        const bool sticky = answers[3].second != cudaSuccess;
        rows.push_back(
            {name, mistake.call,
             shows == Shows::never ? "nobody" : answers[static_cast<int>(shows)].first,
             shows == Shows::never ? "-" : cudaGetErrorName(error), sticky ? "yes" : "no"});
        if (warpwise::can_instrument()) rows.back().push_back(found.empty() ? "-" : found);

        if (mistake.seen_by_instrumenting && !warpwise::can_instrument() &&
            !warpwise::Lesson::on_gpu())
            continue;
        lesson.expect(shows == mistake.shows, name + ": shows when the text says it does");
        bool expected = false;
        for (const cudaError_t one : mistake.errors) expected = expected || error == one;
        lesson.expect(expected, name + ": gives the error of its kind");
        lesson.expect(sticky == mistake.sticky,
                      name + (mistake.sticky ? ": stays" : ": does not stay"));
        if (mistake.shows == Shows::never && warpwise::can_instrument()) {
            lesson.expect(found == "out of bounds",
                          name + ": found by the CPU device, with instrumentation");
        }
    }
    std::vector<std::string> header = {"mistake", "call", "reported by", "error", "sticky"};
    if (warpwise::can_instrument()) header.push_back("the CPU device says");
    lesson.table(
        {"mistakes", "What each mistake looks like, each made in a process of its own"},
        header, rows);
    if (!warpwise::Lesson::on_gpu()) lesson.show_recorded("mistakes");
}

void show_dead_kernel(warpwise::Lesson& lesson) {
    const Answers answers =
        answers_in(warpwise::SecondProcess("error_handling", kVariable, kChain).wait());
    lesson.table(
        {"dead_kernel", "A kernel writes to a null pointer. Then, one after the other:"},
        {"call", "returns"}, rows_of(answers));
    lesson.expect(answers.size() == 5, "the second process has answered");
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const bool failed = answers[i].second == cudaErrorIllegalAddress;
        lesson.expect(
            failed == (i > 0),
            answers[i].first + (i > 0 ? ": returns the kernel's error" : ": succeeds"));
    }
}

}  // namespace

void error_handling(warpwise::Lesson& lesson) {
    if (const char* const mistake = std::getenv(kVariable)) make_mistake(mistake);

    lesson.question(
        R"(Nothing in CUDA throws an exception or stops a program. A program that ignores
errors goes on with whatever was in memory before, and it is fast: a kernel that never ran
is hard to beat. How does a program find out what went wrong, where, and when?)");
    lesson.predict(
        {.question = R"(A kernel doubles an array of ones, but it is launched with a
block of 2048 threads, and a block may have 1024. What does a program without any check
print for twice 1?)",
         .answer = warpwise::Number{.value = 1},
         .because = R"(The launch was refused, so the kernel never ran. The copy
brings back what was there before.)"});
    show_helper(lesson);
    lesson.conclusion(
        R"(It prints 1: the launch was refused, so the kernel never ran, and the copy
brought back what was there before. A helpful message names file and line, the call, and the
error in words. Which helper you use matters little. What matters is that it stands around
every call and after every launch.)");

    lesson.question(
        R"(A launch by <<<...>>> returns nothing, so the runtime keeps the last error of
each host thread until somebody asks. cudaPeekAtLastError looks at it, and cudaGetLastError
takes it away.)");
    lesson.predict({.question = R"(A launch was refused. Six calls follow:
cudaDeviceSynchronize, cudaPeekAtLastError twice, a cudaMalloc that succeeds, and
cudaGetLastError twice. How many of them return the error of the launch?)",
                    .answer = warpwise::Number{.value = 3, .unit = "calls"},
                    .because = R"(cudaDeviceSynchronize and cudaMalloc succeed.
cudaPeekAtLastError returns the error twice, cudaGetLastError returns and removes it.)"});
    show_last_error(lesson);
    lesson.conclusion(
        R"(cudaDeviceSynchronize succeeds, because nothing runs: waiting is no check of a
launch. Only cudaGetLastError removes the error, and it returns the last error, whoever made
it: the launch in the message above is innocent. So check every call, and an error is found
where it was made.)");

    lesson.question(
        R"(Now eleven mistakes, each made in a process of its own, because an error may be
sticky: then every later call of the process that needs the device fails as well. When does
each mistake show, and which of them can a program survive?)");
    lesson.predict(
        {.question = R"(A kernel writes one element past the end of an array, into
memory that belongs to the program. Which call reports that on a GPU?)",
         .answer =
             warpwise::Choice{{"the launch", "the next call that waits", "none of them"},
                              2},
         .because = R"(To the GPU the address is valid. Only the CPU device with
--diagnose, or compute-sanitizer, knows that it is past the end.)"});
    show_mistakes(lesson);
    lesson.conclusion(
        R"(Calls with bad arguments, and launches that the device cannot do, report an error
at once. Nothing has happened, and the program can go on. A kernel that dies is reported by
the next call that waits, and its error is sticky. A write past the end of an array into
valid memory is never reported by a status, only by the CPU device with --diagnose or by
compute-sanitizer.)");

    lesson.question(
        R"(Who is to blame when a kernel has died and a later call reports it?)");
    lesson.predict({.question = R"(A kernel dies of a null pointer. Five calls follow its
launch, none with a fault of its own, the first of them cudaGetLastError right after the
launch. How many return an error?)",
                    .answer = warpwise::Number{.value = 4, .unit = "calls"},
                    .because = R"(The first one asks before the kernel has run. From then on
every call that needs the device fails with the kernel's error.)"});
    show_dead_kernel(lesson);
    lesson.conclusion(
        R"(All but the first fail, with the error of a kernel that they have nothing to do
with. So when a check reports an error, suspect the kernels before it. To find the kernel,
make every launch wait (CUDA_LAUNCH_BLOCKING=1 on a GPU, WARPWISE_SYNC=1 in programs of this
book), or run compute-sanitizer.)");
}

}  // namespace optimization
