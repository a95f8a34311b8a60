// CUDA graphs and programmatic dependent launches that are used as they should be.
#include <cuda_runtime.h>

#include <vector>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

constexpr int kCount = 64;

__device__ void wait_for_kernel_ahead() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

__device__ void let_next_begin() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

__global__ void add_to_each(int* values, int amount) { values[threadIdx.x] += amount; }

__global__ void add_each(const int* a, const int* b, int* out) { out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }

std::vector<int> indices() {
    return sequence<int>(kCount, [](int i) { return i; });
}

struct Streams {
    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t fork = nullptr, join = nullptr;

    Streams() {
        check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
        check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
        check(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
        check(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    }
    ~Streams() {
        check(cudaEventDestroy(fork));
        check(cudaEventDestroy(join));
        check(cudaStreamDestroy(first));
        check(cudaStreamDestroy(second));
    }
    void begin() const { check(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal)); }
    void branch() const {
        check(cudaEventRecord(fork, first));
        check(cudaStreamWaitEvent(second, fork, 0));
    }
    void come_back() const {
        check(cudaEventRecord(join, second));
        check(cudaStreamWaitEvent(first, join, 0));
    }
    /// Runs what was captured so many times.
    void run(int times) const {
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        check(cudaStreamEndCapture(first, &graph));
        check(cudaGraphInstantiate(&executable, graph, 0));
        check(cudaGraphDestroy(graph));  // what was instantiated does not need it
        for (int i = 0; i < times; ++i) check(cudaGraphLaunch(executable, first));
        check(cudaStreamSynchronize(first));
        check(cudaGraphExecDestroy(executable));
    }
};

void branches_join_before_the_sum() {
    DeviceBuffer<int> a(indices()), b(indices()), out(kCount);
    const Streams streams;
    streams.begin();
    add_to_each<<<1, kCount, 0, streams.first>>>(a.data(), 1);
    streams.branch();
    add_to_each<<<1, kCount, 0, streams.first>>>(a.data(), 2);
    add_to_each<<<1, kCount, 0, streams.second>>>(b.data(), 10);
    streams.come_back();
    add_each<<<1, kCount, 0, streams.first>>>(a.data(), b.data(), out.data());
    streams.run(2);
    expect_equal(out.download(), sequence<int>(kCount, [](int i) { return 2 * i + 26; }));
}

__global__ void add_to_half(int* values, int half) { values[half * (kCount / 2) + threadIdx.x] += 1 + half; }

void branches_share_an_array_but_no_element() {
    DeviceBuffer<int> values(indices());
    const Streams streams;
    streams.begin();
    streams.branch();
    add_to_half<<<1, kCount / 2, 0, streams.first>>>(values.data(), 0);
    add_to_half<<<1, kCount / 2, 0, streams.second>>>(values.data(), 1);
    streams.come_back();
    streams.run(1);
    expect_equal(values.download(), sequence<int>(kCount, [](int i) { return i + (i < kCount / 2 ? 1 : 2); }));
}

__global__ void count_threads(int* counter) { atomicAdd(counter, 1); }

void branches_count_with_atomics() {
    DeviceBuffer<int> counter(std::vector<int>{0});
    const Streams streams;
    streams.begin();
    streams.branch();
    count_threads<<<1, 32, 0, streams.first>>>(counter.data());
    count_threads<<<1, 64, 0, streams.second>>>(counter.data());
    streams.come_back();
    streams.run(3);
    expect_equal(counter.download(), std::vector<int>{288});
}

void both_branches_read_one_array() {
    DeviceBuffer<int> in(indices()), one(kCount), other(kCount);
    const Streams streams;
    streams.begin();
    add_to_each<<<1, kCount, 0, streams.first>>>(in.data(), 5);
    streams.branch();
    check(cudaMemcpyAsync(one.data(), in.data(), in.bytes(), cudaMemcpyDeviceToDevice, streams.first));
    add_each<<<1, kCount, 0, streams.second>>>(in.data(), in.data(), other.data());
    streams.come_back();
    streams.run(1);
    expect_equal(one.download(), sequence<int>(kCount, [](int i) { return i + 5; }));
    expect_equal(other.download(), sequence<int>(kCount, [](int i) { return 2 * i + 10; }));
}

cudaKernelNodeParams params_of(void* kernel, void** arguments) {
    cudaKernelNodeParams params{};
    params.func = kernel;
    params.gridDim = dim3(1);
    params.blockDim = dim3(kCount);
    params.kernelParams = arguments;
    return params;
}

void node_gets_a_new_pointer_before_the_old_one_is_freed() {
    void* old = nullptr;
    check(cudaMalloc(&old, kCount * sizeof(int)));
    check(cudaMemset(old, 0, kCount * sizeof(int)));
    DeviceBuffer<int> values(indices());
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    cudaGraphExec_t executable = nullptr;
    int amount = 3;
    void* arguments[] = {&old, &amount};
    cudaKernelNodeParams params = params_of((void*)add_to_each, arguments);
    check(cudaGraphCreate(&graph, 0));
    check(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaGraphLaunch(executable, nullptr));
    int* d_values = values.data();
    arguments[0] = &d_values;
    check(cudaGraphExecKernelNodeSetParams(executable, node, &params));
    check(cudaFree(old));
    amount = 100;  // copied by then
    check(cudaGraphLaunch(executable, nullptr));
    check_finished();
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    expect_equal(values.download(), sequence<int>(kCount, [](int i) { return i + 3; }));
}

__global__ void halve(int* value, cudaGraphConditionalHandle again) {
    *value /= 2;
    cudaGraphSetConditional(again, *value > 1 ? 1 : 0);
}

void while_node_ends_by_itself() {
    DeviceBuffer<int> value(std::vector<int>{1000});
    cudaGraph_t graph = nullptr;
    cudaGraphConditionalHandle again = 0;
    check(cudaGraphCreate(&graph, 0));
    check(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = again;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    cudaGraphNode_t node = nullptr, in_body = nullptr;
#if CUDART_VERSION >= 13000
    check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
#else
    check(cudaGraphAddNode(&node, graph, nullptr, 0, &params));
#endif
    int* d_value = value.data();
    void* arguments[] = {&d_value, &again};
    cudaKernelNodeParams kernel = params_of((void*)halve, arguments);
    kernel.blockDim = dim3(1);
    check(cudaGraphAddKernelNode(&in_body, params.conditional.phGraph_out[0], nullptr, 0, &kernel));
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaGraphLaunch(executable, nullptr));
    check_finished();
    expect_equal(value.download(), std::vector<int>{1});
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
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

__global__ void fill_and_let_next_begin(int* values) {
    let_next_begin();
    values[threadIdx.x] = 7 * static_cast<int>(threadIdx.x);
}

__global__ void add_after_the_wait(const int* weights, const int* values, int* out) {
    const int weight = weights[threadIdx.x];  // of no concern to the kernel ahead
    wait_for_kernel_ahead();
    out[threadIdx.x] = weight + values[threadIdx.x];
}

void dependent_kernel_waits_before_it_reads() {
    DeviceBuffer<int> weights(indices()), values(kCount), out(kCount);
    const int *d_weights = weights.data(), *d_values = values.data();
    fill_and_let_next_begin<<<1, kCount>>>(values.data());
    launch_early(add_after_the_wait, d_weights, d_values, out.data());
    check_finished();
    expect_equal(out.download(), sequence<int>(kCount, [](int i) { return 8 * i; }));
}

__global__ void one_thread_waits_for_all(const int* values, int* out) {
    if (threadIdx.x == 0) wait_for_kernel_ahead();
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x] + 1;
}

void one_thread_waits_and_then_the_block() {
    DeviceBuffer<int> values(kCount), out(kCount);
    const int* d_values = values.data();
    fill_and_let_next_begin<<<1, kCount>>>(values.data());
    launch_early(one_thread_waits_for_all, d_values, out.data());
    check_finished();
    expect_equal(out.download(), sequence<int>(kCount, [](int i) { return 7 * i + 1; }));
}

void copy_of_a_pools_memory_is_captured() {
    const Streams streams;
    int* values = nullptr;
    check(cudaMallocAsync(&values, kCount * sizeof *values, streams.second));
    check(cudaMemsetAsync(values, 0, kCount * sizeof *values, streams.second));
    check(cudaDeviceSynchronize());
    DeviceBuffer<int> out(kCount);
    streams.begin();
    check(cudaMemcpyAsync(out.data(), values, kCount * sizeof *values, cudaMemcpyDeviceToDevice, streams.first));
    streams.run(2);
    expect_equal(out.download(), std::vector<int>(kCount));
    check(cudaFreeAsync(values, streams.first));
}

struct Total {
    const int* values;
    int sum;
};

void add_up(void* total) {
    Total& of = *static_cast<Total*>(total);
    of.sum = 0;
    for (int i = 0; i < kCount; ++i) of.sum += of.values[i];
}

void host_node_reads_managed_memory() {
    const Streams streams;
    int* values = nullptr;
    check(cudaMallocManaged(&values, kCount * sizeof *values));
    for (int i = 0; i < kCount; ++i) values[i] = i;
    Total total{values, 0};
    streams.begin();
    add_to_each<<<1, kCount, 0, streams.first>>>(values, 1);
    check(cudaLaunchHostFunc(streams.first, add_up, &total));
    streams.run(3);
    expect_equal(total.sum, kCount * (kCount - 1) / 2 + 3 * kCount);
    check(cudaFree(values));
}

__global__ void uses_other_memory(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }

void early_kernel_shares_nothing_with_the_one_ahead() {
    DeviceBuffer<int> values(kCount), out(kCount);
    fill_and_let_next_begin<<<1, kCount>>>(values.data());
    launch_early(uses_other_memory, out.data());
    check_finished();
    expect_equal(out.download(), indices());
}

}  // namespace

CaseList correct_graphs() {
    return {__FILE__,
            {{"branches_join_before_the_sum", "events fork and join a captured graph", branches_join_before_the_sum},
             {"branches_share_an_array_but_no_element", "two branches write different elements",
              branches_share_an_array_but_no_element},
             {"branches_count_with_atomics", "two branches add to one counter", branches_count_with_atomics},
             {"both_branches_read_one_array", "two branches only read the same array", both_branches_read_one_array},
             {"node_gets_a_new_pointer_before_the_old_one_is_freed", "a node is given other parameters",
              node_gets_a_new_pointer_before_the_old_one_is_freed},
             {"while_node_ends_by_itself", "a kernel sets the condition", while_node_ends_by_itself},
             {"dependent_kernel_waits_before_it_reads", "and does before what needs no wait",
              dependent_kernel_waits_before_it_reads},
             {"one_thread_waits_and_then_the_block", "a barrier tells the others", one_thread_waits_and_then_the_block},
             {"early_kernel_shares_nothing_with_the_one_ahead", "then nothing has to wait",
              early_kernel_shares_nothing_with_the_one_ahead},
             {"copy_of_a_pools_memory_is_captured",
              "the graph is launched after the host has waited for the allocation", copy_of_a_pools_memory_is_captured},
             {"host_node_reads_managed_memory", "the kernel before it has ended", host_node_reads_managed_memory}}};
}

}  // namespace corpus
