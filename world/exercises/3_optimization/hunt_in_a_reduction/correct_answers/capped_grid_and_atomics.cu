// Correct answer: at most 512 blocks with a grid stride, shuffles, an atomic per block
#include "exercises/3_optimization/hunt_in_a_reduction/hunt_in_a_reduction.h"

__global__ void add(const float* values, int n, float* sum) {
    __shared__ float of_warps[32];
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine = fmaf(values[i], values[i], mine);
    for (int d = 16; d > 0; d /= 2) mine += __shfl_down_sync(0xffffffff, mine, d);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        mine = threadIdx.x < blockDim.x / 32 ? of_warps[threadIdx.x] : 0;
        for (int d = 16; d > 0; d /= 2) mine += __shfl_down_sync(0xffffffff, mine, d);
        if (threadIdx.x == 0) atomicAdd(sum, mine);
    }
}

#define TRY(call) \
    if (status == cudaSuccess) status = (call)

cudaError_t sum_of_squares(const float* values, int n, float* sum) {
    *sum = 0;
    if (n <= 0) return cudaSuccess;
    float* device = nullptr;
    cudaError_t status = cudaMallocAsync(&device, sizeof(float) * (n + 1), 0);
    TRY(cudaMemsetAsync(device + n, 0, sizeof(float), 0));
    TRY(cudaMemcpyAsync(device, values, sizeof(float) * n, cudaMemcpyHostToDevice, 0));
    if (status == cudaSuccess) {
        const int blocks = n > 512 * 256 ? 512 : (n + 255) / 256;
        add<<<blocks, 256>>>(device, n, device + n);
    }
    TRY(cudaPeekAtLastError());
    TRY(cudaMemcpyAsync(sum, device + n, sizeof(float), cudaMemcpyDeviceToHost, 0));
    TRY(cudaStreamSynchronize(0));
    if (device != nullptr) {
        const cudaError_t freed = cudaFreeAsync(device, 0);
        TRY(freed);
    }
    return status;
}
