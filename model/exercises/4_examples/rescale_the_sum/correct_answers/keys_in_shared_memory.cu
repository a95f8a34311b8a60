// Correct answer: keys and values come by way of shared memory, 32 at a time, for 8 tokens
#include "exercises/4_examples/rescale_the_sum/rescale_the_sum.h"

#include <cuda_runtime.h>

#include <cfloat>

__global__ void attend_by_tiles(const float* queries, const float* keys,
                                const float* values, size_t tokens, float* out) {
    __shared__ float k[32][33], v[32][32];
    const size_t token = size_t{blockIdx.x} * 8 + threadIdx.y;
    const unsigned lane = threadIdx.x;
    const float query = token < tokens ? queries[token * 32 + lane] : 0;
    float largest = -FLT_MAX, sum = 0, weighted = 0;
    for (size_t first = 0; first < tokens; first += 32) {
        __syncthreads();
        for (size_t i = threadIdx.y; i < 32; i += 8) {
            const bool exists = first + i < tokens;
            k[i][lane] = exists ? keys[(first + i) * 32 + lane] : 0;
            v[i][lane] = exists ? values[(first + i) * 32 + lane] : 0;
        }
        __syncthreads();
        float score = 0;
        for (int d = 0; d < 32; ++d)
            score += __shfl_sync(0xffffffff, query, d) * k[lane][d];
        score = first + lane < tokens ? score / sqrtf(32) : -INFINITY;
        float larger = fmaxf(largest, score);
        for (int mask = 1; mask < 32; mask *= 2)
            larger = fmaxf(larger, __shfl_xor_sync(0xffffffff, larger, mask));
        const float correction = expf(largest - larger), weight = expf(score - larger);
        largest = larger;
        sum = sum * correction + weight;
        weighted *= correction;
        for (int i = 0; i < 32; ++i)
            weighted += __shfl_sync(0xffffffff, weight, i) * v[i][lane];
    }
    for (int mask = 1; mask < 32; mask *= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (token < tokens) out[token * 32 + lane] = weighted / sum;
}

void attend(const float* d_queries, const float* d_keys, const float* d_values,
            size_t tokens, float* d_out) {
    if (tokens == 0) return;
    attend_by_tiles<<<static_cast<unsigned>((tokens + 7) / 8), dim3(32, 8)>>>(
        d_queries, d_keys, d_values, tokens, d_out);
}
