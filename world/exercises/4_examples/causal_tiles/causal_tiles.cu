// Exercise: attention with a causal mask that computes what it masks.
// The task: ./warpwise task causal_tiles
#include "exercises/4_examples/causal_tiles/causal_tiles.h"

#include <cuda_runtime.h>

#include <cfloat>

constexpr unsigned side = 32;  // tokens of a tile, lanes of a warp, elements of a row
constexpr unsigned warps = 8;
constexpr unsigned rows = side / warps;  // queries of a warp

__device__ float largest_of_lanes(float x) {
    for (unsigned distance = side / 2; distance > 0; distance /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, distance));
    return x;
}

__device__ float sum_of_lanes(float x) {
    for (unsigned distance = side / 2; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

__global__ void attend_by_tiles(const float* queries, const float* keys,
                                const float* values, size_t tokens, float* out) {
    __shared__ float q[side][side], k[side][side + 1], v[side][side];
    const unsigned lane = threadIdx.x, warp = threadIdx.y;
    const size_t first_row = size_t{blockIdx.x} * side;
    // Rows past the last token are filled with 0.
    const auto load_tile = [&](auto& to, const float* from, size_t first) {
        for (unsigned i = warp; i < side; i += warps)
            to[i][lane] = first + i < tokens ? from[(first + i) * side + lane] : 0;
    };
    load_tile(q, queries, first_row);

    float largest[rows], sums[rows] = {}, weighted[rows] = {};
    for (float& of_row : largest) of_row = -FLT_MAX;
    // TODO 1: which tiles of keys contain a key that some query of this block attends to?
    // (At present the loop takes all of them.)
    for (size_t first = 0; first < tokens; first += side) {
        __syncthreads();  // all have read the tiles before
        load_tile(k, keys, first);
        load_tile(v, values, first);
        __syncthreads();
        for (unsigned i = 0; i < rows; ++i) {
            const unsigned row = warp * rows + i;
            float score = 0;
            for (unsigned d = 0; d < side; ++d) score += q[row][d] * k[lane][d];
            score *= 0.17677669529663687f;
            // TODO 2: which of the remaining tiles need this comparison?
            if (first + lane > first_row + row) score = -INFINITY;

            const float larger = fmaxf(largest[i], largest_of_lanes(score));
            const float correction = expf(largest[i] - larger);
            const float weight = expf(score - larger);
            largest[i] = larger;
            sums[i] = sums[i] * correction + weight;
            weighted[i] *= correction;
            for (unsigned key = 0; key < side; ++key)
                weighted[i] += __shfl_sync(0xffffffff, weight, key) * v[key][lane];
        }
    }
    for (unsigned i = 0; i < rows; ++i) {
        const size_t row = first_row + warp * rows + i;
        const float sum = sum_of_lanes(sums[i]);
        if (row < tokens) out[row * side + lane] = weighted[i] / sum;
    }
}

void attend(const float* d_queries, const float* d_keys, const float* d_values,
            size_t tokens, float* d_out) {
    if (tokens == 0) return;
    const unsigned blocks = static_cast<unsigned>((tokens + side - 1) / side);
    attend_by_tiles<<<blocks, dim3(side, warps)>>>(d_queries, d_keys, d_values, tokens,
                                                   d_out);
}
