// Building graphs: nodes, edges, copies, and what can be asked about them.
#include "graph.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"
#include "kernel_names.h"
#include "live_objects.h"

namespace cpu_device {

Graphs& all_graphs() {
    static auto* all = new Graphs;  // still needed when the process exits
    return *all;
}

bool GraphNode::waits_for(const GraphNode* other) const {
    return std::any_of(before.begin(), before.end(), [&](const GraphEdge& edge) { return edge.from == other; });
}

std::size_t Graph::place_of(const GraphNode* node) const {
    const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const auto& one) { return one.get() == node; });
    return static_cast<std::size_t>(found - nodes.begin());
}

Graph* Graphs::find(cudaGraph_t graph) const {
    const auto found = by_handle.find(graph);
    return found == by_handle.end() ? nullptr : found->second;
}

GraphNode* Graphs::find(cudaGraphNode_t node) const {
    const auto found = nodes.find(node);
    return found == nodes.end() ? nullptr : found->second;
}

std::unique_ptr<Graph> Graphs::make(GraphNode* part_of) {
    auto graph = std::make_unique<Graph>();
    graph->handle = new_handle<cudaGraph_t>();
    graph->part_of = part_of;
    by_handle[graph->handle] = graph.get();
    return graph;
}

std::unique_ptr<Graph> Graphs::clone(const Graph& graph, GraphNode* part_of, bool known) {
    std::unique_ptr<Graph> copy;
    if (known) {
        copy = make(part_of);
    } else {
        copy = std::make_unique<Graph>();
        copy->part_of = part_of;
    }
    copy->conditions = graph.conditions;
    std::map<const GraphNode*, GraphNode*> copies;
    for (const auto& node : graph.nodes) {
        auto twin = std::make_unique<GraphNode>();
        twin->graph = copy.get();
        twin->work = node->work;
        twin->enabled = node->enabled;
        twin->original = node->handle != nullptr ? node->handle : node->original;
        if (known) {
            twin->handle = new_handle<cudaGraphNode_t>();
            nodes[twin->handle] = twin.get();
        }
        for (const auto& body : node->bodies) {
            twin->bodies.push_back(clone(*body, twin.get(), known));
            twin->body_handles.push_back(twin->bodies.back()->handle);
        }
        copies[node.get()] = twin.get();
        copy->nodes.push_back(std::move(twin));
    }
    for (const auto& node : graph.nodes) {
        for (const GraphEdge& edge : node->before) copies[node.get()]->before.push_back({copies[edge.from], edge.data});
    }
    return copy;
}

void Graphs::forget(const Graph& graph) {
    for (const auto& node : graph.nodes) {
        for (const auto& body : node->bodies) forget(*body);
        nodes.erase(node->handle);
    }
    by_handle.erase(graph.handle);
}

GraphNode& Graphs::add(Graph& graph, NodeWork work, const std::vector<GraphNode*>& before,
                       const cudaGraphEdgeData* edges) {
    auto node = std::make_unique<GraphNode>();
    node->handle = new_handle<cudaGraphNode_t>();
    node->graph = &graph;
    node->work = std::move(work);
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (!node->waits_for(before[i])) {
            node->before.push_back({before[i], edges == nullptr ? cudaGraphEdgeData{} : edges[i]});
        }
    }
    nodes[node->handle] = node.get();
    graph.nodes.push_back(std::move(node));
    return *graph.nodes.back();
}

void Graphs::destroy(GraphNode& node) {
    Graph& graph = *node.graph;
    for (const auto& body : node.bodies) forget(*body);
    nodes.erase(node.handle);
    for (const auto& other : graph.nodes) {
        std::erase_if(other->before, [&](const GraphEdge& edge) { return edge.from == &node; });
    }
    std::erase_if(graph.nodes, [&](const auto& one) { return one.get() == &node; });
}

std::string text_of(const GraphNode& node) {
    std::string text = "node " + std::to_string(node.graph->place_of(&node));
    switch (node.work.type) {
        case cudaGraphNodeTypeKernel:
            return text + " (kernel " + with_kernel_name(node.work.kernel.site).kernel + ")";
        case cudaGraphNodeTypeMemcpy:
            return text + " (copy)";
        case cudaGraphNodeTypeMemset:
            return text + " (memset)";
        case cudaGraphNodeTypeHost:
            return text + " (host function)";
        case cudaGraphNodeTypeGraph:
            return text + " (child graph)";
        case cudaGraphNodeTypeConditional:
            return text + " (condition)";
        default:
            return text + " (empty)";
    }
}

Site place_of(const NodeWork& work) { return work.site.line > 0 ? work.site : site_of_code(work.code); }

namespace {

/// What can be wrong with a list of nodes of one graph.
cudaError_t find_nodes(const Graphs& all, const Graph& graph, const cudaGraphNode_t* handles, std::size_t count,
                       std::vector<GraphNode*>& found) {
    if (count > 0 && handles == nullptr) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
        GraphNode* const node = all.find(handles[i]);
        if (node == nullptr || node->graph != &graph) return cudaErrorInvalidValue;
        if (std::find(found.begin(), found.end(), node) != found.end()) return cudaErrorInvalidValue;
        found.push_back(node);
    }
    return cudaSuccess;
}

/// A call that does something to graphs, under their mutex.
template <class Body>
cudaError_t graph_call(const ApiCall& call, const Body& body) {
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            std::lock_guard lock(all_graphs().mutex);
            return body(all_graphs());
        },
        call);
}

/// Adds a node with the work that `make_work(work)` fills in.
template <class MakeWork>
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                     const cudaGraphEdgeData* edges, std::size_t count, const ApiCall& call, const MakeWork& make_work,
                     GraphNode** added = nullptr) {
    return graph_call(call, [&](Graphs& all) -> cudaError_t {
        Graph* const found = all.find(graph);
        if (node == nullptr || found == nullptr) return cudaErrorInvalidValue;
        std::vector<GraphNode*> before;
        if (const cudaError_t wrong = find_nodes(all, *found, dependencies, count, before); wrong != cudaSuccess) {
            return wrong;
        }
        NodeWork work;
        work.code = call.code;
        if (const cudaError_t wrong = make_work(work); wrong != cudaSuccess) return wrong;
        GraphNode& made = all.add(*found, std::move(work), before, edges);
        *node = made.handle;
        if (added != nullptr) *added = &made;
        return cudaSuccess;
    });
}

// ---- what nodes do -------------------------------------------------------------------------------------------

cudaError_t set_kernel(NodeWork& work, const cudaKernelNodeParams* params, const ApiCall& call) {
    if (params == nullptr) return cudaErrorInvalidValue;
    if (params->func == nullptr) return cudaErrorInvalidDeviceFunction;
    if (params->extra != nullptr) return unsupported("kernel arguments in the form 'extra'", place_of(call));
    const dim3& grid = params->gridDim;
    const dim3& block = params->blockDim;
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || threads > 1024) return cudaErrorInvalidValue;
    KeptLaunch* kept = nullptr;
    const cudaError_t wrong = keep_known_kernel(params->func, params->kernelParams, &kept);
    if (wrong != cudaSuccess) return wrong;
    work.type = cudaGraphNodeTypeKernel;
    KernelWork& kernel = work.kernel;
    kernel.kept = {kept, [](KeptLaunch* launch) { launch->destroy(launch); }};
    kernel.config = LaunchConfig(grid, block, params->sharedMemBytes).of(params->func);
    kernel.site = {"(a kernel)", place_of(call), "", kAnyKernel, params->func};
    return cudaSuccess;
}

cudaError_t get_kernel(const NodeWork& work, cudaKernelNodeParams* params) {
    if (params == nullptr || work.type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    const KernelWork& kernel = work.kernel;
    *params = {const_cast<void*>(kernel.config.kernel),
               kernel.config.grid,
               kernel.config.block,
               static_cast<unsigned>(kernel.config.shared_bytes),
               const_cast<void**>(kernel.kept->arguments),
               nullptr};
    return cudaSuccess;
}

cudaError_t set_copy(NodeWork& work, const CopiedRows& rows, const ApiCall& call) {
    if (const cudaError_t wrong = check_rows(rows, call); wrong != cudaSuccess) return wrong;
    work.type = cudaGraphNodeTypeMemcpy;
    work.copy = rows;
    return cudaSuccess;
}

cudaError_t set_copy(NodeWork& work, const cudaMemcpy3DParms* params, const ApiCall& call) {
    if (params == nullptr) return cudaErrorInvalidValue;
    if (params->srcArray != nullptr || params->dstArray != nullptr || params->extent.depth > 1) {
        return unsupported("a node that copies a CUDA array or several slices", place_of(call));
    }
    const auto start = [](const cudaPitchedPtr& memory, const cudaPos& at) {
        return static_cast<std::byte*>(memory.ptr) + at.y * memory.pitch + at.x;
    };
    const std::size_t width = params->extent.width;
    const bool is_row = params->extent.height <= 1;
    return set_copy(work,
                    {start(params->dstPtr, params->dstPos), is_row ? width : params->dstPtr.pitch,
                     start(params->srcPtr, params->srcPos), is_row ? width : params->srcPtr.pitch, width,
                     params->extent.depth == 0 ? 0 : params->extent.height, params->kind},
                    call);
}

cudaError_t get_copy(const NodeWork& work, cudaMemcpy3DParms* params) {
    if (params == nullptr || work.type != cudaGraphNodeTypeMemcpy) return cudaErrorInvalidValue;
    const CopiedRows& rows = work.copy;
    *params = {};
    params->dstPtr = make_cudaPitchedPtr(rows.to, rows.to_pitch, rows.width, rows.height);
    params->srcPtr = make_cudaPitchedPtr(const_cast<void*>(rows.from), rows.from_pitch, rows.width, rows.height);
    params->extent = make_cudaExtent(rows.width, rows.height, 1);
    params->kind = rows.kind;
    return cudaSuccess;
}

cudaError_t set_fill(NodeWork& work, const cudaMemsetParams* params, const ApiCall& call) {
    if (params == nullptr) return cudaErrorInvalidValue;
    const unsigned size = params->elementSize;
    if (size != 1 && size != 2 && size != 4) return cudaErrorInvalidValue;
    const unsigned mask = size == 4 ? ~0u : (1u << size * 8) - 1;
    if ((params->value & ~mask) != 0) return cudaErrorInvalidValue;
    const std::size_t pitch = params->height > 1 ? params->pitch : params->width * size;
    const FilledRows rows{params->dst, pitch, params->value, size, params->width, params->height};
    if (const cudaError_t wrong = check_rows(rows, call); wrong != cudaSuccess) return wrong;
    work.type = cudaGraphNodeTypeMemset;
    work.fill = rows;
    return cudaSuccess;
}

cudaError_t get_fill(const NodeWork& work, cudaMemsetParams* params) {
    if (params == nullptr || work.type != cudaGraphNodeTypeMemset) return cudaErrorInvalidValue;
    const FilledRows& rows = work.fill;
    *params = {rows.to, rows.pitch, rows.value, rows.element_bytes, rows.width, rows.height};
    return cudaSuccess;
}

cudaError_t set_host(NodeWork& work, const cudaHostNodeParams* params) {
    if (params == nullptr || params->fn == nullptr) return cudaErrorInvalidValue;
    work.type = cudaGraphNodeTypeHost;
    work.host = *params;
    return cudaSuccess;
}

/// What a node of a given type becomes that is given other parameters.
cudaError_t change(NodeWork& work, const cudaGraphNodeParams& params, const ApiCall& call) {
    if (params.type != work.type) return cudaErrorInvalidValue;
    switch (params.type) {
        case cudaGraphNodeTypeKernel:
            return set_kernel(work, &params.kernel, call);
        case cudaGraphNodeTypeMemcpy:
            return set_copy(work, &params.memcpy.copyParams, call);
        case cudaGraphNodeTypeMemset:
            return set_fill(work, &params.memset, call);
        case cudaGraphNodeTypeHost:
            return set_host(work, &params.host);
        default:
            return cudaErrorInvalidValue;
    }
}

/// The node of an executable graph that was made of this one.
GraphNode* node_made_of(const Graph& graph, cudaGraphNode_t original) {
    for (const auto& node : graph.nodes) {
        if (node->original == original) return node.get();
        for (const auto& body : node->bodies) {
            if (GraphNode* const found = node_made_of(*body, original)) return found;
        }
    }
    return nullptr;
}

/// Calls `change(node)` for the node of the executable graph.
template <class Change>
cudaError_t change_in(cudaGraphExec_t executable, cudaGraphNode_t node, const ApiCall& call, const Change& change_it) {
    return graph_call(call, [&](Graphs& all) -> cudaError_t {
        const auto found = all.executables.find(executable);
        if (found == all.executables.end()) return cudaErrorInvalidValue;
        GraphNode* const there = node_made_of(*found->second->graph, node);
        return there == nullptr ? cudaErrorInvalidValue : change_it(*there);
    });
}

/// The same for a node of a graph.
template <class Change>
cudaError_t change_in_graph(cudaGraphNode_t node, cudaGraphNodeType type, const ApiCall& call,
                            const Change& change_it) {
    return graph_call(call, [&](Graphs& all) -> cudaError_t {
        GraphNode* const found = all.find(node);
        if (found == nullptr || (type != cudaGraphNodeTypeCount && found->work.type != type)) {
            return cudaErrorInvalidValue;
        }
        return change_it(*found);
    });
}

/// Writes out a list as functions of CUDA do: with room for less than all, the first ones.
template <class Value>
void write_list(const std::vector<Value>& list, Value* to, std::size_t* count) {
    if (to == nullptr) {
        *count = list.size();
        return;
    }
    for (std::size_t i = 0; i < *count; ++i) to[i] = i < list.size() ? list[i] : Value{};
    *count = std::min(*count, list.size());
}

// ---- comparing an executable graph with another graph -----------------------------------------------------------

struct UpdateFailure {
    cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    cudaGraphNode_t node = nullptr;
    cudaGraphNode_t from = nullptr;
};

UpdateFailure compare_for_update(const Graph& present, const Graph& wanted) {
    if (present.nodes.size() != wanted.nodes.size()) return {cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
    for (std::size_t i = 0; i < wanted.nodes.size(); ++i) {
        const GraphNode& now = *present.nodes[i];
        const GraphNode& then = *wanted.nodes[i];
        const auto fails = [&](cudaGraphExecUpdateResult result) {
            return UpdateFailure{result, then.handle, nullptr};
        };
        if (now.work.type != then.work.type) return fails(cudaGraphExecUpdateErrorNodeTypeChanged);
        if (now.before.size() != then.before.size()) return fails(cudaGraphExecUpdateErrorTopologyChanged);
        for (const GraphEdge& edge : then.before) {
            if (!now.waits_for(present.nodes[wanted.place_of(edge.from)].get())) {
                return {cudaGraphExecUpdateErrorTopologyChanged, then.handle, edge.from->handle};
            }
        }
        if (then.work.type == cudaGraphNodeTypeMemcpy && now.work.copy.kind != then.work.copy.kind) {
            return fails(cudaGraphExecUpdateErrorParametersChanged);
        }
        if (now.work.kernel.cooperative != then.work.kernel.cooperative) {
            return fails(cudaGraphExecUpdateErrorAttributesChanged);
        }
        if (now.bodies.size() != then.bodies.size()) return fails(cudaGraphExecUpdateErrorParametersChanged);
        for (std::size_t k = 0; k < then.bodies.size(); ++k) {
            const UpdateFailure inside = compare_for_update(*now.bodies[k], *then.bodies[k]);
            if (inside.result != cudaGraphExecUpdateSuccess) return inside;
        }
    }
    return {};
}

void take_over(Graph& present, const Graph& wanted) {
    for (std::size_t i = 0; i < wanted.nodes.size(); ++i) {
        present.nodes[i]->work = wanted.nodes[i]->work;
        for (std::size_t k = 0; k < wanted.nodes[i]->bodies.size(); ++k) {
            take_over(*present.nodes[i]->bodies[k], *wanted.nodes[i]->bodies[k]);
        }
    }
}

cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags, const ApiCall& call,
                        cudaGraphInstantiateParams* params = nullptr) {
    return graph_call(call, [&](Graphs& all) -> cudaError_t {
        if (params != nullptr) {
            params->errNode_out = nullptr;
            params->result_out = cudaGraphInstantiateError;
        }
        Graph* const found = all.find(graph);
        if (executable == nullptr || found == nullptr) return cudaErrorInvalidValue;
        if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
            return unsupported("graphs that a kernel launches", place_of(call));
        }
        bool is_cycle = false;
        if (const GraphNode* const wrong = misplaced_node(*found, false, &is_cycle); wrong != nullptr || is_cycle) {
            if (params != nullptr) {
                params->errNode_out = wrong == nullptr ? nullptr : wrong->handle;
                params->result_out =
                    is_cycle ? cudaGraphInstantiateInvalidStructure : cudaGraphInstantiateNodeOperationNotSupported;
            }
            return is_cycle ? cudaErrorInvalidValue : cudaErrorNotSupported;
        }
        auto made = std::make_shared<ExecutableGraph>();
        made->graph = all.clone(*found, nullptr, false);
        made->flags = flags;
        made->may_race = has_unordered_nodes(*made->graph);
        *executable = all.new_handle<cudaGraphExec_t>();
        all.executables[*executable] = std::move(made);
        note_created(ObjectKind::executable_graph, *executable, call.code);
        if (params != nullptr) params->result_out = cudaGraphInstantiateSuccess;
        return cudaSuccess;
    });
}

ApiCall called(const void* code, const char* name = __builtin_FUNCTION()) { return {name, {}, code}; }

}  // namespace
}  // namespace cpu_device

using namespace cpu_device;

#define CPU_DEVICE_CALLED called(__builtin_return_address(0), __func__)

// ---- graphs ------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return graph_call(call, [&](Graphs& all) -> cudaError_t {
        if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
        std::unique_ptr<Graph> made = all.make(nullptr);
        *graph = made->handle;
        note_created(ObjectKind::graph, *graph, call.code);
        all.owned[*graph] = std::move(made);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return graph_call(CPU_DEVICE_CALLED, [&](Graphs& all) -> cudaError_t {
        const auto found = all.owned.find(graph);
        if (found == all.owned.end()) return cudaErrorInvalidValue;
        note_destroyed(ObjectKind::graph, graph);
        all.forget(*found->second);
        all.owned.erase(found);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return graph_call(call, [&](Graphs& all) -> cudaError_t {
        const Graph* const found = all.find(graph);
        if (clone == nullptr || found == nullptr) return cudaErrorInvalidValue;
        std::unique_ptr<Graph> made = all.clone(*found, nullptr, true);
        *clone = made->handle;
        note_created(ObjectKind::graph, *clone, call.code);
        all.owned[*clone] = std::move(made);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
    return graph_call(CPU_DEVICE_CALLED, [&](Graphs& all) -> cudaError_t {
        const Graph* const found = all.find(clone);
        if (node == nullptr || found == nullptr || all.find(original) == nullptr) return cudaErrorInvalidValue;
        const GraphNode* const there = node_made_of(*found, original);
        if (there == nullptr) return cudaErrorInvalidValue;
        *node = there->handle;
        return cudaSuccess;
    });
}

// ---- nodes -------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaKernelNodeParams* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return add_node(node, graph, dependencies, nullptr, count, call,
                    [&](NodeWork& work) { return set_kernel(work, params, call); });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
    return change_in_graph(node, cudaGraphNodeTypeKernel, CPU_DEVICE_CALLED,
                           [&](GraphNode& found) { return get_kernel(found.work, params); });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return change_in_graph(node, cudaGraphNodeTypeKernel, call,
                           [&](GraphNode& found) { return set_kernel(found.work, params, call); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return add_node(node, graph, dependencies, nullptr, count, call, [&](NodeWork& work) {
        return set_copy(work, CopiedRows{to, bytes, from, bytes, bytes, 1, kind}, call);
    });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                           cudaMemcpyKind kind) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return change_in_graph(node, cudaGraphNodeTypeMemcpy, call, [&](GraphNode& found) {
        return set_copy(found.work, CopiedRows{to, bytes, from, bytes, bytes, 1, kind}, call);
    });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaMemcpy3DParms* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return add_node(node, graph, dependencies, nullptr, count, call,
                    [&](NodeWork& work) { return set_copy(work, params, call); });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
    return change_in_graph(node, cudaGraphNodeTypeMemcpy, CPU_DEVICE_CALLED,
                           [&](GraphNode& found) { return get_copy(found.work, params); });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return change_in_graph(node, cudaGraphNodeTypeMemcpy, call,
                           [&](GraphNode& found) { return set_copy(found.work, params, call); });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaMemsetParams* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return add_node(node, graph, dependencies, nullptr, count, call,
                    [&](NodeWork& work) { return set_fill(work, params, call); });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
    return change_in_graph(node, cudaGraphNodeTypeMemset, CPU_DEVICE_CALLED,
                           [&](GraphNode& found) { return get_fill(found.work, params); });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return change_in_graph(node, cudaGraphNodeTypeMemset, call,
                           [&](GraphNode& found) { return set_fill(found.work, params, call); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 size_t count, const cudaHostNodeParams* params) {
    return add_node(node, graph, dependencies, nullptr, count, CPU_DEVICE_CALLED,
                    [&](NodeWork& work) { return set_host(work, params); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
    return change_in_graph(node, cudaGraphNodeTypeHost, CPU_DEVICE_CALLED, [&](GraphNode& found) -> cudaError_t {
        if (params == nullptr) return cudaErrorInvalidValue;
        *params = found.work.host;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
    return change_in_graph(node, cudaGraphNodeTypeHost, CPU_DEVICE_CALLED,
                           [&](GraphNode& found) { return set_host(found.work, params); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                  size_t count) {
    return add_node(node, graph, dependencies, nullptr, count, CPU_DEVICE_CALLED,
                    [](NodeWork&) { return cudaSuccess; });
}

namespace {

cudaError_t add_child(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                      const cudaGraphEdgeData* edges, size_t count, cudaGraph_t child, const ApiCall& call) {
    std::lock_guard lock(all_graphs().mutex);
    Graphs& all = all_graphs();
    GraphNode* added = nullptr;
    const Graph* const inner = all.find(child);
    const cudaError_t wrong = add_node(
        node, graph, dependencies, edges, count, call,
        [&](NodeWork& work) -> cudaError_t {
            if (inner == nullptr || child == graph) return cudaErrorInvalidValue;
            work.type = cudaGraphNodeTypeGraph;
            return cudaSuccess;
        },
        &added);
    if (wrong != cudaSuccess) return wrong;
    added->bodies.push_back(all.clone(*inner, added, true));
    added->body_handles.push_back(added->bodies.back()->handle);
    return cudaSuccess;
}

cudaError_t add_condition(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                          const cudaGraphEdgeData* edges, size_t count, cudaConditionalNodeParams& params,
                          const ApiCall& call) {
    std::lock_guard lock(all_graphs().mutex);
    Graphs& all = all_graphs();
    GraphNode* added = nullptr;
    const cudaError_t wrong = add_node(
        node, graph, dependencies, edges, count, call,
        [&](NodeWork& work) -> cudaError_t {
            const unsigned most = params.type == cudaGraphCondTypeWhile ? 1
                                  : params.type == cudaGraphCondTypeIf  ? 2
                                                                        : ~0u;
            if (params.type > cudaGraphCondTypeSwitch || params.size == 0 || params.size > most) {
                return cudaErrorInvalidValue;
            }
            const auto& known = all.find(graph)->conditions;
            const bool is_of_graph = std::any_of(
                known.begin(), known.end(), [&](const GraphCondition& one) { return one.handle == params.handle; });
            if (!is_of_graph) return cudaErrorInvalidValue;
            work.type = cudaGraphNodeTypeConditional;
            work.condition = {params.handle, params.type};
            return cudaSuccess;
        },
        &added);
    if (wrong != cudaSuccess) return wrong;
    for (unsigned i = 0; i < params.size; ++i) {
        added->bodies.push_back(all.make(added));
        added->body_handles.push_back(added->bodies.back()->handle);
    }
    params.phGraph_out = added->body_handles.data();
    return cudaSuccess;
}

cudaError_t add_any_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                         const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* params,
                         const ApiCall& call) {
    if (params != nullptr && params->type == cudaGraphNodeTypeGraph) {
        return add_child(node, graph, dependencies, edges, count, params->graph.graph, call);
    }
    if (params != nullptr && params->type == cudaGraphNodeTypeConditional) {
        return add_condition(node, graph, dependencies, edges, count, params->conditional, call);
    }
    return add_node(node, graph, dependencies, edges, count, call, [&](NodeWork& work) -> cudaError_t {
        if (params == nullptr) return cudaErrorInvalidValue;
        switch (params->type) {
            case cudaGraphNodeTypeKernel:
            case cudaGraphNodeTypeMemcpy:
            case cudaGraphNodeTypeMemset:
            case cudaGraphNodeTypeHost:
                work.type = params->type;
                return change(work, *params, call);
            case cudaGraphNodeTypeEmpty:
                return cudaSuccess;
            case cudaGraphNodeTypeMemAlloc:
            case cudaGraphNodeTypeMemFree:
                return unsupported("memory that a graph allocates", place_of(call),
                                   "allocate it before the graph is built, with cudaMalloc");
            case cudaGraphNodeTypeWaitEvent:
            case cudaGraphNodeTypeEventRecord:
                return unsupported("nodes for events outside of the graph", place_of(call));
            default:
                return cudaErrorInvalidValue;
        }
    });
}

}  // namespace

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                       size_t count, cudaGraph_t child) {
    return add_child(node, graph, dependencies, nullptr, count, child, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
    return change_in_graph(node, cudaGraphNodeTypeGraph, CPU_DEVICE_CALLED, [&](GraphNode& found) -> cudaError_t {
        if (graph == nullptr) return cudaErrorInvalidValue;
        *graph = found.bodies.front()->handle;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* params) {
    return add_any_node(node, graph, dependencies, edges, count, params, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             size_t count, cudaGraphNodeParams* params) {
    return add_any_node(node, graph, dependencies, nullptr, count, params, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return change_in_graph(node, cudaGraphNodeTypeCount, call, [&](GraphNode& found) {
        return params == nullptr ? cudaErrorInvalidValue : change(found.work, *params, call);
    });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    return graph_call(CPU_DEVICE_CALLED, [&](Graphs& all) -> cudaError_t {
        GraphNode* const found = all.find(node);
        if (found == nullptr) return cudaErrorInvalidValue;
        all.destroy(*found);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value, unsigned flags) {
    return graph_call(CPU_DEVICE_CALLED, [&](Graphs& all) -> cudaError_t {
        Graph* const found = all.find(graph);
        if (handle == nullptr || found == nullptr || flags > cudaGraphCondAssignDefault) return cudaErrorInvalidValue;
        *handle = reinterpret_cast<std::uintptr_t>(all.new_handle<void*>());
        found->conditions.push_back({*handle, default_value, flags == cudaGraphCondAssignDefault});
        return cudaSuccess;
    });
}

// ---- what is in a graph ------------------------------------------------------------------------------------------

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
    return change_in_graph(node, cudaGraphNodeTypeCount, CPU_DEVICE_CALLED, [&](GraphNode& found) -> cudaError_t {
        if (type == nullptr) return cudaErrorInvalidValue;
        *type = found.work.type;
        return cudaSuccess;
    });
}

namespace {

template <class Choose>
cudaError_t list_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count, const ApiCall& call,
                       const Choose& choose) {
    return graph_call(call, [&](Graphs& all) -> cudaError_t {
        const Graph* const found = all.find(graph);
        if (count == nullptr || found == nullptr) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> list;
        for (const auto& node : found->nodes) {
            if (choose(*node)) list.push_back(node->handle);
        }
        write_list(list, nodes, count);
        return cudaSuccess;
    });
}

cudaError_t list_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                       size_t* count, const ApiCall& call) {
    return graph_call(call, [&](Graphs& all) -> cudaError_t {
        const Graph* const found = all.find(graph);
        if (count == nullptr || found == nullptr || (from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> begins, ends;
        std::vector<cudaGraphEdgeData> all_data;
        for (const auto& node : found->nodes) {
            for (const GraphEdge& edge : node->before) {
                begins.push_back(edge.from->handle);
                ends.push_back(node->handle);
                all_data.push_back(edge.data);
            }
        }
        size_t room = *count;
        if (data != nullptr && from != nullptr) write_list(all_data, data, &room);
        room = *count;
        write_list(begins, from, &room);
        write_list(ends, to, count);
        return cudaSuccess;
    });
}

cudaError_t list_neighbors(cudaGraphNode_t node, bool before, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                           size_t* count, const ApiCall& call) {
    return change_in_graph(node, cudaGraphNodeTypeCount, call, [&](GraphNode& found) -> cudaError_t {
        if (count == nullptr) return cudaErrorInvalidValue;
        std::vector<cudaGraphNode_t> list;
        std::vector<cudaGraphEdgeData> all_data;
        for (const auto& one : found.graph->nodes) {
            for (const GraphEdge& edge : one->before) {
                if ((before ? one.get() : edge.from) != &found) continue;
                list.push_back(before ? edge.from->handle : one->handle);
                all_data.push_back(edge.data);
            }
        }
        size_t room = *count;
        if (data != nullptr && nodes != nullptr) write_list(all_data, data, &room);
        write_list(list, nodes, count);
        return cudaSuccess;
    });
}

cudaError_t change_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                         const cudaGraphEdgeData* data, size_t count, bool adds, const ApiCall& call) {
    return graph_call(call, [&](Graphs& all) -> cudaError_t {
        const Graph* const found = all.find(graph);
        if (found == nullptr || (count > 0 && (from == nullptr || to == nullptr))) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i) {
            GraphNode* const first = all.find(from[i]);
            GraphNode* const second = all.find(to[i]);
            if (first == nullptr || second == nullptr || first->graph != found || second->graph != found) {
                return cudaErrorInvalidValue;
            }
            if (second->waits_for(first) == adds || first == second) return cudaErrorInvalidValue;
            if (adds) {
                second->before.push_back({first, data == nullptr ? cudaGraphEdgeData{} : data[i]});
            } else {
                std::erase_if(second->before, [&](const GraphEdge& edge) { return edge.from == first; });
            }
        }
        return cudaSuccess;
    });
}

}  // namespace

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    return list_nodes(graph, nodes, count, CPU_DEVICE_CALLED, [](const GraphNode&) { return true; });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    return list_nodes(graph, nodes, count, CPU_DEVICE_CALLED,
                      [](const GraphNode& node) { return node.before.empty(); });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                              size_t* count) {
    return list_edges(graph, from, to, edges, count, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
    return list_edges(graph, from, to, nullptr, count, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies, cudaGraphEdgeData* edges,
                                         size_t* count) {
    return list_neighbors(node, true, dependencies, edges, count, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies, size_t* count) {
    return list_neighbors(node, true, dependencies, nullptr, count, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents, cudaGraphEdgeData* edges,
                                           size_t* count) {
    return list_neighbors(node, false, dependents, edges, count, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents, size_t* count) {
    return list_neighbors(node, false, dependents, nullptr, count, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* edges, size_t count) {
    return change_edges(graph, from, to, edges, count, true, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
    return change_edges(graph, from, to, nullptr, count, true, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* edges, size_t count) {
    return change_edges(graph, from, to, edges, count, false, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        size_t count) {
    return change_edges(graph, from, to, nullptr, count, false, CPU_DEVICE_CALLED);
}

// ---- graphs that can be launched ---------------------------------------------------------------------------------

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
    return instantiate(executable, graph, flags, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t* error_node, char* log,
                                 size_t log_bytes) {
    if (log != nullptr && log_bytes > 0) log[0] = '\0';
    if (error_node != nullptr) *error_node = nullptr;
    return instantiate(executable, graph, 0, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
    return instantiate(executable, graph, flags, CPU_DEVICE_CALLED);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    if (params == nullptr) return api_result(cudaErrorInvalidValue);
    return instantiate(executable, graph, params->flags, call, params);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
    return graph_call(CPU_DEVICE_CALLED, [&](Graphs& all) -> cudaError_t {
        const auto found = all.executables.find(executable);
        if (flags == nullptr || found == all.executables.end()) return cudaErrorInvalidValue;
        *flags = found->second->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return graph_call(call, [&](Graphs& all) -> cudaError_t {
        note_destroyed(ObjectKind::executable_graph, executable);
        if (all.executables.erase(executable) == 0) return cudaErrorInvalidValue;
        all.destroyed[executable] = call.code;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
    return graph_call(CPU_DEVICE_CALLED, [&](Graphs& all) -> cudaError_t {
        const auto found = all.executables.find(executable);
        const Graph* const wanted = all.find(graph);
        if (info != nullptr) *info = {cudaGraphExecUpdateError, nullptr, nullptr};
        if (found == all.executables.end() || wanted == nullptr) return cudaErrorInvalidValue;
        const UpdateFailure failure = compare_for_update(*found->second->graph, *wanted);
        if (info != nullptr) *info = {failure.result, failure.node, failure.from};
        if (failure.result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
        take_over(*found->second->graph, *wanted);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return change_in(executable, node, call, [&](GraphNode& found) {
        if (found.work.type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
        return set_kernel(found.work, params, call);
    });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, size_t bytes, cudaMemcpyKind kind) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return change_in(executable, node, call, [&](GraphNode& found) {
        if (found.work.type != cudaGraphNodeTypeMemcpy) return cudaErrorInvalidValue;
        return set_copy(found.work, CopiedRows{to, bytes, from, bytes, bytes, 1, kind}, call);
    });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return change_in(executable, node, call, [&](GraphNode& found) {
        if (found.work.type != cudaGraphNodeTypeMemcpy) return cudaErrorInvalidValue;
        return set_copy(found.work, params, call);
    });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return change_in(executable, node, call, [&](GraphNode& found) {
        if (found.work.type != cudaGraphNodeTypeMemset) return cudaErrorInvalidValue;
        return set_fill(found.work, params, call);
    });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
    return change_in(executable, node, CPU_DEVICE_CALLED, [&](GraphNode& found) {
        if (found.work.type != cudaGraphNodeTypeHost) return cudaErrorInvalidValue;
        return set_host(found.work, params);
    });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraph_t child) {
    return change_in(executable, node, CPU_DEVICE_CALLED, [&](GraphNode& found) -> cudaError_t {
        const Graph* const wanted = all_graphs().find(child);
        if (found.work.type != cudaGraphNodeTypeGraph || wanted == nullptr) return cudaErrorInvalidValue;
        Graph& present = *found.bodies.front();
        if (compare_for_update(present, *wanted).result != cudaGraphExecUpdateSuccess) return cudaErrorInvalidValue;
        take_over(present, *wanted);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeParams* params) {
    const ApiCall call = CPU_DEVICE_CALLED;
    return change_in(executable, node, call, [&](GraphNode& found) {
        return params == nullptr ? cudaErrorInvalidValue : change(found.work, *params, call);
    });
}

namespace {

/// Only these can be left out of a launch.
bool can_be_disabled(const GraphNode& node) {
    return node.work.type == cudaGraphNodeTypeKernel || node.work.type == cudaGraphNodeTypeMemcpy ||
           node.work.type == cudaGraphNodeTypeMemset;
}

}  // namespace

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned enabled) {
    return change_in(executable, node, CPU_DEVICE_CALLED, [&](GraphNode& found) {
        if (!can_be_disabled(found)) return cudaErrorInvalidValue;
        found.enabled = enabled != 0;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned* enabled) {
    return change_in(executable, node, CPU_DEVICE_CALLED, [&](GraphNode& found) {
        if (enabled == nullptr || !can_be_disabled(found)) return cudaErrorInvalidValue;
        *enabled = found.enabled ? 1 : 0;
        return cudaSuccess;
    });
}
