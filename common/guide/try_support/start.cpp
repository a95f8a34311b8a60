// The part of a tried program that is not the reader's: it counts from the first launch to the last, and says at the
// end what came out. It is linked, not called; the linker is told to take it along (warpwise_try_support).
//
// `warpwise try` speaks to it by environment variables. Without them, when the program is started by itself, it counts,
// looks for errors, and prints the table.
//
//     CPU_DEVICE_INSTRUMENT, CPU_DEVICE_INSTRUMENT_BLOCKS    as for every program of the CPU device
//     WARPWISE_TRY=table,lines,launches,output-to-stderr
//         table: print what kernels did; lines: and their source; launches: put them into the report;
//         output-to-stderr: what the program prints to standard output goes there
//         each-launch: a row for each launch, not for each kernel
//     WARPWISE_TRY_GPU=NAME                        whose times the time model estimates; empty: no estimates
//     WARPWISE_TRY_REGISTERS=N                     registers per thread, for the theoretical occupancy
//     WARPWISE_TRY_TRACE=FILE                      gets what the warps of the first blocks did (lesson/trace_file.h)
//     WARPWISE_TRY_PROGRESS=SECONDS                after which a running program says how far it is: 5; 0: never
//     WARPWISE_TRY_REPORT=FILE                     gets launches, diagnostics, and ran_kernels as JSON
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/guide/try_support/kernel_table.h"
#include "common/guide/try_support/launch_groups.h"
#include "common/helpers/instrument.h"
#include "common/helpers/json.h"
#include "common/lesson/json_output.h"
#include "common/lesson/refusal.h"
#include "common/lesson/terminal.h"
#include "common/lesson/trace_file.h"
#include "common/model/json.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/error_state.h"
#include "cpu_device/instrument.h"
#include "cpu_device/progress.h"

extern "C" {
/// What the linker is told to look for.
extern const int warpwise_try_support;
const int warpwise_try_support = 1;
}

namespace guide {
namespace {

constexpr int status_with_diagnostics = 1;
constexpr int status_without_trace = 2;
constexpr std::chrono::milliseconds collecting_period(100);
constexpr double seconds_without_progress = 5;

struct Settings {
    bool table = true;
    bool lines = false;
    bool launches = false;
    bool each_launch = false;
    bool output_to_stderr = false;
    std::string report;
    std::string trace;
};

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : value;
}

Settings settings_from_environment() {
    Settings settings;
    settings.report = variable("WARPWISE_TRY_REPORT");
    settings.trace = variable("WARPWISE_TRY_TRACE");
    if (std::getenv("WARPWISE_TRY") == nullptr) return settings;
    const std::string words = fmt::format(",{},", variable("WARPWISE_TRY"));
    const auto has = [&](const char* word) { return words.find(fmt::format(",{},", word)) != std::string::npos; };
    settings.table = has("table");
    settings.lines = has("lines");
    settings.launches = has("launches");
    settings.each_launch = has("each-launch");
    settings.output_to_stderr = has("output-to-stderr");
    return settings;
}

/// What standard error can show: the table goes there, so that the program's output can be piped on.
warpwise::Terminal terminal_of_stderr() {
    warpwise::Terminal terminal;
    if (isatty(STDERR_FILENO) == 0) return terminal;
    terminal.colors = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
        terminal.table_width = std::max<std::size_t>(size.ws_col, 60);
        terminal.width = std::min<std::size_t>(terminal.table_width, 100);
    }
    return terminal;
}

/// "1,048,576"
std::string with_commas(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
    return text;
}

/// Says now and then how far a program is that takes long: after 5 s, 10 s, 20 s, and so on.
class ProgressReport {
public:
    ProgressReport() {
        const std::string chosen(variable("WARPWISE_TRY_PROGRESS"));
        if (!chosen.empty()) next_ = std::atof(chosen.c_str());
        if (!(next_ > 0)) next_ = std::numeric_limits<double>::infinity();
    }

    /// Called often.
    void look() {
        const std::chrono::duration<double> running = std::chrono::steady_clock::now() - start_;
        if (running.count() < next_) return;
        while (next_ <= running.count()) next_ *= 2;
        std::string text = fmt::format("Running for {:.0f} s", running.count());
        if (const auto kernel = cpu_device::running_kernel()) {
            text += fmt::format(": launch {}, of {}, has run {} of {} blocks of {} threads",
                                with_commas(kernel->launches), kernel->kernel, with_commas(kernel->finished_blocks),
                                with_commas(kernel->blocks), kernel->threads);
        } else {
            text += ", in host code";
        }
        text += ".\n";
        if (!std::exchange(has_advised_, true)) {
            text +=
                "The CPU device runs all threads on the cores of this machine. Try a smaller size or fewer "
                "repetitions, by the program's arguments or its constants.\n";
        }
        std::fputs(text.c_str(), stderr);
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    double next_ = seconds_without_progress;
    bool has_advised_ = false;
};

/// What was launched so far. Programs may launch for hours: a thread adds up, so that memory holds a group of launches
/// and not each of them.
class Collector {
public:
    Collector(bool with_lines, bool each_launch) : groups_(each_launch), with_lines_(with_lines) {
        sigset_t every;
        sigset_t before;
        sigfillset(&every);
        pthread_sigmask(SIG_SETMASK, &every, &before);  // signals are the program's
        std::thread([this] { collect_until_end(); }).detach();
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

    /// The program has come to its end.
    std::vector<LaunchGroup> finish() {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        collect();
        return groups_.all();
    }

private:
    void collect_until_end() {
        while (true) {
            std::this_thread::sleep_for(collecting_period);
            const std::lock_guard lock(mutex_);
            if (ended_) return;
            collect();
            progress_.look();
        }
    }

    void collect() {
        for (warpwise::LaunchCounts& launch : warpwise::take_counts(with_lines_)) groups_.add(std::move(launch));
    }

    std::mutex mutex_;
    ProgressReport progress_;
    LaunchGroups groups_;
    bool ended_ = false;
    bool with_lines_;
};

/// Of the process; never destroyed, because its end is when it is needed.
struct Run {
    Settings settings;
    pid_t process = 0;
    Collector* collector = nullptr;
    int status = 0;  ///< in place of the program's own 0
};

Run& run() {
    static Run* all = new Run;
    return *all;
}

/// `ran_kernels`: nothing where launches are not counted.
void write_report(const std::string& file, const std::vector<LaunchGroup>& groups, const std::string& diagnostics,
                  std::optional<bool> ran_kernels) {
    using Json = nlohmann::ordered_json;
    Json launches = Json::array();
    for (const LaunchGroup& group : groups) {
        Json launch = warpwise::parse_json<Json>(warpwise::launch_json(group.counts));
        launch["launches"] = group.launches;
        if (const warpwise::model::Gpu* gpu = warpwise::model::chosen_gpu();
            gpu != nullptr && launch.contains("model")) {
            Json facts = launch["model"]["facts"];  // of the first launch
            launch["model"] = warpwise::model::json_of(warpwise::model::sum_of(group.estimates), *gpu);
            launch["model"]["facts"] = std::move(facts);
        }
        launches.push_back(std::move(launch));
    }
    std::ofstream stream(file);
    Json report = {{"launches", launches}, {"diagnostics", warpwise::parse_json<Json>(diagnostics)}};
    if (ran_kernels) report["ran_kernels"] = *ran_kernels;
    stream << report << '\n';
}

/// Of the first launch in each group.
void write_trace(const std::string& file, const std::vector<LaunchGroup>& groups) {
    std::vector<warpwise::LaunchCounts> launches;
    for (const LaunchGroup& group : groups) launches.push_back(group.counts);
    warpwise::write_trace(file, {{"", launches}}, {program_invocation_short_name});
}

/// One for each diagnostic, however many launches made it. What makes it the same: kind, kernel, array and lines.
std::vector<cpu_device::Diagnostic> merged(const std::vector<cpu_device::Diagnostic>& all) {
    std::map<std::string, std::size_t> known;
    std::vector<cpu_device::Diagnostic> diagnostics;
    for (const cpu_device::Diagnostic& diagnostic : all) {
        std::string name = fmt::format("{}\n{}\n{}\n{}:{}", cpu_device::identifier_of(diagnostic.kind),
                                       diagnostic.kernel, diagnostic.array, diagnostic.site.file, diagnostic.site.line);
        if (diagnostic.other) name += fmt::format("\n{}:{}", diagnostic.other->site.file, diagnostic.other->site.line);
        if (diagnostic.site.line == 0) name += "\n" + diagnostic.message;
        const auto [found, is_new] = known.try_emplace(name, diagnostics.size());
        if (is_new) {
            diagnostics.push_back(diagnostic);
        } else {
            diagnostics[found->second].count += diagnostic.count;
        }
    }
    return diagnostics;
}

/// How many errors there are, without notes.
std::size_t count_errors(const std::vector<cpu_device::Diagnostic>& diagnostics) {
    return static_cast<std::size_t>(std::count_if(diagnostics.begin(), diagnostics.end(),
                                                  [](const auto& diagnostic) { return !diagnostic.is_note; }));
}

/// `checked`: what part of the program was looked at; empty where no kernel was.
std::string result(std::size_t found, int status, const std::string& checked, const warpwise::Terminal& terminal) {
    std::string text;
    if (found > 0) {
        text = fmt::format("{} error{} found, reported above", found, found == 1 ? "" : "s");
        if (status == 0) text += fmt::format("; exit status {}", status_with_diagnostics);
        text = terminal.paint(warpwise::Style::bad, text) + "\n";
    } else if (!checked.empty()) {
        text = terminal.paint(warpwise::Style::good, "No errors found") + "\n";
    }
    if (!checked.empty()) text += warpwise::wrap(checked, terminal.width);
    return text;
}

/// After all of the program, its destructors included, and before the CPU device's own end, which then has no
/// diagnostics left to speak of.
void at_end(int status, void*) {
    Run& all = run();
    if (getpid() != all.process) return;  // a child of the program
    const cpu_device::InstrumentOptions instrumented = cpu_device::instrumenting();
    cpu_device::report_unseen_errors();
    // Who gave up half-way had no time to free anything.
    if (instrumented.diagnostics && status == 0) cpu_device::report_leaks();
    cpu_device::instrument({});
    const std::vector<cpu_device::Diagnostic> diagnostics = merged(cpu_device::take_diagnostics());
    const std::vector<LaunchGroup> groups = all.collector ? all.collector->finish() : std::vector<LaunchGroup>();

    cpu_device::begin_fresh_line();
    const warpwise::Terminal terminal = terminal_of_stderr();
    std::string text;
    if (instrumented.counters && all.settings.table) {
        text += "\n";
        text += groups.empty() ? "No kernel ran.\n"
                               : kernel_table(groups, instrumented.blocks, all.settings.each_launch, terminal);
        if (all.settings.lines && !groups.empty()) text += "\n" + kernel_listing(groups, terminal);
    }
    const std::string checked =
        instrumented.diagnostics ? cpu_device::text_of(cpu_device::coverage(), "--all-blocks") : std::string();
    const std::string last = result(count_errors(diagnostics), status, checked, terminal);
    if (!last.empty()) text += (text.empty() || text.ends_with("\n\n") ? "" : "\n") + last;
    std::fputs(text.c_str(), stderr);
    if (!all.settings.report.empty()) {
        write_report(all.settings.report, all.settings.launches ? groups : std::vector<LaunchGroup>(),
                     cpu_device::json_of(diagnostics), all.collector ? std::optional(!groups.empty()) : std::nullopt);
    }
    if (!all.settings.trace.empty()) {
        try {
            write_trace(all.settings.trace, groups);
        } catch (const warpwise::Refusal& refusal) {
            fmt::print(stderr, "{}\n", refusal.what());
            all.status = status_without_trace;
        }
    }
    if (status == 0 && count_errors(diagnostics) > 0) all.status = status_with_diagnostics;
}

/// The very last.
void set_status(int, void*) {
    const Run& all = run();
    if (getpid() != all.process || all.status == 0) return;
    std::fflush(nullptr);
    _exit(all.status);
}

// The numbers are places among all that runs before main, and, the other way round, at the end: this library is linked
// ahead of the CPU device, whose own 101 writes a file of diagnostics where somebody wants one.
__attribute__((constructor(101))) void register_status() { on_exit(set_status, nullptr); }

__attribute__((constructor(103))) void begin() {
    Run& all = run();
    all.process = getpid();
    all.settings = settings_from_environment();
    if (all.settings.output_to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
    // Whoever is killed, by a limit of time for example, has shown what it printed until then.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    cpu_device::InstrumentOptions options = cpu_device::instrumenting();
    if (std::getenv("CPU_DEVICE_INSTRUMENT") == nullptr) options.counters = options.diagnostics = true;
    if (const int registers = std::atoi(std::string(variable("WARPWISE_TRY_REGISTERS")).c_str()); registers > 0) {
        options.registers = registers;
    }
    const std::string gpu(std::getenv("WARPWISE_TRY") == nullptr ? warpwise::model::default_gpu
                                                                 : variable("WARPWISE_TRY_GPU"));
    options.model = !gpu.empty();
    try {
        if (options.model) warpwise::model::choose_gpu(gpu);
    } catch (const std::runtime_error& error) {
        fmt::print(stderr, "No estimated times: {}\n", error.what());
        options.model = false;
    }
    options.traced_blocks = all.settings.trace.empty() ? 0 : 1;
    cpu_device::instrument(options);
    if (options.counters)
        all.collector = new Collector(all.settings.lines || all.settings.launches, all.settings.each_launch);
    on_exit(at_end, nullptr);
}

}  // namespace
}  // namespace guide
