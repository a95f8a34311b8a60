// Correct answer: the partial sums are added by the host, in double
#include "exercises/3_optimization/hunt_in_a_reduction/hunt_in_a_reduction.h"

#include <vector>

constexpr int block_size = 256;
constexpr int most_threads = 1024;  // of a block

// Each block adds up the squares of 256 values, in a tree in shared memory.
__global__ void square_and_add(const float* values, int n, float* partial) {
    __shared__ float part[block_size];
    const int i = blockIdx.x * block_size + threadIdx.x;
    part[threadIdx.x] = i < n ? values[i] * values[i] : 0;
    __syncthreads();
    for (int distance = block_size / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) part[threadIdx.x] += part[threadIdx.x + distance];
        if (distance > 32) {
            __syncthreads();
        } else {
            __syncwarp();
        }
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = part[0];
}

// One block adds up the partial sums. The number of its threads need not be a power of two.
__global__ void add_partial_sums(const float* partial, int partial_sums, float* sum) {
    extern __shared__ float part[];
    const int count = blockDim.x;
    float mine = 0;
    for (int i = threadIdx.x; i < partial_sums; i += count) mine += partial[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int distance = 1; distance < count; distance *= 2) {
        const bool adds =
            threadIdx.x % (2 * distance) == 0 && threadIdx.x + distance < count;
        if (adds) part[threadIdx.x] += part[threadIdx.x + distance];
        __syncthreads();
    }
    if (threadIdx.x == 0) *sum = part[0];
}

cudaError_t sum_of_squares(const float* values, int n, float* sum) {
    *sum = 0;
    if (n == 0) return cudaSuccess;
    const int blocks = (n - 1) / block_size + 1;
    float *d_values = nullptr, *d_partial = nullptr, *d_sum = nullptr;

    cudaError_t status = cudaMalloc(&d_values, n * sizeof(float));
    if (status == cudaSuccess) status = cudaMalloc(&d_partial, blocks * sizeof(float));
    if (status == cudaSuccess) status = cudaMalloc(&d_sum, sizeof(float));
    if (status == cudaSuccess)
        status = cudaMemcpy(d_values, values, n * sizeof(float), cudaMemcpyHostToDevice);

    if (status == cudaSuccess) {
        square_and_add<<<blocks, block_size>>>(d_values, n, d_partial);
        status = cudaGetLastError();
    }
    std::vector<float> partial(blocks);
    if (status == cudaSuccess)
        status = cudaMemcpy(partial.data(), d_partial, blocks * sizeof(float),
                            cudaMemcpyDeviceToHost);
    double all = 0;
    for (const float part : partial) all += part;
    if (status == cudaSuccess) *sum = static_cast<float>(all);

    cudaFree(d_values);
    cudaFree(d_partial);
    cudaFree(d_sum);
    return status;
}
