// Correct answer: int4 and float4, and the remainder one by one
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

__global__ void gather_fours(const float* table, const int4* places, float4* out,
                             int fours) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= fours) return;
    const int4 p = places[i];
    const float a = table[p.x], b = table[p.y], c = table[p.z], d = table[p.w];
    out[i] = make_float4(a, b, c, d);
}

__global__ void gather_remainder(const float* table, const int* places, float* out) {
    out[threadIdx.x] = table[places[threadIdx.x]];
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    const int fours = n / 4;
    if (fours > 0) {
        gather_fours<<<(fours + 127) / 128, 128>>>(d_table,
                                                   reinterpret_cast<const int4*>(d_places),
                                                   reinterpret_cast<float4*>(d_out), fours);
    }
    if (n % 4 > 0) {
        gather_remainder<<<1, n % 4>>>(d_table, d_places + 4 * fours, d_out + 4 * fours);
    }
}
