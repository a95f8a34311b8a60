// Correct answer: a grid-stride loop with eight elements per turn
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

template <int kMany>
__device__ void gather_some(const float* table, const int* places, float* out, int i,
                            int stride) {
    int place[kMany];
    float value[kMany];
    for (int k = 0; k < kMany; ++k) place[k] = places[i + k * stride];
    for (int k = 0; k < kMany; ++k) value[k] = table[place[k]];
    for (int k = 0; k < kMany; ++k) out[i + k * stride] = value[k];
}

__global__ void gather_elements(const float* table, const int* places, float* out, int n) {
    const int stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 7 * stride < n; i += 8 * stride)
        gather_some<8>(table, places, out, i, stride);
    for (; i < n; i += stride) gather_some<1>(table, places, out, i, stride);
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n > 0) gather_elements<<<32, 256>>>(d_table, d_places, d_out, n);
}
