#include "common/guide/try_support/launch_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace guide {
namespace {

using warpwise::ArrayCounts;
using warpwise::LaunchCounts;
using warpwise::LineCounts;

std::string key_of(const LaunchCounts& launch) {
    const auto& [x, y, z] = launch.grid;
    const auto& [threads_x, threads_y, threads_z] = launch.block;
    return fmt::format("{}\n{}\n{} {} {} {} {} {} {} {}", launch.kernel, launch.file, launch.line, x, y, z, threads_x,
                       threads_y, threads_z, launch.shared_bytes);
}

/// Both in ascending order.
void add_lines(std::vector<LineCounts>& sum, const std::vector<LineCounts>& lines) {
    const auto is_before = [](const LineCounts& a, const LineCounts& b) {
        return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    };
    for (const LineCounts& line : lines) {
        const auto at = std::lower_bound(sum.begin(), sum.end(), line, is_before);
        if (at != sum.end() && !is_before(line, *at)) {
            at->counts += line.counts;
        } else {
            sum.insert(at, line);
        }
    }
}

void add_arrays(std::vector<ArrayCounts>& sum, const std::vector<ArrayCounts>& arrays) {
    for (const ArrayCounts& array : arrays) {
        const auto at =
            std::find_if(sum.begin(), sum.end(), [&](const ArrayCounts& known) { return known.name == array.name; });
        if (at != sum.end()) {
            at->counts += array.counts;
        } else {
            sum.push_back(array);
        }
    }
}

}  // namespace

void LaunchGroups::add(LaunchCounts launch) {
    std::vector<warpwise::model::Estimate> estimates;
    if (const warpwise::model::Gpu* gpu = warpwise::model::chosen_gpu(); gpu != nullptr && launch.facts.known) {
        launch.facts = warpwise::model::with_machine_code(std::move(launch.facts));
        estimates.push_back(warpwise::model::estimate(launch.facts, *gpu));
    }
    if (each_launch_) {
        groups_.push_back({std::move(launch), 1, std::move(estimates)});
        return;
    }
    const auto [found, is_new] = index_.try_emplace(key_of(launch), groups_.size());
    if (is_new) {
        groups_.push_back({std::move(launch), 1, std::move(estimates)});
        return;
    }
    LaunchGroup& group = groups_[found->second];
    ++group.launches;
    group.estimates.insert(group.estimates.end(), estimates.begin(), estimates.end());
    group.counts.blocks += launch.blocks;
    group.counts.instrumented_blocks += launch.instrumented_blocks;
    group.counts.total += launch.total;
    add_lines(group.counts.lines, launch.lines);
    add_arrays(group.counts.arrays, launch.arrays);
}

}  // namespace guide
