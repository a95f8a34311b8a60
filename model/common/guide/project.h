// Where things are in the learner's copy of Warpwise.
//
//     const Project project = Project::find();
//     const std::filesystem::path build = project.build_folder();     // ROOT/build/cpu
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/lesson/refusal.h"

namespace guide {

using warpwise::Refusal;  // the guide prints its text and ends with status 2

struct Project {
    std::filesystem::path root;        ///< the folder of `warpwise`, the script
    std::filesystem::path caller;      ///< the folder in which the reader typed the command
    std::string device = "cpu";        ///< "cpu" or "cuda": which build is used
    std::string typed = "./warpwise";  ///< what the reader types to start the guide, in messages

    /// From the environment that `./warpwise` sets (WARPWISE_ROOT, WARPWISE_CALLER, WARPWISE_DEVICE), else from the
    /// current folder or the nearest one above it that holds the script. Throws Refusal when there is none.
    static Project find();

    std::filesystem::path build_folder() const { return root / "build" / device; }
    std::filesystem::path programs() const { return root / "build" / "bin" / device; }
    std::filesystem::path progress_file() const { return root / ".warpwise.json"; }
    /// Results that chapters wrote as JSON, one file a chapter: ROOT/build/results/cpu/1_basics_and_pi.json.
    std::filesystem::path results() const { return root / "build" / "results" / device; }
    /// `path` as the reader would write it: relative to the root where it is below it.
    std::string shown(const std::filesystem::path& path) const;
};

/// The content of a file; nothing when there is none. Throws Refusal when it is there but cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& file);

/// Writes a file as a whole: whoever reads it sees the old content or the new one, also after a crash. An existing file
/// keeps its permissions, and a symbolic link stays one (what it points to is written). Throws Refusal, naming the
/// file.
void replace_file(const std::filesystem::path& file, std::string_view content);

/// Where a chain of symbolic links leads, whether something is there or not; `path` itself when it is none. Throws
/// Refusal when the chain is a loop.
std::filesystem::path target_of(const std::filesystem::path& path);

}  // namespace guide
