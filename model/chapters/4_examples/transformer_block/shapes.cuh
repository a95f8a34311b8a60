// What the kernels of this lesson share: extents, four neighboring floats at a time, and
// GELU. The kernels are in step_01 ... step_06, one step per file; lesson.cu launches them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace examples {
namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;  // of a block, where a kernel does not say otherwise
constexpr unsigned kWarps = kThreads / kLanes;
constexpr float kEpsilon = 1e-5f;  // keeps a layer norm from dividing by 0

// C = A B has m x n elements, and each of them is a sum of k products.
struct Extents {
    std::size_t m, n, k;
};

// A row of `qkv` has the queries of all heads, then the keys of all heads, then the values
// of all heads: 3 * heads * head floats. A row of the result has heads * head floats.
struct Heads {
    std::size_t tokens, heads, head;  // `head`: floats of a query, a key, or a value
};

// GPT-2 takes this approximation of GELU, with a hyperbolic tangent.
__device__ float gelu_of(float x) {
    constexpr float root = 0.7978845608f;  // of 2 / pi
    return 0.5f * x * (1 + tanhf(root * (x + 0.044715f * x * x * x)));
}

// Four neighbors of a row of `cols` elements. Those past the end of the row are 0 when they
// are loaded, and left out when they are stored. If `cols` is a multiple of 4, this is one
// load or one store of 16 bytes.
__device__ void load_four(float* four, const float* row, std::size_t col,
                          std::size_t cols) {
    if (cols % 4 == 0 && col < cols) {
        const float4 all = reinterpret_cast<const float4*>(row)[col / 4];
        four[0] = all.x, four[1] = all.y, four[2] = all.z, four[3] = all.w;
        return;
    }
    for (unsigned j = 0; j < 4; ++j) four[j] = col + j < cols ? row[col + j] : 0;
}

__device__ void store_four(float* row, std::size_t col, std::size_t cols,
                           const float* four) {
    if (cols % 4 == 0 && col < cols) {
        reinterpret_cast<float4*>(row)[col / 4] =
            make_float4(four[0], four[1], four[2], four[3]);
        return;
    }
    for (unsigned j = 0; j < 4; ++j) {
        if (col + j < cols) row[col + j] = four[j];
    }
}

// From shared memory.
__device__ void fetch_four(float* registers, const float* shared) {
    const float4 four = *reinterpret_cast<const float4*>(shared);
    registers[0] = four.x;
    registers[1] = four.y;
    registers[2] = four.z;
    registers[3] = four.w;
}

}  // namespace
}  // namespace examples
