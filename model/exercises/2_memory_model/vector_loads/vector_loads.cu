// Exercise: 16 bytes per load, wherever the array begins.
// The task: ./warpwise task vector_loads
#include "exercises/2_memory_model/vector_loads/vector_loads.h"

// One float per thread: a warp's request asks for 128 bytes.
__global__ void adjust(float* samples, int n, float gain, float offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) samples[i] = gain * samples[i] + offset;
}

void adjust_samples(float* d_samples, int n, float gain, float offset) {
    if (n == 0) return;
    // TODO 1: where does the first float4 begin? The samples before it are the head.
    // TODO 2: how many float4 follow? The samples after them are the tail.
    // TODO 3: let a thread load and store one float4 of the body at a time, and let some
    // threads take the samples of the head and of the tail.
    const int threads = 256;
    adjust<<<(n + threads - 1) / threads, threads>>>(d_samples, n, gain, offset);
}
