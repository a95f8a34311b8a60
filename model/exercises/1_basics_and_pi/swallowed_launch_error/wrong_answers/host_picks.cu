// Wrong answer: the host picks, and the kernel is launched without elements
// Rejected by: succeeds and picks the elements when all is well
// Message: copied from host memory
#include "exercises/1_basics_and_pi/swallowed_launch_error/swallowed_launch_error.h"

#include <vector>

__global__ void pick(const float* input, int input_size, const int* index, float* output,
                     int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (index[i] < 0 || index[i] >= input_size) __trap();
    output[i] = input[index[i]];
}

cudaError_t pick_elements(const float* d_input, int input_size, const int* d_index,
                          float* d_output, int n, int threads_per_block) {
    const int blocks = (n + threads_per_block - 1) / threads_per_block;
    pick<<<blocks, threads_per_block>>>(d_input, input_size, d_index, d_output, 0);
    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) return launched;
    std::vector<float> input(input_size), output(n);
    std::vector<int> index(n);
    cudaMemcpy(input.data(), d_input, input_size * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(index.data(), d_index, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) {
        if (index[i] < 0 || index[i] >= input_size) return cudaErrorLaunchFailure;
        output[i] = input[index[i]];
    }
    return cudaMemcpy(d_output, output.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
