// Wrong answer: one thread per token, which reads its query again for each key
// Rejected by: reads each key and each value once per token
// Message: of global memory moved
#include "exercises/4_examples/rescale_the_sum/rescale_the_sum.h"

#include <cuda_runtime.h>

#include <cfloat>

constexpr int dims = 32;

__global__ void attend_alone(const float* queries, const float* keys, const float* values,
                             size_t tokens, float* out) {
    const size_t token = size_t{blockIdx.x} * 32 + threadIdx.x;
    if (token >= tokens) return;
    float weighted[dims] = {}, largest = -FLT_MAX, sum = 0;
    for (size_t key = 0; key < tokens; ++key) {
        float score = 0;
        for (int d = 0; d < dims; ++d)
            score += queries[token * dims + d] * keys[key * dims + d];
        score *= 0.17677669529663687f;
        const float larger = fmaxf(largest, score);
        const float correction = expf(largest - larger), weight = expf(score - larger);
        sum = sum * correction + weight;
        for (int d = 0; d < dims; ++d)
            weighted[d] = weighted[d] * correction + weight * values[key * dims + d];
        largest = larger;
    }
    for (int d = 0; d < dims; ++d) out[token * dims + d] = weighted[d] / sum;
}

void attend(const float* d_queries, const float* d_keys, const float* d_values,
            size_t tokens, float* d_out) {
    if (tokens == 0) return;
    const unsigned blocks = static_cast<unsigned>((tokens + 31) / 32);
    attend_alone<<<blocks, 32>>>(d_queries, d_keys, d_values, tokens, d_out);
}
