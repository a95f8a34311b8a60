// Wrong answer: loads places past the end
// Rejected by: gathers any number of elements
// Message: out of bounds
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

__global__ void gather_elements(const float* table, const int* places, float* out, int n) {
    const int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    int place[4];
    float value[4];
    for (int k = 0; k < 4; ++k) place[k] = places[first + k * blockDim.x];
    for (int k = 0; k < 4; ++k) {
        if (first + k * blockDim.x < n) value[k] = table[place[k]];
    }
    for (int k = 0; k < 4; ++k) {
        if (first + k * blockDim.x < n) out[first + k * blockDim.x] = value[k];
    }
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n > 0) gather_elements<<<(n + 1023) / 1024, 256>>>(d_table, d_places, d_out, n);
}
