// Solution: memory that is freed in one stream while another stream still uses it.
//
// The event `squared` lets the second stream begin after the squares are there. A second
// event, recorded behind the second stream's last use, lets the first stream free them only
// after that. The host waits for nothing, and the sum does not wait for the second stream.
#include <cuda_runtime.h>

#include "exercises/5_modern_cuda/free_in_order/free_in_order.h"

constexpr unsigned threads_per_block = 256;

__global__ void square(const int* values, unsigned count, int* squares) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) squares[i] = values[i] * values[i];
}

/// One block adds up all squares.
__global__ void add_up(const int* squares, unsigned count, int* sum) {
    __shared__ int partial[threads_per_block];
    int mine = 0;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) mine += squares[i];
    partial[threadIdx.x] = mine;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *sum = partial[0];
}

/// One block looks for the largest square.
__global__ void find_largest(const int* squares, unsigned count, int* largest) {
    __shared__ int partial[threads_per_block];
    int mine = 0;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) mine = max(mine, squares[i]);
    partial[threadIdx.x] = mine;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            partial[threadIdx.x] = max(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) *largest = partial[0];
}

void squares_of_batches(const int* d_values, unsigned batches, unsigned count, int* d_sums,
                        int* d_largest, cudaStream_t first, cudaStream_t second) {
    cudaEvent_t squared = nullptr;
    cudaEventCreateWithFlags(&squared, cudaEventDisableTiming);
    cudaEvent_t used = nullptr;
    cudaEventCreateWithFlags(&used, cudaEventDisableTiming);
    const unsigned blocks = (count + threads_per_block - 1) / threads_per_block;
    for (unsigned batch = 0; batch < batches; ++batch) {
        int* d_squares = nullptr;
        cudaMallocAsync(&d_squares, count * sizeof(int), first);
        square<<<blocks, threads_per_block, 0, first>>>(d_values + batch * count, count,
                                                        d_squares);
        cudaEventRecord(squared, first);
        add_up<<<1, threads_per_block, 0, first>>>(d_squares, count, d_sums + batch);

        cudaStreamWaitEvent(second, squared);
        find_largest<<<1, threads_per_block, 0, second>>>(d_squares, count,
                                                          d_largest + batch);
        cudaEventRecord(used, second);

        cudaStreamWaitEvent(first, used);
        cudaFreeAsync(d_squares, first);
    }
    cudaEventDestroy(squared);
    cudaEventDestroy(used);
}
