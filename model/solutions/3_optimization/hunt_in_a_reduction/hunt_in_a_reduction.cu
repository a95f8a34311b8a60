// Solution: a program with three mistakes, repaired.
//
// 1. cudaMemcpy counts bytes, and it was given a number of floats. Three quarters of each
//    piece never came to the device. The call itself succeeds: it copies what it was asked
//    to copy.
// 2. From distance 32 on, the tree went on without any barrier: the lanes of a warp do not
//    run in lockstep, so a lane may read a sum that another lane has not stored yet. A warp
//    needs no __syncthreads() there, but it does need __syncwarp() between the rounds.
// 3. The last launch had one thread per partial sum. For more than 262,144 values these are
//    more than the 1024 threads that a block may have. The launch was refused, and because
//    nobody asked for its status, the function returned success with whatever the memory
//    for the sum held. Now a block of 1024 threads at most adds up any number of partial
//    sums, and all launches are asked for their status.
//
// The loop over the pieces is right: all copies and kernels are in one stream, so a piece
// is copied only when the kernel of the piece before it has ended.
#include "exercises/3_optimization/hunt_in_a_reduction/hunt_in_a_reduction.h"

#include <algorithm>

constexpr int block_size = 256;
constexpr int most_threads = 1024;           // of a block
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

int blocks_for(int n) { return (n - 1) / block_size + 1; }

// Copies one piece of the values to the device, and lets the kernel add up its squares.
cudaError_t add_piece(const float* values, int n, float* d_piece, float* d_partial) {
    cudaError_t status =
        cudaMemcpy(d_piece, values, n * sizeof(float), cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        square_and_add<<<blocks_for(n), block_size>>>(d_piece, n, d_partial);
        status = cudaGetLastError();
    }
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
        const int threads = std::min(blocks, most_threads);
        add_partial_sums<<<1, threads, threads * sizeof(float)>>>(device.partial, blocks,
                                                                  device.sum);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) {
        status = cudaMemcpy(sum, device.sum, sizeof(float), cudaMemcpyDeviceToHost);
    }
    return status;
}
