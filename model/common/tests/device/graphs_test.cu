// CUDA graphs, stream capture, conditional nodes, and programmatic dependent launches.
#include <cuda_runtime.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <vector>

#ifdef __CPU_DEVICE__
#include "cpu_device/activity_log.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/execution.h"
#endif

namespace {

__global__ void store(int* target, int value) { *target = value; }
__global__ void add(int* target, int value) { *target += value; }
__global__ void multiply(int* target, int value) { *target *= value; }
__global__ void store_sum(int* target, const int* a, const int* b) { *target = *a + *b; }

template <class T>
__global__ void store_as(T* target, T value) {
    *target = value;
}

struct Pair {
    int first, second;
};
__global__ void store_pair(int* target, Pair pair) { *target = 100 * pair.first + pair.second; }

/// Some numbers on the device, and two streams that do not wait for the default stream.
struct Fixture {
    int* numbers = nullptr;
    cudaStream_t stream = nullptr, other = nullptr;
    cudaEvent_t event = nullptr, second_event = nullptr;

    Fixture() {
        REQUIRE(cudaMalloc(&numbers, 8 * sizeof(int)) == cudaSuccess);
        REQUIRE(cudaMemset(numbers, 0, 8 * sizeof(int)) == cudaSuccess);
        REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
        REQUIRE(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess);
        REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
        REQUIRE(cudaEventCreateWithFlags(&second_event, cudaEventDisableTiming) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    ~Fixture() {
        CHECK(cudaEventDestroy(event) == cudaSuccess);
        CHECK(cudaEventDestroy(second_event) == cudaSuccess);
        CHECK(cudaStreamDestroy(stream) == cudaSuccess);
        CHECK(cudaStreamDestroy(other) == cudaSuccess);
        CHECK(cudaFree(numbers) == cudaSuccess);
        (void)cudaGetLastError();
    }

    int number(int i = 0) const {
        int value = -1;
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(cudaMemcpy(&value, numbers + i, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
        return value;
    }
    void set(int value, int i = 0) const {
        CHECK(cudaMemcpy(numbers + i, &value, sizeof value, cudaMemcpyHostToDevice) == cudaSuccess);
    }
    void begin() const { REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess); }
    cudaGraph_t end() const {
        cudaGraph_t graph = nullptr;
        REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
        REQUIRE(graph != nullptr);
        return graph;
    }
    /// Instantiates and launches the graph, and destroys it.
    void run(cudaGraph_t graph, int times = 1) const {
        cudaGraphExec_t executable = nullptr;
        REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
        for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(executable, stream) == cudaSuccess);
        CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
        CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
        CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }
};

size_t nodes_of(cudaGraph_t graph) {
    size_t count = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
    return count;
}

size_t edges_of(cudaGraph_t graph) {
    size_t count = 0;
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count) == cudaSuccess);
#else
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &count) == cudaSuccess);
#endif
    return count;
}

cudaError_t add_dependency(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
#if CUDART_VERSION >= 13000
    return cudaGraphAddDependencies(graph, &from, &to, nullptr, 1);
#else
    return cudaGraphAddDependencies(graph, &from, &to, 1);
#endif
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNodeParams* params) {
#if CUDART_VERSION >= 13000
    return cudaGraphAddNode(node, graph, nullptr, nullptr, 0, params);
#else
    return cudaGraphAddNode(node, graph, nullptr, 0, params);
#endif
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, void* kernel, int* target, int value,
                           const std::vector<cudaGraphNode_t>& before = {}) {
    void* arguments[] = {&target, &value};
    cudaKernelNodeParams params{};
    params.func = kernel;
    params.gridDim = dim3(1);
    params.blockDim = dim3(1);
    params.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    REQUIRE(cudaGraphAddKernelNode(&node, graph, before.data(), before.size(), &params) == cudaSuccess);
    return node;
}

cudaKernelNodeParams kernel_params(void* kernel, void** arguments) {
    cudaKernelNodeParams params{};
    params.func = kernel;
    params.gridDim = dim3(1);
    params.blockDim = dim3(1);
    params.kernelParams = arguments;
    return params;
}

}  // namespace

// ---- capture -------------------------------------------------------------------------------------------------------

TEST_CASE("a captured stream does nothing, and its graph does it as often as it is launched") {
    const Fixture fixture;
    fixture.begin();
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    CHECK(cudaStreamIsCapturing(fixture.stream, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive);
    add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 3);
    add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 4);
    CHECK(cudaGetLastError() == cudaSuccess);
    const cudaGraph_t graph = fixture.end();
    CHECK(cudaStreamIsCapturing(fixture.stream, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusNone);
    CHECK(fixture.number() == 0);
    CHECK(nodes_of(graph) == 2);
    CHECK(edges_of(graph) == 1);
    fixture.run(graph, 3);
    CHECK(fixture.number() == 21);
}

TEST_CASE("arguments of a captured launch are copied, whatever their types") {
    const Fixture fixture;
    int value = 5;
    Pair pair{4, 2};
    fixture.begin();
    store<<<1, 1, 0, fixture.stream>>>(fixture.numbers, value);
    store_pair<<<1, 1, 0, fixture.stream>>>(fixture.numbers + 1, pair);
    store_as<int><<<1, 1, 0, fixture.stream>>>(fixture.numbers + 2, value + 1);
    store_as<<<1, 1, 0, fixture.stream>>>(fixture.numbers + 3, value + 2);
    void (*kernel)(int*, int) = store;
    kernel<<<1, 1, 0, fixture.stream>>>(fixture.numbers + 4, value + 3);
    kernel = multiply;
    int* target = fixture.numbers + 5;
    void* arguments[] = {&target, &value};
    CHECK(cudaLaunchKernel(add, dim3(1), dim3(1), arguments, 0, fixture.stream) == cudaSuccess);
    const cudaGraph_t graph = fixture.end();
    value = -1;
    pair = {9, 9};
    target = nullptr;
    fixture.run(graph);
    CHECK(fixture.number(0) == 5);
    CHECK(fixture.number(1) == 402);
    CHECK(fixture.number(2) == 6);
    CHECK(fixture.number(3) == 7);
    CHECK(fixture.number(4) == 8);
    CHECK(fixture.number(5) == 5);
}

TEST_CASE("copies, fills, and host functions are captured") {
    const Fixture fixture;
    int* host = nullptr;
    REQUIRE(cudaMallocHost(&host, 2 * sizeof(int)) == cudaSuccess);
    host[0] = 6;
    host[1] = -1;
    int calls = 0;
    fixture.begin();
    CHECK(cudaMemcpyAsync(fixture.numbers, host, sizeof(int), cudaMemcpyHostToDevice, fixture.stream) == cudaSuccess);
    CHECK(cudaMemsetAsync(fixture.numbers + 1, 1, sizeof(int), fixture.stream) == cudaSuccess);
    add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 1);
    CHECK(cudaMemcpyAsync(host + 1, fixture.numbers, sizeof(int), cudaMemcpyDeviceToHost, fixture.stream) ==
          cudaSuccess);
    CHECK(cudaLaunchHostFunc(
              fixture.stream, [](void* counter) { ++*static_cast<int*>(counter); }, &calls) == cudaSuccess);
    const cudaGraph_t graph = fixture.end();
    CHECK(host[1] == -1);
    CHECK(calls == 0);
    CHECK(nodes_of(graph) == 5);
    std::array<cudaGraphNode_t, 5> nodes{};
    size_t count = nodes.size();
    CHECK(cudaGraphGetNodes(graph, nodes.data(), &count) == cudaSuccess);
    size_t copies = 0;
    for (const cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type{};
        CHECK(cudaGraphNodeGetType(node, &type) == cudaSuccess);
        copies += type == cudaGraphNodeTypeMemcpy ? 1 : 0;
    }
    CHECK(copies == 2);
    host[0] = 40;  // read when the graph runs
    fixture.run(graph, 2);
    CHECK(host[1] == 41);
    CHECK(calls == 2);
    CHECK(fixture.number(1) == 0x01010101);
    CHECK(cudaFreeHost(host) == cudaSuccess);
}

TEST_CASE("events take a capture to another stream and back") {
    const Fixture fixture;
    fixture.begin();
    store<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 1);
    CHECK(cudaEventRecord(fixture.event, fixture.stream) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(fixture.other, fixture.event, 0) == cudaSuccess);
    cudaStreamCaptureStatus status{};
    CHECK(cudaStreamIsCapturing(fixture.other, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusActive);
    store<<<1, 1, 0, fixture.stream>>>(fixture.numbers + 1, 20);
    store<<<1, 1, 0, fixture.other>>>(fixture.numbers + 2, 300);
    CHECK(cudaEventRecord(fixture.second_event, fixture.other) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(fixture.stream, fixture.second_event, 0) == cudaSuccess);
    store_sum<<<1, 1, 0, fixture.stream>>>(fixture.numbers + 3, fixture.numbers + 1, fixture.numbers + 2);
    const cudaGraph_t graph = fixture.end();
    CHECK(nodes_of(graph) == 4);
    CHECK(edges_of(graph) == 4);
    size_t roots = 0;
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots) == cudaSuccess);
    CHECK(roots == 1);
    fixture.run(graph);
    CHECK(fixture.number(3) == 320);
}

TEST_CASE("a capture that ends with unjoined work gives no graph") {
    const Fixture fixture;
    fixture.begin();
    CHECK(cudaEventRecord(fixture.event, fixture.stream) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(fixture.other, fixture.event, 0) == cudaSuccess);
    add<<<1, 1, 0, fixture.other>>>(fixture.numbers, 1);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaErrorStreamCaptureUnjoined);
    CHECK(graph == nullptr);
    cudaStreamCaptureStatus status{};
    CHECK(cudaStreamIsCapturing(fixture.other, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusNone);
    CHECK(fixture.number() == 0);
}

TEST_CASE("a wait for the captured stream invalidates the capture") {
    const Fixture fixture;
    fixture.begin();
    add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 1);
    CHECK(cudaStreamSynchronize(fixture.stream) == cudaErrorStreamCaptureUnsupported);
    cudaStreamCaptureStatus status{};
    CHECK(cudaStreamIsCapturing(fixture.stream, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusInvalidated);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(graph == nullptr);
}

TEST_CASE("what is not allowed during a capture has its own error") {
    const Fixture fixture;
    cudaGraph_t graph = nullptr;
    SECTION("the legacy default stream cannot be captured") {
        CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
    }
    SECTION("a stream cannot be captured twice") {
        fixture.begin();
        CHECK(cudaStreamBeginCapture(fixture.stream, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
        CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaSuccess);
        CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }
    SECTION("a capture that never began cannot end") {
        CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaErrorIllegalState);
    }
    SECTION("waiting for the device invalidates it") {
        fixture.begin();
        CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
        CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaErrorStreamCaptureInvalidated);
    }
    SECTION("so does an allocation, unless the mode is relaxed") {
        fixture.begin();
        void* memory = nullptr;
        CHECK(cudaMalloc(&memory, 16) == cudaErrorStreamCaptureUnsupported);
        CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaErrorStreamCaptureInvalidated);
        REQUIRE(cudaStreamBeginCapture(fixture.stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
        CHECK(cudaMalloc(&memory, 16) == cudaSuccess);
        CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaSuccess);
        CHECK(cudaGraphDestroy(graph) == cudaSuccess);
        CHECK(cudaFree(memory) == cudaSuccess);
    }
    SECTION("waiting for an event that was recorded in the capture") {
        fixture.begin();
        CHECK(cudaEventRecord(fixture.event, fixture.stream) == cudaSuccess);
        CHECK(cudaEventSynchronize(fixture.event) == cudaErrorCapturedEvent);
        CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaErrorStreamCaptureInvalidated);
    }
    SECTION("waiting for an event that was recorded outside of it") {
        CHECK(cudaEventRecord(fixture.event, fixture.other) == cudaSuccess);
        fixture.begin();
        CHECK(cudaStreamWaitEvent(fixture.stream, fixture.event, 0) == cudaErrorStreamCaptureIsolation);
        CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaErrorStreamCaptureInvalidated);
    }
    SECTION("ending it in the stream that joined") {
        fixture.begin();
        CHECK(cudaEventRecord(fixture.event, fixture.stream) == cudaSuccess);
        CHECK(cudaStreamWaitEvent(fixture.other, fixture.event, 0) == cudaSuccess);
        CHECK(cudaStreamEndCapture(fixture.other, &graph) == cudaErrorStreamCaptureUnmatched);
        CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaErrorStreamCaptureInvalidated);
    }
    SECTION("the default stream, while a stream is captured that waits for it") {
        cudaStream_t blocking = nullptr;
        REQUIRE(cudaStreamCreate(&blocking) == cudaSuccess);
        REQUIRE(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
        add<<<1, 1>>>(fixture.numbers, 1);
        CHECK(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
        CHECK(cudaStreamEndCapture(blocking, &graph) == cudaErrorStreamCaptureInvalidated);
        CHECK(cudaStreamDestroy(blocking) == cudaSuccess);
        CHECK(fixture.number() == 0);
    }
    SECTION("other streams and the default stream go on beside a stream that does not wait for it") {
        fixture.begin();
        add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 1);
        add<<<1, 1, 0, fixture.other>>>(fixture.numbers + 1, 2);
        CHECK(cudaEventRecord(fixture.event, fixture.other) == cudaSuccess);
        CHECK(cudaStreamEndCapture(fixture.stream, &graph) == cudaSuccess);
        CHECK(fixture.number() == 0);
        CHECK(fixture.number(1) == 2);
        CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }
    SECTION("who captures must not wait for another stream, or ask it, unless the capture is relaxed") {
        const auto mode =
            GENERATE(cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed);
        const int call = GENERATE(0, 1, 2, 3);
        CHECK(cudaEventRecord(fixture.event, fixture.other) == cudaSuccess);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        REQUIRE(cudaStreamBeginCapture(fixture.stream, mode) == cudaSuccess);
        const bool is_relaxed = mode == cudaStreamCaptureModeRelaxed;
        CHECK((call == 0   ? cudaStreamSynchronize(fixture.other)
               : call == 1 ? cudaStreamQuery(fixture.other)
               : call == 2
                   ? cudaEventSynchronize(fixture.event)
                   : cudaEventQuery(fixture.event)) == (is_relaxed ? cudaSuccess : cudaErrorStreamCaptureUnsupported));
        CHECK(cudaStreamEndCapture(fixture.stream, &graph) ==
              (is_relaxed ? cudaSuccess : cudaErrorStreamCaptureInvalidated));
        if (is_relaxed) CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }
    (void)cudaGetLastError();
}

TEST_CASE("a graph cannot be launched in a captured stream") {
    const Fixture fixture;
    fixture.begin();
    add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 1);
    const cudaGraph_t inner = fixture.end();
    cudaGraphExec_t executable = nullptr;
    REQUIRE(cudaGraphInstantiate(&executable, inner, 0) == cudaSuccess);
    const auto mode = GENERATE(cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed);
    REQUIRE(cudaStreamBeginCapture(fixture.stream, mode) == cudaSuccess);
    CHECK(cudaGraphLaunch(executable, fixture.other) == cudaSuccess);
    CHECK(cudaGraphLaunch(executable, fixture.stream) == cudaErrorStreamCaptureUnsupported);
    cudaGraph_t outer = nullptr;
    CHECK(cudaStreamEndCapture(fixture.stream, &outer) == cudaErrorStreamCaptureInvalidated);
    CHECK(outer == nullptr);
    (void)cudaGetLastError();
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
    CHECK(cudaGraphDestroy(inner) == cudaSuccess);
    CHECK(fixture.number() == 1);
}

// ---- graphs that are built -----------------------------------------------------------------------------------------

TEST_CASE("nodes run when those before them have run, in whatever order they were added") {
    const Fixture fixture;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    const cudaGraphNode_t times = add_kernel(graph, (void*)multiply, fixture.numbers, 7);
    const cudaGraphNode_t first = add_kernel(graph, (void*)store, fixture.numbers, 6);
    const cudaGraphNode_t last = add_kernel(graph, (void*)add, fixture.numbers, 1, {times});
    CHECK(add_dependency(graph, first, times) == cudaSuccess);
    CHECK(add_dependency(graph, first, times) == cudaErrorInvalidValue);  // it is there
    CHECK(edges_of(graph) == 2);
    size_t count = 0;
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphNodeGetDependencies(last, nullptr, nullptr, &count) == cudaSuccess);
    CHECK(count == 1);
    CHECK(cudaGraphNodeGetDependentNodes(first, nullptr, nullptr, &count) == cudaSuccess);
#else
    CHECK(cudaGraphNodeGetDependencies(last, nullptr, &count) == cudaSuccess);
    CHECK(count == 1);
    CHECK(cudaGraphNodeGetDependentNodes(first, nullptr, &count) == cudaSuccess);
#endif
    CHECK(count == 1);
    fixture.run(graph);
    CHECK(fixture.number() == 43);
}

TEST_CASE("a cycle cannot be instantiated") {
    const Fixture fixture;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    const cudaGraphNode_t first = add_kernel(graph, (void*)store, fixture.numbers, 1);
    const cudaGraphNode_t second = add_kernel(graph, (void*)add, fixture.numbers, 1, {first});
    if (add_dependency(graph, second, first) == cudaSuccess) {
        cudaGraphExec_t executable = nullptr;
        CHECK(cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess);
    }
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("nodes copy, fill, call the host, and do nothing") {
    const Fixture fixture;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    cudaMemsetParams fill{};
    fill.dst = fixture.numbers;
    fill.value = 1234567;
    fill.elementSize = 4;
    fill.width = 3;
    fill.height = 1;
    cudaGraphNode_t fills = nullptr, copies = nullptr, calls = nullptr, nothing = nullptr, back = nullptr;
    CHECK(cudaGraphAddMemsetNode(&fills, graph, nullptr, 0, &fill) == cudaSuccess);
    CHECK(cudaGraphAddEmptyNode(&nothing, graph, &fills, 1) == cudaSuccess);
    CHECK(cudaGraphAddMemcpyNode1D(&copies, graph, &nothing, 1, fixture.numbers + 4, fixture.numbers + 2, sizeof(int),
                                   cudaMemcpyDeviceToDevice) == cudaSuccess);
    int result = 0;
    CHECK(cudaGraphAddMemcpyNode1D(&back, graph, &copies, 1, &result, fixture.numbers + 4, sizeof(int),
                                   cudaMemcpyDeviceToHost) == cudaSuccess);
    cudaHostNodeParams host{};
    host.fn = [](void* number) { *static_cast<int*>(number) += 1; };
    host.userData = &result;
    CHECK(cudaGraphAddHostNode(&calls, graph, &back, 1, &host) == cudaSuccess);
    cudaMemsetParams got{};
    CHECK(cudaGraphMemsetNodeGetParams(fills, &got) == cudaSuccess);
    CHECK(got.value == 1234567);
    CHECK(got.elementSize == 4);
    CHECK(got.width == 3);
    fixture.run(graph);
    CHECK(result == 1234568);
    CHECK(fixture.number(1) == 1234567);
    CHECK(fixture.number(3) == 0);
}

TEST_CASE("a child graph is copied when it is added") {
    const Fixture fixture;
    cudaGraph_t inner = nullptr, outer = nullptr;
    REQUIRE(cudaGraphCreate(&inner, 0) == cudaSuccess);
    REQUIRE(cudaGraphCreate(&outer, 0) == cudaSuccess);
    add_kernel(inner, (void*)add, fixture.numbers, 5);
    const cudaGraphNode_t first = add_kernel(outer, (void*)store, fixture.numbers, 100);
    cudaGraphNode_t child = nullptr;
    CHECK(cudaGraphAddChildGraphNode(&child, outer, &first, 1, inner) == cudaSuccess);
    add_kernel(inner, (void*)add, fixture.numbers, 1000);
    cudaGraph_t inside = nullptr;
    CHECK(cudaGraphChildGraphNodeGetGraph(child, &inside) == cudaSuccess);
    CHECK(nodes_of(inside) == 1);
    CHECK(cudaGraphDestroy(inner) == cudaSuccess);
    fixture.run(outer);
    CHECK(fixture.number() == 105);
}

TEST_CASE("a clone has nodes of its own") {
    const Fixture fixture;
    cudaGraph_t graph = nullptr, clone = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    const cudaGraphNode_t node = add_kernel(graph, (void*)add, fixture.numbers, 5);
    CHECK(cudaGraphClone(&clone, graph) == cudaSuccess);
    cudaGraphNode_t twin = nullptr;
    CHECK(cudaGraphNodeFindInClone(&twin, node, clone) == cudaSuccess);
    CHECK(twin != node);
    int* target = fixture.numbers;
    int value = 70;
    void* arguments[] = {&target, &value};
    const cudaKernelNodeParams params = kernel_params((void*)add, arguments);
    CHECK(cudaGraphKernelNodeSetParams(twin, &params) == cudaSuccess);
    fixture.run(graph);
    CHECK(fixture.number() == 5);
    fixture.run(clone);
    CHECK(fixture.number() == 75);
}

TEST_CASE("a destroyed node takes its edges along") {
    const Fixture fixture;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    const cudaGraphNode_t first = add_kernel(graph, (void*)store, fixture.numbers, 1);
    const cudaGraphNode_t second = add_kernel(graph, (void*)add, fixture.numbers, 10, {first});
    add_kernel(graph, (void*)add, fixture.numbers + 1, 100, {second});
    CHECK(cudaGraphDestroyNode(second) == cudaSuccess);
    CHECK(nodes_of(graph) == 2);
    CHECK(edges_of(graph) == 0);
    fixture.run(graph);
    CHECK(fixture.number() == 1);
    CHECK(fixture.number(1) == 100);
}

// ---- other parameters
// ------------------------------------------------------------------------------------------------

TEST_CASE("a node of an executable graph gets other parameters") {
    const Fixture fixture;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    const cudaGraphNode_t node = add_kernel(graph, (void*)store, fixture.numbers, 1);
    cudaGraphExec_t executable = nullptr;
    REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    CHECK(cudaGraphUpload(executable, fixture.stream) == cudaSuccess);
    int* target = fixture.numbers + 1;
    int value = 8;
    void* arguments[] = {&target, &value};
    const cudaKernelNodeParams params = kernel_params((void*)store, arguments);
    CHECK(cudaGraphExecKernelNodeSetParams(executable, node, &params) == cudaSuccess);
    value = 9;
    CHECK(cudaGraphLaunch(executable, fixture.stream) == cudaSuccess);
    CHECK(fixture.number(0) == 0);
    CHECK(fixture.number(1) == 8);
    cudaKernelNodeParams of_graph{};
    CHECK(cudaGraphKernelNodeGetParams(node, &of_graph) == cudaSuccess);
    CHECK(*static_cast<int*>(of_graph.kernelParams[1]) == 1);  // the graph itself is as it was
    CHECK(of_graph.blockDim.x == 1);
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("an executable graph takes over the parameters of a graph of the same shape") {
    const Fixture fixture;
    const auto captured = [&](int value, bool twice) {
        fixture.begin();
        store<<<1, 1, 0, fixture.stream>>>(fixture.numbers, value);
        add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, value);
        if (twice) add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, value);
        return fixture.end();
    };
    const cudaGraph_t graph = captured(1, false), same = captured(20, false), longer = captured(300, true);
    cudaGraphExec_t executable = nullptr;
    REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    cudaGraphExecUpdateResultInfo info{};
    CHECK(cudaGraphExecUpdate(executable, same, &info) == cudaSuccess);
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    CHECK(cudaGraphLaunch(executable, fixture.stream) == cudaSuccess);
    CHECK(fixture.number() == 40);
    CHECK(cudaGraphExecUpdate(executable, longer, &info) == cudaErrorGraphExecUpdateFailure);
    CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    CHECK(cudaGraphLaunch(executable, fixture.stream) == cudaSuccess);
    CHECK(fixture.number() == 40);
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
    for (const cudaGraph_t one : {graph, same, longer}) CHECK(cudaGraphDestroy(one) == cudaSuccess);
    (void)cudaGetLastError();
}

TEST_CASE("a node can be left out of the launches of an executable graph") {
    const Fixture fixture;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    const cudaGraphNode_t first = add_kernel(graph, (void*)add, fixture.numbers, 1);
    add_kernel(graph, (void*)add, fixture.numbers, 10, {first});
    cudaGraphExec_t executable = nullptr;
    REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    unsigned enabled = 7;
    CHECK(cudaGraphNodeSetEnabled(executable, first, 0) == cudaSuccess);
    CHECK(cudaGraphNodeGetEnabled(executable, first, &enabled) == cudaSuccess);
    CHECK(enabled == 0);
    CHECK(cudaGraphLaunch(executable, fixture.stream) == cudaSuccess);
    CHECK(fixture.number() == 10);
    CHECK(cudaGraphNodeSetEnabled(executable, first, 1) == cudaSuccess);
    CHECK(cudaGraphLaunch(executable, fixture.stream) == cudaSuccess);
    CHECK(fixture.number() == 21);
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

// ---- conditions ----------------------------------------------------------------------------------------------------

namespace {

__global__ void count_down(int* number, cudaGraphConditionalHandle handle) {
    *number -= 1;
    cudaGraphSetConditional(handle, *number > 0 ? 1 : 0);
}

__global__ void choose(const int* number, cudaGraphConditionalHandle handle) {
    cudaGraphSetConditional(handle, static_cast<unsigned>(*number));
}

/// Adds a conditional node behind `before` (or without), and returns its bodies.
std::vector<cudaGraph_t> add_condition(cudaGraph_t graph, cudaGraphConditionalHandle handle,
                                       cudaGraphConditionalNodeType type, unsigned size,
                                       cudaGraphNode_t before = nullptr) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    cudaGraphNode_t node = nullptr;
    REQUIRE(add_node(&node, graph, &params) == cudaSuccess);
    if (before != nullptr) CHECK(add_dependency(graph, before, node) == cudaSuccess);
    return std::vector<cudaGraph_t>(params.conditional.phGraph_out, params.conditional.phGraph_out + size);
}

}  // namespace

TEST_CASE("a WHILE node runs its body until a kernel sets the condition to 0") {
    const Fixture fixture;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    cudaGraphConditionalHandle handle = 0;
    REQUIRE(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault) == cudaSuccess);
    const cudaGraph_t body = add_condition(graph, handle, cudaGraphCondTypeWhile, 1).front();
    REQUIRE(cudaStreamBeginCaptureToGraph(fixture.stream, body, nullptr, nullptr, 0,
                                          cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    add<<<1, 1, 0, fixture.stream>>>(fixture.numbers + 1, 2);
    count_down<<<1, 1, 0, fixture.stream>>>(fixture.numbers, handle);
    cudaGraph_t captured = nullptr;
    CHECK(cudaStreamEndCapture(fixture.stream, &captured) == cudaSuccess);
    CHECK(captured == body);
    CHECK(nodes_of(body) == 2);
    fixture.set(9);
    fixture.run(graph);
    CHECK(fixture.number(0) == 0);
    CHECK(fixture.number(1) == 18);
}

TEST_CASE("an IF node runs its body or not") {
    for (const int condition : {0, 1, 5}) {
        const Fixture fixture;
        cudaGraph_t graph = nullptr;
        REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
        cudaGraphConditionalHandle handle = 0;
        REQUIRE(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0) == cudaSuccess);
        int* number = fixture.numbers;
        void* arguments[] = {&number, &handle};
        const cudaKernelNodeParams params = kernel_params((void*)choose, arguments);
        cudaGraphNode_t chooses = nullptr;
        CHECK(cudaGraphAddKernelNode(&chooses, graph, nullptr, 0, &params) == cudaSuccess);
        const cudaGraph_t body = add_condition(graph, handle, cudaGraphCondTypeIf, 1, chooses).front();
        add_kernel(body, (void*)store, fixture.numbers + 1, 77);
        fixture.set(condition);
        fixture.run(graph);
        CHECK(fixture.number(1) == (condition == 0 ? 0 : 77));
    }
}

// ---- programmatic dependent launches
// -----------------------------------------------------------------------------------

namespace {

__global__ void add_after_wait(const int* from, int* to) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    *to = *from + 1;
}

bool has_dependent_launches() {
    int major = 0;
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
    return major >= 9;
}

void launch_dependent(const int* from, int* to, cudaStream_t stream) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, add_after_wait, from, to) == cudaSuccess);
}

}  // namespace

TEST_CASE("a dependent kernel that waits sees what the kernel ahead has written") {
    if (!has_dependent_launches()) return;
    const Fixture fixture;
    store<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 5);
    for (int i = 0; i < 7; ++i) launch_dependent(fixture.numbers + i, fixture.numbers + i + 1, fixture.stream);
    CHECK(fixture.number(7) == 12);
    fixture.begin();
    store<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 10);
    for (int i = 0; i < 7; ++i) launch_dependent(fixture.numbers + i, fixture.numbers + i + 1, fixture.stream);
    const cudaGraph_t graph = fixture.end();
    CHECK(edges_of(graph) == 7);
    fixture.run(graph, 2);
    CHECK(fixture.number(7) == 17);
}

#ifdef __CPU_DEVICE__

TEST_CASE("a seed shuffles nodes that no edge orders") {
    const Fixture fixture;
    std::vector<int> order;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    struct Call {
        std::vector<int>* order;
        int number;
    };
    std::array<Call, 6> calls{};
    for (int i = 0; i < 6; ++i) {
        calls[static_cast<std::size_t>(i)] = {&order, i};
        cudaHostNodeParams host{};
        host.fn = [](void* data) {
            const Call& call = *static_cast<Call*>(data);
            call.order->push_back(call.number);
        };
        host.userData = &calls[static_cast<std::size_t>(i)];
        cudaGraphNode_t node = nullptr;
        CHECK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host) == cudaSuccess);
    }
    cudaGraphExec_t executable = nullptr;
    REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    const std::uint64_t seed = cpu_device::schedule_seed();
    std::vector<std::vector<int>> orders;
    for (const std::uint64_t one : {0, 1, 1, 2}) {
        order.clear();
        cpu_device::set_schedule_seed(one);
        CHECK(cudaGraphLaunch(executable, fixture.stream) == cudaSuccess);
        orders.push_back(order);
    }
    cpu_device::set_schedule_seed(seed);
    CHECK(orders[0] == std::vector<int>{0, 1, 2, 3, 4, 5});
    CHECK(orders[1] == orders[2]);
    CHECK(orders[1] != orders[0]);
    CHECK(orders[3] != orders[1]);
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("the log tells launches of a graph from those of the host") {
    const Fixture fixture;
    fixture.begin();
    add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 1);
    add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 1);
    const cudaGraph_t graph = fixture.end();
    cpu_device::start_log();
    add<<<1, 1, 0, fixture.stream>>>(fixture.numbers, 1);
    fixture.run(graph);
    cpu_device::stop_log();
    int by_host = 0, by_graph = 0;
    for (const cpu_device::LoggedCall& call : cpu_device::logged_calls()) {
        if (call.launch == 0) continue;
        ++(call.in_graph ? by_graph : by_host);
    }
    CHECK(by_host == 1);
    CHECK(by_graph == 2);
}

TEST_CASE("what a graph cannot do here is refused by name") {
    const Fixture fixture;
    const bool printed = cpu_device::print_diagnostics(false);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    cudaGraphExec_t executable = nullptr;
    CHECK(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagDeviceLaunch) == cudaErrorNotSupported);
    fixture.begin();
    void* memory = nullptr;
    CHECK(cudaMallocAsync(&memory, 16, fixture.stream) == cudaErrorNotSupported);
    CHECK(cudaGraphDestroy(fixture.end()) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    const auto diagnostics = cpu_device::take_diagnostics();
    REQUIRE(diagnostics.size() == 2);
    CHECK(diagnostics[0].kind == cpu_device::DiagnosticKind::unsupported);
    CHECK(diagnostics[0].message.find("graphs that a kernel launches") != std::string::npos);
    CHECK(diagnostics[1].message.find("cudaMallocAsync") != std::string::npos);
    cpu_device::print_diagnostics(printed);
}

#endif
