#include "common/guide/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/guide/builder.h"
#include "common/guide/command.h"
#include "common/guide/commands.h"
#include "common/guide/report_page.h"
#include "common/guide/report_results.h"
#include "common/guide/report_traces.h"
#include "common/lesson/refusal.h"
#include "common/lesson/terminal.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using warpwise::Style;

// ---- Ctrl-C ---------------------------------------------------------------------------------------------------------

volatile std::sig_atomic_t interrupted = 0;

/// While it lives, the signals that ask the guide to end are only noted, so that it can end in order.
class InterruptsNoted {
public:
    InterruptsNoted() {
        interrupted = 0;
        struct sigaction note {};
        note.sa_handler = [](int) { interrupted = 1; };
        for (Former& former : former_) sigaction(former.signal, &note, &former.action);
    }
    ~InterruptsNoted() {
        for (const Former& former : former_) sigaction(former.signal, &former.action, nullptr);
    }
    InterruptsNoted(const InterruptsNoted&) = delete;
    InterruptsNoted& operator=(const InterruptsNoted&) = delete;

private:
    struct Former {
        int signal;
        struct sigaction action {};
    };
    std::array<Former, 3> former_ = {{{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}}};
};

struct Interrupted {};

// ---- telling how far it is ------------------------------------------------------------------------------------------

/// "Chapter 3, Optimization (1 of 2): running, 12 s", in place on a terminal, else a line when it begins and ends.
class Activity {
public:
    Activity(std::string what, const warpwise::Terminal& terminal)
        : what_(std::move(what)), terminal_(terminal), in_place_(isatty(STDOUT_FILENO) != 0) {}

    void doing(const std::string& now) {
        doing_ = now;
        begin_ = Clock::now();
        shown_seconds_ = -1;
        if (!in_place_) print(fmt::format("{}: {}\n", what_, doing_));
        show_time();
    }

    /// To be called some times a second. True when it is time to stop: what Builder and run_command want to know.
    bool show_time() {
        const long seconds = static_cast<long>(elapsed());
        if (in_place_ && seconds != shown_seconds_) {
            shown_seconds_ = seconds;
            print(fmt::format("\r\033[K{}: {}{}", what_, doing_, seconds > 0 ? fmt::format(", {} s", seconds) : ""));
        }
        return interrupted != 0;
    }

    void done(Style style, const std::string& how) {
        if (in_place_) print("\r\033[K");
        print(fmt::format("{}: {}\n", what_, terminal_.paint(style, how)));
    }

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

private:
    using Clock = std::chrono::steady_clock;

    static void print(const std::string& text) {
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    }

    std::string what_;
    const warpwise::Terminal& terminal_;
    bool in_place_;
    std::string doing_;
    Clock::time_point begin_ = Clock::now();
    long shown_seconds_ = -1;
};

// ---- results that are there -----------------------------------------------------------------------------------------

fs::path results_file(const Project& project, const Chapter& chapter) {
    return project.results() / (chapter.folder + ".json");
}

fs::path trace_file(const Project& project, const Chapter& chapter) {
    return project.results() / (chapter.folder + ".trace.json");
}

std::optional<fs::file_time_type> time_of(const fs::path& file) {
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(file, error);
    if (error) return std::nullopt;
    return time;
}

/// When the chapter's program or one of its sources was changed last.
std::optional<fs::file_time_type> last_change(const Project& project, const Chapter& chapter) {
    std::optional<fs::file_time_type> last = time_of(project.programs() / chapter.program);
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(project.root / "chapters" / chapter.folder, error)) {
        const fs::path extension = entry.path().extension();
        if (extension != ".cu" && extension != ".cuh" && extension != ".cpp" && extension != ".h") continue;
        const std::optional<fs::file_time_type> time = time_of(entry.path());
        if (time && (!last || *time > *last)) last = time;
    }
    return last;
}

/// Why results should not be shown as they are; empty when they should.
std::string why_outdated(const Project& project, const Chapter& chapter, const ChapterResults& results) {
    if (results.folder != chapter.folder) return "they are those of another chapter, " + results.folder;
    if (results.device.on_gpu != (project.device == "cuda")) return "they come from another device";
    for (const Lesson& lesson : chapter.lessons) {
        const bool there = std::any_of(results.lessons.begin(), results.lessons.end(),
                                       [&](const auto& result) { return result.name == lesson.name; });
        if (!there) return "they do not hold the lesson " + lesson.name;
    }
    const bool some_steps = std::any_of(results.command.begin(), results.command.end(),
                                        [](const std::string& word) { return word.starts_with("--step"); });
    if (some_steps) return "they hold some of the steps only";
    const std::optional<fs::file_time_type> written = time_of(results_file(project, chapter));
    const std::optional<fs::file_time_type> changed = last_change(project, chapter);
    if (written && changed && *written < *changed) return "the chapter's program or its sources have changed since";
    return {};
}

enum class State { missing, unreadable, outdated, current };

struct Known {
    State state = State::missing;
    std::optional<ChapterResults> results = {};
    std::string why = {};
};

Known known_results(const Project& project, const Chapter& chapter) {
    const fs::path file = results_file(project, chapter);
    try {
        const std::optional<std::string> content = read_file(file);
        if (!content) return {};
        Known known{State::current, parse_results(*content), {}};
        known.why = why_outdated(project, chapter, *known.results);
        if (!known.why.empty()) known.state = State::outdated;
        return known;
    } catch (const std::runtime_error& error) {
        return {State::unreadable, std::nullopt, error.what()};
    }
}

/// What the reader should know about results that are shown, or not, without running the chapter.
std::string note_of(const Project& project, const Chapter& chapter, const Known& known) {
    const std::string run = fmt::format("`{} run {}`", project.typed, chapter.number);
    switch (known.state) {
        case State::missing:
            return fmt::format("This chapter was not run. {} runs it.", run);
        case State::unreadable:
            return fmt::format("The results of this chapter could not be read: `{}`: {}. {} writes new ones.",
                               project.shown(results_file(project, chapter)), known.why, run);
        case State::outdated:
            return fmt::format("These results are out of date: {}. {} writes new ones.", known.why, run);
        case State::current:
            break;
    }
    return {};
}

/// Is there no trace of what the chapter's program is now?
bool lacks_trace(const Project& project, const Chapter& chapter) {
    if (project.device != "cpu") return false;
    const std::optional<fs::file_time_type> written = time_of(trace_file(project, chapter));
    const std::optional<fs::file_time_type> changed = last_change(project, chapter);
    return !written || (changed && *written < *changed);
}

void read_traces(const Project& project, ReportChapter& part) {
    if (!part.results || part.results->device.on_gpu) return;
    try {
        const std::optional<std::string> content = read_file(trace_file(project, *part.chapter));
        if (content) {
            part.traces = parse_traces(*content, project.root);
            part.trace_note.clear();
        } else if (part.trace_note.empty()) {
            part.trace_note = fmt::format(
                "There are no warp views here: this chapter was run without a trace. `{} report` makes one.",
                project.typed);
        }
    } catch (const std::runtime_error& error) {
        part.trace_note = fmt::format("There are no warp views here: `{}` could not be read: {}.",
                                      project.shown(trace_file(project, *part.chapter)), error.what());
    }
}

// ---- running chapters -----------------------------------------------------------------------------------------------

/// The last lines, where a program says why it failed.
std::string last_lines(const std::string& output) {
    constexpr int most = 30;
    std::size_t begin = output.find_last_not_of(" \n");
    if (begin == std::string::npos) return {};
    const std::size_t end = begin + 1;
    for (int lines = 0; begin > 0; --begin) {
        if (output[begin - 1] == '\n' && ++lines == most) break;
    }
    return output.substr(begin, end - begin);
}

class ChapterRunner {
public:
    ChapterRunner(const Project& project, const warpwise::Terminal& terminal)
        : project_(project), terminal_(terminal) {}

    /// Replaces `part`'s results, and its trace; where that fails, the note says why and what was there stays. False
    /// when the chapter could not be run. Throws Interrupted.
    bool run(ReportChapter& part, std::size_t position, std::size_t of) {
        Activity activity = activity_of(part, position, of);
        if (!build(part, activity)) return false;
        activity.doing("running");
        const FreshFile results_json(results_file(project_, *part.chapter));
        const FreshFile trace(trace_file(project_, *part.chapter));
        std::vector<std::string> options = {"--json", results_json.path().string()};
        if (project_.device == "cpu") {
            options.insert(options.end(), {"--trace", trace.path().string(), "--trace-brief"});
        }
        const CommandResult ran = start(part, activity, options);
        std::optional<ChapterResults> results;
        std::string why = fmt::format("its program ended with status {}", ran.status);
        if (ran.status == 0 || ran.status == 1) {
            try {
                results = parse_results(read_file(results_json.path()).value_or(""));
                results_json.keep();
                if (fs::exists(trace.path())) trace.keep();
            } catch (const std::exception& problem) {
                why = problem.what();
            }
        }
        if (!results) {
            fail(part, activity, "This chapter could not be run: " + why + ".", last_lines(ran.output));
            return false;
        }
        activity.done(results->passed ? Style::good : Style::bad,
                      fmt::format("{} ({:.0f} s)", results->passed ? "all right" : "something is wrong", ran.seconds));
        part.results = std::move(results);
        part.note.clear();
        return true;
    }

    /// Replaces the trace only; the results are good as they are. Throws Interrupted.
    void trace(ReportChapter& part, std::size_t position, std::size_t of) {
        Activity activity = activity_of(part, position, of);
        if (!build(part, activity)) return;
        activity.doing("tracing its warps");
        const FreshFile trace(trace_file(project_, *part.chapter));
        const CommandResult ran = start(part, activity, {"--once", "--trace", trace.path().string(), "--trace-brief"});
        if ((ran.status == 0 || ran.status == 1) && fs::exists(trace.path())) {
            trace.keep();
            activity.done(Style::good, fmt::format("traced ({:.0f} s)", ran.seconds));
        } else {
            const std::string why = fmt::format("could not be traced: its program ended with status {}", ran.status);
            activity.done(Style::bad, why);
            part.trace_note = "There are no warp views here: the chapter " + why + ".";
        }
    }

private:
    /// Beside the file that it replaces when all went well, so that nobody sees half of it.
    class FreshFile {
    public:
        explicit FreshFile(fs::path file) : file_(std::move(file)) {}
        ~FreshFile() {
            std::error_code error;
            fs::remove(path(), error);
        }
        FreshFile(const FreshFile&) = delete;
        FreshFile& operator=(const FreshFile&) = delete;

        fs::path path() const { return fmt::format("{}.new-{}", file_.string(), getpid()); }
        void keep() const { fs::rename(path(), file_); }

    private:
        fs::path file_;
    };

    Activity activity_of(const ReportChapter& part, std::size_t position, std::size_t of) const {
        const std::string progress = of > 1 ? fmt::format(" ({} of {})", position, of) : std::string();
        return Activity(fmt::format("Chapter {}, {}{}", part.chapter->number, part.chapter->title, progress),
                        terminal_);
    }

    bool build(ReportChapter& part, Activity& activity) {
        activity.doing("building");
        Builder builder(project_);
        const BuildResult built =
            builder.build({part.chapter->program}, {}, [&activity] { return activity.show_time(); });
        if (interrupted != 0 || built.cancelled) throw Interrupted{};
        if (!built.succeeded) fail(part, activity, "This chapter could not be built.", last_lines(built.output));
        return built.succeeded;
    }

    CommandResult start(const ReportChapter& part, Activity& activity, const std::vector<std::string>& options) const {
        std::error_code error;
        fs::create_directories(project_.results(), error);
        std::vector<std::string> command = {(project_.programs() / part.chapter->program).string(), "--device",
                                            project_.device, "--no-color", "--no-pause"};
        command.insert(command.end(), options.begin(), options.end());
        CommandResult ran =
            run_command(command, {.folder = project_.root, .cancelled = [&activity] { return activity.show_time(); }});
        if (interrupted != 0) throw Interrupted{};
        return ran;
    }

    static void fail(ReportChapter& part, Activity& activity, const std::string& what, const std::string& output) {
        activity.done(Style::bad, what);
        if (!output.empty()) fmt::print("{}\n", output);
        part.note = what + (part.results ? " What follows are older results." : "");
        part.output = output;
    }

    const Project& project_;
    const warpwise::Terminal& terminal_;
};

// ---- this machine ---------------------------------------------------------------------------------------------------

/// The rest of the first line that starts like this.
std::string line_after(const fs::path& file, std::string_view start) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with(start)) return line.substr(start.size());
    }
    return {};
}

/// What stands between the first and the last quote.
std::string unquoted(const std::string& text) {
    const std::size_t begin = text.find('"');
    const std::size_t end = text.rfind('"');
    return begin == std::string::npos || end <= begin ? text : text.substr(begin + 1, end - begin - 1);
}

std::string processor() {
    std::string name = line_after("/proc/cpuinfo", "model name");
    name.erase(0, std::min(name.find_first_not_of("\t :"), name.size()));
    const unsigned threads = std::thread::hardware_concurrency();
    return fmt::format("{}{}{} hardware threads", name, name.empty() ? "" : ", ", threads);
}

/// "GNU 12.2.0", as CMake found it for this build; empty where it did not.
std::string compiler(const Project& project, const std::string& language) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(project.build_folder() / "CMakeFiles", error)) {
        const fs::path file = entry.path() / fmt::format("CMake{}Compiler.cmake", language);
        const std::string name = unquoted(line_after(file, fmt::format("set(CMAKE_{}_COMPILER_ID ", language)));
        const std::string version = unquoted(line_after(file, fmt::format("set(CMAKE_{}_COMPILER_VERSION ", language)));
        if (!name.empty()) return name + " " + version;
    }
    return {};
}

std::vector<std::pair<std::string, std::string>> facts_of_this_machine(const Project& project) {
    utsname system{};
    uname(&system);
    std::string distribution = unquoted(line_after("/etc/os-release", "PRETTY_NAME="));
    if (!distribution.empty()) distribution += ", ";
    std::vector<std::pair<std::string, std::string>> known = {
        {"processor", processor()},
        {"system", fmt::format("{}{} {}", distribution, system.sysname, system.release)},
        {"host compiler", compiler(project, "CXX")},
        {"device compiler", compiler(project, "CUDA")},
        {"NVIDIA driver", line_after("/sys/module/nvidia/version", "")}};
    known.erase(std::remove_if(known.begin(), known.end(), [](const auto& fact) { return fact.second.empty(); }),
                known.end());
    return known;
}

// ---- the file -------------------------------------------------------------------------------------------------------

fs::path output_file(const Project& project, const ReportOptions& options) {
    if (options.output.empty()) return project.root / "build" / "report.html";
    const fs::path file = (project.caller / options.output).lexically_normal();
    std::error_code error;
    return fs::is_directory(file, error) ? file / "report.html" : file;
}

/// Before chapters run for minutes: can the report be written there? Throws Refusal.
void require_place(const Project& project, const fs::path& file, bool is_default) {
    const fs::path folder = file.parent_path();
    std::error_code error;
    if (is_default) fs::create_directories(folder, error);
    if (!fs::is_directory(folder, error)) {
        throw Refusal(fmt::format("cannot write {}: there is no folder {}; make it first: mkdir -p '{}'",
                                  project.shown(file), project.shown(folder), folder.string()));
    }
    if (access(folder.c_str(), W_OK | X_OK) != 0) {
        throw Refusal(fmt::format("cannot write into {}; name another file: {} report -o FILE.html",
                                  project.shown(folder), project.typed));
    }
}

/// "file:///home/me/my%20copy/report.html"
std::string address_of(const fs::path& file) {
    std::string address = "file://";
    for (const char c : file.string()) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain =
            byte > ' ' && byte < 0x7f && std::string_view("\"#%?<>`{}'\\").find(c) == std::string_view::npos;
        address += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
    }
    return address;
}

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

void tell_where(const Project& project, const fs::path& file, std::size_t bytes) {
    fmt::print("\nThe report: {} ({:.0f} kB; it needs nothing beside it)\n", project.shown(file),
               std::ceil(static_cast<double>(bytes) / 1000));
    const bool has_screen = is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    for (const char* opener : {"wslview", "xdg-open"}) {
        if (!has_program(opener) || (std::string_view(opener) == "xdg-open" && !has_screen)) continue;
        fmt::print("Open it:    {} '{}'\n", opener, file.string());
        return;
    }
    fmt::print("Open it:    {} in a browser, or copy it to where there is one\n", address_of(file));
}

std::string now() { return fmt::format("{:%Y-%m-%d %H:%M UTC}", fmt::gmtime(std::time(nullptr))); }

/// Runs those chapters that have to be. Returns whether all chapters are right.
bool gather(const Project& project, const Catalog& catalog, const ReportOptions& options,
            const warpwise::Terminal& terminal, std::vector<ReportChapter>& parts) {
    struct Task {
        std::size_t chapter;
        bool trace_only;
    };
    std::vector<Task> tasks;
    for (const Chapter& chapter : catalog.chapters()) {
        const Known known = known_results(project, chapter);
        if (options.run_all || (options.run_missing && known.state != State::current)) {
            tasks.push_back({parts.size(), false});
        } else if (options.run_missing && lacks_trace(project, chapter)) {
            tasks.push_back({parts.size(), true});
        }
        parts.push_back({&chapter, known.results, note_of(project, chapter, known)});
    }
    bool all_ran = true;
    ChapterRunner runner(project, terminal);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        ReportChapter& part = parts[tasks[i].chapter];
        if (tasks[i].trace_only) {
            runner.trace(part, i + 1, tasks.size());
        } else {
            all_ran = runner.run(part, i + 1, tasks.size()) && all_ran;
        }
    }
    for (ReportChapter& part : parts) read_traces(project, part);
    return all_ran && std::all_of(parts.begin(), parts.end(),
                                  [](const ReportChapter& part) { return !part.results || part.results->passed; });
}

}  // namespace

int write_report(const Project& project, const Catalog& catalog, ProgressFile& progress, const ReportOptions& options) {
    const fs::path file = output_file(project, options);
    require_place(project, file, options.output.empty());
    const warpwise::Terminal terminal = warpwise::Terminal::detect(options.colors);
    const InterruptsNoted noted;
    try {
        Report report;
        const bool all_right = gather(project, catalog, options, terminal, report.chapters);
        // Only programs that are built know their lessons' titles: now they all are.
        Catalog titled = catalog;
        titled.add_lesson_titles(project);
        for (std::size_t i = 0; i < report.chapters.size(); ++i) report.chapters[i].chapter = &titled.chapters()[i];
        report.root = project.root;
        report.typed = project.typed;
        report.date = now();
        report.machine = facts_of_this_machine(project);
        report.progress = progress.read();
        if (const std::string message = progress.take_message(); !message.empty()) fmt::print(stderr, "{}\n", message);
        report.path = path_map(titled, report.progress);
        const std::string page = report_page(report);
        if (interrupted != 0) throw Interrupted{};
        replace_file(file, page);
        tell_where(project, file, page.size());
        return all_right ? 0 : 1;
    } catch (const Interrupted&) {
        fmt::print("\nStopped: no report was written. Results of chapters that have ended are kept.\n");
        return interrupted_status;
    }
}

}  // namespace guide
