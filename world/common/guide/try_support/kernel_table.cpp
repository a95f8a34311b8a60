#include "common/guide/try_support/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "common/lesson/counter_columns.h"
#include "common/lesson/source_listing.h"

namespace guide {
namespace {

using warpwise::CounterColumn;
using warpwise::Counts;
using warpwise::LaunchCounts;
using warpwise::RequestCounts;

/// All launches of one kernel.
struct Kernel {
    std::string name;
    std::vector<const LaunchGroup*> groups;

    std::vector<LaunchCounts> counts() const {
        std::vector<LaunchCounts> all;
        for (const LaunchGroup* group : groups) all.push_back(group->counts);
        return all;
    }
};

/// In the order of their first launches. `each_launch`: every launch by itself, with its number.
std::vector<Kernel> kernels_of(const std::vector<LaunchGroup>& groups, bool each_launch = false) {
    std::vector<Kernel> kernels;
    for (const LaunchGroup& group : groups) {
        if (each_launch) {
            kernels.push_back({fmt::format("{:>2} {}", kernels.size() + 1, group.counts.kernel), {&group}});
            continue;
        }
        const auto known = std::find_if(kernels.begin(), kernels.end(),
                                        [&](const Kernel& kernel) { return kernel.name == group.counts.kernel; });
        Kernel& kernel = known != kernels.end() ? *known : kernels.emplace_back();
        kernel.name = group.counts.kernel;
        kernel.groups.push_back(&group);
    }
    return kernels;
}

// ---- columns that a lesson's table has not, or puts in other words ---------------------------------------

/// "391", "32x24"
std::string shape_text(const std::array<unsigned, 3>& shape) {
    if (shape[2] != 1) return fmt::format("{}x{}x{}", shape[0], shape[1], shape[2]);
    if (shape[1] != 1) return fmt::format("{}x{}", shape[0], shape[1]);
    return std::to_string(shape[0]);
}

std::uint64_t size_of(const std::array<unsigned, 3>& shape) { return std::uint64_t{shape[0]} * shape[1] * shape[2]; }

/// The shape that all launches have; where they differ, the least and the greatest size.
std::string shapes_text(const Kernel& kernel, std::array<unsigned, 3> LaunchCounts::*shape) {
    const auto& first = kernel.groups.front()->counts.*shape;
    std::uint64_t least = size_of(first);
    std::uint64_t most = least;
    bool same = true;
    for (const LaunchGroup* group : kernel.groups) {
        same = same && group->counts.*shape == first;
        least = std::min(least, size_of(group->counts.*shape));
        most = std::max(most, size_of(group->counts.*shape));
    }
    if (same) return shape_text(first);
    return least == most ? std::to_string(most) : fmt::format("{}..{}", least, most);
}

std::uint64_t launches_of(const Kernel& kernel) {
    std::uint64_t launches = 0;
    for (const LaunchGroup* group : kernel.groups) launches += group->launches;
    return launches;
}

std::string requests_text(const Kernel& kernel) {
    const Counts counts = warpwise::sum_of(kernel.counts());
    const double requests = counts.global_load.requests + counts.global_store.requests;
    return requests > 0 ? warpwise::count_text(requests) : "-";
}

/// Of one launch, on average over all of them.
std::string barriers_text(const Kernel& kernel) {
    double barriers = 0;
    for (const LaunchGroup* group : kernel.groups) {
        barriers += group->counts.barriers_per_warp() * static_cast<double>(group->launches);
    }
    return barriers > 0 ? warpwise::ratio_text(barriers / static_cast<double>(launches_of(kernel))) : "-";
}

const LaunchCounts& largest_launch(const Kernel& kernel) {
    const auto threads = [](const LaunchGroup* group) { return group->blocks_each() * size_of(group->counts.block); };
    const LaunchGroup* largest =
        *std::max_element(kernel.groups.begin(), kernel.groups.end(),
                          [&](const LaunchGroup* a, const LaunchGroup* b) { return threads(a) < threads(b); });
    return largest->counts;
}

/// Where somebody said how many registers a thread takes.
std::string occupancy_text(const Kernel& kernel) {
    const LaunchCounts& launch = largest_launch(kernel);
    return launch.registers > 0 ? fmt::format("{:.0f} %", launch.occupancy * 100) : "-";
}

/// Where nobody did: what block and shared memory permit, if that is not everything.
std::string max_occupancy_text(const Kernel& kernel) {
    constexpr double full = 0.995;
    const LaunchCounts& launch = largest_launch(kernel);
    return launch.registers == 0 && launch.occupancy <= full ? fmt::format("{:.0f} %", launch.occupancy * 100) : "-";
}

/// `meaning`: empty for what explains itself.
CounterColumn column_of(const std::vector<Kernel>& kernels, const char* header, const char* meaning,
                        const char* metrics, std::string (*text)(const Kernel&)) {
    CounterColumn column{header, meaning, metrics, {}};
    for (const Kernel& kernel : kernels) column.cells.push_back(text(kernel));
    return column;
}

bool has_cells(const CounterColumn& column) {
    return std::any_of(column.cells.begin(), column.cells.end(), [](const std::string& cell) { return cell != "-"; });
}

std::vector<CounterColumn> columns_of(const std::vector<Kernel>& kernels) {
    std::vector<CounterColumn> columns;
    const auto add = [&](CounterColumn column) {
        if (has_cells(column)) columns.push_back(std::move(column));
    };
    add(column_of(kernels, "launches", "", "",
                  [](const Kernel& kernel) { return warpwise::count_text(static_cast<double>(launches_of(kernel))); }));
    add(column_of(kernels, "blocks", "", "",
                  [](const Kernel& kernel) { return shapes_text(kernel, &LaunchCounts::grid); }));
    add(column_of(kernels, "threads", "", "",
                  [](const Kernel& kernel) { return shapes_text(kernel, &LaunchCounts::block); }));
    add(column_of(kernels, "requests", "global loads and stores that warps carried out, over all launches",
                  "l1tex__t_requests_pipe_lsu_mem_global_op_{ld,st}.sum", requests_text));

    std::vector<std::optional<warpwise::model::Estimate>> estimates;
    for (const Kernel& kernel : kernels) {
        std::vector<warpwise::model::Estimate> all;
        for (const LaunchGroup* group : kernel.groups) {
            all.insert(all.end(), group->estimates.begin(), group->estimates.end());
        }
        estimates.push_back(all.empty() ? std::nullopt : std::optional(warpwise::model::sum_of(all)));
    }
    for (CounterColumn& column : warpwise::model_columns(estimates)) add(std::move(column));

    // The rest is as in the tables of lessons.
    std::vector<warpwise::StepResult> steps;
    for (const Kernel& kernel : kernels) {
        warpwise::StepResult& step = steps.emplace_back();
        step.name = kernel.name;
        step.launches = kernel.counts();
        for (LaunchCounts& launch : *step.launches) launch.facts = {};  // the columns are there already
    }
    constexpr std::array<std::string_view, 5> own = {"launches", "requests", "barriers", "occupancy", "max occupancy"};
    for (CounterColumn& column : warpwise::counter_columns(steps)) {
        if (std::find(own.begin(), own.end(), column.header) == own.end()) add(std::move(column));
    }

    add(column_of(kernels, "barriers", "__syncthreads() that a warp passes in a launch, on average", "",
                  barriers_text));
    add(column_of(kernels, "occupancy",
                  "theoretical: warps that an SM can hold at a time, as a share of its limit of 64",
                  "sm__maximum_warps_per_active_cycle_pct", occupancy_text));
    add(column_of(
        kernels, "max occupancy",
        "the largest share of an SM's 64 warps that the block's size and its shared memory permit; registers, "
        "which only nvcc knows (--registers), may permit less",
        "", max_occupancy_text));
    return columns;
}

/// Empty when every block of every launch was instrumented.
std::string sample_note(const std::vector<LaunchGroup>& groups, std::uint64_t sample) {
    std::uint64_t largest = 0;
    for (const LaunchGroup& group : groups) largest = std::max(largest, group.blocks_each());
    if (sample == 0 || largest <= sample) return {};
    return fmt::format(
        "Counts are scaled up from a sample of {} blocks of each large launch; the largest has {} blocks. "
        "--all-blocks instruments all of them.",
        sample, largest);
}

}  // namespace

std::string kernel_table(const std::vector<LaunchGroup>& groups, std::uint64_t sample, bool each_launch,
                         const warpwise::Terminal& terminal) {
    const std::vector<Kernel> kernels = kernels_of(groups, each_launch);
    const std::vector<CounterColumn> columns = columns_of(kernels);
    warpwise::StepTable names;
    names.header = {"kernel"};
    for (const Kernel& kernel : kernels) names.rows.push_back({{kernel.name}});
    std::string text;
    for (const warpwise::StepTable& table : warpwise::counter_tables(names, columns, terminal)) {
        text += warpwise::format_table(table.header, table.rows, terminal) + "\n";
    }
    std::string legend;
    for (const CounterColumn& column : columns) {
        if (column.meaning.empty()) continue;
        legend += warpwise::wrap(column.legend(), terminal.width);
    }
    text += terminal.paint(warpwise::Style::faint, legend);
    const std::string note = sample_note(groups, sample);
    if (!note.empty()) text += "\n" + warpwise::wrap(note, terminal.width);
    return text;
}

std::string kernel_listing(const std::vector<LaunchGroup>& groups, const warpwise::Terminal& terminal) {
    std::string text;
    for (const Kernel& kernel : kernels_of(groups)) {
        // As one launch: what the listing would say of their number is wrong for groups.
        LaunchCounts all;
        all.kernel = kernel.name;
        all.file = kernel.groups.front()->counts.file;
        all.line = kernel.groups.front()->counts.line;
        all.blocks = all.instrumented_blocks = 1;
        all.lines = warpwise::lines_of(kernel.counts());
        std::erase_if(all.lines,
                      [&](const warpwise::LineCounts& line) { return warpwise::is_launch(line, kernel.counts()); });
        text += warpwise::list_source({all}, terminal);
    }
    return text;
}

}  // namespace guide
