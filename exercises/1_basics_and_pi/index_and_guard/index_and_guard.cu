// Exercise: one thread per element.
// The task: ./warpwise task index_and_guard
#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

__global__ void to_fahrenheit(const float* celsius, float* fahrenheit, int n) {
    // TODO 1: replace 0 by the index, in the whole array, of the element that belongs to
    // this thread.
    const int i = 0;

    // TODO 2: replace this condition, which no thread meets, by one that only threads with
    // an element meet.
    const bool has_element = n < 0;

    if (has_element) fahrenheit[i] = 1.8f * celsius[i] + 32.0f;
}

void convert_to_fahrenheit(const float* d_celsius, float* d_fahrenheit, int n,
                           int threads_per_block) {
    if (n == 0) return;  // a grid without blocks cannot be launched
    const int blocks = (n + threads_per_block - 1) / threads_per_block;
    to_fahrenheit<<<blocks, threads_per_block>>>(d_celsius, d_fahrenheit, n);
}
