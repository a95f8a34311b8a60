// Wrong answer: as many blocks as fit, also where the work needs fewer
// Rejected by: launches no more blocks than the work needs
// Message: How many of them have something to do?
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

void translate(const float* d_table, int table_size, const int* d_codes, float* d_out, int n,
               int threads_per_block) {
    if (n == 0) return;
    const size_t shared_bytes = table_size * sizeof(float);
    int blocks_per_sm = 0, device = 0, sms = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, translate_codes,
                                                  threads_per_block, shared_bytes);
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);

    const int needed = (n - 1) / threads_per_block + 1;
    const int blocks = blocks_per_sm * sms;
    translate_codes<<<blocks, threads_per_block, shared_bytes>>>(d_table, table_size, d_codes,
                                                                 d_out, n);
}
