#include "common/lesson/run_lesson.h"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

#include "common/helpers/check.h"
#include "common/helpers/instrument.h"
#include "common/lesson/reader.h"
#include "common/lesson/record.h"
#include "common/lesson/refusal.h"

namespace warpwise {

void add_chapter(Lesson::Options& options, const Chapter& chapter, const std::string& recording,
                 const std::string& program) {
    options.recorded_file = recorded_file(recorded_folder(), chapter.number, recording);
    options.lessons = std::string(WARPWISE_CHAPTERS "/") + chapter.folder;
    options.program = chapter.folder.substr(chapter.folder.find('_') + 1);
    const char* typed = std::getenv("WARPWISE_TYPED");  // set by whoever starts chapters for the reader
    options.typed = typed != nullptr ? typed : program;
}

LessonResult LessonRunner::run(const LessonEntry& entry) {
    const auto position = &entry - chapter_.lessons.data() + 1;
    const Terminal& terminal = output_.terminal();
    const std::string title = fmt::format("{}.{} {}: {}", chapter_.number, position, entry.name, entry.summary);
    output_.print(terminal.paint(Style::title, title) + "\n" +
                  terminal.paint(Style::faint, std::string(std::min(title.size(), terminal.width), '=')) + "\n\n");
    output_.begin_lesson(entry.name);
    output_.lesson().idea = entry.idea;
    Lesson lesson(entry.name, options_, output_);
    try {
        entry.run(lesson);
        lesson.finish();
        output_.print_paragraphs(
            fmt::format("Why it is so, mistakes to avoid, and more to try: './warpwise docs {}' shows this lesson's "
                        "page of the book",
                        entry.name),
            Style::faint);
    } catch (const ReaderLeft& left) {
        output_.lesson().left = true;
        interrupted_ = left.interrupted;
    } catch (const Refusal&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw Refusal(entry.name + ": not enough host memory");
    } catch (const CudaError& error) {
        if (error.code() == cudaErrorMemoryAllocation) throw Refusal(entry.name + ": " + error.what());
        fail(entry, error.what());
        (void)cudaGetLastError();
        device_lost_ = cudaDeviceSynchronize() != cudaSuccess;
    } catch (const DeviceLost& error) {
        fail(entry, error.what());
        device_lost_ = true;
    } catch (const std::exception& error) {
        fail(entry, error.what());
    }
    keep_diagnostics(output_.lesson());
    return output_.end_lesson();
}

void LessonRunner::fail(const LessonEntry& entry, const std::string& why) {
    output_.lesson().failure = why;
    output_.end_progress();
    fmt::print(stderr, "{}: {}\n", entry.name, why);
}

std::string chapter_heading(const Chapter& chapter, const Lesson::Output& output) {
    return output.terminal().paint(Style::title, fmt::format("Chapter {}: {}", chapter.number, chapter.title)) +
           "\non " + output.device().text() + "\n\n";
}

void keep_diagnostics(LessonResult& lesson) {
    for (Diagnostic& diagnostic : take_diagnostics()) lesson.diagnostics.push_back(std::move(diagnostic));
}

void reset_colors_on_interrupt() {
    struct sigaction action {};
    action.sa_handler = [](int signal) {
        constexpr char reset[] = "\033[0m\n";
        [[maybe_unused]] const auto written = write(STDOUT_FILENO, reset, sizeof reset - 1);
        raise(signal);  // with its default action, by SA_RESETHAND
    };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
}

void end_as_interrupted() {
    std::fflush(stdout);
    (void)signal(SIGINT, SIG_DFL);
    (void)raise(SIGINT);
}

int status_of(char** argv, const std::function<int()>& run) {
    std::string why;
    try {
        return run();
    } catch (const Refusal& refusal) {
        why = refusal.what();
    } catch (const CudaError& error) {
        why = error.what();
    }
    std::fflush(stdout);
    fmt::print(stderr, "{}: {}\n", program_name(argv), why);
    return request_not_met;
}

std::string program_name(char** argv) {
    const std::string path = argv[0];
    return path.substr(path.rfind('/') + 1);
}

}  // namespace warpwise
