// Solution: a gather with the loads of four elements in flight.
//
// A warp executes its instructions in order. A load does not stop it: the warp goes on
// until an instruction needs the value. The address of `table[place]` needs the place, and
// the store needs the element, so the stub waits twice for each element, and only then
// issues the loads of the next one. The compiler cannot change that: as far as it knows,
// `out` may overlap with `places`, and then a store has to come before the next load.
//
// Here all places are loaded before the first of them is used, and all elements before the
// first of them is stored. The thread waits twice for all four elements. The arrays have
// sizes and indices that are known when the loops are unrolled, so they are registers.
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

constexpr int threads_per_block = 256;
constexpr int per_thread = 4;  // elements

__global__ void gather_elements(const float* table, const int* places, float* out, int n) {
    const int first = blockIdx.x * blockDim.x * per_thread + threadIdx.x;
    int place[per_thread];
    float value[per_thread];
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        const int i = first + k * blockDim.x;
        if (i < n) place[k] = places[i];
    }
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        if (first + k * blockDim.x < n) value[k] = table[place[k]];
    }
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        const int i = first + k * blockDim.x;
        if (i < n) out[i] = value[k];
    }
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n == 0) return;
    const int per_block = threads_per_block * per_thread;
    gather_elements<<<(n - 1) / per_block + 1, threads_per_block>>>(d_table, d_places,
                                                                    d_out, n);
}
