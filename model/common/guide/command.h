// Runs another program: a compiler, a grader, a chapter.
//
//     const CommandResult built = run_command({"cmake", "--build", "build/cpu"}, {.limit_seconds = 600});
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace guide {

struct CommandOptions {
    std::filesystem::path folder = {};                                ///< to run in; empty: the current one
    std::vector<std::pair<std::string, std::string>> variables = {};  ///< added to this process's environment
    double limit_seconds = 0;                                         ///< then it is stopped; 0: never
    std::function<void(std::string_view)> on_output = {};             ///< called with each piece as it comes
    std::function<bool()> cancelled = {};                             ///< asked some 20 times a second; true stops it
    bool owns_terminal = false;  ///< it reads and writes the guide's own terminal; `output` stays empty
};

struct CommandResult {
    int status = 127;  ///< exit status, 128 and the signal that ended it, or 127 when it could not be started
    bool timed_out = false;
    bool cancelled = false;
    /// stdout and stderr, in the order written; of more than 2 MiB the first and the last one, with a line between them
    /// that says how much was left out. When it could not be started: why.
    std::string output;
    double seconds = 0;
};

/// Runs `arguments[0]` (looked up in PATH; with a slash in it, relative to `folder`) to its end. It and all that it
/// starts are one process group, which is ended as a whole (SIGTERM, a second later SIGKILL) when time is up, when it
/// is cancelled, when a signal ends the guide, and when the program itself has ended and left others behind. It reads
/// nothing.
///
/// With `owns_terminal` the group is the terminal's foreground while it runs: Ctrl-C reaches it and not the guide, and
/// Ctrl-Z stops both. Where standard input or output is no terminal, it stays in the guide's own group, which may hold
/// the pager behind a pipe; then the guide outlives Ctrl-C, too.
CommandResult run_command(const std::vector<std::string>& arguments, const CommandOptions& options = {});

/// Whether a program of this name is in PATH.
bool has_program(const std::string& name);

/// While one of these lives, a signal that ends the guide (SIGINT, SIGTERM, SIGHUP, SIGQUIT, or one of a crash) first
/// restores the terminal and ends the programs that run. `run_command` and `Console` have one each.
class SignalCleanup {
public:
    SignalCleanup();
    ~SignalCleanup();
    SignalCleanup(const SignalCleanup&) = delete;
    SignalCleanup& operator=(const SignalCleanup&) = delete;
};

/// What restores the terminal then: async-signal-safe, or null.
void restore_terminal_with(void (*restore)());

/// Whether this process is in the foreground of the terminal on its standard input. Async-signal-safe.
bool is_in_foreground();

}  // namespace guide
