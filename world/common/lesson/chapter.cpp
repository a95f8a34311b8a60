#include "common/lesson/chapter.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>
#include <utility>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/freed_memory.h"
#include "common/helpers/instrument.h"
#include "common/lesson/counter_columns.h"
#include "common/lesson/device_choice.h"
#include "common/lesson/json_output.h"
#include "common/lesson/old_flag.h"
#include "common/lesson/options.h"
#include "common/lesson/output.h"
#include "common/lesson/plain_program.h"
#include "common/lesson/reader.h"
#include "common/lesson/results.h"
#include "common/lesson/run_lesson.h"
#include "common/lesson/size_text.h"
#include "common/lesson/suggest.h"
#include "common/lesson/terminal.h"
#include "common/lesson/trace_file.h"
#include "common/model/model.h"

namespace warpwise {
namespace {

struct Request {
    std::vector<std::string> lessons;
    bool list = false;
    bool pause = false;
    bool reads_along = true;  ///< somebody may be asked, and reads a screen at a time
    bool colors = true;
    bool counters_asked_for = false;
    std::string json_file;
    std::string trace_file;
    bool brief_trace = false;
    WantedDevice device = WantedDevice::automatic;
    Lesson::Options options;
};

std::vector<std::string> names_of(const Chapter& chapter) {
    std::vector<std::string> names;
    for (const LessonEntry& lesson : chapter.lessons) names.push_back(lesson.name);
    return names;
}

/// Returns the exit status when there is nothing left to do: after --help. Throws Refusal.
std::optional<int> parse_command_line(int argc, char** argv, const Chapter& chapter, Request& request) {
    CLI::App app(fmt::format("Chapter {}: {}. Runs all lessons, or those named.", chapter.number, chapter.title));
    std::string size;
    std::string device = "auto";
    bool no_color = false;
    bool all = false;
    bool no_input = false;
    int repeat = 0;
    std::string recording;
    std::string gpu_model;
    app.add_option("lessons", request.lessons, "names of lessons; see --list");
    app.add_flag("--list", request.list, "list the lessons and stop");
    app.add_option("--step", request.options.steps, "run only steps with this name or part of it; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--size", size, "size instead of the lesson's own: 1000, 16Mi, 1000x700, 256x256x256");
    app.add_option("--repeat", repeat, "time each step at least so often")->check(CLI::Range(1, 1000000));
    app.add_flag("--once", request.options.once,
                 "run each step once, at one size: nothing is timed, and profilers see only that");
    app.add_option("--json", request.json_file,
                   "write the results to this file; with --list the lessons, - for stdout");
    app.add_option("--trace", request.trace_file,
                   "write what each warp of the first block of every launch did to this file (CPU device)");
    app.add_flag("--trace-brief", request.brief_trace,
                 "with --trace: each kernel once, its first warps and what they did first");
    CLI::Option* counters =
        app.add_flag("--counters,!--no-counters", request.options.counters, "count what kernels do (CPU device)");
    app.add_flag("--diagnose", request.options.diagnose, "look for errors in kernels: races, bounds ... (CPU device)");
    add_old_flag(app, "check", "diagnose", request.options.diagnose);
    app.add_flag("--leaks", request.options.leaks,
                 "--diagnose, and memory that is never freed is an error, not only a note");
    app.add_flag("--lines", request.options.list_lines, "show the kernels' source with the counts of each line");
    app.add_flag("--all-blocks", request.options.all_blocks, "instrument all blocks of a launch, not a sample");
    app.add_option("--registers", request.options.registers, "registers per thread, for the theoretical occupancy")
        ->check(CLI::Range(1, 255));
    app.add_option("--gpu-model", gpu_model, "estimate the times of this GPU, and what limits them (CPU device)");
    app.add_option("--recorded", recording, "whose recorded times to show where there is no GPU; none shows none");
    CLI::Option* pause = app.add_flag("--pause,!--no-pause", request.pause,
                                      "wait for Enter between lessons; in a terminal that is usual");
    app.add_flag("--all", all, "print everything at once: no questions, no waiting for Enter");
    app.add_flag("--no-input", no_input, "ask nothing, also in a terminal");
    app.add_option("--device", device, "auto takes a GPU where one is usable")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
    app.add_flag("--no-color", no_color, "plain text; so does NO_COLOR in the environment");
    const std::string first = chapter.lessons.empty() ? "LESSON" : chapter.lessons.front().name;
    const std::string last = chapter.lessons.empty() ? "LESSON" : chapter.lessons.back().name;
    app.footer(fmt::format(
        "\nExamples:\n"
        "  {0} --list\n"
        "  {0} {1} {2}\n"
        "  {0} {2} --size 1Mi --device cpu\n"
        "  {0} {2} --device cpu --lines\n"
        "  {0} {2} --device cpu --recorded none\n"
        "  {0} --json results.json\n"
        "\nExit status: 0 all right, 1 a step was wrong or an error was found, 2 the request could not be met.",
        program_name(argv), first, last));
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        return app.exit(success);
    } catch (const CLI::ParseError& error) {
        throw Refusal(std::string(error.what()) + " (--help tells what there is)");
    }
    add_chapter(request.options, chapter, recording, argv[0]);
    if (!size.empty()) request.options.size = parse_size(size);
    request.options.model = !gpu_model.empty();
    try {
        if (request.options.model) model::choose_gpu(gpu_model);
    } catch (const std::runtime_error& error) {
        throw Refusal(fmt::format("--gpu-model: {}", error.what()));
    }
    request.reads_along =
        !all && !no_input && !request.options.once && request.json_file != "-" && Reader::at_terminal();
    if (pause->count() == 0) request.pause = request.reads_along;
    if (all || no_input) request.pause = false;
    request.options.diagnose = request.options.diagnose || request.options.leaks;
    request.counters_asked_for = counters->count() > 0 && request.options.counters;
    if (request.options.list_lines && !request.options.counters) throw Refusal("--lines needs the counters");
    if (!request.trace_file.empty() && !request.options.counters) throw Refusal("--trace needs the counters");
    if (request.brief_trace && request.trace_file.empty()) throw Refusal("--trace-brief goes with --trace FILE");
    request.options.trace = !request.trace_file.empty();
    request.options.keep_lines = !request.json_file.empty();
    if (repeat != 0) request.options.repeat = repeat;
    if (device == "cpu") request.device = WantedDevice::cpu;
    if (device == "cuda") request.device = WantedDevice::cuda;
    request.colors = !no_color;
    return std::nullopt;
}

/// The lessons to run, each once, in the order of the command line. Throws Refusal.
std::vector<const LessonEntry*> choose_lessons(const Chapter& chapter, const std::vector<std::string>& wanted) {
    std::vector<const LessonEntry*> chosen;
    const auto add = [&](const LessonEntry& lesson) {
        if (std::find(chosen.begin(), chosen.end(), &lesson) == chosen.end()) chosen.push_back(&lesson);
    };
    if (wanted.empty()) {
        for (const LessonEntry& lesson : chapter.lessons) add(lesson);
    }
    for (const std::string& name : wanted) {
        const auto found = std::find_if(chapter.lessons.begin(), chapter.lessons.end(),
                                        [&](const LessonEntry& lesson) { return lesson.name == name; });
        if (found == chapter.lessons.end()) {
            const std::vector<std::string> names = names_of(chapter);
            const std::vector<std::string> near = suggest(name, names);
            throw Refusal(near.empty()
                              ? fmt::format("no lesson '{}'; there are {}", name, fmt::join(names, ", "))
                              : fmt::format("no lesson '{}'; did you mean {}?", name, fmt::join(near, " or ")));
        }
        add(*found);
    }
    return chosen;
}

void list_lessons(const Chapter& chapter, const Terminal& terminal) {
    std::vector<std::vector<Cell>> rows;
    for (std::size_t i = 0; i < chapter.lessons.size(); ++i) {
        const LessonEntry& lesson = chapter.lessons[i];
        rows.push_back({{fmt::format("{}.{}", chapter.number, i + 1)}, {lesson.name}, {lesson.summary}});
    }
    fmt::print("{}\n\n{}", terminal.paint(Style::title, fmt::format("Chapter {}: {}", chapter.number, chapter.title)),
               format_table({"", "lesson", "what it shows"}, rows, terminal));
}

enum class Next { goes_on, nobody_there, leaves };

/// Waits for Enter. At the end of the input nobody is there to press it. Throws ReaderLeft on Ctrl-C.
Next wait_for_enter(Reader& reader, const std::string& next) {
    if (reader.is_there()) {
        const std::optional<char> key = reader.ask_key(fmt::format("Enter goes on with {}, q quits ", next), "q");
        fmt::print("\n");
        if (!key) return Next::nobody_there;
        fmt::print("\n");
        return *key == 'q' ? Next::leaves : Next::goes_on;
    }
    fmt::print("Enter goes on with {} ", next);
    std::fflush(stdout);
    std::string line;
    const bool pressed = static_cast<bool>(std::getline(std::cin, line));
    if (!pressed) fmt::print("\n");
    fmt::print("\n");
    return pressed ? Next::goes_on : Next::nobody_there;
}

/// Throws Refusal when a --step chose nothing in any of the lessons that ran.
void require_steps_chosen(const std::vector<std::string>& patterns, const std::vector<std::string>& offered) {
    for (const std::string& pattern : patterns) {
        const bool chosen = std::any_of(offered.begin(), offered.end(), [&](const std::string& name) {
            return name.find(pattern) != std::string::npos;
        });
        if (chosen) continue;
        throw Refusal(offered.empty()
                          ? fmt::format("no step '{}': there are no steps to choose from", pattern)
                          : fmt::format("no step '{}'; the steps are {}", pattern, fmt::join(offered, ", ")));
    }
}

/// What to run where the options ask for something that only the CPU device's programs can do themselves. Empty when
/// there is nothing to say.
std::string where_else(const Request& request, char** argv) {
    const Lesson::Options& options = request.options;
    if (!Lesson::on_gpu()) {
        const bool wanted = request.counters_asked_for || options.list_lines || options.trace || options.diagnose;
        return wanted && !can_instrument()
                   ? "Here nothing is counted, and no errors are looked for: start the chapter with ./warpwise run."
                   : "";
    }
    const std::string program = fmt::format("{} {}", argv[0], fmt::join(request.lessons, " ")) + " --once";
    std::string text;
    if (request.counters_asked_for) {
        text += fmt::format(
            "The counters of a GPU come from Nsight Compute:\n\n    ncu --profile-from-start off --metrics {} {}\n\n",
            all_metrics(), program);
    }
    if (options.trace) text += "--trace needs the CPU device: a GPU does not tell what each warp did.\n\n";
    if (options.list_lines) {
        text += fmt::format(
            "A GPU's counts of each line, too, in its source view:\n\n    ncu --profile-from-start off --set full "
            "--import-source yes -o report {}\n\n",
            program);
    }
    if (options.diagnose) {
        text += fmt::format(
            "On a GPU, compute-sanitizer looks for errors (--tool memcheck, racecheck, initcheck, "
            "synccheck):\n\n    compute-sanitizer --tool racecheck {}\n\n",
            program);
    }
    return text;
}

class Runner {
public:
    Runner(const Chapter& chapter, const Request& request, const Terminal& terminal)
        : chapter_(chapter),
          request_(request),
          output_(terminal, query_device(), Reader(request.reads_along)),
          runner_(chapter, request.options, output_) {}

    /// Returns the exit status. Throws Refusal and std::bad_alloc.
    /// `note` is printed below the title.
    int run(const std::vector<const LessonEntry*>& lessons, std::vector<std::string> command, const std::string& note) {
        output_.print(chapter_heading(chapter_, output_));
        if (!note.empty()) output_.print_paragraphs(note, Style::faint);
        const Instrumentation instrumenting({.diagnostics = request_.options.diagnose,
                                             .count = request_.options.count_options(),
                                             .leaks = request_.options.leaks});
        ChapterReport report{chapter_, output_.device(), std::move(command), {}, true};
        bool interrupted = false;
        try {
            run_lessons(lessons, report);
        } catch (const ReaderLeft& left) {
            report.left = true;
            interrupted = left.interrupted;
        }
        if (request_.options.diagnose && !report.lessons.empty()) {
            report_leaks();
            keep_diagnostics(report.lessons.back());
            const std::string checked = coverage_text("--all-blocks");
            if (!checked.empty()) output_.print_paragraphs(checked, Style::faint);
        }
        report.passed = std::all_of(report.lessons.begin(), report.lessons.end(),
                                    [](const LessonResult& lesson) { return lesson.passed(); });
        if (!report.left) require_steps_chosen(request_.options.steps, output_.offered_steps());
        if (!request_.json_file.empty()) write_json(request_.json_file, report);
        if (!request_.trace_file.empty()) write_trace(report);
        if (interrupted) end_as_interrupted();
        return report.passed ? all_right : step_wrong;
    }

private:
    /// Throws ReaderLeft when the reader has enough of the chapter.
    void run_lessons(const std::vector<const LessonEntry*>& lessons, ChapterReport& report) {
        bool pause = request_.pause;
        for (std::size_t i = 0; i < lessons.size() && !runner_.device_lost(); ++i) {
            const bool left_the_last_one = i != 0 && report.lessons.back().left;
            if (request_.reads_along && !output_.reader().is_there()) pause = false;  // the input has ended
            if ((pause && i != 0) || left_the_last_one) {
                const Next next = wait_for_enter(output_.reader(), lessons[i]->name);
                if (next == Next::leaves) throw ReaderLeft{};
                if (next == Next::nobody_there) pause = false;
            }
            report.lessons.push_back(runner_.run(*lessons[i]));
            report.left = report.left || report.lessons.back().left;
            if (runner_.interrupted()) throw ReaderLeft{true};
        }
    }

    void write_trace(const ChapterReport& report) const {
        std::vector<TracedStep> steps;
        for (const LessonResult& lesson : report.lessons) {
            for (const StepResult& step : lesson.steps) {
                if (step.launches) steps.push_back({step.name, *step.launches, lesson.name});
            }
            steps.push_back({"", lesson.traced, lesson.name});
        }
        warpwise::write_trace(request_.trace_file, steps, report.command,
                              request_.brief_trace ? TraceParts::brief : TraceParts::all);
    }

    const Chapter& chapter_;
    const Request& request_;
    Lesson::Output output_;
    LessonRunner runner_;
};

}  // namespace

int run_chapter(int argc, char** argv, const Chapter& chapter) {
    return status_of(argv, [&]() -> int {
        name_sources_from("chapters/" + chapter.folder);
        Request request;
        if (const std::optional<int> status = parse_command_line(argc, argv, chapter, request)) return *status;
        measure_only_once(request.options.once);
        const Terminal terminal = Terminal::detect(request.colors);
        if (request.list) {
            if (request.json_file.empty()) {
                list_lessons(chapter, terminal);
            } else {
                write_json(request.json_file, chapter);
            }
            return all_right;
        }
        const std::vector<const LessonEntry*> lessons = choose_lessons(chapter, request.lessons);
        settle_device(request.device, argv);
        if (Lesson::on_gpu()) keep_freed_memory();
        if (!Lesson::on_gpu() && can_instrument()) {
            request.options.plain_program = plain_program();
            const bool instruments = request.options.counters || request.options.diagnose;
            if (!instruments && !request.options.plain_program.empty()) {
                run_plain_program(request.options.plain_program, argv);
            }
        }
        if (!request.json_file.empty()) require_writable("--json", request.json_file);
        if (!request.trace_file.empty()) require_writable("--trace", request.trace_file);
        if (terminal.colors) reset_colors_on_interrupt();
        return Runner(chapter, request, terminal).run(lessons, {argv, argv + argc}, where_else(request, argv));
    });
}

}  // namespace warpwise
