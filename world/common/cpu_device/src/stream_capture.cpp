// Capture: what a stream is given becomes nodes of a graph, and nothing of it is done.
#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "cpu_device/diagnostics.h"
#include "graph.h"
#include "live_objects.h"
#include "streams.h"

namespace cpu_device {
namespace {

/// What the next work of a captured stream has to wait for.
using Tips = std::vector<GraphNode*>;

struct Capture {
    unsigned long long id = 0;
    cudaStream_t origin = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    const void* thread = nullptr;  ///< the one that began it
    Graph* graph = nullptr;
    std::unique_ptr<Graph> made;  ///< the same, unless the program has given the graph
    bool is_valid = true;
    std::map<cudaStream_t, Tips> streams;
    std::map<cudaEvent_t, Tips> events;
    std::vector<cudaGraphNode_t> listed;  ///< what cudaStreamGetCaptureInfo has told of
};

thread_local char this_thread;  // its address tells threads apart
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

void add_tips(Tips& to, const Tips& more) {
    for (GraphNode* node : more) {
        if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
    }
}

/// These wait for the whole device.
bool waits_for_everything(std::string_view function) {
    return function == "cudaDeviceSynchronize" || function == "cudaDeviceReset";
}

/// These use the legacy default stream and wait for it.
bool uses_legacy_stream(std::string_view function) {
    constexpr std::array<std::string_view, 7> names = {"cudaMemcpy",           "cudaMemcpy2D", "cudaMemcpyToSymbol",
                                                       "cudaMemcpyFromSymbol", "cudaMemcpy3D", "cudaMemcpy2DToArray",
                                                       "cudaMemcpy2DFromArray"};
    return std::find(names.begin(), names.end(), function) != names.end();
}

/// These may wait for work that is in flight.
bool is_unsafe(std::string_view function) {
    constexpr std::array<std::string_view, 10> names = {
        "cudaMalloc",   "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc",    "cudaMallocPitch",
        "cudaMalloc3D", "cudaFree",          "cudaFreeHost",   "cudaHostRegister", "cudaHostUnregister"};
    return std::find(names.begin(), names.end(), function) != names.end();
}

class Captures final : public StreamCapture {
public:
    using Result = std::optional<cudaError_t>;

    Result launch(const LaunchSite& site, const LaunchConfig& config, const ErasedLaunch& code,
                  bool cooperative) override {
        return add(config.stream, [&](Capture& capture, NodeWork& work) -> cudaError_t {
            KeptLaunch* const kept = code.keep == nullptr ? nullptr : code.keep(code.keeper);
            if (kept == nullptr) {
                capture.is_valid = false;
                return unsupported("the capture of a launch whose arguments cannot be copied", site.site,
                                   "name the kernel itself in the launch, and give it arguments that can be copied");
            }
            work.type = cudaGraphNodeTypeKernel;
            work.site = site.site;
            work.kernel.site = site;
            work.kernel.config = config;
            work.kernel.kept = {kept, [](KeptLaunch* launch) { launch->destroy(launch); }};
            work.kernel.cooperative = cooperative;
            return cudaSuccess;
        });
    }

    Result copy(const CopiedRows& rows, cudaStream_t stream, const ApiCall& call) override {
        return add(stream, [&](Capture&, NodeWork& work) -> cudaError_t {
            if (const cudaError_t wrong = check_rows(rows, call); wrong != cudaSuccess) return wrong;
            work.type = cudaGraphNodeTypeMemcpy;
            work.site = call.site;
            work.code = call.code;
            work.copy = rows;
            return cudaSuccess;
        });
    }

    Result fill(const FilledRows& rows, cudaStream_t stream, const ApiCall& call) override {
        return add(stream, [&](Capture&, NodeWork& work) -> cudaError_t {
            if (const cudaError_t wrong = check_rows(rows, call); wrong != cudaSuccess) return wrong;
            work.type = cudaGraphNodeTypeMemset;
            work.code = call.code;
            work.fill = rows;
            return cudaSuccess;
        });
    }

    Result host_function(cudaHostFn_t function, void* data, cudaStream_t stream, const ApiCall& call) override {
        return add(stream, [&](Capture&, NodeWork& work) -> cudaError_t {
            work.type = cudaGraphNodeTypeHost;
            work.code = call.code;
            work.host = {function, data};
            return cudaSuccess;
        });
    }

    Result record(cudaEvent_t event, cudaStream_t stream) override {
        const std::lock_guard lock(all_graphs().mutex);
        for (const auto& capture : captures_) capture->events.erase(event);
        Capture* const capture = find(stream);
        if (capture == nullptr) return implicit(stream);
        if (const cudaError_t wrong = state_of(*capture); wrong != cudaSuccess) return wrong;
        capture->events[event] = capture->streams[stream];
        return cudaSuccess;
    }

    Result wait(cudaStream_t stream, cudaEvent_t event) override {
        const std::lock_guard lock(all_graphs().mutex);
        Capture* const of_stream = find(stream);
        Capture* const of_event = find(event);
        if (of_stream == nullptr && of_event == nullptr) return std::nullopt;
        if (of_event != nullptr && of_stream == nullptr) {
            if (is_legacy(stream)) {
                of_event->is_valid = false;
                return cudaErrorStreamCaptureImplicit;
            }
            if (const cudaError_t wrong = state_of(*of_event); wrong != cudaSuccess) return wrong;
            of_event->streams[stream] = of_event->events[event];
            return cudaSuccess;
        }
        if (const cudaError_t wrong = state_of(*of_stream); wrong != cudaSuccess) return wrong;
        if (of_event != of_stream) {
            of_stream->is_valid = false;
            if (of_event == nullptr) return cudaErrorStreamCaptureIsolation;
            of_event->is_valid = false;
            return cudaErrorStreamCaptureMerge;
        }
        add_tips(of_stream->streams[stream], of_event->events[event]);
        return cudaSuccess;
    }

    // The same as for the functions of is_unsafe() where the stream or the event has nothing to do with a capture.
    Result query(cudaStream_t stream) override {
        const std::lock_guard lock(all_graphs().mutex);
        if (const Result wrong = refuse(stream)) return wrong;
        return prohibited(false);
    }

    Result query(cudaEvent_t event) override {
        const std::lock_guard lock(all_graphs().mutex);
        Capture* const capture = find(event);
        if (capture == nullptr) return prohibited(false);
        capture->is_valid = false;
        return cudaErrorCapturedEvent;
    }

    Result refuse(cudaStream_t stream) override {
        const std::lock_guard lock(all_graphs().mutex);
        Capture* const capture = find(stream);
        if (capture == nullptr) return implicit(stream);
        const bool was_valid = std::exchange(capture->is_valid, false);
        return was_valid ? cudaErrorStreamCaptureUnsupported : cudaErrorStreamCaptureInvalidated;
    }

    bool captures(cudaStream_t stream) override {
        const std::lock_guard lock(all_graphs().mutex);
        return find(stream) != nullptr;
    }

    cudaError_t before(const char* function) override {
        const std::string_view name = function;
        const bool everything = waits_for_everything(name), legacy = uses_legacy_stream(name);
        if (!everything && !legacy && !is_unsafe(name)) return cudaSuccess;
        const std::lock_guard lock(all_graphs().mutex);
        if (legacy) {
            if (const Result wrong = implicit(nullptr)) return *wrong;
        }
        return prohibited(everything).value_or(cudaSuccess);
    }

    /// A call that captures prohibit, because it may wait for work in flight (`everything`: for all of it).
    Result prohibited(bool everything) {
        Result error;
        for (const auto& capture : captures_) {
            const bool own = capture->thread == &this_thread;
            const bool prohibits = everything || (own ? capture->mode != cudaStreamCaptureModeRelaxed
                                                      : capture->mode == cudaStreamCaptureModeGlobal &&
                                                            mode_of_thread == cudaStreamCaptureModeGlobal);
            if (!prohibits || (!everything && mode_of_thread == cudaStreamCaptureModeRelaxed)) continue;
            capture->is_valid = false;
            error = cudaErrorStreamCaptureUnsupported;
        }
        return error;
    }

    // ---- beginning and ending --------------------------------------------------------------------------------------

    cudaError_t begin(cudaStream_t stream, cudaStreamCaptureMode mode, Graph* graph, const Tips& tips) {
        if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        if (is_legacy(stream)) return cudaErrorStreamCaptureUnsupported;
        if (find(stream) != nullptr) return cudaErrorIllegalState;
        auto capture = std::make_unique<Capture>();
        capture->id = ++last_id_;
        capture->origin = stream;
        capture->mode = mode;
        capture->thread = &this_thread;
        if (graph == nullptr) {
            capture->made = all_graphs().make(nullptr);
            graph = capture->made.get();
        }
        capture->graph = graph;
        capture->streams[stream] = tips;
        captures_.push_back(std::move(capture));
        running_capture = this;
        return cudaSuccess;
    }

    cudaError_t end(cudaStream_t stream, cudaGraph_t* graph, const ApiCall& call) {
        if (graph == nullptr) return cudaErrorInvalidValue;
        *graph = nullptr;
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        Capture* const capture = find(stream);
        if (capture == nullptr) return cudaErrorIllegalState;
        if (capture->origin != stream) {
            capture->is_valid = false;
            return cudaErrorStreamCaptureUnmatched;
        }
        if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != &this_thread) {
            return cudaErrorStreamCaptureWrongThread;
        }
        const cudaError_t wrong = !capture->is_valid       ? cudaErrorStreamCaptureInvalidated
                                  : has_unjoined(*capture) ? cudaErrorStreamCaptureUnjoined
                                                           : cudaSuccess;
        if (wrong == cudaSuccess) {
            *graph = capture->graph->handle;
            if (capture->made) {
                note_created(ObjectKind::graph, *graph, call.code);
                all_graphs().owned[*graph] = std::move(capture->made);
            }
        } else if (capture->made) {
            all_graphs().forget(*capture->made);
        }
        std::erase_if(captures_, [&](const auto& one) { return one.get() == capture; });
        if (captures_.empty()) running_capture = nullptr;
        return wrong;
    }

    /// Whether work in the legacy default stream would have to wait for what is captured.
    bool holds_up_legacy_stream() const {
        return std::any_of(captures_.begin(), captures_.end(), [](const auto& capture) { return holds_up(*capture); });
    }

    Capture* find(cudaStream_t stream) {
        for (const auto& capture : captures_) {
            if (capture->streams.count(stream) != 0) return capture.get();
        }
        return nullptr;
    }

private:
    Capture* find(cudaEvent_t event) {
        for (const auto& capture : captures_) {
            if (capture->events.count(event) != 0) return capture.get();
        }
        return nullptr;
    }

    static cudaError_t state_of(const Capture& capture) {
        if (!capture.is_valid) return cudaErrorStreamCaptureInvalidated;
        const bool wrong_thread = capture.mode != cudaStreamCaptureModeRelaxed && capture.thread != &this_thread;
        return wrong_thread ? cudaErrorStreamCaptureWrongThread : cudaSuccess;
    }

    static bool holds_up(const Capture& capture) {
        return std::any_of(capture.streams.begin(), capture.streams.end(),
                           [](const auto& stream) { return stream_is_blocking(stream.first); });
    }

    /// Work in the legacy stream would have to wait for what is captured.
    Result implicit(cudaStream_t stream) {
        if (!is_legacy(stream)) return std::nullopt;
        if (!holds_up_legacy_stream()) return std::nullopt;
        for (const auto& capture : captures_) {
            if (holds_up(*capture)) capture->is_valid = false;
        }
        return cudaErrorStreamCaptureImplicit;
    }

    template <class MakeWork>
    Result add(cudaStream_t stream, const MakeWork& make_work) {
        const std::lock_guard lock(all_graphs().mutex);
        Capture* const capture = find(stream);
        if (capture == nullptr) return implicit(stream);
        if (const cudaError_t wrong = state_of(*capture); wrong != cudaSuccess) return wrong;
        NodeWork work;
        if (const cudaError_t wrong = make_work(*capture, work); wrong != cudaSuccess) return wrong;
        Tips& tips = capture->streams[stream];
        // A programmatic launch behind a single kernel waits for it in the kernel's own code.
        const bool is_programmatic = work.type == cudaGraphNodeTypeKernel && work.kernel.config.programmatic &&
                                     tips.size() == 1 && tips.front()->work.type == cudaGraphNodeTypeKernel;
        cudaGraphEdgeData edge{};
        if (is_programmatic) {
            edge.from_port = cudaGraphKernelNodePortProgrammatic;
            edge.type = cudaGraphDependencyTypeProgrammatic;
        }
        GraphNode& node = all_graphs().add(*capture->graph, std::move(work), tips, is_programmatic ? &edge : nullptr);
        tips = {&node};
        return cudaSuccess;
    }

    /// Whether some work of another stream comes before nothing in the stream that began.
    static bool has_unjoined(const Capture& capture) {
        std::set<const GraphNode*> joined;
        Tips open = capture.streams.at(capture.origin);
        while (!open.empty()) {
            const GraphNode* const node = open.back();
            open.pop_back();
            if (!joined.insert(node).second) continue;
            for (const GraphEdge& edge : node->before) open.push_back(edge.from);
        }
        return std::any_of(capture.streams.begin(), capture.streams.end(), [&](const auto& stream) {
            return std::any_of(stream.second.begin(), stream.second.end(),
                               [&](const GraphNode* node) { return joined.count(node) == 0; });
        });
    }

    std::vector<std::unique_ptr<Capture>> captures_;
    unsigned long long last_id_ = 0;
};

Captures& captures() {
    static auto* all = new Captures;
    return *all;
}

/// A call that is about captures, under their mutex.
template <class Body>
cudaError_t capture_call(const ApiCall& call, const Body& body) {
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            const std::lock_guard lock(all_graphs().mutex);
            return body();
        },
        call);
}

cudaError_t find_tips(const Graph& graph, const cudaGraphNode_t* nodes, std::size_t count, Tips& tips) {
    if (count > 0 && nodes == nullptr) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
        GraphNode* const node = all_graphs().find(nodes[i]);
        if (node == nullptr || node->graph != &graph) return cudaErrorInvalidValue;
        tips.push_back(node);
    }
    return cudaSuccess;
}

}  // namespace

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    const ApiCall call{"cudaStreamBeginCapture", {}, __builtin_return_address(0)};
    return capture_call(call, [&] { return captures().begin(stream, mode, nullptr, {}); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*, size_t count, cudaStreamCaptureMode mode) {
    const ApiCall call{"cudaStreamBeginCaptureToGraph", {}, __builtin_return_address(0)};
    return capture_call(call, [&]() -> cudaError_t {
        Graph* const found = all_graphs().find(graph);
        if (found == nullptr) return cudaErrorInvalidValue;
        Tips tips;
        const cudaError_t wrong = find_tips(*found, dependencies, count, tips);
        return wrong != cudaSuccess ? wrong : captures().begin(stream, mode, found, tips);
    });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    const ApiCall call{"cudaStreamEndCapture", {}, __builtin_return_address(0)};
    return capture_call(call, [&] { return captures().end(stream, graph, call); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
    const ApiCall call{"cudaStreamGetCaptureInfo", {}, __builtin_return_address(0)};
    return capture_call(call, [&]() -> cudaError_t {
        if (status == nullptr) return cudaErrorInvalidValue;
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        *status = cudaStreamCaptureStatusNone;
        if (is_legacy(stream) && captures().holds_up_legacy_stream()) return cudaErrorStreamCaptureImplicit;
        Capture* const capture = captures().find(stream);
        if (capture == nullptr) return cudaSuccess;
        *status = capture->is_valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
        if (!capture->is_valid) return cudaSuccess;
        capture->listed.clear();
        for (const GraphNode* node : capture->streams[stream]) capture->listed.push_back(node->handle);
        if (id != nullptr) *id = capture->id;
        if (graph != nullptr) *graph = capture->graph->handle;
        if (dependencies != nullptr) *dependencies = capture->listed.data();
        if (edges != nullptr) *edges = nullptr;
        if (count != nullptr) *count = capture->listed.size();
        return cudaSuccess;
    });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, size_t count, unsigned flags) {
    const ApiCall call{"cudaStreamUpdateCaptureDependencies", {}, __builtin_return_address(0)};
    return capture_call(call, [&]() -> cudaError_t {
        if (flags > cudaStreamSetCaptureDependencies) return cudaErrorInvalidValue;
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        Capture* const capture = captures().find(stream);
        if (capture == nullptr) return cudaErrorIllegalState;
        if (!capture->is_valid) return cudaErrorStreamCaptureInvalidated;
        Tips more;
        const cudaError_t wrong = find_tips(*capture->graph, dependencies, count, more);
        if (wrong != cudaSuccess) return wrong;
        Tips& tips = capture->streams[stream];
        if (flags == cudaStreamSetCaptureDependencies) tips.clear();
        add_tips(tips, more);
        return cudaSuccess;
    });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    const ApiCall call{"cudaThreadExchangeStreamCaptureMode", {}, __builtin_return_address(0)};
    return capture_call(call, [&]() -> cudaError_t {
        if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed) {
            return cudaErrorInvalidValue;
        }
        std::swap(*mode, mode_of_thread);
        return cudaSuccess;
    });
}
