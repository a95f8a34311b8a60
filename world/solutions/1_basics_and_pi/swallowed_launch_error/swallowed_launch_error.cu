// Solution: find the mistake.
//
// A launch returns nothing, so its errors have to be asked for, and they come at two times:
//   - A launch that is refused (a block too large, a grid without blocks ...) is known at
//   once. cudaGetLastError()
//     returns the error and takes it away. It also returns an error that was pending
//     before: whoever made that mistake did not look, and this is the last chance to tell.
//     cudaDeviceSynchronize() would not tell: nothing runs, so there is nothing to wait
//     for, and it succeeds.
//   - A kernel that was launched and dies is known only when it has ended.
//   cudaDeviceSynchronize() waits for that.
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
    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) return launched;
    return cudaDeviceSynchronize();
}
