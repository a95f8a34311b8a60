// Exercise: a product that waits for parts which it does not need yet.
// The task: ./warpwise task own_part_first
#include <cuda_runtime.h>

#include "exercises/6_several_gpus/own_part_first/own_part_first.h"

constexpr unsigned threads_per_block = 128;

__global__ void multiply_add(const float* a, unsigned row_length, const float* x,
                             unsigned width, unsigned rows, float* y) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (unsigned k = 0; k < width; ++k) sum += a[row * row_length + k] * x[k];
    y[row] += sum;
}

void multiply_parts(int devices, const Share* shares, unsigned rows, unsigned width) {
    int before = 0;
    cudaGetDevice(&before);
    const unsigned row_length = static_cast<unsigned>(devices) * width;
    const unsigned blocks = (rows + threads_per_block - 1) / threads_per_block;
    for (int device = 0; device < devices; ++device) {
        const Share& share = shares[device];
        cudaSetDevice(device);
        for (int from = 0; from < devices; ++from) {
            const unsigned part = static_cast<unsigned>(from);
            cudaMemcpyPeerAsync(share.d_x + part * width, device, shares[from].d_own_x,
                                from, width * sizeof(float), share.products);
        }
        multiply_add<<<blocks, threads_per_block, 0, share.products>>>(
            share.d_a, row_length, share.d_x, row_length, rows, share.d_y);
    }
    cudaSetDevice(before);
}
