// The polynomial as one chain of operations, or as several.
#pragma once

#include <cuda_runtime.h>

namespace optimization {
namespace {

constexpr int kTerms = 256;

// From 0 to 1. nvcc computes them and writes them into the instructions. If they were in
// memory, one instruction would have to fetch every two of them, and a third of what a
// scheduler issues would be no multiply-add.
__host__ __device__ constexpr float coefficient(int k) {
    return static_cast<float>((static_cast<unsigned>(k + 1) * 2654435761u) >> 8) /
           16777216.0f;
}

__device__ inline float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }

// A number that knows how many operations lie between it and the input, one after the
// other; `operations` counts all of them.
struct Traced {
    float value = 0;
    int depth = 0;
    int* operations = nullptr;
};

__device__ inline Traced multiply_add(Traced a, Traced b, Traced c) {
    int depth = a.depth > b.depth ? a.depth : b.depth;
    if (c.depth > depth) depth = c.depth;
    ++*b.operations;
    return {fmaf(a.value, b.value, c.value), depth + 1, b.operations};
}

// The value at x of the polynomial with these coefficients, the constant one first. One
// chain is Horner's rule: ((c3 x + c2) x + c1) x + c0. With k chains, each chain takes
// every k-th coefficient and goes on by x^k; their results are joined by Horner's rule. The
// chains do not depend on each other, so an operation of one chain can be issued while
// those of the others are still in flight. The price is a few operations for x^k and for
// joining, and k registers.
template <int kChains, class Number>
__device__ Number polynomial(Number x) {
    Number power = x;
    for (int k = 1; k < kChains; ++k) power = multiply_add(power, x, Number{0.0f});
    Number sums[kChains];
#pragma unroll
    for (int k = 0; k < kChains; ++k) sums[k] = Number{coefficient(kTerms - kChains + k)};
#pragma unroll
    for (int term = kTerms - 2 * kChains; term >= 0; term -= kChains) {
#pragma unroll
        for (int k = 0; k < kChains; ++k)
            sums[k] = multiply_add(sums[k], power, Number{coefficient(term + k)});
    }
    Number value = sums[kChains - 1];
#pragma unroll
    for (int k = kChains - 2; k >= 0; --k) value = multiply_add(value, x, sums[k]);
    return value;
}

}  // namespace
}  // namespace optimization
