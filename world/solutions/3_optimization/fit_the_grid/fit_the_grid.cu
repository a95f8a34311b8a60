// Solution: a grid of as many blocks as the device holds at a time.
//
// Each block copies the table to its shared memory before it translates anything. With one
// block per `threads_per_block` codes this is done thousands of times. With as many blocks
// as are resident together, it is done once for each of them, every SM is full from the
// beginning, and no second wave of blocks begins when the first one ends.
//
// How many blocks an SM holds depends on the threads of a block, on the registers of the
// kernel, and on the shared memory, so the runtime has to be asked, with the same dynamic
// shared memory that the launch gets. Its answer is for one SM.
#include "exercises/3_optimization/fit_the_grid/fit_the_grid.h"

#include <algorithm>

__global__ void translate_codes(const float* table, int table_size, const int* codes,
                                float* out, int n) {
    extern __shared__ float shared_table[];
    for (int i = threadIdx.x; i < table_size; i += blockDim.x) shared_table[i] = table[i];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = shared_table[codes[i]];
}

void translate(const float* d_table, int table_size, const int* d_codes, float* d_out,
               int n, int threads_per_block) {
    if (n == 0) return;
    const size_t shared_bytes = table_size * sizeof(float);
    int blocks_per_sm = 0, device = 0, sms = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, translate_codes,
                                                  threads_per_block, shared_bytes);
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);

    const int needed = (n - 1) / threads_per_block + 1;
    const int blocks = std::min(needed, blocks_per_sm * sms);
    translate_codes<<<blocks, threads_per_block, shared_bytes>>>(d_table, table_size,
                                                                 d_codes, d_out, n);
}
