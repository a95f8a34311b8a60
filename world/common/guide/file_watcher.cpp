#include "common/guide/file_watcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

namespace guide {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds quiet_time(50);  // after the last change: an editor may write in pieces
constexpr milliseconds longest_wait(2000);

// ---- what the files are like --------------------------------------------------------------------------------------

struct FileState {
    // As `stat` tells. They say when the content has to be read again; a change is one of the content.
    timespec written{};
    timespec changed{};
    ino_t number = 0;
    bool settled = false;  ///< the times were old enough when it was read for a later write to have another time

    off_t size = 0;
    std::uint64_t hash = 0;
    bool readable = false;
};

using Snapshot = std::map<fs::path, FileState>;

bool is_source(const fs::path& file) {
    if (file.filename().string().starts_with('.')) return false;  // an editor's: .#NAME.cu, .NAME.cu.swp
    const std::string extension = file.extension().string();
    return extension == ".cu" || extension == ".cuh" || extension == ".cpp" || extension == ".h";
}

/// FNV-1a over the file's bytes. False when it cannot be read.
bool read_content(const fs::path& file, FileState& state) {
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor == -1) return false;
    state.hash = 14695981039346656037U;
    state.size = 0;
    std::array<char, 1 << 14> buffer;
    ssize_t count = 0;
    while ((count = read(descriptor, buffer.data(), buffer.size())) > 0 || (count == -1 && errno == EINTR)) {
        for (ssize_t i = 0; i < count; ++i) {
            state.hash ^= static_cast<unsigned char>(buffer[static_cast<std::size_t>(i)]);
            state.hash *= 1099511628211U;
        }
        if (count > 0) state.size += count;
    }
    close(descriptor);
    return count == 0;
}

bool is_same_time(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

/// The file as it is now, not read when `stat` proves that it is as before.
FileState look_at(const fs::path& file, const struct stat& status, const FileState* before) {
    const bool is_as_before = before != nullptr && before->settled && before->readable &&
                              before->number == status.st_ino && before->size == status.st_size &&
                              is_same_time(before->written, status.st_mtim) &&
                              is_same_time(before->changed, status.st_ctim);
    if (is_as_before) return *before;
    FileState state;
    state.written = status.st_mtim;
    state.changed = status.st_ctim;
    state.number = status.st_ino;
    constexpr std::time_t coarsest = 2;  // seconds: what the clocks of file systems are good for
    state.settled = std::time(nullptr) > std::max(status.st_mtim.tv_sec, status.st_ctim.tv_sec) + coarsest;
    state.readable = read_content(file, state);
    return state;
}

Snapshot look(const std::vector<fs::path>& folders, const Snapshot& before) {
    Snapshot snapshot;
    for (const fs::path& folder : folders) {
        std::error_code error;
        fs::directory_iterator entry(folder, error);
        for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
            const fs::path& file = entry->path();
            struct stat status {};
            if (!is_source(file) || stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
            const auto old = before.find(file);
            snapshot.emplace(file, look_at(file, status, old == before.end() ? nullptr : &old->second));
        }
    }
    return snapshot;
}

bool is_same_content(const Snapshot& a, const Snapshot& b) {
    const auto is_same = [](const Snapshot::value_type& one, const Snapshot::value_type& other) {
        return one.first == other.first && one.second.readable == other.second.readable &&
               (!one.second.readable || (one.second.size == other.second.size && one.second.hash == other.second.hash));
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

// ---- inotify ------------------------------------------------------------------------------------------------------

/// Whether files of this folder may be written by another computer, or on the other side of a virtual machine (WSL's
/// /mnt/c, a container's shared folder): inotify tells nothing of that.
bool may_change_from_outside(const fs::path& folder) {
    struct statfs system {};
    if (statfs(folder.c_str(), &system) != 0) return false;
    constexpr std::array<std::uint32_t, 6> outside{
        0x6969,      // NFS
        0x01021997,  // 9P
        0xFE534D42,  // SMB2
        0xFF534D42,  // CIFS
        0x65735546,  // FUSE, and so virtiofs
        0x786f4256,  // VirtualBox's shared folders
    };
    const auto type = static_cast<std::uint32_t>(system.f_type);
    return std::find(outside.begin(), outside.end(), type) != outside.end();
}

/// Watches folders with inotify, and all folders above them: one that is removed and made again is another folder.
class Notifier {
public:
    explicit Notifier(std::vector<fs::path> folders) : folders_(std::move(folders)) {
        descriptor_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (descriptor_ == -1) return;
        watch_all();
        if (failed_) close_it();
    }
    ~Notifier() { close_it(); }
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    int descriptor() const { return descriptor_; }  ///< -1: inotify is refused

    /// Takes the events that there are. True when one of them may be a change of a source. May end with descriptor -1.
    bool take_events() {
        bool concerns_sources = false;
        bool concerns_folders = false;
        alignas(inotify_event) std::array<char, 1 << 14> buffer;
        ssize_t count = 0;
        while ((count = read(descriptor_, buffer.data(), buffer.size())) > 0) {
            for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
                const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
                at += sizeof(inotify_event) + event->len;
                const std::string name = event->len == 0 ? "" : event->name;
                const auto watch = watches_.find(event->wd);
                if ((event->mask & IN_Q_OVERFLOW) != 0) concerns_folders = true;
                if (watch == watches_.end()) continue;  // of one that was given up
                if ((event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) != 0) {
                    concerns_folders = true;
                } else {
                    concerns_folders = concerns_folders || watch->second.next_folders.contains(name);
                    concerns_sources = concerns_sources || (watch->second.holds_sources && is_source(name));
                }
            }
        }
        if (concerns_folders) watch_all();
        if (failed_) close_it();
        return concerns_sources || concerns_folders;
    }

private:
    struct Watch {
        bool holds_sources = false;
        std::set<std::string> next_folders;  ///< names of folders in it that lead to a watched one
    };

    /// From the top down: what is made below a folder after its watch was set is told, what was there before is found.
    void watch_all() {
        for (const auto& [number, watch] : watches_) inotify_rm_watch(descriptor_, number);
        watches_.clear();
        for (const fs::path& folder : folders_) {
            fs::path above;
            for (const fs::path& part : folder) {
                if (!above.empty()) {
                    const int number = add(above, IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE);
                    if (number != -1) watches_[number].next_folders.insert(part.string());
                }
                above /= part;
            }
            constexpr std::uint32_t content =
                IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE;
            const int number = add(folder, content);
            if (number != -1) {
                watches_[number].holds_sources = true;
            } else if (errno != ENOENT && errno != ENOTDIR) {
                failed_ = true;  // no more watches for this user, most likely
            }
        }
    }

    int add(const fs::path& folder, std::uint32_t events) {
        return inotify_add_watch(descriptor_, folder.c_str(),
                                 events | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD);
    }

    void close_it() {
        if (descriptor_ != -1) close(descriptor_);
        descriptor_ = -1;
    }

    std::vector<fs::path> folders_;
    int descriptor_ = -1;
    bool failed_ = false;
    std::map<int, Watch> watches_;
};

bool is_polling_wanted(const std::vector<fs::path>& folders) {
    const char* variable = std::getenv("WARPWISE_WATCH");
    if (variable != nullptr && std::string_view(variable) == "poll") return true;
    return std::any_of(folders.begin(), folders.end(), may_change_from_outside);
}

}  // namespace

struct FileWatcher::State {
    std::vector<fs::path> folders;
    std::unique_ptr<Notifier> notifier;  ///< null while polling
    Snapshot snapshot;

    bool uses_inotify() const { return notifier != nullptr; }

    /// Whether it is worth looking at the files.
    bool may_have_changed() {
        if (!uses_inotify()) return true;
        const bool may = notifier->take_events();
        if (notifier->descriptor() != -1) return may;
        notifier.reset();
        return true;
    }

    /// The files once nothing has changed for a while.
    Snapshot look_when_quiet(Snapshot first) {
        const Clock::time_point given_up = Clock::now() + longest_wait;
        Snapshot now = std::move(first);
        while (Clock::now() < given_up) {
            std::this_thread::sleep_for(quiet_time);
            const bool touched = may_have_changed();
            Snapshot next = look(folders, now);
            const bool quiet = is_same_content(now, next) && !(touched && uses_inotify());
            now = std::move(next);
            if (quiet) break;
        }
        return now;
    }
};

FileWatcher::FileWatcher(const std::vector<fs::path>& folders) : state_(std::make_unique<State>()) {
    for (const fs::path& folder : folders) {
        fs::path full = fs::absolute(folder).lexically_normal();
        if (!full.has_filename()) full = full.parent_path();  // written as FOLDER/
        state_->folders.push_back(full);
    }
    if (!is_polling_wanted(state_->folders)) {
        state_->notifier = std::make_unique<Notifier>(state_->folders);
        if (state_->notifier->descriptor() == -1) state_->notifier.reset();
    }
    state_->snapshot = look(state_->folders, {});
}

FileWatcher::~FileWatcher() = default;

bool FileWatcher::changed() {
    if (!state_->may_have_changed()) return false;
    Snapshot now = look(state_->folders, state_->snapshot);
    // A file that is being written may look unchanged for a moment: with inotify there was an event.
    if (state_->uses_inotify() || !is_same_content(state_->snapshot, now)) {
        now = state_->look_when_quiet(std::move(now));
    }
    const bool result = !is_same_content(state_->snapshot, now);
    state_->snapshot = std::move(now);
    return result;
}

int FileWatcher::descriptor() const { return state_->uses_inotify() ? state_->notifier->descriptor() : -1; }

}  // namespace guide
