// The source of kernels with the counts of each line beside it.
//
//     fmt::print("{}", list_source(launches, terminal));
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/helpers/counts.h"
#include "common/lesson/terminal.h"

namespace warpwise {

/// Lines `first` to `last` of a file, counted from 1.
struct SourceRegion {
    std::size_t first;
    std::size_t last;
    bool operator==(const SourceRegion&) const = default;
};

/// The stretches of source to show around the lines that were counted (ascending): each from the head of its function
/// to its end, as far as layout tells them. Lines that are not in `source` get no region.
std::vector<SourceRegion> regions_around(const std::vector<std::string>& source,
                                         const std::vector<std::size_t>& counted);

/// For each kernel that was launched: its source and that of the functions it calls, with requests, sectors for each
/// global request, bytes moved, bank conflicts, active lanes ... at the left; only columns that tell something. `>`
/// marks the line that keeps memory busiest. Lines of source are cut at the terminal's width.
std::string list_source(const std::vector<LaunchCounts>& launches, const Terminal& terminal);

/// Whether a line is that of a launch and no more: on the CPU device it runs for every thread, because the call of the
/// kernel stands there.
bool is_launch(const LineCounts& line, const std::vector<LaunchCounts>& launches);

/// The file's path as short as it can be from the current folder.
std::string seen_from_here(const std::string& file);

}  // namespace warpwise
