// Correct answer: the first sweep adds the pulse by itself, so a step has two kernels
#include "exercises/5_modern_cuda/capture_once/capture_once.h"

constexpr unsigned threads = 256;

__device__ unsigned pulsed(const unsigned* values, size_t count, unsigned step, size_t i) {
    return values[i] + (i == step * size_t{7919} % count ? 1000 + step : 0);
}

__global__ void first_sweep(const unsigned* values, size_t count, unsigned* out,
                            unsigned step) {
    const size_t i = blockIdx.x * size_t{threads} + threadIdx.x;
    if (i >= count) return;
    const unsigned left = pulsed(values, count, step, (i + count - 1) % count);
    const unsigned right = pulsed(values, count, step, (i + 1) % count);
    out[i] = (left + 2 * pulsed(values, count, step, i) + right + 2) / 4;
}

__global__ void sweep(const unsigned* values, size_t count, unsigned* out) {
    const size_t i = blockIdx.x * size_t{threads} + threadIdx.x;
    if (i >= count) return;
    const unsigned left = values[(i + count - 1) % count];
    const unsigned right = values[(i + 1) % count];
    out[i] = (left + 2 * values[i] + right + 2) / 4;
}

void settle(const Ring& ring) {
    if (ring.steps == 0) return;
    const unsigned blocks = static_cast<unsigned>((ring.count + threads - 1) / threads);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cudaStreamBeginCapture(ring.stream, cudaStreamCaptureModeThreadLocal);
    first_sweep<<<blocks, threads, 0, ring.stream>>>(ring.d_values, ring.count,
                                                     ring.d_other, ring.first_step);
    sweep<<<blocks, threads, 0, ring.stream>>>(ring.d_other, ring.count, ring.d_values);
    cudaStreamEndCapture(ring.stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphNode_t first = nullptr;
    size_t found = 1;
    cudaGraphGetRootNodes(graph, &first, &found);
    Ring now = ring;
    cudaKernelNodeParams params{};
    params.func = (void*)first_sweep;
    params.gridDim = dim3(blocks);
    params.blockDim = dim3(threads);
    for (unsigned k = 0; k < ring.steps; ++k) {
        unsigned step = ring.first_step + k;
        void* arguments[] = {&now.d_values, &now.count, &now.d_other, &step};
        params.kernelParams = arguments;
        cudaGraphExecKernelNodeSetParams(executable, first, &params);
        cudaGraphLaunch(executable, ring.stream);
    }
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}
