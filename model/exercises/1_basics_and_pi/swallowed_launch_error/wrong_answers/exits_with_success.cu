// Wrong answer: ends the process with status 0
// Rejected by: succeeds and picks the elements when all is well
// Message: ended the program with exit status 0
#include "exercises/1_basics_and_pi/swallowed_launch_error/swallowed_launch_error.h"

#include <cstdlib>

__global__ void pick(const float* input, int input_size, const int* index, float* output,
                     int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (index[i] < 0 || index[i] >= input_size) __trap();
    output[i] = input[index[i]];
}

cudaError_t pick_elements(const float*, int, const int*, float*, int, int) {
    std::_Exit(0);
}
