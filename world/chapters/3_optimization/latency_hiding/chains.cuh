// The kernels that compute values of the polynomial, and their structure.
#pragma once

#include <cuda_runtime.h>

#include "chapters/3_optimization/latency_hiding/polynomial.cuh"

namespace optimization {
namespace {

constexpr float kNextPoint = 0.96875f;  // 31/32

struct Span {
    long long begin, end;  // cycles of the SM's clock
};

// The sum of the polynomial at `rounds` points x, 31/32 x ... for each thread's own x.
template <int kChains>
__global__ void add_values(const float* points, float* sums, int rounds, Span* spans) {
    float x = points[threadIdx.x];
    float sum = 0;
    __syncthreads();  // all warps begin together
    const long long begin = clock64();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        sum += polynomial<kChains>(x);
        x *= kNextPoint;
    }
    spans[threadIdx.x] = {begin, clock64()};
    sums[threadIdx.x] = sum;
}

// How many operations one value takes: all of them, and the longest chain that they form.
struct Structure {
    int operations, longest;
};

template <int kChains>
__global__ void trace(Structure* structure) {
    int operations = 0;
    const Traced value = polynomial<kChains>(Traced{0.5f, 0, &operations});
    *structure = {operations, value.depth};
}

}  // namespace
}  // namespace optimization
