// Correct answer: Neumaier's sum: what is lost is kept apart and added at the end
#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

/// Value of slice `i`, computed in double and rounded once.
__device__ float slice_value(int i, int slices) {
    const double x = (i + 0.5) / slices;
    return static_cast<float>(4 / (1 + x * x));
}

__global__ void sum_slices(float* sums, int slices) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;
    float sum = 0, lost = 0;
    for (int i = thread; i < slices; i += stride) {
        const float value = slice_value(i, slices);
        const float t = sum + value;
        if (fabsf(sum) >= fabsf(value)) {
            lost += (sum - t) + value;
        } else {
            lost += (value - t) + sum;
        }
        sum = t;
    }
    sums[thread] = sum + lost;
}

void sum_slices_by_thread(float* d_sums, int slices, int blocks, int threads_per_block) {
    sum_slices<<<blocks, threads_per_block>>>(d_sums, slices);
}
