// Correct answer: a template with sixteen elements per thread, in blocks of 64 threads
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

template <int count>
__global__ void gather_many(const float* __restrict__ table, const int* __restrict__ places,
                            float* __restrict__ out, int n) {
    const int tile = blockIdx.x * blockDim.x * count;
    int from[count];
    float elements[count];
    if (tile + static_cast<int>(blockDim.x) * count <= n) {  // a full tile: no guards
        const int* const mine = places + tile + threadIdx.x;
#pragma unroll
        for (int k = 0; k < count; ++k) from[k] = mine[k * blockDim.x];
#pragma unroll
        for (int k = 0; k < count; ++k) elements[k] = table[from[k]];
        float* const to = out + tile + threadIdx.x;
#pragma unroll
        for (int k = 0; k < count; ++k) to[k * blockDim.x] = elements[k];
        return;
    }
    for (int i = tile + threadIdx.x; i < n; i += blockDim.x) out[i] = table[places[i]];
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    constexpr int threads = 64, count = 16;
    const int tiles = (n + threads * count - 1) / (threads * count);
    if (tiles > 0) gather_many<count><<<tiles, threads>>>(d_table, d_places, d_out, n);
}
