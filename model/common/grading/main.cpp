// The main function of every grader: Catch2's command line, plus a last line that says where to go on.
//
// Exit status: 0 all tests passed, 1 a test failed or the answer ended the program, 2 nothing was graded (wrong
// options, no such test). The status can be believed whatever the answer does: see supervisor.h.
//
// The run stops at the first failed check, because one message is easier to act on than forty. It is shown as failure.h
// says, followed by the names of the later tests that fail as well. `--full` shows all lines of the message, `--catch2`
// what Catch2 shows, `-x 1000` all failed checks.
//
// An answer that passes is graded again with inputs drawn with further seeds (WARPWISE_GRADING_SEED=N in the
// environment grades with those of seed N only). On the CPU device kernels are instrumented for diagnostics, and the
// further runs have their threads in other orders (CPU_DEVICE_SEED=N: in the order N only).
//
// WARPWISE_GRADING_FACTS=FILE: the guide starts this program, and finds in FILE what it needs to go on (facts.h).
#include <sys/ioctl.h>
#include <unistd.h>
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/interfaces/catch_interfaces_config.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "common/grading/diagnostics.h"
#include "common/grading/exercise.h"
#include "common/grading/facts.h"
#include "common/grading/failure.h"
#include "common/grading/figure.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/grading/reporter.h"
#include "common/grading/schedules.h"
#include "common/grading/supervisor.h"
#include "common/helpers/child_process.h"
#include "common/helpers/freed_memory.h"
#include "common/helpers/instrument.h"
#include "common/helpers/lines.h"

namespace {

Catch::Counts test_cases;  ///< of the run that ended

class CountTests : public Catch::EventListenerBase {
public:
    using EventListenerBase::EventListenerBase;
    void testRunEnded(const Catch::TestRunStats& stats) override { test_cases = stats.totals.testCases; }
};

CATCH_REGISTER_LISTENER(CountTests)

/// The learner's file, for who looks from the project's folder. The guide knows it; without the guide, programs of the
/// stub are called NAME_original, and the file in answers/ may not be there.
std::string answer_file() {
    if (const char* told = std::getenv("WARPWISE_ANSWER"); told != nullptr && *told != '\0') return told;
    const std::string name = grading::exercise.name;
    const std::string file = std::string(grading::exercise.chapter) + "/" + name + "/" + name + ".cu";
    const bool is_stub = std::filesystem::path(warpwise::own_program()).filename() == name + "_original";
    std::error_code error;
    return !is_stub && std::filesystem::exists("answers/" + file, error) ? "answers/" + file : "exercises/" + file;
}

/// Empty where the guide is not told anything.
std::string facts_file() {
    const char* const file = std::getenv(grading::facts_variable);
    return file == nullptr ? "" : file;
}

/// The guide says this itself.
void say_where_to_go_on(bool passed) {
    if (!facts_file().empty()) return;
    const std::string chapter = grading::exercise.chapter;
    const std::string name = grading::exercise.name;
    if (passed) {
        std::printf("%s: solved. Compare with solutions/%s/%s/%s.cu\n", name.c_str(), chapter.c_str(), name.c_str(),
                    name.c_str());
    } else {
        std::printf("%s: not yet. Your answer: %s   Hints: exercises/%s/%s/hints.md\n", name.c_str(),
                    answer_file().c_str(), chapter.c_str(), name.c_str());
    }
}

/// As one would type it again.
std::string repeating_command(const grading::FailingRun& failing, const std::vector<std::string>& arguments) {
    std::string command;
    for (const auto& [name, value] : failing.variables) command += name + "=" + value + " ";
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "--colour-mode" && i + 1 < arguments.size()) {
            ++i;  // the guide's, not the learner's
            continue;
        }
        command += (i == 0 ? "" : " ") + (argument.find(' ') == std::string::npos ? argument : "'" + argument + "'");
    }
    return command;
}

/// Grades once more, as a process of its own, for each further run. False, and shown, when the answer fails in one.
bool passes_further_runs(int argc, char** argv) {
    std::vector<std::string> arguments(argv, argv + argc);
    arguments[0] = warpwise::own_program();
    const std::optional<grading::FailingRun> failing = grading::first_failing_run(arguments, grading::further_runs());
    if (!failing) return true;
    arguments[0] = argv[0];
    std::printf(
        "That was the first run%s. In a further one%s the answer fails. To repeat what follows:\n\n    %s\n\n%s",
        grading::can_try_other_orders() ? ", with threads and blocks in ascending order" : "",
        grading::can_try_other_orders() ? ", with other inputs and in another order (a GPU promises none),"
                                        : ", with other inputs,",
        repeating_command(*failing, arguments).c_str(), failing->output.c_str());
    if (!facts_file().empty()) std::ofstream(facts_file()) << failing->facts;
    return false;
}

// ---- which of the later tests fail as well -------------------------------------------------------------------------

/// Titles of all tests that a run without arguments runs, in their order.
std::vector<std::string> all_tests(Catch::Session& session) {
    std::vector<std::string> titles;
    for (const Catch::TestCaseHandle& test : Catch::getAllTestCasesSorted(session.config())) {
        if (!test.getTestCaseInfo().isHidden()) titles.push_back(test.getTestCaseInfo().name);
    }
    return titles;
}

/// A pattern of Catch2 for this title; a comma would end the pattern.
std::string exactly(const std::string& title) {
    std::string text = "\"";
    for (const char c : title) {
        if (c == '"' || c == '\\' || c == ',') text += '\\';
        text += c;
    }
    return text + '"';
}

/// Runs the tests after `first`, each by itself up to its first failed check, and writes a line for each into `file`.
/// Ends when the device is lost, because then nothing can be told about the tests after that.
int run_later_tests(Catch::Session& session, const std::string& first, const std::string& file) {
    const std::vector<std::string> titles = all_tests(session);
    std::ofstream results(file);
    bool is_later = false;
    for (const std::string& title : titles) {
        if (is_later) {
            session.configData().testsOrTags = {exactly(title)};
            session.useConfigData(session.configData());
            const bool passed = session.run() == 0 && grading::take_diagnostics().empty();
            if (cudaDeviceSynchronize() != cudaSuccess) break;
            results << (passed ? "passed " : "failed ") << title << std::endl;
        }
        is_later = is_later || title == first;
    }
    return 1;
}

/// The grade must not wait long for the later tests. 0: they are not run at all.
double seconds_for_later_tests() {
    const char* const text = std::getenv(grading::later_tests_seconds_variable);
    return text == nullptr ? 2 : std::atof(text);
}

/// Adds to the facts which tests after the first failed one fail as well, in a process of its own: an answer may hang
/// or crash there.
void look_at_later_tests(const std::string& first, const std::vector<std::string>& titles, grading::Facts& facts) {
    const warpwise::TemporaryFile results;
    warpwise::ChildProcess later({warpwise::own_program()}, {{grading::later_tests_variable, first},
                                                             {grading::further_run_variable, "1"},
                                                             {grading::facts_variable, results.path()}});
    later.wait_at_most(seconds_for_later_tests());
    const std::vector<std::string> run = warpwise::file_lines(results.path());
    for (const std::string& line : run) {
        if (line.starts_with("failed ")) facts.more_failing.push_back(line.substr(7));
    }
    std::size_t earlier = 0;
    while (earlier < titles.size() && titles[earlier] != first) ++earlier;
    facts.not_run = titles.size() - std::min(titles.size(), earlier + 1 + run.size());
}

void print_in_lines(const std::string& text, std::size_t width) {
    for (const std::string& line : grading::broken_at_spaces(text, width)) std::printf("%s\n", line.c_str());
}

void print_later_tests(const grading::Facts& facts, std::size_t width) {
    const std::size_t count = facts.more_failing.size();
    if (count > 0) {
        std::string text = "  " + grading::counted(count, "more test") + (count == 1 ? " does" : " do") + " not pass: ";
        for (std::size_t i = 0; i < std::min<std::size_t>(2, count); ++i) {
            text += (i == 0 ? "\"" : ", \"") + facts.more_failing[i] + "\"";
        }
        print_in_lines(text + (count > 2 ? ", ..." : ""), width);
    }
    if (facts.not_run > 0) {
        print_in_lines("  " + grading::counted(facts.not_run, "later test") +
                           (facts.not_run == 1 ? " was not tried." : " were not tried."),
                       width);
    }
}

/// For output that counts the tests of one run only, which ends at the first failed check.
std::string where_the_run_stopped(std::size_t tests_of_run, std::size_t tests) {
    if (tests_of_run >= tests) return {};
    return "The run stopped at the first failed check: " + std::to_string(tests - tests_of_run) + " of " +
           grading::counted(tests, "test") + " were not tried.\nAll of them: ./warpwise grade " +
           grading::exercise.name + " -- -x 1000\n";
}

// ---- what is right, and worth a word --------------------------------------------------------------------------------

/// Says that a barrier stands in a branch that depends on the thread, of the first one of these.
void print_remarks(std::size_t width) {
    for (const grading::Place& barrier : grading::barrier_places()) {
        const int branch = grading::branch_on_threads_around(barrier.file, barrier.line);
        if (branch == 0) continue;
        print_in_lines("A remark: the barrier in " + std::filesystem::path(barrier.file).filename().string() + ":" +
                           std::to_string(barrier.line) + " stands in the branch of line " + std::to_string(branch) +
                           ". It is right as long as all threads that skip the branch end without another barrier; if "
                           "one waited at another barrier, a GPU could hang.",
                       width);
        return;
    }
}

// ---- grading -------------------------------------------------------------------------------------------------------

/// What Catch2 writes to the file of its own reporter.
std::string contents_of(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// The guide tells how wide its terminal is.
std::size_t columns() {
    constexpr std::size_t narrowest = 40, widest = 100;
    const char* const told = std::getenv(grading::columns_variable);
    std::size_t width = told == nullptr ? widest : static_cast<std::size_t>(std::max(0, std::atoi(told)));
    winsize size{};
    if (told == nullptr && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) width = size.ws_col;
    return std::clamp(width, narrowest, widest);
}

bool use_colors(const Catch::ConfigData& config) {
    if (config.defaultColourMode == Catch::ColourMode::ANSI) return true;
    return config.defaultColourMode == Catch::ColourMode::PlatformDefault && isatty(STDOUT_FILENO) == 1 &&
           std::getenv("NO_COLOR") == nullptr;
}

int grade(int argc, char** argv) {
    warpwise::keep_freed_memory();
    grading::show_diagnostics_only_when_taken();
    const warpwise::Instrumentation instrumenting({.diagnostics = true, .leaks = true});
    Catch::Session session;
    session.configData().abortAfter = 1;
    bool catch2 = false;
    bool full = false;
    session.cli(session.cli() | Catch::Clara::Opt(catch2)["--catch2"]["--details"]("show failures as Catch2 does") |
                Catch::Clara::Opt(full)["--full"]("show all lines of each failure"));
    if (session.applyCommandLine(argc, argv) != 0) return 2;
    const bool colors = use_colors(session.configData());
    const grading::ReporterOptions options{
        .full = full || session.configData().abortAfter != 1, .colors = colors, .width = columns()};
    grading::set_reporter_options(options);

    const warpwise::TemporaryFile catch2_output;
    const bool is_asked_for_facts = !facts_file().empty();
    if (!catch2 && session.configData().reporterSpecifications.empty()) {
        session.configData().reporterSpecifications.push_back({grading::reporter_name(), {}, {}, {}});
        if (is_asked_for_facts) {
            session.configData().reporterSpecifications.push_back({"console", catch2_output.path(), {}, {}});
        }
    }
    if (const char* first = std::getenv(grading::later_tests_variable); first != nullptr) {
        return run_later_tests(session, first, facts_file());
    }

    const bool runs_all = session.configData().testsOrTags.empty();
    const int status = session.run();
    if (test_cases.total() == 0) return status == 0 ? 0 : 2;  // listings, or no test of that name
    if (status == 0) warpwise::report_leaks();
    const std::string not_asked_for = grading::take_diagnostics();
    if (!not_asked_for.empty()) {
        grading::Failure failure = grading::make_failure("", not_asked_for, {}, std::nullopt);
        failure.test = grading::first_failure() ? "" : "after all tests";
        if (full || catch2) {
            std::printf("%s\n\n", not_asked_for.c_str());
        } else if (!grading::first_failure()) {
            std::printf("%s", grading::shown(failure, options).c_str());
        }
        grading::set_first_failure(std::move(failure));
    }

    grading::Facts facts;
    facts.passed = status == 0 && not_asked_for.empty();
    facts.failure = grading::first_failure();
    const std::vector<std::string> titles = all_tests(session);
    facts.tests = titles.size();
    const bool is_further_run = grading::is_further_run();
    if (status != 0 && runs_all && seconds_for_later_tests() > 0 && !is_further_run && !full && !catch2 &&
        facts.failure) {
        look_at_later_tests(facts.failure->test, titles, facts);
        print_later_tests(facts, options.width);
    }
    const std::string stopped = status != 0 && runs_all
                                    ? where_the_run_stopped(static_cast<std::size_t>(test_cases.total()), titles.size())
                                    : "";
    if (full || catch2) std::printf("%s", stopped.c_str());
    if (!facts.passed) std::printf("\n");
    if (is_asked_for_facts) {
        facts.catch2 = contents_of(catch2_output.path()) + stopped;
        std::ofstream(facts_file()) << grading::facts_json(facts, grading::counted_calls(), grading::noted_figures());
    }
    if (facts.passed && !passes_further_runs(argc, argv)) return 1;
    if (facts.passed && !is_further_run) print_remarks(options.width);
    if (grading::counts_were_left_out()) {
        std::printf(
            "Not graded: how the kernels use memory and lanes, and who writes the result. Only the CPU device knows\n"
            "that.\n");
    }
    if (runs_all || !facts.passed) say_where_to_go_on(facts.passed);
    return facts.passed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const int status = grade(argc, argv);
    return grading::send_record(
        {status, static_cast<unsigned>(test_cases.passed), static_cast<unsigned>(test_cases.failed)});
}
