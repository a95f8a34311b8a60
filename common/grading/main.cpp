// The main function of every grader: Catch2's command line, plus a last line that says where to go on.
//
// Exit status: 0 all tests passed, 1 a test failed or the answer ended the program, 2 nothing was graded (wrong
// options, no such test). The status can be believed whatever the answer does: see supervisor.h. The run stops at the
// first failed check, because one message is easier to act on than forty; `-x 1000` shows all.
// `--details` shows failures as Catch2 does.
//
// An answer that passes is graded again with inputs drawn with further seeds (WARPWISE_GRADING_SEED=N in the
// environment grades with those of seed N only). On the CPU device kernels are instrumented for diagnostics, and the
// further runs have their threads in other orders (CPU_DEVICE_SEED=N: in the order N only).
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "common/grading/diagnostics.h"
#include "common/grading/exercise.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/grading/reporter.h"
#include "common/grading/schedules.h"
#include "common/grading/supervisor.h"
#include "common/helpers/child_process.h"
#include "common/helpers/instrument.h"

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

void say_where_to_go_on(bool passed) {
    const std::string chapter = grading::exercise.chapter;
    const std::string name = grading::exercise.name;
    const std::string folder = "exercises/" + chapter + "/" + name + "/";
    if (passed) {
        std::printf("%s: solved. Compare with solutions/%s/%s/%s.cu\n", name.c_str(), chapter.c_str(), name.c_str(),
                    name.c_str());
    } else {
        std::printf("%s: not yet.\n    your answer  %s\n    the task     %sREADME.md\n    hints        %shints.md\n",
                    name.c_str(), answer_file().c_str(), folder.c_str(), folder.c_str());
    }
}

/// Grades once more, as a process of its own, for each further run. False, and shown, when the answer fails in one.
bool passes_further_runs(int argc, char** argv) {
    std::vector<std::string> arguments(argv, argv + argc);
    arguments[0] = warpwise::own_program();
    const std::optional<grading::FailingRun> failing = grading::first_failing_run(arguments, grading::further_runs());
    if (!failing) return true;
    arguments[0] = argv[0];
    std::string command;
    for (const auto& [name, value] : failing->variables) command += name + "=" + value + " ";
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "--colour-mode" && i + 1 < arguments.size()) {
            ++i;  // the guide's, not the learner's
            continue;
        }
        command += (i == 0 ? "" : " ") + (argument.find(' ') == std::string::npos ? argument : "'" + argument + "'");
    }
    std::printf(
        "That was the first run%s. In a further one%s the answer fails. To repeat what follows:\n\n    %s\n\n%s",
        grading::can_try_other_orders() ? ", with threads and blocks in ascending order" : "",
        grading::can_try_other_orders() ? ", with other inputs and in another order (a GPU promises none),"
                                        : ", with other inputs,",
        command.c_str(), failing->output.c_str());
    return false;
}

int grade(int argc, char** argv) {
    grading::show_diagnostics_only_when_taken();
    const warpwise::Instrumentation instrumenting({.diagnostics = true, .leaks = true});
    Catch::Session session;
    session.configData().abortAfter = 1;
    bool details = false;
    session.cli(session.cli() | Catch::Clara::Opt(details)["--details"]("show failures as Catch2 does"));
    if (session.applyCommandLine(argc, argv) != 0) return 2;
    if (!details && session.configData().reporterSpecifications.empty()) {
        session.configData().reporterSpecifications.push_back({grading::reporter_name(), {}, {}, {}});
    }

    const int status = session.run();
    if (test_cases.total() == 0) return status == 0 ? 0 : 2;  // listings, or no test of that name
    if (status == 0) warpwise::report_leaks();
    const std::string not_asked_for = grading::take_diagnostics();
    if (!not_asked_for.empty()) std::printf("%s\n\n", not_asked_for.c_str());
    bool passed = status == 0 && not_asked_for.empty();
    if (passed && !passes_further_runs(argc, argv)) return 1;
    if (grading::counts_were_left_out()) {
        std::printf(
            "Not graded: how the kernels use memory and lanes, and who writes the result. Only the CPU device knows\n"
            "that.\n");
    }
    const bool ran_all = session.configData().testsOrTags.empty();
    if (ran_all || !passed) say_where_to_go_on(passed);
    return passed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const int status = grade(argc, argv);
    return grading::send_record(
        {status, static_cast<unsigned>(test_cases.passed), static_cast<unsigned>(test_cases.failed)});
}
