#include "trace.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "block.h"
#include "json_text.h"
#include "source_lines.h"

namespace cpu_device {
namespace {

bool is_shared(MemoryOperation operation) {
    return operation == MemoryOperation::shared_load || operation == MemoryOperation::shared_store ||
           operation == MemoryOperation::shared_atomic;
}

bool is_atomic(MemoryOperation operation) {
    return operation == MemoryOperation::shared_atomic || operation == MemoryOperation::global_atomic;
}

/// The array of an event and where it begins: an address, or for shared memory a place in that of the block.
struct Place {
    TracedArray array;
    std::uintptr_t begin;
};

Place place_of(const Launch& launch, const TracedEvent& event) {
    const int shared = event.array - kFirstSharedArray;
    if (shared == 0) return {{"dynamic shared memory", event.operation, launch.dynamic_bytes, 0}, 0};
    if (shared > 0) {
        const SharedVariable& variable = *launch.shared_variables[static_cast<std::size_t>(shared) - 1];
        const std::size_t place = launch.place_of(variable);
        return {{variable.name, event.operation, variable.bytes, place}, place};
    }
    const ArrayMap::Range& range = launch.arrays->range(event.array);
    return {{launch.arrays->name(event.array), event.operation, range.end - range.begin, range.begin % 128},
            range.begin};
}

/// Names of files last as long as the process.
const char* kept(const std::string& file) {
    static std::mutex mutex;
    static std::set<std::string> files;
    std::lock_guard lock(mutex);
    return files.insert(file).first->c_str();
}

}  // namespace

LaunchTrace trace_of(const Launch& launch, const Tally& tally) {
    LaunchTrace trace;
    trace.warps = tally.traces();
    std::sort(trace.warps.begin(), trace.warps.end(), [](const TracedWarp& a, const TracedWarp& b) {
        return std::tie(a.block.z, a.block.y, a.block.x, a.warp) < std::tie(b.block.z, b.block.y, b.block.x, b.warp);
    });
    std::map<int, int> index_of;
    for (TracedWarp& warp : trace.warps) {
        for (TracedEvent& event : warp.events) {
            if (event.kind != TracedEvent::Kind::access) continue;
            const Place place = place_of(launch, event);
            const auto [known, is_new] = index_of.try_emplace(event.array, static_cast<int>(trace.arrays.size()));
            if (is_new) trace.arrays.push_back(place.array);
            event.array = known->second;
            for (std::int64_t& offset : event.offsets) offset -= static_cast<std::int64_t>(place.begin);
        }
    }
    return trace;
}

void find_lines(LaunchTrace& trace, Site launch) {
    std::vector<const void*> code;
    for (const TracedWarp& warp : trace.warps) {
        for (const TracedEvent& event : warp.events) {
            if (event.code != nullptr) code.push_back(event.code);
        }
    }
    const std::vector<SourceLine> places = source_lines(code);
    std::size_t next = 0;
    for (TracedWarp& warp : trace.warps) {
        for (TracedEvent& event : warp.events) {
            if (event.code == nullptr) continue;
            const SourceLine& place = places[next++];
            if (place.file.find("/cpu_device/include/") != std::string::npos) continue;
            event.site = {kept(place.file), place.line};
        }
        const TracedEvent* before = nullptr;
        std::vector<TracedEvent> events;
        for (TracedEvent& event : warp.events) {
            const bool is_step = event.kind == TracedEvent::Kind::step;
            // The line of the launch runs for every thread, because the call of the kernel stands there.
            const bool is_launch = event.site.line == launch.line && std::string(event.site.file) == launch.file;
            if (is_step && (event.site.line <= 0 || is_launch)) continue;
            if (is_step && before != nullptr && before->kind == event.kind && before->lanes == event.lanes &&
                before->site.line == event.site.line && before->site.file == event.site.file) {
                continue;
            }
            events.push_back(std::move(event));
            before = &events.back();
        }
        warp.events = std::move(events);
    }
}

std::string json_of(const LaunchTrace& trace) {
    std::vector<std::string> files;
    const auto number_of = [&](const char* file) {
        const auto known = std::find(files.begin(), files.end(), file);
        if (known != files.end()) return known - files.begin();
        files.emplace_back(file);
        return static_cast<std::ptrdiff_t>(files.size()) - 1;
    };
    const auto list = [](const auto& items, const auto& text_of) {
        std::string json = "[";
        for (const auto& item : items) json += (json.size() == 1 ? "" : ", ") + text_of(item);
        return json + "]";
    };
    const auto field = [](const char* name, std::uint64_t value) {
        return std::string(", \"") + name + "\": " + std::to_string(value);
    };

    const auto event_json = [&](const TracedEvent& event) {
        constexpr const char* names[] = {"global_load",  "global_store",  "global_atomic", "shared_load",
                                         "shared_store", "shared_atomic", "constant_load"};
        const bool is_access = event.kind == TracedEvent::Kind::access;
        const char* kind = is_access                                  ? names[static_cast<std::size_t>(event.operation)]
                           : event.kind == TracedEvent::Kind::barrier ? "barrier"
                                                                      : "step";
        char lanes[9];
        std::snprintf(lanes, sizeof lanes, "%08x", event.lanes);
        std::string json = std::string("{\"kind\": \"") + kind + "\"";
        json += field("file", static_cast<std::uint64_t>(number_of(event.site.file)));
        json += field("line", static_cast<std::uint64_t>(std::max(0, event.site.line)));
        json += std::string(", \"lanes\": \"") + lanes + "\"";
        if (!is_access) return json + "}";
        json += field("array", static_cast<std::uint64_t>(event.array)) + field("bytes", event.bytes);
        const RequestCounters& counters = event.counters;
        if (is_shared(event.operation) || event.operation == MemoryOperation::constant_load) {
            json += field("wavefronts", counters.wavefronts) + field("least_wavefronts", counters.least_wavefronts);
        } else {
            json += field("sectors", counters.sectors);
        }
        if (is_atomic(event.operation)) json += field("same_address", counters.same_address);
        const std::vector<std::int64_t>& at = event.offsets;
        const std::int64_t stride = at.size() < 2 ? 0 : at[1] - at[0];
        bool even = true;
        for (std::size_t i = 1; i < at.size(); ++i) even = even && at[i] - at[i - 1] == stride;
        if (even) {
            json += ", \"first\": " + std::to_string(at.empty() ? 0 : at[0]);
            json += ", \"stride\": " + std::to_string(stride);
        } else {
            json += ", \"at\": " + list(at, [](std::int64_t offset) { return std::to_string(offset); });
        }
        return json + "}";
    };
    const auto warp_json = [&](const TracedWarp& warp) {
        return "{\"block\": [" + std::to_string(warp.block.x) + ", " + std::to_string(warp.block.y) + ", " +
               std::to_string(warp.block.z) + "]" + field("warp", warp.warp) + field("threads", warp.threads) +
               ", \"cut\": " + (warp.cut ? "true" : "false") + ", \"events\": " + list(warp.events, event_json) + "}";
    };
    const auto array_json = [&](const TracedArray& array) {
        const char* space = is_shared(array.operation)                          ? "shared"
                            : array.operation == MemoryOperation::constant_load ? "constant"
                                                                                : "global";
        return "{\"name\": " + json_string(array.name) + ", \"space\": \"" + space + "\"" +
               field("bytes", array.bytes) + field("begin", array.begin) + "}";
    };
    const std::string arrays = list(trace.arrays, array_json);
    const std::string warps = list(trace.warps, warp_json);  // fills `files`
    return "{\"arrays\": " + arrays +
           ", \"files\": " + list(files, [](const std::string& file) { return json_string(file); }) +
           ", \"warps\": " + warps + "}";
}

}  // namespace cpu_device
