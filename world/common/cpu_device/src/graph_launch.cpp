// Launching graphs, and what their kernels can do to them.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "allocations.h"
#include "block.h"
#include "copy_diagnostics.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/error_state.h"
#include "cpu_device/instrument.h"
#include "device_work.h"
#include "devices.h"
#include "diagnoser.h"
#include "graph.h"
#include "instrumented_code.h"
#include "instrumented_thread.h"
#include "kernel_names.h"
#include "node_races.h"
#include "source_lines.h"
#include "stream_order.h"
#include "streams.h"

namespace cpu_device {
namespace {

/// What conditional nodes look at, by handle.
struct ConditionValues {
    std::mutex mutex;
    std::map<cudaGraphConditionalHandle, unsigned> values;

    unsigned get(cudaGraphConditionalHandle handle) {
        std::lock_guard lock(mutex);
        return values[handle];
    }
    void set(cudaGraphConditionalHandle handle, unsigned value) {
        std::lock_guard lock(mutex);
        values[handle] = value;
    }
};

ConditionValues& condition_values() {
    static auto* all = new ConditionValues;
    return *all;
}

std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
    number = (number ^ number >> 27) * 0x94D049BB133111EBu;
    return number ^ number >> 31;
}

/// One launch.
class GraphRun {
public:
    GraphRun(const ExecutableGraph& executable, cudaStream_t stream, const ApiCall& call)
        : executable_(executable), stream_(stream), call_(call) {
        if (executable.may_race && instrumenting().diagnostics) races_.emplace();
    }

    cudaError_t run() {
        const StreamOfCall in(stream_);
        assign_defaults(*executable_.graph);
        run(*executable_.graph, {}, true);
        return wrong_;
    }

private:
    static void assign_defaults(const Graph& graph) {
        for (const GraphCondition& condition : graph.conditions) {
            if (condition.assigned) condition_values().set(condition.handle, condition.value);
        }
        for (const auto& node : graph.nodes) {
            for (const auto& body : node->bodies) assign_defaults(*body);
        }
    }

    /// Returns the steps that are over when the graph is. `alone`: what runs outside of it comes before it or after.
    StepSet run(const Graph& graph, const StepSet& before, bool alone) {
        std::vector<std::vector<bool>> ancestors;
        if (races_) ancestors = ancestors_of(graph);
        std::map<const GraphNode*, StepSet> over;
        StepSet all = before;
        const GraphNode* previous = nullptr;
        for (const GraphNode* node : order_of(graph)) {
            if (device_is_lost() || wrong_ != cudaSuccess) return all;
            StepSet steps = before;
            bool has_order = true;
            if (races_) {
                for (const GraphEdge& edge : node->before) steps.add(over[edge.from]);
                const std::size_t place = graph.place_of(node);
                for (std::size_t i = 0; i < ancestors.size(); ++i) {
                    has_order = has_order && (i == place || ancestors[i][place] || ancestors[place][i]);
                }
            }
            run(*node, previous, steps, alone && has_order);
            if (races_) {
                all.add(steps);
                over[node] = std::move(steps);
            }
            previous = node;
        }
        return all;
    }

    /// Adds to `steps` what is over when the node is.
    void run(const GraphNode& node, const GraphNode* previous, StepSet& steps, bool alone) {
        if (!node.enabled) return;
        switch (node.work.type) {
            case cudaGraphNodeTypeKernel:
                return in_step(node, steps, [&] { launch(node, previous); });
            case cudaGraphNodeTypeMemcpy:
                nothing_overlaps();
                return in_step(node, steps, [&] {
                    const CopiedRows& rows = node.work.copy;
                    for (std::size_t row = 0; row < rows.height && races_; ++row) {
                        races_->use(static_cast<const std::byte*>(rows.from) + row * rows.from_pitch, rows.width,
                                    false);
                        races_->use(static_cast<std::byte*>(rows.to) + row * rows.to_pitch, rows.width, true);
                    }
                    note_order(OrderStep::work, stream_);
                    note(carry_out(rows, call_));
                });
            case cudaGraphNodeTypeMemset:
                nothing_overlaps();
                return in_step(node, steps, [&] {
                    const FilledRows& rows = node.work.fill;
                    for (std::size_t row = 0; row < rows.height && races_; ++row) {
                        races_->use(static_cast<std::byte*>(rows.to) + row * rows.pitch,
                                    rows.width * rows.element_bytes, true);
                    }
                    note_order(OrderStep::work, stream_);
                    note(carry_out(rows, call_));
                });
            case cudaGraphNodeTypeHost:
                nothing_overlaps();
                run_host_function(stream_, [&] { node.work.host.fn(node.work.host.userData); });
                return;
            case cudaGraphNodeTypeGraph:
                steps = run(*node.bodies.front(), steps, alone);
                return;
            case cudaGraphNodeTypeConditional:
                steps = choose(node, steps, alone);
                return;
            default:
                return;
        }
    }

    void note(cudaError_t error) {
        if (wrong_ == cudaSuccess) wrong_ = error;
    }

    template <class Work>
    void in_step(const GraphNode& node, StepSet& steps, const Work& work) {
        if (!races_) return work();
        const std::size_t step = races_->begin(text_of(node), node.work.site, node.work.code, steps);
        work();
        races_->end();
        steps.add(step);
    }

    void launch(const GraphNode& node, const GraphNode* previous) {
        const KernelWork& kernel = node.work.kernel;
        LaunchConfig config = kernel.config;
        config.stream = stream_;
        config.in_graph = true;
        // It may overlap with the kernel that it alone waits for, by a programmatic edge.
        config.programmatic = node.before.size() == 1 && node.before.front().from == previous &&
                              previous->work.type == cudaGraphNodeTypeKernel &&
                              node.before.front().data.type == cudaGraphDependencyTypeProgrammatic;
        if (!config.programmatic) nothing_overlaps();
        launch_erased(kernel.site, config, kernel.kept->launch, kernel.cooperative);
    }

    StepSet choose(const GraphNode& node, const StepSet& before, bool alone) {
        const auto& condition = node.work.condition;
        const auto value = [&] { return condition_values().get(condition.handle); };
        if (condition.type != cudaGraphCondTypeWhile) {
            const unsigned now = value();
            const std::size_t chosen = condition.type == cudaGraphCondTypeSwitch ? now : now != 0 ? 0 : 1;
            return chosen < node.bodies.size() ? run(*node.bodies[chosen], before, alone) : before;
        }
        using Clock = std::chrono::steady_clock;
        const Clock::time_point start = Clock::now();
        StepSet over = before;
        for (std::uint64_t turns = 0; value() != 0 && !device_is_lost() && wrong_ == cudaSuccess; ++turns) {
            if (races_ && alone) races_->forget();
            over = run(*node.bodies.front(), over, alone);
            const std::chrono::duration<double> taken = Clock::now() - start;
            if (watchdog_seconds() > 0 && taken.count() > watchdog_seconds()) {
                report_endless(node, turns + 1, taken.count());
                break;
            }
        }
        return over;
    }

    void report_endless(const GraphNode& node, std::uint64_t turns, double seconds) {
        Diagnostic found{};
        found.kind = DiagnosticKind::endless_kernel;
        found.message = text_of(node) + " of a graph has run its body " + std::to_string(turns) + " times in " +
                        std::to_string(static_cast<int>(seconds)) + " seconds, and its condition is still not 0";
        found.site = place_of(call_);
        found.hint =
            "a kernel of the body has to call cudaGraphSetConditional(handle, 0) in the end, also where the loop does "
            "not converge: let it count the turns as well";
        report(std::move(found));
        kernel_failed(cudaErrorLaunchTimeout, {"(a graph)", place_of(call_)});
    }

    const ExecutableGraph& executable_;
    cudaStream_t stream_;
    const ApiCall& call_;
    std::optional<NodeRaces> races_;
    cudaError_t wrong_ = cudaSuccess;
};

// ---- pointers that are no longer good ------------------------------------------------------------------------------

/// The part of the calling thread's stack that nobody uses.
bool is_in_unused_stack(const void* memory, const void* frame) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
    void* lowest = nullptr;
    std::size_t bytes = 0;
    const bool known = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0;
    pthread_attr_destroy(&attributes);
    return known && memory >= lowest && memory < frame;
}

std::string at_line(Site site) {
    return site.line > 0 ? " (made at " + short_name(site.file) + ":" + std::to_string(site.line) + ")" : "";
}

void report_stale(const GraphNode& node, const Allocation& freed, const std::string& role, const ApiCall& call) {
    report_misuse(DiagnosticKind::use_after_free, call,
                  "was given a graph whose " + text_of(node) + at_line(place_of(node.work)) + " was given " +
                      describe(freed) + role + ", which was freed since",
                  "a graph keeps the pointers that its nodes were given: free memory after the last launch of the "
                  "graph, or give the node the new pointer with cudaGraphExecKernelNodeSetParams or "
                  "cudaGraphExecUpdate",
                  freed.display_name(), OtherSide{freed.freed_at, {}, {}, "freed it"});
}

bool report_stale_node(const GraphNode& node, const void* frame, const ApiCall& call) {
    const auto report_if_freed = [&](const void* memory, const std::string& role) {
        const auto freed = memory == nullptr || find_allocation(memory) ? std::nullopt : find_freed(memory);
        if (freed) report_stale(node, *freed, role, call);
        return freed.has_value();
    };
    if (node.work.type == cudaGraphNodeTypeKernel) {
        const ErasedLaunch& launch = node.work.kernel.kept->launch;
        std::string_view names = with_kernel_name(node.work.kernel.site).parameters;
        for (std::size_t i = 0; i < launch.arguments; ++i) {
            const std::size_t comma = std::min(names.find(','), names.size());
            std::string name(names.substr(0, comma));
            if (name.ends_with('!')) name.pop_back();
            names.remove_prefix(std::min(comma + 1, names.size()));
            if (report_if_freed(launch.pointers[i], name.empty() ? "" : " as its argument '" + name + "'")) return true;
        }
        return false;
    }
    if (node.work.type == cudaGraphNodeTypeMemset) return report_if_freed(node.work.fill.to, "");
    if (node.work.type != cudaGraphNodeTypeMemcpy) return false;
    const CopiedRows& rows = node.work.copy;
    if (report_if_freed(rows.to, " as its destination") || report_if_freed(rows.from, " as its source")) return true;
    for (const auto& [memory, role] : {std::pair<const void*, const char*>{rows.to, "destination"},
                                       std::pair<const void*, const char*>{rows.from, "source"}}) {
        if (!is_in_unused_stack(memory, frame)) continue;
        report_misuse(DiagnosticKind::use_after_free, call,
                      "was given a graph whose " + text_of(node) + at_line(place_of(node.work)) + " has as its " +
                          role + " a local variable of a function that has returned",
                      "a copy in a graph happens at each launch of the graph, and not when it is captured: use memory "
                      "that lives as long as the graph, best pinned memory");
        return true;
    }
    return false;
}

}  // namespace

std::vector<GraphNode*> order_of(const Graph& graph) {
    std::vector<std::size_t> missing;
    std::map<const GraphNode*, std::size_t> places;
    for (const auto& node : graph.nodes) {
        places[node.get()] = missing.size();
        missing.push_back(node->before.size());
    }
    std::vector<std::vector<std::size_t>> after(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const GraphEdge& edge : graph.nodes[i]->before) after[places[edge.from]].push_back(i);
    }
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < missing.size(); ++i) {
        if (missing[i] == 0) ready.push_back(i);
    }
    std::vector<GraphNode*> order;
    const std::uint64_t seed = schedule_seed();
    while (!ready.empty()) {
        const auto chosen =
            seed == 0 ? std::min_element(ready.begin(), ready.end())
                      : ready.begin() + static_cast<std::ptrdiff_t>(mixed(seed + order.size()) % ready.size());
        const std::size_t place = *chosen;
        ready.erase(chosen);
        order.push_back(graph.nodes[place].get());
        for (const std::size_t next : after[place]) {
            if (--missing[next] == 0) ready.push_back(next);
        }
    }
    if (order.size() != graph.nodes.size()) order.clear();
    return order;
}

std::vector<std::vector<bool>> ancestors_of(const Graph& graph) {
    const std::size_t count = graph.nodes.size();
    std::vector<std::vector<bool>> ancestors(count, std::vector<bool>(count));
    for (const GraphNode* node : order_of(graph)) {
        std::vector<bool>& mine = ancestors[graph.place_of(node)];
        for (const GraphEdge& edge : node->before) {
            const std::size_t place = graph.place_of(edge.from);
            mine[place] = true;
            for (std::size_t i = 0; i < count; ++i) mine[i] = mine[i] || ancestors[place][i];
        }
    }
    return ancestors;
}

GraphNode* misplaced_node(const Graph& graph, bool in_body, bool* is_cycle) {
    if (!graph.nodes.empty() && order_of(graph).empty()) {
        *is_cycle = true;
        return nullptr;
    }
    for (const auto& node : graph.nodes) {
        if (in_body && node->work.type == cudaGraphNodeTypeHost) return node.get();
        const bool inside = in_body || node->work.type == cudaGraphNodeTypeConditional;
        for (const auto& body : node->bodies) {
            GraphNode* const wrong = misplaced_node(*body, inside, is_cycle);
            if (wrong != nullptr || *is_cycle) return wrong;
        }
    }
    return nullptr;
}

bool has_unordered_nodes(const Graph& graph) {
    const std::vector<std::vector<bool>> ancestors = ancestors_of(graph);
    for (std::size_t i = 0; i < ancestors.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (!ancestors[i][k] && !ancestors[k][i]) return true;
        }
    }
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
        return std::any_of(node->bodies.begin(), node->bodies.end(),
                           [](const auto& body) { return has_unordered_nodes(*body); });
    });
}

bool report_stale_pointers(const Graph& graph, const void* frame, const ApiCall& call) {
    for (const auto& node : graph.nodes) {
        if (node->enabled && report_stale_node(*node, frame, call)) return true;
        for (const auto& body : node->bodies) {
            if (report_stale_pointers(*body, frame, call)) return true;
        }
    }
    return false;
}

cudaError_t run_graph(const ExecutableGraph& executable, cudaStream_t stream, const ApiCall& call) {
    return GraphRun(executable, stream, call).run();
}

}  // namespace cpu_device

using namespace cpu_device;

namespace {

/// The executable graph; null, and a report, where there is none.
std::shared_ptr<ExecutableGraph> executable_of(cudaGraphExec_t handle, const ApiCall& call) {
    Graphs& all = all_graphs();
    std::lock_guard lock(all.mutex);
    const auto found = all.executables.find(handle);
    if (found != all.executables.end()) return found->second;
    const auto destroyed = all.destroyed.find(handle);
    if (destroyed != all.destroyed.end()) {
        report_misuse(DiagnosticKind::use_after_free, call, "was given an executable graph that was destroyed",
                      "destroy an executable graph after its last launch", {},
                      OtherSide{site_of_code(destroyed->second), {}, {}, "destroyed it"});
    }
    return nullptr;
}

}  // namespace

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
    const ApiCall call{"cudaGraphUpload", {}, __builtin_return_address(0)};
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            if (!executable_of(executable, call)) return cudaErrorInvalidValue;
            return stream_exists(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
        },
        call);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    const ApiCall call{"cudaGraphLaunch", {}, __builtin_return_address(0)};
    const void* const frame = __builtin_frame_address(0);  // variables of the program's functions lie above it
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            const std::shared_ptr<ExecutableGraph> found = executable_of(executable, call);
            if (!found) return cudaErrorInvalidValue;
            if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
            if (StreamCapture* const capture = stream_capture()) {
                if (const auto refused = capture->refuse(stream))
                    return *refused;  // not a child: a GPU refuses it, too
            }
            if (device_is_lost()) return cudaSuccess;
            // A GPU says so later, if at all: the kernel then writes where something else may be.
            if (instrumenting().diagnostics && report_stale_pointers(*found->graph, frame, call)) {
                return cudaErrorInvalidValue;
            }
            nothing_overlaps();
            (void)finish_stream(stream);
            const OnDevice device(found->device);
            const DeviceWork::Lock alone = enter_device();
            const cudaError_t wrong = run_graph(*found, stream, call);
            nothing_overlaps();
            return wrong;
        },
        call);
}

// ---- for kernels -------------------------------------------------------------------------------------------------

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
    const Uninstrumented now;
    (void)running_block("cudaGraphSetConditional");
    condition_values().set(handle, value);
}

void cudaGridDependencySynchronize() {
    (void)running_block("cudaGridDependencySynchronize");
    if (!instrumented_thread.active) return;  // only then the rest of it is about this thread
    const Uninstrumented now;
    if (BlockDiagnoser* const diagnoser = instrumented_thread.diagnoser) {
        diagnoser->pause();
        diagnoser->wait_for_launch_ahead(current_thread.linear_thread);
    }
}

void cudaTriggerProgrammaticLaunchCompletion() { (void)running_block("cudaTriggerProgrammaticLaunchCompletion"); }
