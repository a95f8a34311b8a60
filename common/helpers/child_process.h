// Another program, run beside this one without a terminal of its own.
//
//     ChildProcess grader({"build/bin/cpu/exercises/grid_stride"}, {{"CPU_DEVICE_SEED", "1"}}, "output.txt");
//     const int status = grader.wait();
#pragma once

#include <sys/types.h>

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

private:
    pid_t process_ = -1;  ///< -1: not started, or waited for
    int status_ = 127;
};

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
