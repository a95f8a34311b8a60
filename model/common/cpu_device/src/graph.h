// What a CUDA graph is made of. graphs.cpp has the functions that build graphs, graph_launch.cpp those that run them,
// and stream_capture.cpp makes graphs of what a stream is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api_call.h"
#include "capture.h"
#include "cpu_device/runtime_api.h"
#include "devices.h"

namespace cpu_device {

struct KernelWork {
    LaunchSite site{};
    LaunchConfig config{dim3(), dim3()};
    std::shared_ptr<KeptLaunch> kept;
    bool cooperative = false;
};

/// What a node does. Of the last five members those count that belong to the type.
struct NodeWork {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    Site site{};                 ///< of the call that made the node, or
    const void* code = nullptr;  ///< its code
    KernelWork kernel;
    CopiedRows copy;
    FilledRows fill;
    cudaHostNodeParams host{};
    struct {
        cudaGraphConditionalHandle handle = 0;
        cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
    } condition;
};

struct Graph;
struct GraphNode;

struct GraphEdge {
    GraphNode* from;
    cudaGraphEdgeData data;
};

struct GraphNode {
    cudaGraphNode_t handle = nullptr;
    Graph* graph = nullptr;
    NodeWork work;
    std::vector<GraphEdge> before;               ///< from the nodes that this one waits for
    std::vector<std::unique_ptr<Graph>> bodies;  ///< a child graph, or what a condition chooses from
    std::vector<cudaGraph_t> body_handles;
    cudaGraphNode_t original = nullptr;  ///< the node of which this is a copy
    bool enabled = true;

    bool waits_for(const GraphNode* other) const;
};

struct GraphCondition {
    cudaGraphConditionalHandle handle = 0;
    unsigned value = 0;
    bool assigned = false;  ///< at each launch
};

struct Graph {
    cudaGraph_t handle = nullptr;
    GraphNode* part_of = nullptr;  ///< the node to which it belongs
    std::vector<std::unique_ptr<GraphNode>> nodes;
    std::vector<GraphCondition> conditions;

    std::size_t place_of(const GraphNode* node) const;
};

struct ExecutableGraph {
    std::unique_ptr<Graph> graph;
    unsigned long long flags = 0;
    bool may_race = false;  ///< some nodes have no order
    int device = current_device;
};

/// All graphs of the process. Guarded by its mutex, which a launch does not hold: kernels and host functions may call
/// functions of the runtime.
struct Graphs {
    std::recursive_mutex mutex;
    std::map<cudaGraph_t, std::unique_ptr<Graph>> owned;
    std::map<cudaGraph_t, Graph*> by_handle;  ///< with child graphs and bodies
    std::map<cudaGraphNode_t, GraphNode*> nodes;
    std::map<cudaGraphExec_t, std::shared_ptr<ExecutableGraph>> executables;
    std::map<const void*, const void*> destroyed;  ///< handles of executable graphs, with the code that did it
    std::uintptr_t last_handle = 0x1000;

    template <class Handle>
    Handle new_handle() {
        last_handle += 16;
        return reinterpret_cast<Handle>(last_handle);
    }
    Graph* find(cudaGraph_t graph) const;
    GraphNode* find(cudaGraphNode_t node) const;

    /// A graph without nodes that has a handle. `part_of`: null for one that the program has to destroy.
    std::unique_ptr<Graph> make(GraphNode* part_of);
    /// `known`: with handles, by which the program reaches the parts.
    std::unique_ptr<Graph> clone(const Graph& graph, GraphNode* part_of, bool known);
    /// The graph's handles are no longer good for anything.
    void forget(const Graph& graph);
    /// Adds a node and gives it a handle. An edge for each of `before`; `edges` may be null.
    GraphNode& add(Graph& graph, NodeWork work, const std::vector<GraphNode*>& before,
                   const cudaGraphEdgeData* edges = nullptr);
    void destroy(GraphNode& node);
};

Graphs& all_graphs();

/// Nodes in an order that the edges allow: as they were added, or shuffled by the schedule's seed. Empty for a cycle.
std::vector<GraphNode*> order_of(const Graph& graph);

/// For each node all nodes that come before it: [place of the node][place of the other]. The graph has no cycle.
std::vector<std::vector<bool>> ancestors_of(const Graph& graph);

/// What is wrong with the structure of a graph: a cycle, or a node that a conditional body may not have.
GraphNode* misplaced_node(const Graph& graph, bool in_body, bool* is_cycle);

bool has_unordered_nodes(const Graph& graph);

/// "node 3 (kernel scale)", for messages.
std::string text_of(const GraphNode& node);

/// Where the node was made.
Site place_of(const NodeWork& work);

/// Runs all nodes of the graph in the stream. `call`: cudaGraphLaunch.
cudaError_t run_graph(const ExecutableGraph& executable, cudaStream_t stream, const ApiCall& call);

/// Reports what the graph was given and is no longer there. True if it found something. `frame`: where the part of the
/// stack ends that nobody uses.
bool report_stale_pointers(const Graph& graph, const void* frame, const ApiCall& call);

}  // namespace cpu_device
