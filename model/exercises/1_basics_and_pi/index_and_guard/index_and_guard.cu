// Exercise: a kernel with one thread per element, and its launch.
// The task: ./warpwise task index_and_guard
#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

__global__ void to_fahrenheit(const float* celsius, float* fahrenheit, int n) {
    // TODO 1: compute the index, in the whole array, of the element that belongs to this
    // thread.

    // TODO 2: let the thread convert its element, if it has one.
}

void convert_to_fahrenheit(const float* d_celsius, float* d_fahrenheit, int n,
                           int threads_per_block) {
    // TODO 3: compute how many blocks of `threads_per_block` threads give every element a
    // thread. What happens when n is 0?

    // TODO 4: launch the kernel.
}
