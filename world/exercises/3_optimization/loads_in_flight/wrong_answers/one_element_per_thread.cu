// Wrong answer: one element per thread
// Rejected by: gives each thread 4 to 64 elements and stores whole sectors
// Message: elements per thread that stores any: 1, should be 4 to 64
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

__global__ void gather_elements(const float* table, const int* places, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[places[i]];
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n > 0) gather_elements<<<(n + 255) / 256, 256>>>(d_table, d_places, d_out, n);
}
