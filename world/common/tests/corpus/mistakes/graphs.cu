// CUDA graphs and programmatic dependent launches: pointers that a graph has kept and that are no longer good, edges
// that are missing, and kernels that begin early and do not wait.
#include <cuda_runtime.h>

#include <vector>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr unsigned kCount = 64;

__global__ void double_each(float* values) { values[threadIdx.x] *= 2; }

__device__ void wait_for_kernel_ahead() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

std::vector<float> ones() { return std::vector<float>(kCount, 1.0f); }

/// A stream, and what was captured in it.
struct Recorded {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;

    Recorded() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
    ~Recorded() {
        if (executable != nullptr) check(cudaGraphExecDestroy(executable));
        if (graph != nullptr) check(cudaGraphDestroy(graph));
        check(cudaStreamDestroy(stream));
    }
    void begin() const { check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)); }
    void end() {
        check(cudaStreamEndCapture(stream, &graph));
        check(cudaGraphInstantiate(&executable, graph, 0));
    }
};

cudaKernelNodeParams node_of(void* kernel, void** arguments) {
    cudaKernelNodeParams params{};
    params.func = kernel;
    params.gridDim = dim3(1);
    params.blockDim = dim3(kCount);
    params.kernelParams = arguments;
    return params;
}

void launch_and_destroy(cudaGraph_t graph) {
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaGraphLaunch(executable, nullptr));
    check_finished();
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
}

// ---- pointers that are gone ----------------------------------------------------------------------------------------

void captured_memory_was_freed() {
    Recorded recorded;
    float* values = nullptr;
    check(cudaMalloc(&values, kCount * sizeof(float)));
    check(cudaMemset(values, 0, kCount * sizeof(float)));
    recorded.begin();
    double_each<<<1, kCount, 0, recorded.stream>>>(values);
    recorded.end();
    check(cudaGraphLaunch(recorded.executable, recorded.stream));
    check(cudaStreamSynchronize(recorded.stream));
    check(cudaFree(values));
    // HINT: after the last launch of the graph
    (void)cudaGraphLaunch(recorded.executable, recorded.stream);  // MISTAKE(use_after_free): the array is gone
    (void)cudaGetLastError();
}

void memset_node_of_freed_memory() {
    void* memory = nullptr;
    check(cudaMalloc(&memory, kCount));
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphCreate(&graph, 0));
    cudaMemsetParams params{};
    params.dst = memory;
    params.elementSize = 1;
    params.width = kCount;
    params.height = 1;
    check(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaFree(memory));
    (void)cudaGraphLaunch(executable, nullptr);  // MISTAKE(use_after_free): freed after the instantiation
    (void)cudaGetLastError();
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
}

__attribute__((noinline)) void record_copy_of_local(cudaStream_t stream, float* to) {
    float value = 3;
    check(cudaMemcpyAsync(to, &value, sizeof value, cudaMemcpyHostToDevice, stream));
}

void captured_copy_of_a_local_variable() {
    DeviceBuffer<float> values(ones());
    Recorded recorded;
    recorded.begin();
    record_copy_of_local(recorded.stream, values.data());
    recorded.end();
    (void)cudaGraphLaunch(recorded.executable, recorded.stream);  // MISTAKE(use_after_free): the function has returned
    (void)cudaGetLastError();
    check(cudaStreamSynchronize(recorded.stream));
}

void launched_after_it_was_destroyed() {
    DeviceBuffer<float> values(ones());
    Recorded recorded;
    recorded.begin();
    double_each<<<1, kCount, 0, recorded.stream>>>(values.data());
    recorded.end();
    check(cudaGraphExecDestroy(recorded.executable));
    (void)cudaGraphLaunch(recorded.executable, recorded.stream);  // MISTAKE(use_after_free): destroyed
    (void)cudaGetLastError();
    recorded.executable = nullptr;
}

void executable_graph_is_never_destroyed() {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphCreate(&graph, 0));
    check(cudaGraphInstantiate(&executable, graph, 0));  // MISTAKE(memory_leak): only the graph is destroyed
    check(cudaGraphDestroy(graph));
}

// ---- edges that are missing ----------------------------------------------------------------------------------------

__global__ void fill_second(float* values) {
    values[threadIdx.x] = static_cast<float>(threadIdx.x);  // OTHER: the node that the sum does not wait for
}

__global__ void add_two(const float* a, const float* b, float* out) {
    const float first = a[threadIdx.x];
    out[threadIdx.x] = first + b[threadIdx.x];  // MISTAKE(data_race): b may not be there yet
}

void node_waits_for_one_of_two() {
    DeviceBuffer<float> a(ones()), b(kCount), out(kCount);
    float *d_a = a.data(), *d_b = b.data(), *d_out = out.data();
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t doubles = nullptr, fills = nullptr, adds = nullptr;
    check(cudaGraphCreate(&graph, 0));
    void *of_double[] = {&d_a}, *of_fill[] = {&d_b}, *of_add[] = {&d_a, &d_b, &d_out};
    const cudaKernelNodeParams first = node_of((void*)double_each, of_double);
    const cudaKernelNodeParams second = node_of((void*)fill_second, of_fill);
    const cudaKernelNodeParams third = node_of((void*)add_two, of_add);
    check(cudaGraphAddKernelNode(&doubles, graph, nullptr, 0, &first));
    check(cudaGraphAddKernelNode(&fills, graph, nullptr, 0, &second));
    // HINT: let one of the nodes depend on the other
    check(cudaGraphAddKernelNode(&adds, graph, &doubles, 1, &third));
    launch_and_destroy(graph);
}

__global__ void store_index(float* values) {
    values[threadIdx.x] = static_cast<float>(threadIdx.x);  // OTHER: so does the other branch
}

__global__ void store_twice_the_index(float* values) {
    values[threadIdx.x] = 2 * static_cast<float>(threadIdx.x);  // MISTAKE(data_race): which branch is the last?
}

void branches_write_the_same_array() {
    DeviceBuffer<float> values(ones());
    Recorded recorded;
    cudaStream_t other = nullptr;
    cudaEvent_t fork = nullptr, join = nullptr;
    check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    check(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    recorded.begin();
    double_each<<<1, kCount, 0, recorded.stream>>>(values.data());
    check(cudaEventRecord(fork, recorded.stream));
    check(cudaStreamWaitEvent(other, fork, 0));
    store_index<<<1, kCount, 0, recorded.stream>>>(values.data());
    store_twice_the_index<<<1, kCount, 0, other>>>(values.data());
    check(cudaEventRecord(join, other));
    check(cudaStreamWaitEvent(recorded.stream, join, 0));
    recorded.end();
    check(cudaGraphLaunch(recorded.executable, recorded.stream));
    check(cudaStreamSynchronize(recorded.stream));
    check(cudaEventDestroy(fork));
    check(cudaEventDestroy(join));
    check(cudaStreamDestroy(other));
}

__global__ void count_up(float* values) {
    values[threadIdx.x] += 1;  // OTHER: the kernel that the copy does not wait for
}

void copy_beside_the_kernel_that_writes() {
    DeviceBuffer<float> values(ones()), copy(kCount);
    Recorded recorded;
    cudaStream_t other = nullptr;
    cudaEvent_t fork = nullptr, join = nullptr;
    check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    check(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    recorded.begin();
    check(cudaEventRecord(fork, recorded.stream));  // ahead of the kernel, and not behind it
    count_up<<<1, kCount, 0, recorded.stream>>>(values.data());
    check(cudaStreamWaitEvent(other, fork, 0));
    float *const from = values.data(), *const to = copy.data();
    check(cudaMemcpyAsync(to, from, 16, cudaMemcpyDeviceToDevice, other));  // MISTAKE(data_race): too early
    check(cudaEventRecord(join, other));
    check(cudaStreamWaitEvent(recorded.stream, join, 0));
    recorded.end();
    check(cudaGraphLaunch(recorded.executable, recorded.stream));
    check(cudaStreamSynchronize(recorded.stream));
    check(cudaEventDestroy(fork));
    check(cudaEventDestroy(join));
    check(cudaStreamDestroy(other));
}

void stream_never_joins_again() {
    DeviceBuffer<float> values(ones());
    cudaStream_t stream = nullptr, other = nullptr;
    cudaEvent_t fork = nullptr;
    cudaGraph_t graph = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    check(cudaEventRecord(fork, stream));
    check(cudaStreamWaitEvent(other, fork, 0));
    double_each<<<1, kCount, 0, other>>>(values.data());
    cudaStreamEndCapture(stream, &graph);  // MISTAKE(unseen_error): the other stream has unjoined work
    check(cudaEventDestroy(fork));
    check(cudaStreamDestroy(stream));
    check(cudaStreamDestroy(other));
}

// ---- conditions ----------------------------------------------------------------------------------------------------

__global__ void go_on(cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, 1); }

void while_node_never_ends() {
    cudaGraph_t graph = nullptr;
    cudaGraphConditionalHandle handle = 0;
    check(cudaGraphCreate(&graph, 0));
    check(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    cudaGraphNode_t node = nullptr, in_body = nullptr;
#if CUDART_VERSION >= 13000
    check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
#else
    check(cudaGraphAddNode(&node, graph, nullptr, 0, &params));
#endif
    void* of_kernel[] = {&handle};
    cudaKernelNodeParams kernel = node_of((void*)go_on, of_kernel);
    kernel.blockDim = dim3(1);
    check(cudaGraphAddKernelNode(&in_body, params.conditional.phGraph_out[0], nullptr, 0, &kernel));
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaGraphLaunch(executable, nullptr));  // MISTAKE(endless_kernel): nobody sets the condition to 0
    check_finished();
}

// ---- programmatic dependent launches
// -----------------------------------------------------------------------------------

template <class... Parameters, class... Arguments>
void launch_early(void (*kernel)(Parameters...), Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(kCount);
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

__global__ void reads_before_it_waits(const float* in, float* out) {
    const float value = in[threadIdx.x];  // MISTAKE(data_race): the kernel ahead may still run
    wait_for_kernel_ahead();
    out[threadIdx.x] = value;
}

void dependent_kernel_reads_too_early() {
    DeviceBuffer<float> values(ones()), out(kCount);
    const float* in = values.data();
    double_each<<<1, kCount>>>(values.data());  // OTHER: writes what the next one reads
    // HINT: cudaGridDependencySynchronize
    launch_early(reads_before_it_waits, in, out.data());
    check_finished();
}

__global__ void never_waits(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x] + 1;  // MISTAKE(data_race): nobody waits for the kernel ahead
}

void dependent_kernel_never_waits() {
    DeviceBuffer<float> values(ones()), out(kCount);
    const float* in = values.data();
    double_each<<<1, kCount>>>(values.data());  // OTHER: writes what the next one reads
    launch_early(never_waits, in, out.data());
    check_finished();
}

__global__ void copy_each(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void overwrites_before_it_waits(float* values) {
    values[threadIdx.x] = 0;  // MISTAKE(data_race): the kernel ahead still reads it
    wait_for_kernel_ahead();
}

void dependent_kernel_writes_too_early() {
    DeviceBuffer<float> values(ones()), out(kCount);
    const float* in = values.data();
    copy_each<<<1, kCount>>>(in, out.data());  // OTHER: reads what the next one writes
    launch_early(overwrites_before_it_waits, values.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList graphs() {
    return {__FILE__,
            {{"captured_memory_was_freed", "a graph keeps a pointer to freed memory", captured_memory_was_freed},
             {"memset_node_of_freed_memory", "so does a memset node", memset_node_of_freed_memory},
             {"captured_copy_of_a_local_variable", "the source of a captured copy is out of scope",
              captured_copy_of_a_local_variable},
             {"launched_after_it_was_destroyed", "an executable graph is destroyed too early",
              launched_after_it_was_destroyed},
             {"executable_graph_is_never_destroyed", "cudaGraphExecDestroy is missing",
              executable_graph_is_never_destroyed},
             {"node_waits_for_one_of_two", "a node needs two others and waits for one", node_waits_for_one_of_two},
             {"branches_write_the_same_array", "two branches of a captured graph write the same array",
              branches_write_the_same_array},
             {"copy_beside_the_kernel_that_writes", "an event is recorded ahead of the kernel",
              copy_beside_the_kernel_that_writes},
             {"stream_never_joins_again", "a capture ends with a stream that has not joined", stream_never_joins_again},
             {"while_node_never_ends", "no kernel sets the condition to 0", while_node_never_ends, true},
             {"dependent_kernel_reads_too_early", "a dependent kernel reads, and then waits",
              dependent_kernel_reads_too_early},
             {"dependent_kernel_never_waits", "a dependent kernel does not wait", dependent_kernel_never_waits},
             {"dependent_kernel_writes_too_early", "a dependent kernel overwrites what the one ahead reads",
              dependent_kernel_writes_too_early}}};
}

}  // namespace corpus
