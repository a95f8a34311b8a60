// Correct answer: the additions as intrinsics, which no option can reorder
#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

/// Value of slice `i`, computed in double and rounded once.
__device__ float slice_value(int i, int slices) {
    const double x = (i + 0.5) / slices;
    return static_cast<float>(4 / (1 + x * x));
}

__global__ void sum_slices(float* sums, int slices) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;
    float sum = 0;
    float c = 0;
    for (int i = thread; i < slices; i += stride) {
        const float y = __fsub_rn(slice_value(i, slices), c);
        const float t = __fadd_rn(sum, y);
        c = __fsub_rn(__fsub_rn(t, sum), y);
        sum = t;
    }
    sums[thread] = sum;
}

void sum_slices_by_thread(float* d_sums, int slices, int blocks, int threads_per_block) {
    sum_slices<<<blocks, threads_per_block>>>(d_sums, slices);
}
