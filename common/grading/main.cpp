// The main function of every grader: Catch2's command line, plus a last line that says where to go on.
//
// Exit status: 0 all tests passed, 1 a test failed, 2 nothing was graded (wrong options, no such test).
// The run stops at the first failed check, because one message is easier to act on than forty; `-x 1000` shows all.
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <cstdio>
#include <string>

#include "common/grading/exercise.h"
#include "common/grading/findings.h"

namespace {

Catch::Counts test_cases;  ///< of the run that ended

class CountTests : public Catch::EventListenerBase {
public:
    using EventListenerBase::EventListenerBase;
    void testRunEnded(const Catch::TestRunStats& stats) override { test_cases = stats.totals.testCases; }
};

CATCH_REGISTER_LISTENER(CountTests)

void say_where_to_go_on(bool passed) {
    const std::string chapter = grading::exercise.chapter;
    const std::string name = grading::exercise.name;
    const std::string folder = "exercises/" + chapter + "/" + name + "/";
    if (passed) {
        std::printf("%s: solved. Compare with solutions/%s/%s/%s.cu\n", name.c_str(), chapter.c_str(), name.c_str(),
                    name.c_str());
    } else {
        std::printf(
            "%s: not yet.\n    your answer  %s%s.cu\n    the task     %sREADME.md\n    hints        %shints.md\n",
            name.c_str(), folder.c_str(), name.c_str(), folder.c_str(), folder.c_str());
    }
}

}  // namespace

int main(int argc, char** argv) {
    grading::show_findings_only_when_taken();
    Catch::Session session;
    session.configData().abortAfter = 1;
    if (session.applyCommandLine(argc, argv) != 0) return 2;

    const int status = session.run();
    if (test_cases.total() == 0) return status == 0 ? 0 : 2;  // listings, or no test of that name
    const std::string not_asked_for = grading::take_findings();
    if (!not_asked_for.empty()) std::printf("%s\n\n", not_asked_for.c_str());
    const bool passed = status == 0 && not_asked_for.empty();
    const bool ran_all = session.configData().testsOrTags.empty();
    if (ran_all || !passed) say_where_to_go_on(passed);
    return passed ? 0 : 1;
}
