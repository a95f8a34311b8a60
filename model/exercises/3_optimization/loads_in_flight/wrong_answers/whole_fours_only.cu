// Wrong answer: four at a time with int4 and float4, and nobody gathers the remainder
// Rejected by: gathers any number of elements
// Message: none was ever written
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

__global__ void gather_fours(const float* table, const int4* places, float4* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    const int4 p = places[i];
    const float a = table[p.x], b = table[p.y], c = table[p.z], d = table[p.w];
    out[i] = make_float4(a, b, c, d);
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n > 0) {
        gather_fours<<<(n + 1023) / 1024, 256>>>(d_table,
                                                 reinterpret_cast<const int4*>(d_places),
                                                 reinterpret_cast<float4*>(d_out), n);
    }
}
