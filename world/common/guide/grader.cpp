#include "common/guide/grader.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "common/guide/after_grading.h"
#include "common/guide/builder.h"
#include "common/guide/command.h"
#include "common/guide/try_messages.h"
#include "common/helpers/child_process.h"
#include "common/helpers/json.h"
#include "common/lesson/refusal.h"

namespace guide {
namespace {

/// Deterministic, so it is kept from one grading to the next.
std::filesystem::path stub_facts_file(const Project& project, const Exercise& exercise) {
    return project.build_folder() / "facts_of_stubs" / (exercise.name + ".json");
}

void keep_stub_facts(const Project& project, const Exercise& exercise, const std::string& facts) {
    const std::filesystem::path file = stub_facts_file(project, exercise);
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (error || facts.empty()) return;
    try {
        replace_file(file, facts);
    } catch (const Refusal&) {  // then the stub is graded again, the next time
    }
}

struct GraderRun {
    CommandResult result;
    std::string facts;
};

GraderRun run_grader(const Project& project, const Answer& answer, const GradeOptions& options, bool is_brief) {
    // Started as one would type it in the root: messages that repeat it are short then.
    const std::string program =
        (project.programs() / "exercises" / answer.program).lexically_relative(project.root).string();
    const warpwise::TemporaryFile facts;
    CommandOptions run_options;
    run_options.folder = project.root;
    run_options.variables = answer_variables(project, answer);
    run_options.variables.emplace_back("WARPWISE_GRADING_FACTS", facts.path());
    run_options.variables.emplace_back("WARPWISE_COLUMNS", std::to_string(options.width));
    if (is_brief) run_options.variables.emplace_back("WARPWISE_LATER_TESTS_SECONDS", "0");
    run_options.cancelled = options.cancelled;
    run_options.limit_seconds = options.limit_seconds;
    const CommandResult run = run_command({program, "--colour-mode", options.colors ? "ansi" : "none"}, run_options);
    return {run, facts.read()};
}

std::string text_in(const std::string& facts, const char* key) {
    const nlohmann::json json = warpwise::json_or_discarded<nlohmann::json>(facts);
    return json.is_object() ? json.value(key, "") : "";
}

/// What a grader says of a crash in host code (common/grading/reporter.cpp), before it ends by the signal.
constexpr std::string_view crashed = "The program crashed in host code";
constexpr std::string_view ended_by_signal = "\nThe grader was ended by signal";

/// The crash is told once.
std::string without_second_word(const std::string& output) {
    if (output.find(crashed) == std::string::npos) return output;
    const std::size_t end = output.find(ended_by_signal);
    return end == std::string::npos ? output : output.substr(0, end);
}

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
        "    {}\n"
        "Which loop of your kernel or of your host code never ends: does every iteration change what its condition\n"
        "asks for, and can the condition become false for every thread?\n",
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
    if (run.status > by_signal && run.output.find(crashed) != std::string::npos) return "    " + file + "\n";
    if (run.status > by_signal) {
        const int signal = run.status - by_signal;
        return fmt::format(
            "The grader crashed: signal {}, {}. Your host code runs inside it.\n    {}\n"
            "Does it use an array index out of range, a pointer that points to nothing, or a device pointer?\n",
            signal, strsignal(signal), file);
    }
    return fmt::format(
        "The grader ended with status {}, which says neither that the answer is right nor that it is wrong.\n"
        "    {}\nDoes your code call exit()?\n",
        run.status, file);
}

/// Facts of the handed-out stub, which is built and graded for it, unless that was done before. Empty when that is not
/// possible: the learner has edited the stub itself, or stops.
std::string facts_of_stub(const Project& project, const Exercise& exercise, const Answer& answer,
                          const GradeOptions& options) {
    if (answer.in_place) return {};
    namespace fs = std::filesystem;
    const fs::path file = stub_facts_file(project, exercise);
    fs::path grader = exercise.folder / (exercise.name + "_test.cpp");
    if (std::error_code error; !fs::exists(grader, error)) grader.replace_extension(".cu");
    const auto is_older_than = [&](const fs::path& source) {
        std::error_code error, source_error;
        const auto made = fs::last_write_time(file, error);
        const auto changed = fs::last_write_time(source, source_error);
        return error || (!source_error && made < changed);
    };
    if (!is_older_than(exercise.stub()) && !is_older_than(grader)) return read_file(file).value_or("");
    const std::string name = exercise.name + "_original";
    if (!Builder(project).build({name + "_" + project.device}, {}, options.cancelled).succeeded) return {};
    const std::string facts = run_grader(project, {exercise.stub(), true, name}, options, true).facts;
    keep_stub_facts(project, exercise, facts);
    return facts;
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
        result.details = built.output;
        std::string explained = built.output;
        if (project.device == "cpu" && !built.cancelled) {
            const std::vector<std::string> headers = {project.root / "common" / "cpu_device" / "include",
                                                      project.build_folder() / "unsupported_headers"};
            explained = explain_compiler(built.output,
                                         {answer.file.string(), answer.file.lexically_relative(project.root).string(),
                                          project.root.string(), headers})
                            .text;
        }
        result.text = built.cancelled ? built.output : first_error(explained);
        return result;
    }

    if (options.cancelled && options.cancelled()) {  // the build may have ended before anybody was asked
        result.outcome = Outcome::cancelled;
        return result;
    }

    const auto [run, facts] = run_grader(project, answer, options, options.is_brief);
    result.grade_seconds = run.seconds;
    result.outcome = outcome_of(run);
    result.text = run.output;
    result.facts = facts;
    result.details = text_in(facts, "catch2");
    if (result.outcome == Outcome::never_ended) {
        result.text = after(run.output, never_ended_text(project, answer, options.limit_seconds));
    } else if (result.outcome == Outcome::broken) {
        result.text = after(without_second_word(run.output), broken_text(project, exercise, answer, run));
    } else if (result.outcome == Outcome::failed && is_untouched(exercise)) {
        result.is_untouched = true;
        result.text = invitation(project, exercise, answer, options.width);
        // Whoever looks for a mistake, or for what is slow, needs the symptom.
        if (exercise.kind != "fill") result.text += "\nAs it was handed out:\n" + run.output;
        if (!answer.in_place) keep_stub_facts(project, exercise, facts);
    } else if (result.outcome == Outcome::passed) {
        result.learned = learned_from(read_file(exercise.task()).value_or(""));
        if (exercise.kind == "speed" && !options.is_brief) {
            result.improvement = improvements(facts_of_stub(project, exercise, answer, options), facts);
        }
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
