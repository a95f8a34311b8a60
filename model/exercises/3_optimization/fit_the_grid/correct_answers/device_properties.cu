// Correct answer: device properties, long long indices, and a while loop
#include "exercises/3_optimization/fit_the_grid/fit_the_grid.h"

extern __shared__ float levels[];

__global__ void look_up(const float* table, int size, const int* codes, float* out, int n) {
    int at = threadIdx.x;
    while (at < size) {
        levels[at] = table[at];
        at += blockDim.x;
    }
    __syncthreads();
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = levels[codes[i]];
}

void translate(const float* d_table, int table_size, const int* d_codes, float* d_out,
               int n, int threads_per_block) {
    if (n <= 0) return;
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    int fit = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, look_up, threads_per_block,
                                                  sizeof(float) * table_size);
    int grid = fit * device.multiProcessorCount;
    if ((long long)grid * threads_per_block > n)
        grid = (n + threads_per_block - 1) / threads_per_block;
    look_up<<<grid, threads_per_block, sizeof(float) * table_size>>>(d_table, table_size,
                                                                     d_codes, d_out, n);
}
