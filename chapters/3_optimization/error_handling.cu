// Problem: something goes wrong on a device, and the program has to find out what, where and when.
//
// Nothing of CUDA throws an exception or stops a program. Every call returns a status, a launch by <<<...>>> returns
// nothing, and a kernel fails long after its launch has returned. So there are three moments at which a mistake can
// show: at the call, right behind the launch, and at some later call that waits for the device. Here each kind of
// mistake is really made, and the table says when it showed and what was left of the device afterwards.
//
// Some of them leave the device unusable for the process that made them. So each is made by a second process: this
// program starts itself once more, and tells the copy by an environment variable which mistake to make.
#include <cuda_runtime.h>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <source_location>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/helpers/check.h"
#include "common/helpers/child_process.h"
#include "common/helpers/watch.h"
#include "common/lesson/lesson.h"

namespace optimization {
namespace {

constexpr int kCount = 100;  // floats, all of them 1 before a kernel doubles them

__global__ void twice(float* data, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) data[i] *= 2;
}

// Its guard is off by one: of an array of 100 floats it writes 101.
__global__ void twice_and_one_more(float* data, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= count) data[i] = 2;
}

__global__ void move_four(const float* from, float* to) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

__global__ void assert_that(bool condition) { assert(condition); }

__global__ void give_up() { __trap(); }

__global__ void do_nothing() {}

// ---- one helper, in three steps ---------------------------------------------------------------------------

float* array_of_ones() {
    const std::vector<float> ones(kCount, 1.0f);
    float* data = nullptr;
    warpwise::check(cudaMalloc(&data, kCount * sizeof(float)));
    warpwise::check(cudaMemcpy(data, ones.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
    return data;
}

// Step 1: nothing. A block of 2048 threads is twice what a device takes. What happens: nothing, either. The launch
// is refused, the copy succeeds, and brings back what was there before. Every line after that works with a wrong
// number.
float double_with_nothing(float* d_data) {
    float first = 0;
    twice<<<1, 2048>>>(d_data, kCount);
    cudaMemcpy(&first, d_data, sizeof first, cudaMemcpyDeviceToHost);
    return first;
}

// Step 2: a macro, as most programs have it. It sees the text of its argument, and knows where it stands.
// (Usually it prints and calls exit. Here it throws, so that the lesson can go on.)
// Better: file, line, call and message, for a word around each call. Still poor: a macro belongs to no namespace and
// meets every other macro of that name; it does not know the function it is used in; it hides an exit in what looks
// like a call; and a launch does not fit into it.
#define CHECK_BY_MACRO(call)                                                                                      \
    do {                                                                                                          \
        const cudaError_t status_ = (call);                                                                       \
        if (status_ != cudaSuccess) {                                                                             \
            throw std::runtime_error(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": " + #call ": " + \
                                     cudaGetErrorString(status_));                                                \
        }                                                                                                         \
    } while (false)

float double_with_macro(float* d_data) {
    float first = 0;
    twice<<<1, 2048>>>(d_data, kCount);
    CHECK_BY_MACRO(cudaGetLastError());
    CHECK_BY_MACRO(cudaMemcpy(&first, d_data, sizeof first, cudaMemcpyDeviceToHost));
    return first;
}

// Step 3: a function. The trick is the default argument: std::source_location::current() is evaluated where the call
// stands, not here.
// Better: an ordinary function with a type that others can catch, in a namespace, and it names the function that the
// call stands in. What the call was is in the file, at that line: warpwise::check, the same thing as the whole book
// uses it, reads it from there.
std::string text_of(cudaError_t code, const std::source_location& where) {
    return std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": in " + where.function_name() +
           ": " + cudaGetErrorName(code) + ": " + cudaGetErrorString(code);
}

class CudaFailure : public std::runtime_error {
public:
    CudaFailure(cudaError_t code, const std::source_location& where) : std::runtime_error(text_of(code, where)) {}
};

void check(cudaError_t status, const std::source_location& where = std::source_location::current()) {
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

// A message without the folder that this file lies in, which is another one for every reader.
std::string without_folder(std::string message) {
    const std::string_view file = __FILE__;
    const std::string folder(file.substr(0, file.rfind('/') + 1));
    for (std::size_t at = message.find(folder); !folder.empty() && at != message.npos; at = message.find(folder)) {
        message.erase(at, folder.size());
    }
    return message;
}

std::string message_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const std::runtime_error& error) {
        return without_folder(error.what());
    }
    return "";
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

void show_helper(warpwise::Lesson& lesson) {
    float* const d_data = array_of_ones();
    const float first = double_with_nothing(d_data);
    const cudaError_t pending = cudaGetLastError();
    lesson.expect(first == 1, "without a check the program goes on with what was there before");
    lesson.expect(pending != cudaSuccess, "the error was there all the time, for anybody who asks");
    const std::string by_macro = message_of([&] { double_with_macro(d_data); });
    const std::string by_function = message_of([&] { double_with_function(d_data); });
    const std::string by_warpwise = message_of([&] { double_with_warpwise(d_data); });
    lesson.expect(contains(by_macro, "error_handling.cu:") && contains(by_macro, "cudaGetLastError()"),
                  "the macro names file, line and call");
    lesson.expect(contains(by_function, "error_handling.cu:") && contains(by_function, "double_with_function"),
                  "the function names file, line and function");
    lesson.expect(contains(by_warpwise, "error_handling.cu:") && contains(by_warpwise, "double_with_warpwise"),
                  "warpwise::check_launch names file, line and function");
    lesson.text("Step 1, nothing:\n\n    twice 1 is " + std::to_string(first) + "\n\nStep 2, the macro:\n\n    " +
                by_macro + "\n\nStep 3, the function:\n\n    " + by_function +
                "\n\nand the same with the line itself, as the book has it (common/helpers/check.h):\n\n    " +
                by_warpwise);
    warpwise::check(cudaFree(d_data));
}

// ---- the error that is kept -------------------------------------------------------------------------------

// What was called, and what it returned.
using Answers = std::vector<std::pair<std::string, cudaError_t>>;

std::vector<std::vector<std::string>> rows_of(const Answers& answers) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [call, status] : answers) rows.push_back({call, cudaGetErrorName(status)});
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
    lesson.table("Behind the launch of a block of 2048 threads", {"call", "returns"}, rows_of(answers));
    constexpr std::array<bool, 6> fails = {false, true, true, false, true, false};
    for (std::size_t i = 0; i < fails.size(); ++i) {
        const bool failed = answers[i].second != cudaSuccess;
        lesson.expect(failed == fails[i], answers[i].first + (fails[i] ? ": returns the error" : ": succeeds"));
    }

    (void)cudaSetDevice(9999);  // a mistake at which nobody looks
    const std::string blamed = message_of([&] { double_in_order(d_data); });
    lesson.expect(contains(blamed, "cudaErrorInvalidDevice"), "an error that nobody took is found at the next look");
    lesson.text("And behind a launch in perfect order, after a cudaSetDevice(9999) at which nobody looked:\n\n    " +
                blamed);
    warpwise::check(cudaFree(memory));
    warpwise::check(cudaFree(d_data));
}

// ---- each mistake in a process of its own -----------------------------------------------------------------

enum class Shows { at_the_call, behind_the_launch, when_waited_for, never };

struct Mistake {
    const char* name;
    const char* call;
    cudaError_t (*make)();  // returns what the call returned; a launch returns nothing
    Shows shows;
    bool sticky;
    std::vector<cudaError_t> errors;  // one of them; versions of CUDA differ
    bool seen_by_watching = false;    // and otherwise not by the CPU device
};

const std::vector<Mistake>& mistakes() {
    static const std::vector<cudaError_t> refused = {cudaErrorInvalidValue, cudaErrorInvalidConfiguration};
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
         Shows::behind_the_launch, false, refused},
        {"a grid without blocks", "twice<<<0, 128>>>",
         [] {
             twice<<<0, 128>>>(array_of_ones(), kCount);
             return cudaSuccess;
         },
         Shows::behind_the_launch, false, refused},
        {"1 MB of shared memory", "twice<<<1, 128, 1000000>>>",
         [] {
             twice<<<1, 128, 1000000>>>(array_of_ones(), kCount);
             return cudaSuccess;
         },
         Shows::behind_the_launch, false, refused},
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
        {"one element behind an array",
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
    answers.emplace_back("cudaGetLastError(), behind the launch", cudaGetLastError());
    answers.emplace_back("cudaMemcpy of another array",
                         cudaMemcpy(&first, d_data, sizeof first, cudaMemcpyDeviceToHost));
    answers.emplace_back("cudaMalloc", cudaMalloc(&memory, 4));
    do_nothing<<<1, 1>>>();
    answers.emplace_back("cudaGetLastError(), behind another launch", cudaGetLastError());
    answers.emplace_back("cudaDeviceSynchronize()", cudaDeviceSynchronize());
    return answers;
}

// The second process: makes its mistake, prints one line for each answer, and ends without cleaning up.
[[noreturn]] void make_mistake(std::string_view name) {
    Answers answers;
    if (name == kChain) answers = answers_after_a_dead_kernel();
    for (const Mistake& mistake : mistakes()) {
        if (name == mistake.name) answers = answers_to(mistake);
    }
    for (const auto& [call, status] : answers) std::printf("\n@%d %s", static_cast<int>(status), call.c_str());
    std::printf("\n");
    std::fflush(stdout);
    std::_Exit(EXIT_SUCCESS);
}

// The first process's side of that: starts the second one, and reads its lines.
class SecondProcess {
public:
    explicit SecondProcess(const std::string& mistake)
        : process_(command(), {{kVariable, mistake}, {"CUDA_LAUNCH_BLOCKING", "0"}}, output_.path()) {}

    // `found`: what the CPU device said of it, such as "illegal access".
    Answers wait(std::string* found = nullptr) {
        process_.wait();
        Answers answers;
        std::istringstream lines(output_.read());
        for (std::string line; std::getline(lines, line);) {
            const std::string_view report = "CPU device: ";
            if (found != nullptr && found->empty() && line.starts_with(report)) {
                *found = line.substr(report.size(), line.find(": ", report.size()) - report.size());
            }
            const std::size_t space = line.find(' ');
            if (!line.starts_with('@') || space == line.npos) continue;
            answers.emplace_back(line.substr(space + 1), static_cast<cudaError_t>(std::atoi(line.c_str() + 1)));
        }
        return answers;
    }

private:
    static std::vector<std::string> command() {
        const char* const device = warpwise::Lesson::on_gpu() ? "cuda" : "cpu";
        const char* const watch = warpwise::can_watch() ? "--check" : "--no-counters";
        return {warpwise::own_program(), "error_handling", "--device", device, watch, "--no-color"};
    }

    warpwise::TemporaryFile output_;
    warpwise::ChildProcess process_;
};

// When the mistake showed, by the first answer that was not cudaSuccess.
Shows shown_by(const Answers& answers) {
    if (answers[0].second != cudaSuccess) return Shows::at_the_call;
    if (answers[1].second != cudaSuccess) return Shows::behind_the_launch;
    if (answers[2].second != cudaSuccess) return Shows::when_waited_for;
    return Shows::never;
}

void show_mistakes(warpwise::Lesson& lesson) {
    std::deque<SecondProcess> processes;  // all of them at a time: starting a program that uses a GPU takes long
    for (const Mistake& mistake : mistakes()) processes.emplace_back(mistake.name);

    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < processes.size(); ++i) {
        const Mistake& mistake = mistakes()[i];
        const std::string name = mistake.name;
        std::string found;
        const Answers answers = processes[i].wait(&found);
        lesson.expect(answers.size() == 4, name + ": the second process has answered");
        if (answers.size() != 4) continue;
        const Shows shows = shown_by(answers);
        const cudaError_t error = shows == Shows::never ? cudaSuccess : answers[static_cast<int>(shows)].second;
        const bool sticky = answers[3].second != cudaSuccess;
        rows.push_back({name, mistake.call, shows == Shows::never ? "nobody" : answers[static_cast<int>(shows)].first,
                        shows == Shows::never ? "-" : cudaGetErrorName(error), sticky ? "yes" : "no"});
        if (warpwise::can_watch()) rows.back().push_back(found.empty() ? "-" : found);

        if (mistake.seen_by_watching && !warpwise::can_watch() && !warpwise::Lesson::on_gpu()) continue;
        lesson.expect(shows == mistake.shows, name + ": shows when the text says it does");
        bool expected = false;
        for (const cudaError_t one : mistake.errors) expected = expected || error == one;
        lesson.expect(expected, name + ": gives the error of its kind");
        lesson.expect(sticky == mistake.sticky, name + (mistake.sticky ? ": stays" : ": does not stay"));
        if (mistake.shows == Shows::never && warpwise::can_watch()) {
            lesson.expect(found == "out of bounds", name + ": found by the CPU device, which watches");
        }
    }
    std::vector<std::string> header = {"mistake", "call", "reported by", "error", "sticky"};
    if (warpwise::can_watch()) header.push_back("the CPU device says");
    lesson.table("What each mistake looks like, each made in a process of its own", header, rows);
}

void show_dead_kernel(warpwise::Lesson& lesson) {
    const Answers answers = SecondProcess(kChain).wait();
    lesson.table("A kernel writes to a null pointer. Then, one after the other:", {"call", "returns"},
                 rows_of(answers));
    lesson.expect(answers.size() == 5, "the second process has answered");
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const bool failed = answers[i].second == cudaErrorIllegalAddress;
        lesson.expect(failed == (i > 0), answers[i].first + (i > 0 ? ": returns the kernel's error" : ": succeeds"));
    }
}

}  // namespace

void error_handling(warpwise::Lesson& lesson) {
    if (const char* const mistake = std::getenv(kVariable)) make_mistake(mistake);

    lesson.text(
        R"(A program that does not look at errors is not without errors. It goes on with what was in memory before,
and is fast at it: a kernel that never ran is hard to beat.

What you will see: one refused launch, met in four ways; the error that the runtime keeps for you; then eleven
mistakes, each really made, and when each of them showed; and what is left after a kernel has died.

First the helper. A kernel is to double an array of ones, and is launched with a block of 2048 threads, of which a
block may have 1024. Predict: what does a program without any check print for twice 1?)");
    show_helper(lesson);
    lesson.text(
        R"(The kernel never ran, the copy was in order, and 1 came back. A message that helps names four things: the
file and the line, the call, what went wrong in words, and, in a larger program, the function. Which helper you take
matters little. That it stands around every call, and behind every launch, matters much.)");

    lesson.text(
        R"(Since a launch by <<<...>>> returns nothing, the runtime keeps its error until somebody asks: one for each
thread of the host, the last one. cudaPeekAtLastError looks at it, cudaGetLastError takes it. Predict which of these
six calls return the error of the launch before them; mind the first.)");
    show_last_error(lesson);
    lesson.text(
        R"(cudaDeviceSynchronize succeeds: nothing runs, so there is nothing to wait for. To wait is no check of a
launch. A call that succeeds does not wipe the error out either; only cudaGetLastError does. And it gives you the
last error, whoever made it: the launch in the message is innocent. So look after every call, and an error is found
where it was made.)");

    lesson.text(
        R"(Now the mistakes. Predict for each: which call tells of it, the one that made it or a later one? And
which of them can the program survive? An error is called sticky if it stays: the device does nothing more for this
process.)");
    show_mistakes(lesson);
    lesson.text(
        R"(Three classes, and one that is none.

Calls tell at once, and nothing has happened. Launches that a device cannot do are refused at once, too, but only
tell who asks: cudaGetLastError. After both the program can go on; to ask for less memory, or for a smaller block,
is a good answer.

A kernel that dies does so later. The launch was in order, so nothing shows behind it, and the first call that waits
tells: cudaDeviceSynchronize, a copy, an event. These errors are sticky: what the kernel had written by then is
worth nothing, and the process has to end. That is why each mistake here has a process of its own.

The last one shows nowhere. A GPU protects its memory in large pages, and one element behind an array is mostly
somebody's memory, too. No status will ever tell; compute-sanitizer does, and the CPU device with --check.)");
    lesson.text(
        warpwise::Lesson::on_gpu()
            ? "The CPU device says the same, in the same places: on an H200 (CUDA 13.0) all eleven rows were those of "
              "the CPU device. It names array, line and thread besides: run this lesson there, too."
            : "On an H200 (CUDA 13.0) the table has the same rows: who reports, which error, and whether it stays. The "
              "CPU device runs a kernel inside of its launch, but keeps what went wrong in it to itself until a call "
              "waits, as a GPU has to.");
    lesson.text("Who is to blame? Predict which of these calls fail, none of which has a fault:");
    show_dead_kernel(lesson);
    lesson.text(
        R"(All but the first, and all with the error of a kernel that they have nothing to do with. Whoever reads
"cudaMemcpy: an illegal memory access" looks for a mistake in the copy, and finds none. To find the kernel, make
every launch wait:

    CUDA_LAUNCH_BLOCKING=1 ./program      the driver waits after each launch, on a GPU
    WARPWISE_SYNC=1 ./program             check_launch() does, in programs of this book
    compute-sanitizer ./program           names kernel, line and thread, on a GPU

Not all the time, though: a program that waits after every launch gives away what the queue is good for.)");
    lesson.text(
        R"(Mistakes to avoid: no check behind a launch; a check in front of it; cudaDeviceSynchronize taken for a
check of the launch; cudaGetLastError called twice, once to test and once to print, when the second says "no error";
an error swallowed to make a message go away; a check inside assert(), which is gone with NDEBUG; going on after a
sticky error; and taking cudaErrorNotReady, the answer of cudaStreamQuery and cudaEventQuery, for an error.

Try next: take the check out of double_with_function. Then write a mistake of your own into the list. Exercise
swallowed_launch_error of chapter 1 has one to repair.

    optimization error_handling --check
    optimization timers)");
}

}  // namespace optimization
