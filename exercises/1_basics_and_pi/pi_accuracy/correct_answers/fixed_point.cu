// Correct answer: the sum is a 64-bit whole number, in units of 2^-24
#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

/// Value of slice `i`, computed in double and rounded once.
__device__ float slice_value(int i, int slices) {
    const double x = (i + 0.5) / slices;
    return static_cast<float>(4 / (1 + x * x));
}

__global__ void sum_slices(float* sums, int slices) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;
    long long sum = 0;  // in units of 2^-24: slices are between 2 and 4
    for (int i = thread; i < slices; i += stride) {
        sum += static_cast<long long>(slice_value(i, slices) * 16777216.0f);
    }
    sums[thread] = static_cast<float>(sum) / 16777216.0f;
}

void sum_slices_by_thread(float* d_sums, int slices, int blocks, int threads_per_block) {
    sum_slices<<<blocks, threads_per_block>>>(d_sums, slices);
}
