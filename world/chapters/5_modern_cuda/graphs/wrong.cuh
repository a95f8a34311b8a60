// Mistakes with graphs and dependent launches, for the CPU device to find. On a GPU they
// may give wrong results, or the right ones for years, so they do not run there.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "chapters/5_modern_cuda/graphs/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"

namespace modern_cuda {
namespace {

constexpr std::size_t kWrong = 64;  // numbers

__global__ void add_one(unsigned* values) { values[threadIdx.x] += 1; }

__global__ void add_up(const unsigned* a, const unsigned* b, unsigned* out) {
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

// Reads what the kernel before has written, and waits for that kernel too late.
__global__ void read_before_the_wait(const unsigned* in, unsigned* out) {
    const unsigned value = in[threadIdx.x];
    wait_for_the_kernel_before();
    out[threadIdx.x] = value;
}

// A graph that is destroyed when its time is over.
class Captured {
public:
    template <class Work>
    explicit Captured(const Work& work) {
        warpwise::check(cudaStreamCreate(&stream_));
        warpwise::check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
        work(stream_);
        warpwise::check(cudaStreamEndCapture(stream_, &graph_));
        warpwise::check(cudaGraphInstantiate(&executable_, graph_, 0));
    }
    ~Captured() {
        (void)cudaGraphExecDestroy(executable_);
        (void)cudaGraphDestroy(graph_);
        (void)cudaStreamDestroy(stream_);
    }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;

    void launch() {
        (void)cudaGraphLaunch(executable_, stream_);
        (void)cudaStreamSynchronize(stream_);
    }

private:
    cudaStream_t stream_ = nullptr;
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
};

// WRONG: the graph keeps the pointer that it was given, and the memory is freed.
void captured_pointer_gone() {
    unsigned* values = nullptr;
    warpwise::check(cudaMalloc(&values, kWrong * sizeof(unsigned)));
    warpwise::check(cudaMemset(values, 0, kWrong * sizeof(unsigned)));
    Captured graph([&](cudaStream_t stream) { add_one<<<1, 64, 0, stream>>>(values); });
    graph.launch();
    warpwise::check(cudaFree(values));
    graph.launch();
}

// WRONG: add_up needs both arrays, and waits for only one of the two kernels before it.
void missing_edge() {
    const std::vector<unsigned> zeros(kWrong);
    warpwise::DeviceBuffer<unsigned> a(zeros), b(zeros), sum(kWrong);
    unsigned *d_a = a.data(), *d_b = b.data(), *d_sum = sum.data();
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t add_a = nullptr, add_b = nullptr, adds = nullptr;
    warpwise::check(cudaGraphCreate(&graph, 0));
    void *of_a[] = {&d_a}, *of_b[] = {&d_b}, *of_sum[] = {&d_a, &d_b, &d_sum};
    cudaKernelNodeParams kernel{};
    kernel.func = (void*)add_one;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(kWrong);
    kernel.kernelParams = of_a;
    warpwise::check(cudaGraphAddKernelNode(&add_a, graph, nullptr, 0, &kernel));
    kernel.kernelParams = of_b;
    warpwise::check(cudaGraphAddKernelNode(&add_b, graph, nullptr, 0, &kernel));
    kernel.func = (void*)add_up;
    kernel.kernelParams = of_sum;
    warpwise::check(cudaGraphAddKernelNode(&adds, graph, &add_a, 1, &kernel));
    cudaGraphExec_t executable = nullptr;
    warpwise::check(cudaGraphInstantiate(&executable, graph, 0));
    warpwise::check(cudaGraphLaunch(executable, nullptr));
    warpwise::check(cudaDeviceSynchronize());
    warpwise::check(cudaGraphExecDestroy(executable));
    warpwise::check(cudaGraphDestroy(graph));
}

// The copy's source is a variable of this function, which has returned before the launch.
__attribute__((noinline)) void capture_copy_of_local(cudaStream_t stream,
                                                     unsigned* values) {
    unsigned first = 7;
    warpwise::check(
        cudaMemcpyAsync(values, &first, sizeof first, cudaMemcpyHostToDevice, stream));
}

// WRONG: a captured copy reads its source at each launch, and not when it is captured.
void copy_of_a_local_variable() {
    warpwise::DeviceBuffer<unsigned> values(std::vector<unsigned>(kWrong, 1));
    Captured graph(
        [&](cudaStream_t stream) { capture_copy_of_local(stream, values.data()); });
    graph.launch();
}

// WRONG: the graph is destroyed before its last launch.
void destroyed_too_early() {
    warpwise::DeviceBuffer<unsigned> values(std::vector<unsigned>(kWrong, 1));
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    warpwise::check(cudaStreamCreate(&stream));
    warpwise::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add_one<<<1, kWrong, 0, stream>>>(values.data());
    warpwise::check(cudaStreamEndCapture(stream, &graph));
    warpwise::check(cudaGraphInstantiate(&executable, graph, 0));
    warpwise::check(cudaGraphDestroy(graph));
    warpwise::check(cudaGraphExecDestroy(executable));
    (void)cudaGraphLaunch(executable, stream);
    warpwise::check(cudaStreamDestroy(stream));
}

// WRONG: a dependent kernel reads its input before it has waited for the kernel before it.
void reads_before_the_wait() {
    warpwise::DeviceBuffer<unsigned> values(std::vector<unsigned>(kWrong, 1)), out(kWrong);
    add_one<<<1, kWrong>>>(values.data());
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(kWrong);
    config.attrs = &attribute;
    config.numAttrs = 1;
    const unsigned* in = values.data();
    warpwise::check(cudaLaunchKernelEx(&config, read_before_the_wait, in, out.data()));
    warpwise::check(cudaDeviceSynchronize());
}

}  // namespace
}  // namespace modern_cuda
