// The kernel that applies a function to each element, and the functions.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace optimization {
namespace {

// Any function of one float, one element per thread.
template <float (*function)(float)>
__global__ void apply(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) y[i] = function(x[i]);
}

__device__ float sinf_of(float x) { return sinf(x); }
__device__ float fast_sinf_of(float x) { return __sinf(x); }
__device__ float expf_of(float x) { return expf(x); }
__device__ float fast_expf_of(float x) { return __expf(x); }
__device__ float exp2f_of(float x) { return exp2f(x * 1.44269504f); }
__device__ float logf_of(float x) { return logf(x); }
__device__ float fast_logf_of(float x) { return __logf(x); }
__device__ float inverse_of(float x) { return 1 / x; }
__device__ float fast_inverse_of(float x) { return __fdividef(1, x); }
__device__ float rsqrtf_of(float x) { return rsqrtf(x); }

}  // namespace
}  // namespace optimization
