#include "common/helpers/instrument.h"

#ifdef __CPU_DEVICE__

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cpu_device/diagnostics.h"
#include "cpu_device/error_state.h"
#include "cpu_device/instrument.h"

namespace warpwise {

namespace {

static_assert(sampled_blocks == cpu_device::kSampledBlocks);
static_assert(memory_operations.size() == cpu_device::kMemoryOperations);

cpu_device::InstrumentOptions options_of(const InstrumentOptions& options) {
    return {.counters = options.counters,
            .diagnostics = options.diagnostics,
            .leaks = options.leaks,
            .blocks = options.count.blocks,
            .registers = options.count.registers,
            .model = options.count.model,
            .traced_blocks = options.count.traced_blocks,
            .traced_events = options.count.traced_events};
}

InstrumentOptions options_of(const cpu_device::InstrumentOptions& options) {
    return {.counters = options.counters,
            .diagnostics = options.diagnostics,
            .count = {.blocks = options.blocks,
                      .registers = options.registers,
                      .model = options.model,
                      .traced_blocks = options.traced_blocks,
                      .traced_events = options.traced_events},
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
            .same_address = static_cast<double>(counters.same_address),
            .remote_lanes = static_cast<double>(counters.remote_lanes)};
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
    counts.instrumented_blocks = launch.instrumented_blocks;
    counts.registers = launch.registers;
    counts.occupancy = launch.occupancy;
    counts.total = counts_of(launch.total);
    counts.most_barriers = launch.most_barriers;
    for (const cpu_device::LineCounters& line : launch.lines) {
        counts.lines.push_back({line.file, line.line, counts_of(line.counters)});
    }
    for (const cpu_device::ArrayCounters& array : launch.arrays) {
        counts.arrays.push_back({array.name, counts_of(array.counters)});
    }
    counts.facts = launch.model;
    if (!launch.trace.warps.empty()) counts.trace = cpu_device::json_of(launch.trace);
    return counts;
}

std::string json_object(const cpu_device::Diagnostic& diagnostic) {
    std::string json = cpu_device::json_of({diagnostic});
    json = json.substr(json.find('{'));
    json.erase(json.rfind('}') + 1);
    return json;
}

std::string identity_of(cpu_device::Diagnostic diagnostic) {
    diagnostic.count = 1;
    return json_object(diagnostic);
}

Diagnostic diagnostic_of(const cpu_device::Diagnostic& diagnostic) {
    const cpu_device::Site& site = diagnostic.site;
    return {cpu_device::identifier_of(diagnostic.kind),
            site.line > 0 ? std::string(site.file) + ":" + std::to_string(site.line) : std::string(),
            cpu_device::text_of(diagnostic),
            json_object(diagnostic),
            identity_of(diagnostic),
            diagnostic.is_note};
}

std::vector<Diagnostic> diagnostics_of(const std::vector<cpu_device::Diagnostic>& found) {
    std::vector<Diagnostic> diagnostics;
    for (const cpu_device::Diagnostic& diagnostic : found) diagnostics.push_back(diagnostic_of(diagnostic));
    return diagnostics;
}

/// Diagnostics that were taken to look at them go back to the others, without being printed once more.
void put_back(const std::vector<cpu_device::Diagnostic>& diagnostics) {
    const bool printing = cpu_device::print_diagnostics(false);
    for (const cpu_device::Diagnostic& diagnostic : diagnostics) cpu_device::report(diagnostic);
    cpu_device::publish_diagnostics();
    cpu_device::print_diagnostics(printing);
}

}  // namespace

bool can_instrument() { return cpu_device::can_instrument(); }

bool is_diagnosing() { return can_instrument() && cpu_device::instrumenting().diagnostics; }

Instrumentation::Instrumentation(const InstrumentOptions& options)
    : before_(options_of(cpu_device::instrument(options_of(options)))) {}

Instrumentation::~Instrumentation() { cpu_device::instrument(options_of(before_)); }

std::vector<LaunchCounts> count_launches(const std::function<void()>& body, const CountOptions& options) {
    cpu_device::take_counters(false);
    {
        const cpu_device::InstrumentOptions before = cpu_device::instrumenting();
        const Instrumentation instrumenting(
            {.counters = true, .diagnostics = before.diagnostics, .count = options, .leaks = before.leaks});
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

std::vector<Diagnostic> take_diagnostics() { return diagnostics_of(cpu_device::take_diagnostics()); }

std::vector<Diagnostic> diagnostics_during(const std::function<void()>& body) {
    const std::vector<cpu_device::Diagnostic> earlier = cpu_device::take_diagnostics();
    try {
        body();
    } catch (...) {
        const std::vector<cpu_device::Diagnostic> meanwhile = cpu_device::take_diagnostics();
        put_back(earlier);
        put_back(meanwhile);
        throw;
    }
    const std::vector<cpu_device::Diagnostic> meanwhile = cpu_device::take_diagnostics();
    put_back(earlier);
    put_back(meanwhile);
    return diagnostics_of(meanwhile);
}

void forget_diagnostics(const std::vector<Diagnostic>& diagnostics) {
    std::vector<cpu_device::Diagnostic> kept = cpu_device::take_diagnostics();
    std::erase_if(kept, [&](const cpu_device::Diagnostic& found) {
        return std::any_of(
            diagnostics.begin(), diagnostics.end(),
            [identity = identity_of(found)](const Diagnostic& forgotten) { return forgotten.identity == identity; });
    });
    put_back(kept);
}

std::string coverage_text(const std::string& how_to_examine_all) {
    return cpu_device::text_of(cpu_device::coverage(), how_to_examine_all);
}

void name_sources_from(const std::string& folder) { cpu_device::name_sources_from(folder); }

void report_leaks() {
    cpu_device::report_unseen_errors();
    if (cudaDeviceSynchronize() == cudaSuccess) cpu_device::report_leaks();
}

}  // namespace warpwise

#else

namespace warpwise {

bool can_instrument() { return false; }

bool is_diagnosing() { return false; }

Instrumentation::Instrumentation(const InstrumentOptions&) {}

Instrumentation::~Instrumentation() = default;

std::vector<LaunchCounts> count_launches(const std::function<void()>& body, const CountOptions&) {
    body();
    return {};
}

std::vector<LaunchCounts> take_counts(bool) { return {}; }

std::vector<Diagnostic> take_diagnostics() { return {}; }

std::vector<Diagnostic> diagnostics_during(const std::function<void()>& body) {
    body();
    return {};
}

void forget_diagnostics(const std::vector<Diagnostic>&) {}

std::string coverage_text(const std::string&) { return {}; }

void name_sources_from(const std::string&) {}

void report_leaks() {}

}  // namespace warpwise

#endif
