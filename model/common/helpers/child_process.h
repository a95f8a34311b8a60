// Another program, run beside this one without a terminal of its own.
//
//     ChildProcess grader({"build/bin/cpu/exercises/grid_stride"}, {{"CPU_DEVICE_SEED", "1"}}, "output.txt");
//     const int status = grader.wait();
//     const std::optional<std::string> version = output_of({"addr2line", "--version"});
//
// Programs with a time limit, with output as it comes, or with the terminal: run_command of common/guide/command.h.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpwise {

class ChildProcess {
public:
    /// Starts `arguments[0]` (a path) with these arguments, this process's environment and `variables`. It reads
    /// nothing; what it prints on stdout and stderr goes to the file `output`.
    ChildProcess(const std::vector<std::string>& arguments,
                 const std::vector<std::pair<std::string, std::string>>& variables,
                 const std::string& output = "/dev/null");
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Waits for its end. Returns its exit status, 128 and the signal that ended it, or 127 when it could not be
    /// started, as a shell does.
    int wait();

    /// The same, but after so many seconds the program is killed: then nothing.
    std::optional<int> wait_at_most(double seconds);

private:
    pid_t process_ = -1;  ///< -1: not started, or waited for
    int status_ = 127;
};

/// What a program prints on stdout, run to its end; nothing when it could not be started. `arguments[0]` is looked up
/// in PATH. It reads nothing, and what it prints on stderr is dropped.
std::optional<std::string> output_of(const std::vector<std::string>& arguments);

/// Who ignores SIGCHLD is not told the exit status of children, and a shell may have started this process like that:
/// then this stops. `ChildProcess` does it by itself; `output_of` does not, because it leaves the process as it is.
void listen_to_children();

/// This process's environment with `variables` added, and those of the same names replaced.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables);

/// The form in which programs are given lists of strings, ended by a null pointer; valid as long as `strings` is.
std::vector<char*> pointers_to(std::vector<std::string>& strings);

/// The path of the running program.
std::string own_program();

/// An empty file with a name of its own, for as long as this lives.
class TemporaryFile {
public:
    TemporaryFile();
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }
    std::string read() const;

private:
    std::string path_;
};

}  // namespace warpwise
