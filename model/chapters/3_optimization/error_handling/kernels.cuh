// The kernels of the lesson error_handling: one that is right, and others to make mistakes
// with.
#pragma once

#include <cuda_runtime.h>

#include <cassert>

namespace optimization {
namespace {

// Doubles an array. Right, as long as it is launched with blocks that a device accepts.
__global__ void twice(float* data, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) data[i] *= 2;
}

// Its guard is off by one: of an array of 100 floats it writes 101.
__global__ void twice_and_one_more(float* data, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= count) data[i] = 2;
}

// Four floats at a time. Wrong where the addresses are no multiples of 16 bytes.
__global__ void move_four(const float* from, float* to) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

// Stops with an error if the condition does not hold.
__global__ void assert_that(bool condition) { assert(condition); }

// Stops with an error, always.
__global__ void give_up() { __trap(); }

// Has no fault: shows whether the device still works after a mistake.
__global__ void do_nothing() {}

}  // namespace
}  // namespace optimization
