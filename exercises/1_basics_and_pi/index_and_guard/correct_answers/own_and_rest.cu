// Correct answer: the guard asks how many elements the block has, not for the index
#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

__global__ void to_fahrenheit(const float* celsius, float* fahrenheit, int n) {
    const int first_of_block = blockIdx.x * blockDim.x;
    const int left = n - first_of_block;
    if (threadIdx.x < left) {
        const float* in = celsius + first_of_block;
        float* out = fahrenheit + first_of_block;
        out[threadIdx.x] = 1.8f * in[threadIdx.x] + 32.0f;
    }
}

void convert_to_fahrenheit(const float* d_celsius, float* d_fahrenheit, int n, int threads_per_block) {
    if (n == 0) return;  // a grid without blocks cannot be launched
    const int blocks = (n + threads_per_block - 1) / threads_per_block;
    to_fahrenheit<<<blocks, threads_per_block>>>(d_celsius, d_fahrenheit, n);
}
