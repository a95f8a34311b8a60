// Wrong answer: one more block where the block size divides n
// Rejected by: converts every element of one full block
// Message: has another shape
#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

__global__ void to_fahrenheit(const float* celsius, float* fahrenheit, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    const bool has_element = i < n;

    if (has_element) fahrenheit[i] = 1.8f * celsius[i] + 32.0f;
}

void convert_to_fahrenheit(const float* d_celsius, float* d_fahrenheit, int n, int threads_per_block) {
    if (n == 0) return;  // a grid without blocks cannot be launched
    const int blocks = n / threads_per_block + 1;
    to_fahrenheit<<<blocks, threads_per_block>>>(d_celsius, d_fahrenheit, n);
}
