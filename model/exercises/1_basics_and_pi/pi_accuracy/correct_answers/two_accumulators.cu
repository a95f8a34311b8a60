// Correct answer: two Kahan sums for alternate slices, put together at the end
#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

/// Value of slice `i`, computed in double and rounded once.
__device__ float slice_value(int i, int slices) {
    const double x = (i + 0.5) / slices;
    return static_cast<float>(4 / (1 + x * x));
}

__device__ void add(float& sum, float& excess, float value) {
    value -= excess;
    const float next = sum + value;
    excess = (next - sum) - value;
    sum = next;
}

__global__ void sum_slices(float* sums, int slices) {
    const long long thread = blockIdx.x * blockDim.x + threadIdx.x;
    const long long stride = gridDim.x * blockDim.x;
    float s0 = 0, e0 = 0, s1 = 0, e1 = 0;
    for (long long i = thread; i < slices; i += 2 * stride) {
        add(s0, e0, slice_value(int(i), slices));
        if (i + stride < slices) add(s1, e1, slice_value(int(i + stride), slices));
    }
    add(s0, e0, s1);
    add(s0, e0, -e1);
    sums[thread] = s0;
}

void sum_slices_by_thread(float* d_sums, int slices, int blocks, int threads_per_block) {
    sum_slices<<<blocks, threads_per_block>>>(d_sums, slices);
}
