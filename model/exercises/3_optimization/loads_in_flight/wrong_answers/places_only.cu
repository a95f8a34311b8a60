// Wrong answer: all places first, then each element is stored before the next is loaded
// Rejected by: waits at most three times for four elements
// Message: waits for loads per four elements of a thread: 5, at most 3 allowed
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

__global__ void gather_elements(const float* table, const int* places, float* out, int n) {
    const int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    int place[4];
    for (int k = 0; k < 4; ++k) {
        const int i = first + k * blockDim.x;
        if (i < n) place[k] = places[i];
    }
    for (int k = 0; k < 4; ++k) {
        const int i = first + k * blockDim.x;
        if (i < n) out[i] = table[place[k]];
    }
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n > 0) gather_elements<<<(n + 1023) / 1024, 256>>>(d_table, d_places, d_out, n);
}
