#include "common/helpers/watch.h"

#ifdef __CPU_DEVICE__

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cpu_device/error_state.h"
#include "cpu_device/findings.h"
#include "cpu_device/watch.h"

namespace warpwise {

namespace {

static_assert(sampled_blocks == cpu_device::kSampledBlocks);
static_assert(memory_operations.size() == cpu_device::kMemoryOperations);

cpu_device::WatchOptions options_of(const WatchOptions& options) {
    return {.counters = options.counters,
            .mistakes = options.mistakes,
            .leaks = options.leaks,
            .blocks = options.count.blocks,
            .registers = options.count.registers,
            .traced_blocks = options.count.traced_blocks};
}

WatchOptions options_of(const cpu_device::WatchOptions& options) {
    return {.counters = options.counters,
            .mistakes = options.mistakes,
            .count = {.blocks = options.blocks, .registers = options.registers, .traced_blocks = options.traced_blocks},
            .leaks = options.leaks};
}

RequestCounts counts_of(const cpu_device::RequestCounters& counters) {
    return {.requests = static_cast<double>(counters.requests),
            .lanes = static_cast<double>(counters.lanes),
            .bytes = static_cast<double>(counters.bytes),
            .sectors = static_cast<double>(counters.sectors),
            .needed_sectors = static_cast<double>(counters.needed_sectors),
            .wavefronts = static_cast<double>(counters.wavefronts),
            .least_wavefronts = static_cast<double>(counters.least_wavefronts),
            .same_address = static_cast<double>(counters.same_address)};
}

Counts counts_of(const cpu_device::Counters& counters) {
    Counts counts;
    for (std::size_t i = 0; i < memory_operations.size(); ++i) {
        counts.*memory_operations[i].counts = counts_of(counters.memory[i]);
    }
    counts.barriers = static_cast<double>(counters.barriers);
    counts.steps = static_cast<double>(counters.steps);
    counts.active_lanes = static_cast<double>(counters.active_lanes);
    return counts;
}

LaunchCounts counts_of(const cpu_device::LaunchCounters& launch) {
    LaunchCounts counts;
    counts.kernel = launch.kernel;
    counts.file = launch.site.file;
    counts.line = launch.site.line;
    counts.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
    counts.block = {launch.block.x, launch.block.y, launch.block.z};
    counts.shared_bytes = launch.shared_bytes;
    counts.blocks = launch.blocks;
    counts.watched_blocks = launch.watched_blocks;
    counts.occupancy = launch.occupancy;
    counts.total = counts_of(launch.total);
    for (const cpu_device::LineCounters& line : launch.lines) {
        counts.lines.push_back({line.file, line.line, counts_of(line.counters)});
    }
    for (const cpu_device::ArrayCounters& array : launch.arrays) {
        counts.arrays.push_back({array.name, counts_of(array.counters)});
    }
    if (!launch.trace.warps.empty()) counts.trace = cpu_device::json_of(launch.trace);
    return counts;
}

std::string json_object(const cpu_device::Finding& finding) {
    std::string json = cpu_device::json_of({finding});
    json = json.substr(json.find('{'));
    json.erase(json.rfind('}') + 1);
    return json;
}

std::string identity_of(cpu_device::Finding finding) {
    finding.count = 1;
    return json_object(finding);
}

Mistake mistake_of(const cpu_device::Finding& finding) {
    const cpu_device::Site& site = finding.site;
    return {cpu_device::identifier_of(finding.kind),
            site.line > 0 ? std::string(site.file) + ":" + std::to_string(site.line) : std::string(),
            cpu_device::text_of(finding),
            json_object(finding),
            identity_of(finding),
            finding.is_note};
}

std::vector<Mistake> mistakes_of(const std::vector<cpu_device::Finding>& findings) {
    std::vector<Mistake> mistakes;
    for (const cpu_device::Finding& finding : findings) mistakes.push_back(mistake_of(finding));
    return mistakes;
}

/// Findings that were taken to look at them go back to the others, without being printed once more.
void put_back(const std::vector<cpu_device::Finding>& findings) {
    const bool printing = cpu_device::print_findings(false);
    for (const cpu_device::Finding& finding : findings) cpu_device::report(finding);
    cpu_device::publish_findings();
    cpu_device::print_findings(printing);
}

}  // namespace

bool can_watch() { return cpu_device::can_watch(); }

bool mistakes_are_found() { return can_watch() && cpu_device::watching().mistakes; }

Watching::Watching(const WatchOptions& options) : before_(options_of(cpu_device::watch(options_of(options)))) {}

Watching::~Watching() { cpu_device::watch(options_of(before_)); }

std::vector<LaunchCounts> count_launches(const std::function<void()>& body, const CountOptions& options) {
    cpu_device::take_counters(false);
    {
        const cpu_device::WatchOptions before = cpu_device::watching();
        const Watching watching(
            {.counters = true, .mistakes = before.mistakes, .count = options, .leaks = before.leaks});
        body();
    }
    return take_counts(options.lines);
}

std::vector<LaunchCounts> take_counts(bool with_lines) {
    std::vector<LaunchCounts> launches;
    for (const cpu_device::LaunchCounters& launch : cpu_device::take_counters(with_lines)) {
        launches.push_back(counts_of(launch));
    }
    return launches;
}

std::vector<Mistake> take_mistakes() { return mistakes_of(cpu_device::take_findings()); }

std::vector<Mistake> mistakes_during(const std::function<void()>& body) {
    const std::vector<cpu_device::Finding> earlier = cpu_device::take_findings();
    try {
        body();
    } catch (...) {
        const std::vector<cpu_device::Finding> meanwhile = cpu_device::take_findings();
        put_back(earlier);
        put_back(meanwhile);
        throw;
    }
    const std::vector<cpu_device::Finding> meanwhile = cpu_device::take_findings();
    put_back(earlier);
    put_back(meanwhile);
    return mistakes_of(meanwhile);
}

void forget_mistakes(const std::vector<Mistake>& mistakes) {
    std::vector<cpu_device::Finding> findings = cpu_device::take_findings();
    std::erase_if(findings, [&](const cpu_device::Finding& finding) {
        return std::any_of(mistakes.begin(), mistakes.end(), [identity = identity_of(finding)](const Mistake& mistake) {
            return mistake.identity == identity;
        });
    });
    put_back(findings);
}

std::string coverage_text(const std::string& how_to_check_all) {
    return cpu_device::text_of(cpu_device::coverage(), how_to_check_all);
}

void name_sources_from(const std::string& folder) { cpu_device::name_sources_from(folder); }

void report_leaks() {
    cpu_device::report_unseen_errors();
    if (cudaDeviceSynchronize() == cudaSuccess) cpu_device::report_leaks();
}

}  // namespace warpwise

#else

namespace warpwise {

bool can_watch() { return false; }

bool mistakes_are_found() { return false; }

Watching::Watching(const WatchOptions&) {}

Watching::~Watching() = default;

std::vector<LaunchCounts> count_launches(const std::function<void()>& body, const CountOptions&) {
    body();
    return {};
}

std::vector<LaunchCounts> take_counts(bool) { return {}; }

std::vector<Mistake> take_mistakes() { return {}; }

std::vector<Mistake> mistakes_during(const std::function<void()>& body) {
    body();
    return {};
}

void forget_mistakes(const std::vector<Mistake>&) {}

std::string coverage_text(const std::string&) { return {}; }

void name_sources_from(const std::string&) {}

void report_leaks() {}

}  // namespace warpwise

#endif
