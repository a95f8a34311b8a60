// Problem: have a GPU square 1000 numbers, and bring the squares back.
//
// The complete program, with main and without anything of this book, is
// complete/square.cu beside this file: read it first, and run it by itself. (The build
// takes the sources of this folder into the chapter's program, but none of its
// subfolders, and so the two functions main do not meet. The test "tries the first
// program" of common/tests runs it.)
//
// Here the same moves are looked at one by one: first what is where after each of them,
// then what happens when one of them is forgotten. Some mistakes leave a GPU unusable for
// the process that made them. So each is made by a second process: this program starts
// itself once more, and tells the copy by an environment variable what to forget.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/1_basics_and_pi/first_program/kernels.cuh"
#include "chapters/1_basics_and_pi/first_program/moves.cuh"
#include "common/helpers/check.h"
#include "common/helpers/instrument.h"
#include "common/helpers/lines.h"
#include "common/lesson/lesson.h"
#include "common/lesson/second_process.h"

namespace basics_and_pi {
namespace {

constexpr int kCount = 1000;
constexpr std::size_t kBytes = kCount * sizeof(float);

// 2, 3, 4 ... 1001: no number among them is its own square.
std::vector<float> numbers_to_square() {
    std::vector<float> numbers(kCount);
    for (int i = 0; i < kCount; ++i) numbers[i] = static_cast<float>(i + 2);
    return numbers;
}

int right_ones(const std::vector<float>& numbers, const std::vector<float>& squares) {
    int right = 0;
    for (int i = 0; i < kCount; ++i) right += squares[i] == numbers[i] * numbers[i];
    return right;
}

std::string text_of(float value) {
    if (std::isnan(value)) return "nan";
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", static_cast<double>(value));
    return text;
}

// ---- what is where after each move ------------------------------------------------------

void show_two_memories(warpwise::Lesson& lesson) {
    const std::vector<float> numbers = numbers_to_square();
    std::vector<float> squares(kCount);
    float* d_values = nullptr;

    std::vector<std::vector<std::string>> rows;
    const auto note = [&](const std::string& move, const std::string& on_device) {
        rows.push_back({move, text_of(numbers[1]), on_device, text_of(squares[1])});
    };
    const auto read_from_device = [&] {
        float value = 0;
        warpwise::check(
            cudaMemcpy(&value, d_values + 1, sizeof value, cudaMemcpyDeviceToHost));
        return text_of(value);
    };

    note("before the first move", "no memory");
    warpwise::check(cudaMalloc(&d_values, kBytes));
    note("1. allocate", "anything");
    warpwise::check(cudaMemcpy(d_values, numbers.data(), kBytes, cudaMemcpyHostToDevice));
    note("2. copy in", read_from_device());
    lesson.expect(rows.back()[2] == "3", "the number has arrived on the device");
    square<<<(kCount + 255) / 256, 256>>>(d_values, kCount);
    warpwise::check_launch();
    note("3. launch", read_from_device());
    lesson.expect(rows.back()[2] == "9", "the kernel has squared the device's number");
    lesson.expect(rows.back()[3] == "0", "the host has no result before it is copied");
    warpwise::check(cudaMemcpy(squares.data(), d_values, kBytes, cudaMemcpyDeviceToHost));
    note("4. copy out", read_from_device());
    warpwise::check(cudaFree(d_values));
    note("5. free", "no memory");

    lesson.table({"moves", "One of the 1000 numbers after each move"},
                 {"move", "numbers[1], host", "d_values[1], device", "squares[1], host"},
                 rows);
    lesson.expect(right_ones(numbers, squares) == kCount, "all squares are right");
}

// ---- what happens when a move is forgotten ----------------------------------------------

struct Program {
    const char* forgotten;
    cudaError_t (*run)(const float* numbers, float* squares, int count);
    int right;                         // so many squares of kCount; -1: nobody can know
    std::vector<cudaError_t> returns;  // one of them; versions of CUDA differ
    const char* found;  // what the CPU device says; empty: nothing; null: not shown
};

// A GPU that reaches the host's ordinary memory by itself, as a few systems offer it.
bool reaches_host_memory() {
    int reaches = 0;
    warpwise::check(cudaDeviceGetAttribute(&reaches, cudaDevAttrPageableMemoryAccess, 0));
    return reaches != 0;
}

std::vector<Program> programs() {
    const std::vector<cudaError_t> fine = {cudaSuccess};
    const std::vector<cudaError_t> refused = {cudaErrorInvalidValue,
                                              cudaErrorInvalidConfiguration};
    // The CPU device's kernels can use the host's memory, and it reports that they do.
    const bool host_pointer_works = !warpwise::Lesson::on_gpu() || reaches_host_memory();
    return {
        {"nothing", all_five_moves, kCount, fine, ""},
        {"allocate", without_allocation, host_pointer_works ? kCount : 0,
         host_pointer_works ? fine : std::vector{cudaErrorIllegalAddress},
         "host and device memory mixed up"},
        {"copy in", without_copy_in, -1, fine, "read of uninitialized memory"},
        {"launch", without_launch, 0, fine, ""},
        {"copy out", without_copy_out, 0, fine, ""},
        {"free", without_free, kCount, fine, "memory leak"},
        {"rounding up", without_rounding_up, kCount / 256 * 256, fine, ""},
        {"nothing, blocks of 2048", block_too_large, 0, refused, ""},
        {"the status, blocks of 2048", without_look_at_status, 0, fine, "unseen error"},
    };
}

// Two programs whose allocation fails. What the first one learns is the error of a later
// call, and which one that is depends on the device.
std::vector<Program> failing_programs() {
    return {
        {"cudaGetLastError, at the end",
         asks_at_the_end,
         0,
         {cudaErrorIllegalAddress, cudaErrorInvalidValue},
         nullptr},
        {"the status of each call", asks_every_time, 0, {cudaErrorMemoryAllocation}, ""},
    };
}

// By this variable the second process is told what to forget.
constexpr const char* kVariable = "WARPWISE_FIRST_PROGRAM_FORGETS";

// The second process: runs one of the programs, prints what came of it in lines that begin
// with @, and ends without cleaning up.
[[noreturn]] void run_alone(std::string_view forgotten) {
    const warpwise::Instrumentation instrumenting(
        {.diagnostics = warpwise::can_instrument(), .leaks = warpwise::can_instrument()});
    const std::vector<float> numbers = numbers_to_square();
    std::vector<float> squares(kCount);
    std::vector<Program> all = programs();
    for (const Program& program : failing_programs()) all.push_back(program);
    for (const Program& program : all) {
        if (forgotten != program.forgotten) continue;
        const cudaError_t status = program.run(numbers.data(), squares.data(), kCount);
        warpwise::report_leaks();
        std::printf("\n@status %d\n@right %d\n@second %s\n", static_cast<int>(status),
                    right_ones(numbers, squares), text_of(squares[1]).c_str());
        for (const warpwise::Diagnostic& diagnostic : warpwise::take_diagnostics()) {
            for (const std::string& line : warpwise::text_lines(diagnostic.text))
                std::printf("@says %s\n", line.c_str());
        }
    }
    std::fflush(stdout);
    std::_Exit(EXIT_SUCCESS);
}

struct Outcome {
    bool answered = false;
    cudaError_t status = cudaSuccess;
    int right = 0;
    std::string second;             // what became of numbers[1], which is 3
    std::vector<std::string> says;  // lines of the CPU device
};

// What the second process printed.
Outcome outcome_in(const std::vector<std::string>& lines) {
    Outcome outcome;
    for (const std::string& line : lines) {
        const std::size_t space = line.find(' ');
        if (!line.starts_with('@') || space == line.npos) continue;
        const std::string what = line.substr(1, space - 1);
        const std::string value = line.substr(space + 1);
        if (what == "status") {
            outcome.answered = true;
            outcome.status = static_cast<cudaError_t>(std::atoi(value.c_str()));
        } else if (what == "right") {
            outcome.right = std::atoi(value.c_str());
        } else if (what == "second") {
            outcome.second = value;
        } else if (what == "says") {
            outcome.says.push_back(value);
        }
    }
    return outcome;
}

// "memory leak" of "CPU device: memory leak: 'd_values', 4000 bytes ..."
std::string kind_of(std::string_view line) {
    for (const std::string_view prefix : {"CPU device: ", "note: "}) {
        if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
    }
    return std::string(line.substr(0, line.find(": ")));
}

bool is_among(cudaError_t status, const std::vector<cudaError_t>& expected) {
    return std::find(expected.begin(), expected.end(), status) != expected.end();
}

// Returns what the CPU device says of the copy in that is missing.
std::string show_forgotten_moves(warpwise::Lesson& lesson) {
    const std::vector<Program> all = programs();
    std::deque<warpwise::SecondProcess> processes;
    for (const Program& program : all)
        processes.emplace_back("first_program", kVariable, program.forgotten);

    std::string listing;
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Program& program = all[i];
        const std::string name = std::string("forgotten: ") + program.forgotten;
        const Outcome outcome = outcome_in(processes[i].wait());
        lesson.expect(outcome.answered, name + ": the second process has answered");
        if (!outcome.answered) continue;
        const std::string found = outcome.says.empty() ? "" : kind_of(outcome.says[0]);
        rows.push_back({program.forgotten, outcome.second, std::to_string(outcome.right),
                        cudaGetErrorName(outcome.status)});
        if (warpwise::can_instrument()) rows.back().push_back(found.empty() ? "-" : found);

        lesson.expect(is_among(outcome.status, program.returns),
                      name + ": the program learns what the text says");
        if (program.right >= 0) {
            lesson.expect(outcome.right == program.right,
                          name + ": so many squares are right");
        }
        if (warpwise::can_instrument()) {
            lesson.expect(found == program.found,
                          name + ": the CPU device says what the text says");
        }
        if (program.run == without_copy_in) {
            for (const std::string& line : outcome.says) listing += "    " + line + "\n";
        }
    }
    std::vector<std::string> header = {"forgotten", "3 becomes", "right of 1000",
                                       "the program learns"};
    if (warpwise::can_instrument()) header.push_back("the CPU device says");
    lesson.table({"forgotten", "Each move forgotten, in a process of its own"}, header,
                 rows);
    return listing;
}

void show_first_error(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const Program& program : failing_programs()) {
        warpwise::SecondProcess process("first_program", kVariable, program.forgotten);
        const Outcome outcome = outcome_in(process.wait());
        const std::string name = std::string("asked: ") + program.forgotten;
        lesson.expect(outcome.answered, name + ": the second process has answered");
        if (!outcome.answered) continue;
        lesson.expect(is_among(outcome.status, program.returns),
                      name + ": the program learns what the text says");
        rows.push_back({program.forgotten, cudaGetErrorName(outcome.status),
                        cudaGetErrorString(outcome.status)});
    }
    lesson.table({"status", "The allocation fails: what does the program learn?"},
                 {"the program looks at", "it learns", "in words"}, rows);
}

/// The kernel and main of complete/square.cu, indented; where this file is not at hand, its
/// name.
std::string complete_program() {
    const std::string name = "chapters/1_basics_and_pi/first_program/complete/square.cu";
    const std::string here = __FILE__;
    const std::string folder = here.substr(0, here.rfind('/') + 1);
    std::string listing;
    bool has_begun = false;
    for (const std::string& line : warpwise::file_lines(folder + "complete/square.cu")) {
        has_begun = has_begun || line.starts_with("__global__");
        if (has_begun) listing += line.empty() ? "\n" : "    " + line + "\n";
    }
    return listing + "\n    (" + name + ")\n";
}

}  // namespace

void first_program(warpwise::Lesson& lesson) {
    if (const char* const forgotten = std::getenv(kVariable)) run_alone(forgotten);

    lesson.question(
        R"(A GPU has a memory of its own, apart from that of the host, which is the
processor that runs main. So a program makes five moves: it allocates memory on the GPU,
copies its numbers in, launches a function that runs on the GPU (a kernel), copies the
results out, and frees the memory. This program squares 1000 numbers:)");
    lesson.text(complete_program());
    lesson.question(
        R"(The launch square<<<blocks, threads>>> makes many threads call square, each
once. The threads come in blocks. From the number of its block and its own number within the
block, a thread computes which of the 1000 numbers is its own. Which of the two memories
holds what after each move?)");
    lesson.predict(
        {.question = R"(Every block has 256 threads, and each of the 1000 numbers needs
a thread of its own. How many blocks does the launch need?)",
         .answer = warpwise::Number{.value = 4, .unit = "blocks"},
         .because = R"(Three blocks have 768 threads, which are too few. Four have
1024. The last 24 threads find no number, and if (i < count), which is called a guard, keeps
them from doing anything.)",
         .idea = "thread indices and guards"});
    lesson.predict({.question = R"(The host keeps the squares in an array of its own. After
which move does this array hold the 9 that the kernel made of a 3?)",
                    .answer = warpwise::Choice{{"after the launch", "after the copy out",
                                                "after the free"},
                                               1},
                    .because = R"(The launch changes only the device's memory, and the copy
out brings the result to the host.)"});
    show_two_memories(lesson);
    lesson.conclusion(
        R"(The device (the GPU with its memory) and the host see each other's memory only by
copies. So the host has the 9 after the copy out, and not before.)");

    lesson.question(
        R"(What happens when one of the moves is forgotten? Here that is done on purpose,
with one thing missing at a time. "Rounding up" is the number of blocks: count / 256 instead
of (count + 255) / 256. In the last two rows blocks have 2048 threads, more than any GPU
accepts. The first of them looks at the status, and the second does not.)");
    lesson.predict(
        {.question = R"(How many of the 1000 squares are right when the number of
blocks is rounded down, to count / 256?)",
         .answer = warpwise::Number{.value = 768,
                                    .unit = "squares",
                                    .shown_by =
                                        warpwise::TableCell{
                                            "forgotten", {"rounding up"}, "right of 1000"}},
         .because = R"(1000 / 256 is 3, and three blocks of 256 threads square 768
numbers. No call reports an error.)",
         .idea = "thread indices and guards"});
    lesson.predict(
        {.question = R"(The copy in is forgotten, and the kernel squares whatever
the memory holds. How does the program itself learn of that?)",
         .answer = warpwise::Choice{{"the launch returns an error",
                                     "the copy out returns an error", "not at all"},
                                    2},
         .because = R"(Every call was right in itself, so each of them returns
cudaSuccess. Only the results are wrong.)"});
    const std::string listing = show_forgotten_moves(lesson);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(A status tells of calls that were refused, and of kernels that died. It
does not tell of results that are wrong because a move is missing. So look at the status of
every program, compare its results with something that you know, and let the CPU device or
compute-sanitizer look for the rest.)"
            : R"(The status is cudaSuccess in all rows but one. It tells of calls that were
refused, and on a GPU also of kernels that died, as without the allocation: the kernel then
gets a pointer to host memory. It does not tell of a missing move. Where it looks for
errors, the CPU device finds four mistakes. The others show only in the results, so compare
these with something that you know.)");

    lesson.question(
        R"(Which call failed? Most of CUDA's functions return a status, so a program can ask
after every call. The next two programs ask for a million gigabytes of memory, which no
device has. One of them goes on and asks once at the end, and the other asks every time.)");
    lesson.predict(
        {.question = R"(cudaMalloc fails, and the program goes on with the other moves. At
the end it calls cudaGetLastError. What does it learn?)",
         .answer = warpwise::Choice{{"that the memory could not be allocated",
                                     "the error of a later call", "cudaSuccess"},
                                    1},
         .because = R"(The pointer is still null, so the later moves fail as well, and
cudaGetLastError returns the last error of all.)"});
    show_first_error(lesson);
    lesson.conclusion(
        R"(The first error is the cause, and those after it are consequences. So keep the
status of each call, after a launch ask cudaGetLastError at once, and make no more moves
after an error. In the exercise five_moves you write this yourself.)");

    if (listing.empty()) return;
    lesson.question(
        R"(What does the CPU device say about the missing copy in? Its message names the
line, the thread, the memory, and one thing to try:)");
    lesson.text(listing);
    lesson.conclusion(
        R"(Run your own programs by ./warpwise try my.cu: it looks for such errors
in all of them, and needs no GPU.)");
}

}  // namespace basics_and_pi
