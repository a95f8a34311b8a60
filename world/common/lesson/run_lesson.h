// Runs one lesson of a chapter, and keeps what became of it.
//
//     Lesson::Output output(Terminal::detect(true), query_device(), Reader(true));
//     Lesson::Options options;
//     add_chapter(options, chapter, "", argv[0]);
//     LessonRunner runner(chapter, options, output);
//     const LessonResult result = runner.run(chapter.lessons.front());
#pragma once

#include <functional>
#include <string>

#include "common/lesson/chapter.h"
#include "common/lesson/options.h"
#include "common/lesson/output.h"
#include "common/lesson/results.h"

namespace warpwise {

enum ExitStatus { all_right = 0, step_wrong = 1, request_not_met = 2 };

/// Adds what lessons need to know of their chapter. `recording`: whose recorded times are shown; empty chooses one.
/// `program`: as it was called. Throws Refusal when there is no such recording.
void add_chapter(Lesson::Options& options, const Chapter& chapter, const std::string& recording,
                 const std::string& program);

class LessonRunner {
public:
    LessonRunner(const Chapter& chapter, const Lesson::Options& options, Lesson::Output& output)
        : chapter_(chapter), options_(options), output_(output) {}

    /// `entry` is one of the chapter's. Throws Refusal when there is not enough memory for it, or an option does not
    /// fit.
    LessonResult run(const LessonEntry& entry);

    /// The device does not answer any longer, so no other lesson can run.
    bool device_lost() const { return device_lost_; }

    /// The reader left with Ctrl-C, at a question.
    bool interrupted() const { return interrupted_; }

private:
    void fail(const LessonEntry& entry, const std::string& why);

    const Chapter& chapter_;
    const Lesson::Options& options_;
    Lesson::Output& output_;
    bool device_lost_ = false;
    bool interrupted_ = false;
};

/// The title of a chapter and the device, as they stand above its lessons.
std::string chapter_heading(const Chapter& chapter, const Lesson::Output& output);

/// Adds what the CPU device has found since the last call.
void keep_diagnostics(LessonResult& lesson);

/// Ctrl-C ends the program as usual, but leaves the terminal without colors.
void reset_colors_on_interrupt();

/// Ends the program as Ctrl-C does: whoever started it sees how it ended.
void end_as_interrupted();

/// What `run` returns. A Refusal or a CudaError that it throws is printed, and the status is request_not_met.
int status_of(char** argv, const std::function<int()>& run);

/// The name that this program was called by, without its folder.
std::string program_name(char** argv);

}  // namespace warpwise
