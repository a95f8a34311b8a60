// Notices when files change: with inotify, or by looking at them (WARPWISE_WATCH=poll, or where inotify is refused).
//
//     FileWatcher watcher({"exercises/1_basics_and_pi/pi_block_sum"});
//     if (watcher.changed()) ...                    // something was saved there
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

namespace guide {

class FileWatcher {
public:
    /// Watches the sources (.cu .cuh .cpp .h) that lie in these folders, not in folders below them. Editors that write
    /// a new file and rename it, and folders that are removed and made again (git checkout), are followed.
    explicit FileWatcher(const std::vector<std::filesystem::path>& folders);
    ~FileWatcher();
    FileWatcher(const FileWatcher&) = delete;
    FileWatcher& operator=(const FileWatcher&) = delete;

    /// True when a file's content was changed, one appeared or vanished since the last call; a save that leaves the
    /// content as it was does not count. Changes that come within 50 ms of each other are one.
    bool changed();

    /// Readable when there may be something to see; -1 while polling: then ask `changed` a few times a second.
    int descriptor() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace guide
