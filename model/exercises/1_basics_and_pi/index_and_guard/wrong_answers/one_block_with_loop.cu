// Wrong answer: a single block strides through the array
// Rejected by: converts every element when there are several blocks
// Message: has another shape
#include "exercises/1_basics_and_pi/index_and_guard/index_and_guard.h"

__global__ void to_fahrenheit(const float* celsius, float* fahrenheit, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        fahrenheit[i] = 1.8f * celsius[i] + 32.0f;
    }
}

void convert_to_fahrenheit(const float* d_celsius, float* d_fahrenheit, int n,
                           int threads_per_block) {
    if (n > 0) to_fahrenheit<<<1, threads_per_block>>>(d_celsius, d_fahrenheit, n);
}
