#include "common/helpers/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

namespace warpwise {
namespace {

/// What the program gets as its standard files. Its destructor gives the list back.
class StandardFiles {
public:
    StandardFiles() { posix_spawn_file_actions_init(&actions_); }
    ~StandardFiles() { posix_spawn_file_actions_destroy(&actions_); }
    StandardFiles(const StandardFiles&) = delete;
    StandardFiles& operator=(const StandardFiles&) = delete;

    void open(int standard, const char* path, int flags) {
        posix_spawn_file_actions_addopen(&actions_, standard, path, flags, 0600);
    }
    void duplicate(int descriptor, int standard) { posix_spawn_file_actions_adddup2(&actions_, descriptor, standard); }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_;
};

/// Its number; -1 when it could not be started. posix_spawn copies no memory, however large this process is.
pid_t start(std::vector<std::string> arguments, const std::vector<std::pair<std::string, std::string>>& variables,
            const StandardFiles& files) {
    std::vector<std::string> environment = environment_with(variables);
    const std::string program = arguments.at(0);
    pid_t process = -1;
    const int error = posix_spawnp(&process, program.c_str(), files.get(), nullptr, pointers_to(arguments).data(),
                                   pointers_to(environment).data());
    return error == 0 ? process : -1;
}

/// As a shell gives it; 127 when nobody can tell.
int status_at_end(pid_t process) {
    int status = 0;
    pid_t waited = 0;
    while ((waited = waitpid(process, &status, 0)) == -1 && errno == EINTR) {
    }
    if (waited == -1) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void listen_to_children() {
    struct sigaction action {};
    sigaction(SIGCHLD, nullptr, &action);
    if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_IGN) return;
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, nullptr);
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (std::string& string : strings) pointers.push_back(string.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
    std::vector<std::string> environment;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        const std::string_view name = text.substr(0, text.find('='));
        const bool replaced = std::any_of(variables.begin(), variables.end(),
                                          [&](const auto& replacement) { return replacement.first == name; });
        if (!replaced) environment.emplace_back(text);
    }
    for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
    return environment;
}

std::optional<std::string> output_of(const std::vector<std::string>& arguments) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    // The pipe's ends may have the numbers 0 to 2 themselves, where this process has closed those: output comes first.
    StandardFiles files;
    files.duplicate(ends[1], STDOUT_FILENO);
    files.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    files.open(STDERR_FILENO, "/dev/null", O_WRONLY);
    const pid_t process = start(arguments, {}, files);
    close(ends[1]);
    std::string output;
    char piece[4096];
    while (process != -1) {
        const ssize_t count = read(ends[0], piece, sizeof piece);
        if (count == -1 && errno == EINTR) continue;
        if (count <= 0) break;
        output.append(piece, static_cast<std::size_t>(count));
    }
    close(ends[0]);
    if (process == -1) return std::nullopt;
    status_at_end(process);
    return output;
}

ChildProcess::ChildProcess(const std::vector<std::string>& arguments,
                           const std::vector<std::pair<std::string, std::string>>& variables,
                           const std::string& output) {
    listen_to_children();
    StandardFiles files;
    files.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    files.open(STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    files.duplicate(STDOUT_FILENO, STDERR_FILENO);
    process_ = start(arguments, variables, files);
}

ChildProcess::~ChildProcess() { wait(); }

int ChildProcess::wait() {
    if (process_ == -1) return status_;
    status_ = status_at_end(process_);
    process_ = -1;
    return status_;
}

std::optional<int> ChildProcess::wait_at_most(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (process_ != -1) {
        int status = 0;
        const pid_t waited = waitpid(process_, &status, WNOHANG);
        if (waited == process_) {
            status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            process_ = -1;
        } else if (waited == -1 && errno != EINTR) {
            process_ = -1;
        } else if (Clock::now() >= end) {
            kill(process_, SIGKILL);
            wait();
            return std::nullopt;
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    return status_;
}

std::string own_program() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

TemporaryFile::TemporaryFile() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "warpwise_XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file == -1) throw std::runtime_error(path_ + ": cannot create this file: " + std::strerror(errno));
    close(file);
}

TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }

std::string TemporaryFile::read() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
}

}  // namespace warpwise
