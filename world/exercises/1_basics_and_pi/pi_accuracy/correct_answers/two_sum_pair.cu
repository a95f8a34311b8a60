// Correct answer: Knuth's TwoSum without a comparison, sum as a pair of floats
#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

/// Value of slice `i`, computed in double and rounded once.
__device__ float slice_value(int i, int slices) {
    const double x = (i + 0.5) / slices;
    return static_cast<float>(4 / (1 + x * x));
}

struct Pair {
    float high, low;
};

__device__ Pair two_sum(float a, float b) {
    const float s = a + b;
    const float b_rounded = s - a;
    const float a_rounded = s - b_rounded;
    return {s, (a - a_rounded) + (b - b_rounded)};
}

__global__ void sum_slices(float* sums, int slices) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;
    Pair sum = {0.0f, 0.0f};
    for (int i = thread; i < slices; i += stride) {
        const Pair step = two_sum(sum.high, slice_value(i, slices));
        sum.high = step.high;
        sum.low += step.low;
    }
    sums[thread] = sum.high + sum.low;
}

void sum_slices_by_thread(float* d_sums, int slices, int blocks, int threads_per_block) {
    sum_slices<<<blocks, threads_per_block>>>(d_sums, slices);
}
