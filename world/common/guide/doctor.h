// `warpwise doctor`: what this machine has, what it lacks, and the commands that put it right.
//
//     const std::vector<Item> items = examine(project, real_system());
//     fmt::print("{}", doctor_text(items, terminal, project.typed));
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/guide/command.h"
#include "common/guide/project.h"
#include "common/lesson/terminal.h"

namespace guide {

enum class Health {
    ok,
    optional_missing,  ///< not here, and all goes well without it
    missing,
    problem,  ///< here, but something is wrong with it
};

/// What a thing is needed for.
enum class NeededFor {
    everything,  ///< nothing can be built or run without it
    gpu,         ///< --device cuda
    extras,
};

struct Item {
    std::string name = {};  ///< "C++ compiler"
    Health health = Health::ok;
    std::string detail = {};   ///< "g++ 12.2.0", or what is wrong
    std::string purpose = {};  ///< "builds everything"
    std::string fix = {};      ///< command to type, or what to do; empty when there is nothing to do
    NeededFor needed_for = NeededFor::everything;
};

/// The machine as the doctor sees it; tests put another one in its place. All functions are called from several
/// threads.
struct System {
    std::function<CommandResult(const std::vector<std::string>& arguments)> run;  ///< ends after a few seconds
    std::function<bool(const std::string& name)> has_program;
    std::function<std::string(const std::string& name)> variable;  ///< of the environment; empty: not set
    std::function<int()> open_inotify;                             ///< 0, or why it failed (errno)
    /// Free bytes of the disk that holds this folder, which need not exist yet.
    std::function<std::optional<double>(const std::filesystem::path& folder)> free_bytes;
    std::filesystem::path files = "/";  ///< where /proc, /dev and /etc are
    bool is_root = false;
};

System real_system();

/// In a fixed order, examined all at once.
std::vector<Item> examine(const Project& project, const System& system);

/// Whether the CPU device can be used.
bool is_usable(const std::vector<Item>& items);

std::string doctor_text(const std::vector<Item>& items, const warpwise::Terminal& terminal, const std::string& typed);
std::string doctor_json(const std::vector<Item>& items);

/// Prints it all. Returns the exit status: 0 when the CPU device can be used, else 1.
int doctor(const Project& project, const System& system, const warpwise::Terminal& terminal, bool json);

}  // namespace guide
