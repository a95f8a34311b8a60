// `warpwise try FILE.cu ...`: any CUDA program, on the CPU device with counters and diagnostics, or on a GPU.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/guide/project.h"

namespace guide {

struct TryOptions {
    std::filesystem::path file;                     ///< relative to where the reader is
    std::vector<std::filesystem::path> more_files;  ///< of the same program
    std::vector<std::string> arguments;             ///< of the program itself
    bool gpu = false;                               ///< build with nvcc and run on the GPU
    bool counters = true;                           ///< table of counters, a row for each kernel
    bool diagnose = true;                           ///< look for errors
    bool leaks = false;                             ///< what is never freed is an error, and not only a note
    bool lines = false;                             ///< the kernels' source with the counts of each line
    bool all_blocks = false;                        ///< instrument every block of a launch, not a sample
    bool each_launch = false;                       ///< a row for each launch, not for each kernel
    std::string gpu_model;                          ///< whose times are estimated; empty: no estimates
    std::optional<int> registers;                   ///< a thread, for theoretical occupancy
    std::vector<std::string> include_folders;       ///< -I
    std::vector<std::string> definitions;           ///< -D, "NAME" or "NAME=VALUE"
    std::vector<std::string> libraries;             ///< -l
    std::filesystem::path compile_commands;         ///< a compile_commands.json; empty: none
    std::optional<std::filesystem::path>
        keep;  ///< folder for the rewritten source and the program; empty path: beside FILE
    std::filesystem::path
        json_file;  ///< counters and diagnostics as JSON; "-": stdout, the program's own output to stderr
    std::filesystem::path trace_file;  ///< what the warps of the first blocks did, for the book's warp view
    double limit_seconds = 0;          ///< the watchdog's, for one kernel; 0: its default
    bool colors = false;
};

/// Returns the exit status: the program's own; 1 when it ended well but errors were found; 2 when it could not be
/// built.
int try_program(const Project& project, const TryOptions& options);

}  // namespace guide
