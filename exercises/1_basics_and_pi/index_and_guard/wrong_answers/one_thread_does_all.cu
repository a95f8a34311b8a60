// Wrong answer: the first thread loops over all elements
// Rejected by: converts every element of one full block
// Message: asks for at least 256 threads
#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

__global__ void to_fahrenheit(const float* celsius, float* fahrenheit, int n) {
    if (blockIdx.x + threadIdx.x != 0) return;
    for (int i = 0; i < n; i++) fahrenheit[i] = 1.8f * celsius[i] + 32.0f;
}

void convert_to_fahrenheit(const float* d_celsius, float* d_fahrenheit, int n, int threads_per_block) {
    if (n == 0) return;  // a grid without blocks cannot be launched
    const int blocks = (n + threads_per_block - 1) / threads_per_block;
    to_fahrenheit<<<blocks, threads_per_block>>>(d_celsius, d_fahrenheit, n);
}
