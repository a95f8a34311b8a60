// What launches are instrumented for, and the counters of the launches that were instrumented.
#include "cpu_device/instrument.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "block.h"
#include "cpu_device/occupancy.h"
#include "environment.h"
#include "instrumented_code.h"
#include "model_facts.h"
#include "source_lines.h"
#include "tally.h"
#include "trace.h"

namespace cpu_device {
namespace {

InstrumentOptions options_from_environment() {
    InstrumentOptions options;
    options.blocks = kSampledBlocks;
    const char* what = environment("CPU_DEVICE_INSTRUMENT", "CPU_DEVICE_WATCH");
    std::string rest = what == nullptr ? "" : what;
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const std::string word = rest.substr(0, comma);
        rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
        if (word == "counters") {
            options.counters = true;
        } else if (word == "diagnostics") {
            options.diagnostics = true;
        } else if (word == "mistakes") {
            std::fprintf(stderr, "CPU device: note: CPU_DEVICE_INSTRUMENT=mistakes is called diagnostics now\n");
            options.diagnostics = true;
        } else if (word == "leaks") {
            options.diagnostics = options.leaks = true;
        } else if (!word.empty() && word != "nothing") {
            std::fprintf(
                stderr,
                "CPU device: CPU_DEVICE_INSTRUMENT=%s: '%s' is not one of counters, diagnostics, leaks, nothing\n",
                what, word.c_str());
        }
    }
    if (const char* blocks = environment("CPU_DEVICE_INSTRUMENT_BLOCKS", "CPU_DEVICE_WATCH_BLOCKS");
        blocks != nullptr && *blocks != '\0') {
        char* end = nullptr;
        const unsigned long long count = std::strtoull(blocks, &end, 10);
        if (std::strcmp(blocks, "all") == 0) {
            options.blocks = 0;
        } else if (*end == '\0') {
            options.blocks = count;
        } else {
            std::fprintf(stderr, "CPU device: CPU_DEVICE_INSTRUMENT_BLOCKS=%s is neither a number nor 'all'; ignored\n",
                         blocks);
        }
    }
    return options;
}

/// A launch as it was counted; instructions are not lines yet.
struct Counted {
    LaunchCounters counters;
    Tally tally;
};

struct InstrumentState {
    std::mutex mutex;
    InstrumentOptions options = options_from_environment();
    std::vector<Counted> launches;
    Coverage coverage;
};

InstrumentState& instrument_state() {
    static InstrumentState* all = new InstrumentState;  // still needed when the process exits
    return *all;
}

const void* address_of(std::uint32_t code) { return code_start() + code; }

std::vector<LineCounters> lines_of(const Tally& tally) {
    std::vector<const void*> code;
    for (const auto& [key, request] : tally.requests()) code.push_back(address_of(request.code));
    for (const auto& [at, step] : tally.steps()) code.push_back(address_of(at));
    const std::vector<SourceLine> places = source_lines(code);
    std::map<std::pair<std::string, int>, Counters> by_line;
    std::size_t i = 0;
    const auto counters_here = [&]() -> Counters* {
        const SourceLine& place = places[i++];
        const bool is_ours = place.file.find("/cpu_device/include/") != std::string::npos;
        return place.file.empty() || is_ours ? nullptr : &by_line[{place.file, place.line}];
    };
    for (const auto& [key, request] : tally.requests()) {
        if (Counters* counters = counters_here()) (*counters)[request.operation] += request.counters;
    }
    for (const auto& [at, step] : tally.steps()) {
        if (Counters* counters = counters_here()) {
            counters->steps += step.times;
            counters->active_lanes += step.lanes;
        }
    }
    for (const auto& [site, times] : tally.barriers()) by_line[{site.first, site.second}].barriers += times;
    std::vector<LineCounters> lines;
    for (const auto& [place, counters] : by_line) lines.push_back({place.first, place.second, counters});
    return lines;
}

}  // namespace

InstrumentOptions instrument(const InstrumentOptions& options) {
    const RuntimeLock lock(instrument_state().mutex);
    return std::exchange(instrument_state().options, options);
}

InstrumentOptions instrumenting() {
    const RuntimeLock lock(instrument_state().mutex);
    return instrument_state().options;
}

bool can_instrument() { return has_instrumented_code(); }

const char* name_of(MemoryOperation operation) {
    switch (operation) {
        case MemoryOperation::global_load:
            return "global load";
        case MemoryOperation::global_store:
            return "global store";
        case MemoryOperation::global_atomic:
            return "global atomic";
        case MemoryOperation::shared_load:
            return "shared load";
        case MemoryOperation::shared_store:
            return "shared store";
        case MemoryOperation::shared_atomic:
            return "shared atomic";
        case MemoryOperation::constant_load:
            return "constant load";
    }
    return "memory operation";
}

namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double RequestCounters::sectors_per_request() const { return ratio(sectors, requests); }
double RequestCounters::lanes_per_request() const { return ratio(lanes, requests); }
double RequestCounters::wavefronts_per_request() const { return ratio(wavefronts, requests); }
std::uint64_t RequestCounters::bytes_moved() const { return sectors * 32; }
std::uint64_t RequestCounters::conflicts() const { return wavefronts - least_wavefronts; }

double Counters::active_lanes_per_step() const { return ratio(active_lanes, steps); }

Counters& Counters::operator+=(const Counters& other) {
    for (std::size_t i = 0; i < kMemoryOperations; ++i) memory[i] += other.memory[i];
    barriers += other.barriers;
    steps += other.steps;
    active_lanes += other.active_lanes;
    return *this;
}

void note_coverage(const Launch& launch) {
    const RuntimeLock lock(instrument_state().mutex);
    Coverage& all = instrument_state().coverage;
    ++all.launches;
    all.blocks += launch.finished_blocks;
    all.instrumented_blocks += launch.instrumented_blocks;
    all.accesses += launch.diagnoser->accesses();
    if (launch.failure == cudaSuccess) return;
    ++all.aborted_launches;
    all.failed_kernel = launch.site.kernel;
}

void note_skipped_launch() {
    const RuntimeLock lock(instrument_state().mutex);
    ++instrument_state().coverage.skipped_launches;
}

Coverage coverage() {
    const RuntimeLock lock(instrument_state().mutex);
    return instrument_state().coverage;
}

namespace {

/// "1,234", "1.2 M"
std::string number_text(std::uint64_t number) {
    char text[32];
    if (number >= 1'000'000) {
        const bool billions = number >= 1'000'000'000;
        std::snprintf(text, sizeof text, "%.3g %s", static_cast<double>(number) / (billions ? 1e9 : 1e6),
                      billions ? "G" : "M");
        return text;
    }
    if (number < 1000) return std::to_string(number);
    std::snprintf(text, sizeof text, "%u,%03u", static_cast<unsigned>(number / 1000),
                  static_cast<unsigned>(number % 1000));
    return text;
}

std::string counted(std::uint64_t number, const char* noun, const char* nouns) {
    return number_text(number) + " " + (number == 1 ? noun : nouns);
}

}  // namespace

std::string text_of(const Coverage& coverage, const std::string& how_to_examine_all) {
    if (coverage.launches == 0) return "";
    const std::string of_launches = " of " + counted(coverage.launches, "launch", "launches");
    const std::string accesses = counted(coverage.accesses, "access", "accesses");
    std::string text = "Examined ";
    if (coverage.blocks == 1 && coverage.instrumented_blocks == 1) {
        text += "1 launch of 1 block, with " + accesses + ".";
    } else if (coverage.instrumented_blocks >= coverage.blocks) {
        text += "all " + counted(coverage.blocks, "block", "blocks") + of_launches + ", " + accesses + ".";
    } else {
        text += number_text(coverage.instrumented_blocks) + " of " + counted(coverage.blocks, "block", "blocks") +
                of_launches + " for every error and the other blocks for all but data races, " + accesses + "; " +
                how_to_examine_all + " examines every block for everything.";
    }
    if (coverage.aborted_launches > 0) {
        text += " Kernel " + coverage.failed_kernel + " was ended early";
        if (coverage.skipped_launches > 0) {
            text += ", and " + counted(coverage.skipped_launches, "later launch", "later launches") +
                    " did not run because of that";
        }
        text += ".";
    }
    return text;
}

void keep_counters(const Launch& launch, const Tally& tally) {
    Counted counted;
    LaunchCounters& counters = counted.counters;
    counters.kernel = launch.site.kernel;
    counters.site = launch.site.site;
    counters.grid = launch.grid;
    counters.block = launch.block;
    counters.shared_bytes = launch.dynamic_bytes + launch.static_bytes;
    counters.blocks = launch.blocks;
    counters.instrumented_blocks = tally.blocks();
    const auto threads = static_cast<int>(launch.threads);
    counters.registers = launch.instrument.registers;
    counters.occupancy =
        static_cast<double>(occupancy(threads, counters.registers, counters.shared_bytes).blocks_per_sm) *
        ((threads + 31) / 32) / 64;

    std::map<std::string, Counters> arrays;
    for (const auto& [key, request] : tally.requests()) {
        counters.total[request.operation] += request.counters;
        const int shared = request.array - kFirstSharedArray;
        const std::string name = shared < 0    ? launch.arrays->name(request.array)
                                 : shared == 0 ? "dynamic shared memory"
                                               : launch.shared_variables[static_cast<std::size_t>(shared) - 1]->name;
        arrays[name][request.operation] += request.counters;
    }
    for (const auto& [code, step] : tally.steps()) {
        counters.total.steps += step.times;
        counters.total.active_lanes += step.lanes;
    }
    for (const auto& [site, times] : tally.barriers()) counters.total.barriers += times;
    counters.most_barriers = tally.most_barriers();
    for (const auto& [name, array] : arrays) counters.arrays.push_back({name, array});
    if (launch.instrument.traced_blocks > 0) counters.trace = trace_of(launch, tally);
    if (memory_facts != nullptr) counters.model = memory_facts(launch, tally, counters.registers);
    counted.tally = tally;
    counted.tally.model().distinct.clear();
    const RuntimeLock lock(instrument_state().mutex);
    instrument_state().launches.push_back(std::move(counted));
}

std::vector<LaunchCounters> take_counters(bool with_lines) {
    std::vector<Counted> launches;
    {
        const RuntimeLock lock(instrument_state().mutex);
        launches = std::exchange(instrument_state().launches, {});
    }
    std::vector<LaunchCounters> result;
    for (Counted& launch : launches) {
        if (with_lines) launch.counters.lines = lines_of(launch.tally);
        if (add_code_facts != nullptr) add_code_facts(launch.counters.model, launch.tally);
        if (!launch.counters.trace.warps.empty()) find_lines(launch.counters.trace, launch.counters.site);
        result.push_back(std::move(launch.counters));
    }
    return result;
}

}  // namespace cpu_device
