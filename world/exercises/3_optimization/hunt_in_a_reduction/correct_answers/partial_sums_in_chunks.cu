// Correct answer: __syncthreads in every round, and partial sums are added in chunks
#include "exercises/3_optimization/hunt_in_a_reduction/hunt_in_a_reduction.h"

constexpr int block_size = 256;

// Each block adds up the squares of 256 values, in a tree in shared memory.
__global__ void square_and_add(const float* values, int n, float* partial) {
    __shared__ float part[block_size];
    const int i = blockIdx.x * block_size + threadIdx.x;
    part[threadIdx.x] = i < n ? values[i] * values[i] : 0;
    __syncthreads();
    for (int distance = block_size / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) part[threadIdx.x] += part[threadIdx.x + distance];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = part[0];
}

// One block adds up the partial sums, one per thread. Their number need not be a power of
// two.
__global__ void add_partial_sums(const float* partial, int all, float* sum) {
    extern __shared__ float part[];
    const int first = blockIdx.x * 1024;
    const int count = min(1024, all - first);
    if (threadIdx.x < count) part[threadIdx.x] = partial[first + threadIdx.x];
    __syncthreads();
    for (int distance = 1; distance < count; distance *= 2) {
        const bool adds =
            threadIdx.x % (2 * distance) == 0 && threadIdx.x + distance < count;
        if (adds) part[threadIdx.x] += part[threadIdx.x + distance];
        __syncthreads();
    }
    if (threadIdx.x == 0) sum[blockIdx.x] = part[0];
}

cudaError_t sum_of_squares(const float* values, int n, float* sum) {
    *sum = 0;
    if (n == 0) return cudaSuccess;
    const int blocks = (n - 1) / block_size + 1;
    float *d_values = nullptr, *d_partial = nullptr, *d_sum = nullptr;

    cudaError_t status = cudaMalloc(&d_values, n * sizeof(float));
    if (status == cudaSuccess) status = cudaMalloc(&d_partial, blocks * sizeof(float));
    if (status == cudaSuccess) status = cudaMalloc(&d_sum, blocks * sizeof(float));
    if (status == cudaSuccess)
        status = cudaMemcpy(d_values, values, n * sizeof(float), cudaMemcpyHostToDevice);

    if (status == cudaSuccess) {
        square_and_add<<<blocks, block_size>>>(d_values, n, d_partial);
        status = cudaGetLastError();
        float *from = d_partial, *to = d_sum;
        int left = blocks;
        do {
            const int chunks = (left + 1023) / 1024;
            add_partial_sums<<<chunks, 1024, 1024 * sizeof(float)>>>(from, left, to);
            if (status == cudaSuccess) status = cudaGetLastError();
            float* const swap = from;
            from = to;
            to = swap;
            left = chunks;
        } while (left > 1);
        if (status == cudaSuccess)
            status = cudaMemcpy(sum, from, sizeof(float), cudaMemcpyDeviceToHost);
    }

    cudaFree(d_values);
    cudaFree(d_partial);
    cudaFree(d_sum);
    return status;
}
