#include "common/helpers/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace warpwise {
namespace {

/// The form in which programs are given lists of strings.
std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (std::string& string : strings) pointers.push_back(string.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
    std::vector<std::string> environment;
    for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
    const std::size_t given = environment.size();
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        bool replaced = false;
        for (std::size_t i = 0; i < given; ++i) {
            replaced = replaced || text.substr(0, text.find('=')) == variables[i].first;
        }
        if (!replaced) environment.emplace_back(text);
    }
    return environment;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments,
                           const std::vector<std::pair<std::string, std::string>>& variables,
                           const std::string& output) {
    std::vector<std::string> own_arguments = arguments;
    std::vector<std::string> environment = environment_with(variables);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    const int error = posix_spawn(&process_, arguments.at(0).c_str(), &files, nullptr,
                                  pointers_to(own_arguments).data(), pointers_to(environment).data());
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) process_ = -1;
}

ChildProcess::~ChildProcess() { wait(); }

int ChildProcess::wait() {
    if (process_ == -1) return status_;
    int status = 0;
    while (waitpid(process_, &status, 0) == -1 && errno == EINTR) {
    }
    process_ = -1;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
