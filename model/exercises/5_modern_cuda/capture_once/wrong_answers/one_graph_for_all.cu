// Wrong answer: captures all steps into one graph
// Rejected by: does many steps with one graph
// Message: A graph is launched 1 times for 20 steps
#include "exercises/5_modern_cuda/capture_once/capture_once.h"

constexpr unsigned threads = 256;

__global__ void pulse(unsigned* values, size_t count, unsigned step) {
    values[step * size_t{7919} % count] += 1000 + step;
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
    for (unsigned k = 0; k < ring.steps; ++k) {
        pulse<<<1, 1, 0, ring.stream>>>(ring.d_values, ring.count, ring.first_step + k);
        sweep<<<blocks, threads, 0, ring.stream>>>(ring.d_values, ring.count, ring.d_other);
        sweep<<<blocks, threads, 0, ring.stream>>>(ring.d_other, ring.count, ring.d_values);
    }
    cudaStreamEndCapture(ring.stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, ring.stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}
