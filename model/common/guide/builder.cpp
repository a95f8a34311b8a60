#include "common/guide/builder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "common/lesson/terminal.h"

namespace guide {
namespace {

struct Status {
    int done = 0;
    int of = 0;
};

/// The text without the escape sequences that color it.
std::string without_colors(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t begin = std::min(text.find("\033["), text.size());
        result += text.substr(0, begin);
        text.remove_prefix(begin);
        if (text.empty()) break;
        const std::size_t end = text.find_first_not_of("0123456789;", 2);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return result;
}

/// "[12/345] Building ...": the status that NINJA_STATUS makes ninja print.
std::optional<Status> status_in(std::string_view line) {
    Status status;
    const char* const end = line.data() + line.size();
    if (!line.starts_with('[')) return std::nullopt;
    const auto done = std::from_chars(line.data() + 1, end, status.done);
    if (done.ec != std::errc() || done.ptr == end || *done.ptr != '/') return std::nullopt;
    const auto of = std::from_chars(done.ptr + 1, end, status.of);
    if (of.ec != std::errc() || !std::string_view(of.ptr, static_cast<std::size_t>(end - of.ptr)).starts_with("] ")) {
        return std::nullopt;
    }
    return status;
}

/// Finds ninja's status in output that comes in pieces of any length.
class ProgressReader {
public:
    explicit ProgressReader(const std::function<void(int, int)>& progress) : progress_(progress) {}

    void read(std::string_view piece) {
        while (!piece.empty()) {
            const std::size_t end = std::min(piece.find('\n'), piece.size());
            // A status is recognized by its beginning, and a line may be of any length.
            line_.append(piece.substr(0, std::min(end, longest - std::min(longest, line_.size()))));
            if (end == piece.size()) return;
            if (const std::optional<Status> status = status_in(without_colors(line_)))
                progress_(status->done, status->of);
            line_.clear();
            piece.remove_prefix(end + 1);
        }
    }

private:
    static constexpr std::size_t longest = 64;
    const std::function<void(int, int)>& progress_;
    std::string line_;
};

bool is_of_build_system(std::string_view line) {
    const bool is_an_error = line.starts_with("ninja: error: ") || line.starts_with("ninja: fatal: ");
    return (line.starts_with("ninja: ") && !is_an_error) || line.starts_with("-- ") ||
           line.starts_with("Preset CMake variables:") || status_in(line);
}

/// What the compilers said: ninja's output without the lines that are its own, or CMake's when it ran CMake again.
std::string compiler_output(std::string_view text) {
    std::string result;
    bool is_command = false;  // the line after FAILED
    while (!text.empty()) {
        const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
        const std::string_view line = text.substr(0, length);
        text.remove_prefix(length);
        const std::string plain = without_colors(line);
        const bool is_failed = plain.starts_with("FAILED: ");
        if (!is_command && !is_failed && !is_of_build_system(plain)) result += line;
        is_command = is_failed;
    }
    return result;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

/// The result of one of the two steps; `result.seconds` is the sum.
void add_to(BuildResult& result, const CommandResult& command) {
    result.seconds += command.seconds;
    result.cancelled = command.cancelled;
    result.succeeded = command.status == 0 && !command.cancelled;
    result.output = compiler_output(command.output);
    if (result.succeeded && is_blank(result.output)) result.output.clear();
    if (result.succeeded || result.cancelled) return;
    if (is_blank(result.output)) result.output = command.output;  // better than nothing to read
    if (command.status > 128) {
        result.output += fmt::format("The build was ended by signal {}.\n", command.status - 128);
    }
}

CommandResult configure(const Project& project, const CommandOptions& options) {
    CommandResult result = run_command({"cmake", "--preset", project.device, "-G", "Ninja"}, options);
    if (result.status != 0 && !result.cancelled) {
        result.output += fmt::format("{} could not be configured. What is missing here, this installs:\n    {} setup\n",
                                     project.shown(project.build_folder()), project.typed);
    }
    return result;
}

/// ninja without CMake in between, where it is found by its name: that saves half of the time when there is nothing to
/// do. It has to be told what CMake looks up itself, how many compilers may run at once.
std::vector<std::string> build_command(const std::string& folder, const std::vector<std::string>& targets) {
    std::vector<std::string> arguments = {"cmake", "--build", folder, "--target"};
    if (has_program("ninja")) {
        arguments = {"ninja", "-C", folder};
        const char* jobs = std::getenv("CMAKE_BUILD_PARALLEL_LEVEL");
        if (jobs && *jobs) arguments.insert(arguments.end(), {"-j", jobs});
    }
    arguments.insert(arguments.end(), targets.begin(), targets.end());
    return arguments;
}

/// The right to build in a folder: a lock on the file beside it, `build/cpu.lock`, which the script ./warpwise takes,
/// too. The system gives it back when the process ends, however that comes about.
class BuildLock {
public:
    explicit BuildLock(const std::filesystem::path& folder) {
        std::error_code error;
        std::filesystem::create_directories(folder.parent_path(), error);
        file_ = open((folder.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    }
    ~BuildLock() {
        if (file_ != -1) close(file_);
    }
    BuildLock(const BuildLock&) = delete;
    BuildLock& operator=(const BuildLock&) = delete;

    /// False when it was cancelled. Where no file can be locked, as on some network drives, there is no waiting.
    bool wait(const std::function<bool()>& cancelled) {
        bool told = false;
        while (file_ != -1 && flock(file_, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
            if (cancelled && cancelled()) return false;
            if (!told && !cancelled)
                std::fputs("Another ./warpwise is building here: waiting until it is done\n", stderr);
            told = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        return true;
    }

private:
    int file_ = -1;
};

}  // namespace

BuildResult Builder::build(const std::vector<std::string>& targets,
                           const std::function<void(int done, int of)>& progress,
                           const std::function<bool()>& cancelled) {
    BuildResult result;
    CommandOptions options;
    options.folder = project_.root;
    options.cancelled = cancelled;
    BuildLock lock(project_.build_folder());
    if (!lock.wait(cancelled)) {
        result.cancelled = true;
        return result;
    }
    std::error_code error;
    if (!std::filesystem::exists(project_.build_folder() / "build.ninja", error)) {
        add_to(result, configure(project_, options));
        if (!result.succeeded) return result;
    }
    options.variables = {{"NINJA_STATUS", "[%f/%t] "}};
    // The compilers' colors: ninja takes them away from what it writes into a pipe, unless this is set.
    const bool colors = warpwise::Terminal::detect(true).colors;
    options.variables.emplace_back("CLICOLOR_FORCE", colors ? "1" : "0");
    ProgressReader reader(progress);
    if (progress) options.on_output = [&](std::string_view piece) { reader.read(piece); };
    add_to(result, run_command(build_command(project_.build_folder().string(), targets), options));
    return result;
}

}  // namespace guide
