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

// TODO 1: capture the three kernels of one step in ring.stream, once, and instantiate
//         what was captured.
// TODO 2: launch the graph once for each step. Each step has another number: which value
//         does the captured kernel get?
// TODO 3: destroy what you have made.
void settle(const Ring& ring) {
    const unsigned blocks = static_cast<unsigned>((ring.count + threads - 1) / threads);
    for (unsigned k = 0; k < ring.steps; ++k) {
        pulse<<<1, 1, 0, ring.stream>>>(ring.d_values, ring.count, ring.first_step + k);
        sweep<<<blocks, threads, 0, ring.stream>>>(ring.d_values, ring.count, ring.d_other);
        sweep<<<blocks, threads, 0, ring.stream>>>(ring.d_other, ring.count, ring.d_values);
    }
}
