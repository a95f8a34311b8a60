#include "live_objects.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"

namespace cpu_device {
namespace {

struct LiveObjects {
    std::mutex mutex;
    std::map<std::pair<ObjectKind, const void*>, const void*> created_by;  ///< code, by kind and handle
};

LiveObjects& live_objects() {
    static auto* all = new LiveObjects;  // still needed when the process exits
    return *all;
}

struct ObjectNames {
    const char* one;
    const char* many;
    const char* undo;
    const char* missing = "destroyed";
};

ObjectNames names_of(ObjectKind kind) {
    switch (kind) {
        case ObjectKind::stream:
            return {"a stream", "streams", "cudaStreamDestroy"};
        case ObjectKind::event:
            return {"an event", "events", "cudaEventDestroy"};
        case ObjectKind::array:
            return {"a CUDA array", "CUDA arrays", "cudaFreeArray"};
        case ObjectKind::texture:
            return {"a texture object", "texture objects", "cudaDestroyTextureObject"};
        case ObjectKind::memory_pool:
            return {"a memory pool", "memory pools", "cudaMemPoolDestroy"};
        case ObjectKind::graph:
            return {"a graph", "graphs", "cudaGraphDestroy"};
        case ObjectKind::executable_graph:
            return {"an executable graph", "executable graphs", "cudaGraphExecDestroy"};
        case ObjectKind::profiler_range:
            return {"a range of NVTX", "ranges of NVTX", "nvtxRangePop or nvtxRangeEnd", "ended"};
        case ObjectKind::surface:
            break;
    }
    return {"a surface object", "surface objects", "cudaDestroySurfaceObject"};
}

}  // namespace

void note_created(ObjectKind kind, const void* handle, const void* code) {
    if (!instrumenting().diagnostics) return;
    LiveObjects& all = live_objects();
    std::lock_guard lock(all.mutex);
    all.created_by[{kind, handle}] = code;
}

void note_destroyed(ObjectKind kind, const void* handle) {
    LiveObjects& all = live_objects();
    std::lock_guard lock(all.mutex);
    all.created_by.erase({kind, handle});
}

void forget_objects() {
    LiveObjects& all = live_objects();
    std::lock_guard lock(all.mutex);
    all.created_by.clear();
}

void report_leaked_objects() {
    std::map<std::pair<ObjectKind, const void*>, std::uint64_t> counts;  // by kind and code
    {
        LiveObjects& all = live_objects();
        std::lock_guard lock(all.mutex);
        for (const auto& [object, code] : std::exchange(all.created_by, {})) ++counts[{object.first, code}];
    }
    for (const auto& [group, count] : counts) {
        const ObjectNames names = names_of(group.first);
        Diagnostic found{};
        found.kind = DiagnosticKind::memory_leak;
        found.message =
            (count == 1 ? std::string(names.one) + " was" : std::to_string(count) + " " + names.many + " were") +
            " never " + names.missing;
        found.hint = group.first == ObjectKind::profiler_range
                         ? "end it with nvtxRangePop or nvtxRangeEnd, or let an nvtx3::scoped_range do that"
                         : std::string("give it back with ") + names.undo + " when it is no longer used";
        found.code = group.second;
        found.count = count;
        found.is_note = !instrumenting().leaks;
        report(std::move(found));
    }
}

}  // namespace cpu_device
