// Solution: one thread per element.
//
// A thread knows its place in its block (threadIdx.x) and the place of its block in the
// grid (blockIdx.x). Each block before it has blockDim.x threads, so the first blockIdx.x *
// blockDim.x elements belong to those blocks.
//
// The last block is seldom full: 1009 elements in blocks of 256 need 4 blocks, which have
// 1024 threads. The 15 threads without an element must not access memory, because the
// memory past the end of an array belongs to something else.
#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

__global__ void to_fahrenheit(const float* celsius, float* fahrenheit, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) fahrenheit[i] = 1.8f * celsius[i] + 32.0f;
}

void convert_to_fahrenheit(const float* d_celsius, float* d_fahrenheit, int n,
                           int threads_per_block) {
    if (n == 0) return;  // a grid without blocks cannot be launched
    const int blocks = (n + threads_per_block - 1) / threads_per_block;
    to_fahrenheit<<<blocks, threads_per_block>>>(d_celsius, d_fahrenheit, n);
}
