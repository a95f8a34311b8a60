// The kernels that the lesson timers times.
#pragma once

#include <cuda_runtime.h>

namespace optimization {
namespace {

// Twice as many turns take twice as long, on any processor: each turn waits for the one
// before it. The result is 2.
__host__ __device__ inline float turn(float x) { return 0.5f * x + 1.0f; }

__global__ void chain(float* out, int turns) {
    float x = 0;
    for (int i = 0; i < turns; ++i) x = turn(x);
    out[threadIdx.x] = x;
}

// What a launch costs, without anything to do.
__global__ void nothing() {}

// Launched only where the first launch of a kernel is of interest.
__global__ void write_number(float* out, float number) { out[threadIdx.x] = number; }

}  // namespace
}  // namespace optimization
