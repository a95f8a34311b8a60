// Solution: when a larger score comes, both sums are corrected, that of the weights and
// that of the values.
#include "exercises/4_examples/rescale_the_sum/rescale_the_sum.h"

#include <cuda_runtime.h>

#include <cfloat>

constexpr unsigned lanes = 32;  // and elements of a query, a key, a value
constexpr unsigned warps = 8;
constexpr unsigned threads = warps * lanes;  // per block; a warp has one token

__device__ float sum_of_lanes(float x) {
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

__global__ void attend_online(const float* queries, const float* keys, const float* values,
                              size_t tokens, float* out) {
    const size_t token = size_t{blockIdx.x} * warps + threadIdx.x / lanes;
    if (token >= tokens) return;  // the whole warp
    const unsigned lane = threadIdx.x % lanes;
    const float query = queries[token * lanes + lane] * 0.17677669529663687f;

    float largest = -FLT_MAX;  // of the scores so far
    float sum = 0;             // of the weights exp(score - largest)
    float weighted = 0;        // the sum of the weighted values, in this lane's column
    for (size_t key = 0; key < tokens; ++key) {
        const float score = sum_of_lanes(query * keys[key * lanes + lane]);
        const float larger = fmaxf(largest, score);
        const float correction = expf(largest - larger);
        const float weight = expf(score - larger);
        sum = sum * correction + weight;
        weighted = weighted * correction + weight * values[key * lanes + lane];
        largest = larger;
    }
    out[token * lanes + lane] = weighted / sum;
}

void attend(const float* d_queries, const float* d_keys, const float* d_values,
            size_t tokens, float* d_out) {
    if (tokens == 0) return;
    const unsigned blocks = static_cast<unsigned>((tokens + warps - 1) / warps);
    attend_online<<<blocks, threads>>>(d_queries, d_keys, d_values, tokens, d_out);
}
