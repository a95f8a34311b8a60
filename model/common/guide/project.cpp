#include "common/guide/project.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "common/lesson/refusal.h"

namespace guide {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

fs::path current_folder() {
    std::error_code error;
    fs::path folder = fs::current_path(error);
    if (error) {
        throw Refusal(fmt::format("the current folder cannot be used ({}); go to another one: cd", error.message()));
    }
    return folder;
}

/// Without "." and "..", and without the slash at the end.
fs::path tidy(const fs::path& path) {
    fs::path result = path.lexically_normal();
    if (!result.has_filename() && result.has_relative_path()) result = result.parent_path();
    return result;
}

fs::path absolute_path(const std::string& path) {
    return tidy(fs::path(path).is_absolute() ? fs::path(path) : current_folder() / path);
}

/// The script is told from a program of the same name, such as one in the build's folder, by how it begins.
bool holds_the_script(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_regular_file(folder / "warpwise", error)) return false;
    std::array<char, 2> start{};
    std::ifstream(folder / "warpwise", std::ios::binary).read(start.data(), start.size());
    return start[0] == '#' && start[1] == '!';
}

fs::path root_around(const fs::path& start) {
    for (fs::path folder = start;; folder = folder.parent_path()) {
        if (holds_the_script(folder)) return folder;
        if (folder == folder.parent_path()) break;
    }
    throw Refusal(fmt::format(
        "there is no copy of Warpwise here: neither {} nor a folder above it holds the script 'warpwise'; go to your "
        "copy with cd, and type ./warpwise",
        start.string()));
}

/// `path` seen from `folder`; nothing when it lies elsewhere.
std::optional<fs::path> below(const fs::path& folder, const fs::path& path) {
    const fs::path tidy_folder = tidy(folder);
    const fs::path tidy_path = tidy(path);
    const auto [in_folder, in_path] =
        std::mismatch(tidy_folder.begin(), tidy_folder.end(), tidy_path.begin(), tidy_path.end());
    if (in_folder != tidy_folder.end()) return std::nullopt;
    return in_path == tidy_path.end() ? fs::path(".") : tidy_path.lexically_relative(tidy_folder);
}

/// As a shell takes it for one word.
std::string quoted(const std::string& word) {
    const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return c >= 0x80 || std::isalnum(c) != 0 ||
               std::string_view("/._-+,@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (plain) return word;
    std::string result = "\"";
    for (const char c : word) {
        if (std::string_view("\"\\$`").find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result + "\"";
}

/// How the script is started from the folder in which the reader is.
std::string command_from(const fs::path& caller, const fs::path& root) {
    const std::optional<fs::path> inside = below(root, caller);
    if (!inside) return quoted((root / "warpwise").string());
    if (*inside == ".") return "./warpwise";
    return (tidy(root).lexically_relative(tidy(caller)) / "warpwise").string();
}

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

    /// False when the last of what was written could not be kept, as some network file systems find out only here.
    bool close() {
        const int number = number_;
        number_ = -1;
        return ::close(number) == 0;
    }

private:
    int number_;
};

void require_regular(const struct stat& status, const fs::path& file, std::string_view what) {
    if (S_ISREG(status.st_mode)) return;
    throw Refusal(fmt::format("cannot {} {}: it is {}; move it away", what, file.string(),
                              S_ISDIR(status.st_mode) ? "a folder" : "not a regular file"));
}

[[noreturn]] void refuse_to_write(const fs::path& file, int error, std::string_view advice = "") {
    throw Refusal(fmt::format("cannot write {}: {}{}", file.string(), reason(error), advice));
}

/// 0, or errno.
int write_all(int descriptor, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(descriptor, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

/// A new file beside another one, gone again unless it takes the other one's place.
class Replacement {
public:
    /// The number of the process, and one that grows, keep those apart that replace a file at the same time.
    explicit Replacement(const fs::path& file) : file_(file), descriptor_(create()) {}
    ~Replacement() {
        if (!placed_) ::unlink(name_.c_str());
    }
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;

    void take_permissions(const struct stat& status) {
        // Only root may give files away, and should: another user's file stays that user's. Who may not keeps it.
        [[maybe_unused]] const int given = ::fchown(descriptor_.number(), status.st_uid, status.st_gid);
        if (::fchmod(descriptor_.number(), status.st_mode & 07777) != 0) refuse_to_write(file_, errno);
    }

    void fill_and_place(std::string_view content) {
        if (const int error = write_all(descriptor_.number(), content); error != 0) refuse_to_write(file_, error);
        if (::fsync(descriptor_.number()) != 0) refuse_to_write(file_, errno);
        if (!descriptor_.close()) refuse_to_write(file_, errno);
        if (std::rename(name_.c_str(), file_.c_str()) != 0) refuse_to_write(file_, errno);
        placed_ = true;
    }

private:
    int create() {
        static std::atomic<unsigned> number = 0;
        while (true) {
            name_ = fmt::format("{}.new-{}-{}", file_.string(), ::getpid(), number++);
            const int descriptor = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
            if (descriptor >= 0) return descriptor;
            if (errno == EEXIST || errno == EINTR) continue;  // left by a crash of an earlier process of this number
            const int error = errno;
            const fs::path folder = file_.has_parent_path() ? file_.parent_path() : ".";
            if (error == ENOENT) refuse_to_write(file_, error, fmt::format("; there is no {}", folder.string()));
            refuse_to_write(file_, error,
                            error == EACCES ? fmt::format("; let yourself write in its folder: chmod u+w {}",
                                                          quoted(folder.string()))
                                            : "");
        }
    }

    fs::path file_;
    std::string name_;
    Descriptor descriptor_;
    bool placed_ = false;
};

/// Makes the new name last through a crash of the machine; not all file systems can.
void keep_names_of(const fs::path& folder) {
    const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.number() >= 0) ::fsync(descriptor.number());
}

}  // namespace

Project Project::find() {
    Project project;
    const std::string root = variable("WARPWISE_ROOT");
    const std::string caller = variable("WARPWISE_CALLER");
    const std::string device = variable("WARPWISE_DEVICE");
    project.caller = caller.empty() ? current_folder() : absolute_path(caller);
    if (root.empty()) {
        project.root = root_around(current_folder());
    } else {
        project.root = absolute_path(root);
        std::error_code error;
        if (!fs::is_directory(project.root, error)) {
            throw Refusal(
                fmt::format("WARPWISE_ROOT is {}, which is no folder; unset WARPWISE_ROOT, and start the "
                            "script ./warpwise in your copy",
                            root));
        }
    }
    if (!device.empty()) project.device = device;
    if (project.device != "cpu" && project.device != "cuda") {
        throw Refusal(fmt::format("WARPWISE_DEVICE is '{}'; it can be cpu or cuda", device));
    }
    project.typed = command_from(project.caller, project.root);
    return project;
}

std::string Project::shown(const fs::path& path) const {
    if (path.is_relative()) return tidy(path).string();
    if (const std::optional<fs::path> inside = below(root, path)) return inside->string();
    // The same place may have two names, where folders are symbolic links.
    std::error_code error;
    const fs::path real_root = fs::weakly_canonical(root, error);
    const fs::path real_path = error ? path : fs::weakly_canonical(path, error);
    if (!error) {
        if (const std::optional<fs::path> inside = below(real_root, real_path)) return inside->string();
    }
    return tidy(path).string();
}

std::optional<std::string> read_file(const fs::path& file) {
    // A named pipe must not make the reader wait for somebody who writes.
    const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (descriptor.number() < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    const auto refuse = [&](int error) {
        throw Refusal(fmt::format("cannot read {}: {}{}", file.string(), reason(error),
                                  error == EACCES ? "; let yourself read it: chmod u+r " + quoted(file.string()) : ""));
    };
    if (descriptor.number() < 0) refuse(errno);
    struct stat status {};
    if (::fstat(descriptor.number(), &status) != 0) refuse(errno);
    require_regular(status, file, "read");
    std::string content;
    std::array<char, 65536> piece;
    while (true) {
        const ssize_t count = ::read(descriptor.number(), piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) refuse(errno);
        if (count == 0) return content;
        content.append(piece.data(), static_cast<std::size_t>(count));
    }
}

void replace_file(const fs::path& file, std::string_view content) {
    const fs::path target = target_of(file);
    struct stat status {};
    const bool exists = ::lstat(target.c_str(), &status) == 0;
    if (exists) {
        require_regular(status, target, "write");
        // Renaming would get around the permissions of the file itself, which somebody has set on purpose.
        if (::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) {
            const bool read_only_file = errno == EACCES;
            refuse_to_write(target, errno,
                            read_only_file ? "; let yourself write it: chmod u+w " + quoted(target.string()) : "");
        }
    }
    Replacement replacement(target);
    if (exists) replacement.take_permissions(status);
    replacement.fill_and_place(content);
    keep_names_of(target.has_parent_path() ? target.parent_path() : ".");
}

fs::path target_of(const fs::path& path) {
    constexpr int longest_chain = 40;  // as in Linux
    fs::path target = path;
    for (int links = 0; links <= longest_chain; ++links) {
        std::error_code error;
        if (!fs::is_symlink(fs::symlink_status(target, error))) return target;
        const fs::path next = fs::read_symlink(target, error);
        if (error) return target;
        target = target.parent_path() / next;  // `next` alone where it is absolute
    }
    throw Refusal(fmt::format("{} is a symbolic link that leads back to itself; remove it: rm {}", path.string(),
                              quoted(path.string())));
}

}  // namespace guide
