// Wrong answer: full blocks first, then a smaller block for the rest
// Rejected by: stays inside the array when the last block is not full
// Message: 2 launches of
#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

__global__ void to_fahrenheit(const float* celsius, float* fahrenheit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    fahrenheit[i] = 1.8f * celsius[i] + 32.0f;
}

void convert_to_fahrenheit(const float* d_celsius, float* d_fahrenheit, int n,
                           int threads_per_block) {
    const int full = n / threads_per_block, rest = n % threads_per_block;
    if (full > 0) to_fahrenheit<<<full, threads_per_block>>>(d_celsius, d_fahrenheit);
    const int done = n - rest;
    if (rest > 0) to_fahrenheit<<<1, rest>>>(d_celsius + done, d_fahrenheit + done);
}
