// Wrong answer: a thread takes four neighboring elements one by one
// Rejected by: gives each thread 4 to 64 elements and stores whole sectors
// Message: of the 32-byte sectors that were touched are needed, at least 80 % wanted
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

__global__ void gather_elements(const float* table, const int* places, float* out, int n) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    int place[4];
    float value[4];
    for (int k = 0; k < 4; ++k) {
        if (first + k < n) place[k] = places[first + k];
    }
    for (int k = 0; k < 4; ++k) {
        if (first + k < n) value[k] = table[place[k]];
    }
    for (int k = 0; k < 4; ++k) {
        if (first + k < n) out[first + k] = value[k];
    }
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n > 0) gather_elements<<<(n + 1023) / 1024, 256>>>(d_table, d_places, d_out, n);
}
