// Exercise: a step that is captured once, and launched as a graph for each turn.
// The task: ./warpwise task capture_once
#include "exercises/5_modern_cuda/capture_once/capture_once.h"

constexpr unsigned threads = 256;

// Before step number `step`, one number gets a pulse.
__global__ void pulse(unsigned* values, size_t count, unsigned step) {
    values[step * size_t{7919} % count] += 1000 + step;
}

// Half a step: each number becomes the mean of itself, twice, and its two neighbors.
__global__ void sweep(const unsigned* values, size_t count, unsigned* out) {
    const size_t i = blockIdx.x * size_t{threads} + threadIdx.x;
    if (i >= count) return;
    const unsigned left = values[(i + count - 1) % count];
    const unsigned right = values[(i + 1) % count];
    out[i] = (left + 2 * values[i] + right + 2) / 4;
}

// The parameters of the node that gives the pulse. What `arguments` points to is copied
// when they are handed over.
cudaKernelNodeParams pulse_of(void** arguments) {
    cudaKernelNodeParams params{};
    params.func = (void*)pulse;
    params.gridDim = dim3(1);
    params.blockDim = dim3(1);
    params.kernelParams = arguments;
    return params;
}

void settle(const Ring& ring) {
    if (ring.steps == 0) return;
    const unsigned blocks = static_cast<unsigned>((ring.count + threads - 1) / threads);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaStreamBeginCapture(ring.stream, cudaStreamCaptureModeThreadLocal);
    pulse<<<1, 1, 0, ring.stream>>>(ring.d_values, ring.count, ring.first_step);
    sweep<<<blocks, threads, 0, ring.stream>>>(ring.d_values, ring.count, ring.d_other);
    sweep<<<blocks, threads, 0, ring.stream>>>(ring.d_other, ring.count, ring.d_values);
    cudaStreamEndCapture(ring.stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    // Only the first kernel waits for no other one.
    cudaGraphNode_t first = nullptr;
    size_t count = 1;
    cudaGraphGetRootNodes(graph, &first, &count);
    Ring now = ring;
    for (unsigned k = 0; k < ring.steps; ++k) {
        unsigned step = ring.first_step + k;
        void* arguments[] = {&now.d_values, &now.count, &step};
        const cudaKernelNodeParams params = pulse_of(arguments);
        cudaGraphExecKernelNodeSetParams(executable, first, &params);
        cudaGraphLaunch(executable, ring.stream);
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}
