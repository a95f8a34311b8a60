// Exercise: a kernel in which a thread waits for each of its loads.
// The task: ./warpwise task loads_in_flight
#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

constexpr int threads_per_block = 256;
constexpr int per_thread = 4;  // elements

__global__ void gather_elements(const float* table, const int* places, float* out, int n) {
    const int first = blockIdx.x * blockDim.x * per_thread + threadIdx.x;
    for (int k = 0; k < per_thread; ++k) {
        const int i = first + k * blockDim.x;
        // TODO 1: this statement has two loads and a store. What does each of the three
        // wait for?
        // TODO 2: let the thread issue the loads of all of its elements before it uses the
        // first value.
        if (i < n) out[i] = table[places[i]];
    }
}

void gather(const float* d_table, const int* d_places, float* d_out, int n) {
    if (n == 0) return;
    const int per_block = threads_per_block * per_thread;
    gather_elements<<<(n - 1) / per_block + 1, threads_per_block>>>(d_table, d_places,
                                                                    d_out, n);
}
