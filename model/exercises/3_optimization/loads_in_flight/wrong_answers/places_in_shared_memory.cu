// Wrong answer: each place is put into shared memory, so the thread waits for each of them
// Rejected by: gives each thread 4 to 64 elements and stores whole sectors
// Message: accesses to shared memory
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

__global__ void gather_elements(const float* table, const int* places, float* out, int n) {
    __shared__ int place[1024];
    const int first = blockIdx.x * 1024 + threadIdx.x;
    float value[4];
    for (int k = 0; k < 4; ++k) {
        if (first + k * 256 < n) place[k * 256 + threadIdx.x] = places[first + k * 256];
    }
    for (int k = 0; k < 4; ++k) {
        if (first + k * 256 < n) value[k] = table[place[k * 256 + threadIdx.x]];
    }
    for (int k = 0; k < 4; ++k) {
        if (first + k * 256 < n) out[first + k * 256] = value[k];
    }
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n > 0) gather_elements<<<(n + 1023) / 1024, 256>>>(d_table, d_places, d_out, n);
}
