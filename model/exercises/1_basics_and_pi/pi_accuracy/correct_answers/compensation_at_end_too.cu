// Correct answer: long long index, and the last compensation is taken off at the end
#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

/// Value of slice `i`, computed in double and rounded once.
__device__ float slice_value(int i, int slices) {
    const double x = (i + 0.5) / slices;
    return static_cast<float>(4 / (1 + x * x));
}

__global__ void sum_slices(float* sums, int slices) {
    const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    float sum = 0;
    float too_much = 0;
    long long i = thread;
    while (i < slices) {
        const float value = slice_value(static_cast<int>(i), slices) - too_much;
        const float next = sum + value;
        too_much = (next - sum) - value;
        sum = next;
        i += threads;
    }
    sums[thread] = sum - too_much;
}

void sum_slices_by_thread(float* d_sums, int slices, int blocks, int threads_per_block) {
    sum_slices<<<blocks, threads_per_block>>>(d_sums, slices);
}
