// Exercise: a program with three mistakes of different kinds.
// The task: ./warpwise task hunt_in_a_reduction
#include "exercises/3_optimization/hunt_in_a_reduction/hunt_in_a_reduction.h"

#include <algorithm>

constexpr int block_size = 256;
constexpr int piece_size = 64 * block_size;  // values that are on the device at a time

// What the function has in device memory. It is freed however the function ends.
struct DeviceArrays {
    float* piece = nullptr;
    float* partial = nullptr;  // the sum of each block, of all pieces
    float* sum = nullptr;

    cudaError_t allocate(int n, int blocks) {
        const int most = std::min(n, piece_size);
        cudaError_t status = cudaMalloc(&piece, most * sizeof(float));
        if (status == cudaSuccess) status = cudaMalloc(&partial, blocks * sizeof(float));
        if (status == cudaSuccess) status = cudaMalloc(&sum, sizeof(float));
        return status;
    }
    ~DeviceArrays() {
        cudaFree(piece);
        cudaFree(partial);
        cudaFree(sum);
    }
};

// Each block adds up the squares of 256 values, in a tree in shared memory.
__global__ void square_and_add(const float* values, int n, float* partial) {
    __shared__ float part[block_size];
    const int i = blockIdx.x * block_size + threadIdx.x;
    part[threadIdx.x] = i < n ? values[i] * values[i] : 0;
    __syncthreads();
    for (int distance = block_size / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) part[threadIdx.x] += part[threadIdx.x + distance];
        if (distance > 32) __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = part[0];
}

// One block adds up the partial sums, one per thread. The number of partial sums need not
// be a power of two.
__global__ void add_partial_sums(const float* partial, float* sum) {
    extern __shared__ float part[];
    const int count = blockDim.x;
    part[threadIdx.x] = partial[threadIdx.x];
    __syncthreads();
    for (int distance = 1; distance < count; distance *= 2) {
        const bool adds =
            threadIdx.x % (2 * distance) == 0 && threadIdx.x + distance < count;
        if (adds) part[threadIdx.x] += part[threadIdx.x + distance];
        __syncthreads();
    }
    if (threadIdx.x == 0) *sum = part[0];
}

int blocks_for(int n) { return (n - 1) / block_size + 1; }

// Copies one piece of the values to the device, and lets the kernel add up its squares.
cudaError_t add_piece(const float* values, int n, float* d_piece, float* d_partial) {
    const cudaError_t status = cudaMemcpy(d_piece, values, n, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        square_and_add<<<blocks_for(n), block_size>>>(d_piece, n, d_partial);
    return status;
}

cudaError_t sum_of_squares(const float* values, int n, float* sum) {
    *sum = 0;
    if (n == 0) return cudaSuccess;
    const int blocks = blocks_for(n);
    DeviceArrays device;
    cudaError_t status = device.allocate(n, blocks);
    for (int first = 0; first < n && status == cudaSuccess; first += piece_size) {
        status = add_piece(values + first, std::min(piece_size, n - first), device.piece,
                           device.partial + first / block_size);
    }
    if (status == cudaSuccess) {
        add_partial_sums<<<1, blocks, blocks * sizeof(float)>>>(device.partial, device.sum);
        status = cudaMemcpy(sum, device.sum, sizeof(float), cudaMemcpyDeviceToHost);
    }
    return status;
}
