// Why no answer can forge a judgement by ending the program.
//
// An answer is linked into its grader, so it can end the grader: with exit(0), std::_Exit(0), a signal, or from a
// static initializer before main. Therefore a grader is two processes. The supervisor forks the worker before any
// constructor of the program runs, and never runs the answer's code itself. The worker grades, and as its very last
// action sends a record: a number that the supervisor drew, the exit status, and what was run. The supervisor ends with
// the status in the record. Without a record nothing has passed, whatever the worker's own status is.
//
// So the exit status of a grader can be believed by everybody who starts it: a shell, the guide, CTest.
#pragma once

namespace grading {

/// Set in the environment, it makes the grader a single process, for debuggers. Such a run never ends with status 0.
inline constexpr const char* alone_variable = "WARPWISE_GRADER_ALONE";

/// Set in the environment of a grader that a grader starts: it is not to outlive that one.
inline constexpr const char* further_run_variable = "WARPWISE_GRADER_FURTHER_RUN";

/// Set in the environment of a grader that looks, after a first failed test, which of the later ones fail as well.
inline constexpr const char* later_tests_variable = "WARPWISE_GRADER_LATER_TESTS";
/// How long it may look, in seconds (2); 0: it does not.
inline constexpr const char* later_tests_seconds_variable = "WARPWISE_LATER_TESTS_SECONDS";

/// How many characters a line may have, for a grader whose output somebody else shows.
inline constexpr const char* columns_variable = "WARPWISE_COLUMNS";

/// What the worker tells in the end.
struct Record {
    int status = 2;       ///< 0 passed, 1 failed, 2 nothing was graded
    unsigned passed = 0;  ///< test cases
    unsigned failed = 0;
};

/// Hands the record to the supervisor. To be called once, when nothing of the answer's code is left to run. Returns the
/// status with which main should end.
int send_record(const Record& record);

/// For a test, a long-lived program, or a debugger: true in a process that a supervisor waits for.
bool is_supervised();

}  // namespace grading
