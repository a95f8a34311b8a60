// Exercise: a grid of as many blocks as the device holds at the same time.
// The task: ./warpwise task fit_the_grid
#include "exercises/3_optimization/fit_the_grid/fit_the_grid.h"

__global__ void translate_codes(const float* table, int table_size, const int* codes,
                                float* out, int n) {
    // TODO 1: let the threads of the block copy the table to dynamic shared memory. Which
    // threads read an element that another one has copied, and when may they do so?
    // TODO 2: write a grid-stride loop over the codes.
}

void translate(const float* d_table, int table_size, const int* d_codes, float* d_out,
               int n, int threads_per_block) {
    // TODO 3: how many of these blocks does one SM hold, and how many SMs does the device
    // have?
    // TODO 4: how many blocks does the work need?
    const int blocks = 1;

    // TODO 5: launch, with the bytes of the table as dynamic shared memory. What should
    // happen if n is 0?
    translate_codes<<<blocks, threads_per_block>>>(d_table, table_size, d_codes, d_out, n);
}
