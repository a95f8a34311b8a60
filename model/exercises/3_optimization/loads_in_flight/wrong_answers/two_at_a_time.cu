// Wrong answer: two elements at a time, so a thread waits four times
// Rejected by: waits at most three times for four elements
// Message: waits for loads per four elements of a thread: 4, at most 3 allowed
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

__global__ void gather_elements(const float* table, const int* places, float* out, int n) {
    const int stride = blockDim.x;
    for (int i = blockIdx.x * stride * 4 + threadIdx.x, end = i + 4 * stride;
         i < end && i < n; i += 2 * stride) {
        const bool second = i + stride < n;
        const int a = places[i];
        const int b = second ? places[i + stride] : 0;
        const float x = table[a];
        const float y = second ? table[b] : 0;
        out[i] = x;
        if (second) out[i + stride] = y;
    }
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n > 0) gather_elements<<<(n + 1023) / 1024, 256>>>(d_table, d_places, d_out, n);
}
