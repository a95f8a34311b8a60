// Wrong answer: 64 threads for all elements, although four at a time
// Rejected by: gives each thread 4 to 64 elements and stores whole sectors
// Message: elements per thread that stores any: 2048, should be 4 to 64
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

__global__ void gather_all(const float* table, const int* places, float* out, int n) {
    const int step = blockDim.x;
    for (int i = threadIdx.x; i < n; i += 4 * step) {
        int p[4];
        float v[4];
        for (int k = 0; k < 4; ++k) p[k] = i + k * step < n ? places[i + k * step] : 0;
        for (int k = 0; k < 4; ++k) v[k] = table[p[k]];
        for (int k = 0; k < 4; ++k) {
            if (i + k * step < n) out[i + k * step] = v[k];
        }
    }
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n > 0) gather_all<<<1, 64>>>(d_table, d_places, d_out, n);
}
