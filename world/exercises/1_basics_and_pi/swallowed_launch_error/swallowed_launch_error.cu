// Exercise: success is reported, whatever happened.
// The task: ./warpwise task swallowed_launch_error
#include "exercises/1_basics_and_pi/swallowed_launch_error/swallowed_launch_error.h"

__global__ void pick(const float* input, int input_size, const int* index, float* output,
                     int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (index[i] < 0 || index[i] >= input_size)
        __trap();  // ends the kernel; later calls return its error
    output[i] = input[index[i]];
}

cudaError_t pick_elements(const float* d_input, int input_size, const int* d_index,
                          float* d_output, int n, int threads_per_block) {
    const int blocks = (n + threads_per_block - 1) / threads_per_block;
    pick<<<blocks, threads_per_block>>>(d_input, input_size, d_index, d_output, n);
    cudaDeviceSynchronize();
    return cudaSuccess;
}
