#include "common/guide/grader.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "common/guide/builder.h"
#include "common/guide/command.h"
#include "common/guide/try_messages.h"

namespace guide {
namespace {

/// What follows a program's output starts a line of its own, after an empty one.
std::string after(const std::string& output, std::string_view text) {
    std::string result = output;
    if (!result.empty() && result.back() != '\n') result += '\n';
    if (!result.empty()) result += '\n';
    return result.append(text);
}

std::string never_ended_text(const Project& project, const Answer& answer, double limit_seconds) {
    std::string text = fmt::format(
        "Stopped: it was still running after {:g} seconds.\n"
        "Look for a loop that never ends, in your kernel or in your host code: does every turn change what its\n"
        "condition asks for, and can the condition become false for every thread?\n"
        "    your answer  {}\n",
        limit_seconds, project.shown(answer.file));
    if (project.device == "cpu") {
        text +=
            "A kernel in which no block gets done is stopped earlier, after 20 seconds or CPU_DEVICE_TIMEOUT=SECONDS:\n"
            "a loop in host code, or one kernel after the other, are more likely.\n";
    }
    return text;
}

std::string broken_text(const Project& project, const Exercise& exercise, const Answer& answer,
                        const CommandResult& run) {
    const std::string program = project.shown(project.programs() / "exercises" / answer.program);
    const std::string file = project.shown(answer.file);
    constexpr int not_graded = 2;
    constexpr int not_started = 127;
    constexpr int by_signal = 128;
    if (run.status == not_graded) {
        return fmt::format(
            "Not graded: the grader found nothing to do, or refused (status 2). To see it by itself:\n    {}\n",
            program);
    }
    if (run.status == not_started) {
        return fmt::format("The grader could not be started. Build it again with:\n    {} grade {}\n", project.typed,
                           exercise.name);
    }
    if (run.status > by_signal) {
        const int signal = run.status - by_signal;
        return fmt::format(
            "The grader crashed: signal {}, {}. Your host code runs inside it: look for an array index out of range,\n"
            "a pointer that points to nothing, or a device pointer that the host uses.\n    your answer  {}\n",
            signal, strsignal(signal), file);
    }
    return fmt::format(
        "The grader ended with status {}, which says neither that the answer is right nor that it is wrong. Does your\n"
        "code call exit()?\n    your answer  {}\n",
        run.status, file);
}

Outcome outcome_of(const CommandResult& run) {
    if (run.cancelled) return Outcome::cancelled;
    if (run.timed_out) return Outcome::never_ended;
    if (run.status == 0) return Outcome::passed;
    return run.status == 1 ? Outcome::failed : Outcome::broken;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> answer_variables(const Project& project, const Answer& answer) {
    return {{"WARPWISE_ANSWER", project.shown(answer.file)}};
}

GradeResult grade(const Project& project, const Exercise& exercise, const GradeOptions& options) {
    GradeResult result;
    const Answer answer = answer_to(exercise);
    const BuildResult built =
        Builder(project).build({answer.program + "_" + project.device}, options.on_build, options.cancelled);
    result.build_seconds = built.seconds;
    if (!built.succeeded) {
        result.outcome = built.cancelled ? Outcome::cancelled : Outcome::build_failed;
        result.text = built.output;
        if (project.device == "cpu" && !built.cancelled) {
            const std::vector<std::string> headers = {project.root / "common" / "cpu_device" / "include",
                                                      project.build_folder() / "unsupported_headers"};
            result.text = explain_compiler(built.output,
                                           {answer.file.string(), answer.file.lexically_relative(project.root).string(),
                                            project.root.string(), headers})
                              .text;
        }
        return result;
    }

    if (options.cancelled && options.cancelled()) {  // the build may have ended before anybody was asked
        result.outcome = Outcome::cancelled;
        return result;
    }

    // Started as one would type it in the root: messages that repeat it are short then.
    const std::string program =
        (project.programs() / "exercises" / answer.program).lexically_relative(project.root).string();
    CommandOptions run_options;
    run_options.folder = project.root;
    run_options.variables = answer_variables(project, answer);
    run_options.cancelled = options.cancelled;
    run_options.limit_seconds = options.limit_seconds;
    const CommandResult run = run_command({program, "--colour-mode", options.colors ? "ansi" : "none"}, run_options);
    result.grade_seconds = run.seconds;
    result.outcome = outcome_of(run);
    result.text = run.output;
    if (result.outcome == Outcome::never_ended) {
        result.text = after(run.output, never_ended_text(project, answer, options.limit_seconds));
    } else if (result.outcome == Outcome::broken) {
        result.text = after(run.output, broken_text(project, exercise, answer, run));
    }
    return result;
}

int exit_status(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed:
            return 0;
        case Outcome::failed:
        case Outcome::build_failed:
        case Outcome::never_ended:
            return 1;
        case Outcome::cancelled:
            return 130;
        case Outcome::broken:
            return 2;
    }
    return 2;
}

}  // namespace guide
