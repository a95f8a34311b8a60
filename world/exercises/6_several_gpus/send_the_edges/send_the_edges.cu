// Exercise: strips of a rod on several devices, which send each other their edges.
// The task: ./warpwise task send_the_edges
#include <cuda_runtime.h>

#include "exercises/6_several_gpus/send_the_edges/send_the_edges.h"

constexpr unsigned threads_per_block = 256;

__global__ void smooth(const float* from, float* to, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= count) to[i] = 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1];
}

void smooth_strips(int devices, const Strip* strips, unsigned steps) {
    int before = 0;
    cudaGetDevice(&before);
    for (unsigned step = 0; step < steps; ++step) {
        for (int device = 0; device < devices; ++device) {
            const Strip& strip = strips[device];
            const float* const from = step % 2 == 0 ? strip.d_even : strip.d_odd;
            float* const to = step % 2 == 0 ? strip.d_odd : strip.d_even;
            cudaSetDevice(device);
            // TODO 1: let the stream wait for what the neighbors have sent after the step
            // before.
            const unsigned blocks =
                (strip.count + threads_per_block - 1) / threads_per_block;
            smooth<<<blocks, threads_per_block, 0, strip.stream>>>(from, to, strip.count);
            // TODO 2: send the first value to the left neighbor's halo, and the last value
            // to the right neighbor's.
            // TODO 3: record an event for the neighbors.
        }
    }
    cudaSetDevice(before);
}
