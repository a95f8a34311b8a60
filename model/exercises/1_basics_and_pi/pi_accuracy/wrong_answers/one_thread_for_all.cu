// Wrong answer: a single thread computes the sums of all, one after another
// Rejected by: is exact for a few slices per thread
// Message: has another shape
#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

/// Value of slice `i`, computed in double and rounded once.
__device__ float slice_value(int i, int slices) {
    const double x = (i + 0.5) / slices;
    return static_cast<float>(4 / (1 + x * x));
}

__global__ void sum_slices(float* sums, int slices, int threads) {
    for (int t = 0; t < threads; ++t) {
        float sum = 0, c = 0;
        for (int i = t; i < slices; i += threads) {
            const float y = slice_value(i, slices) - c;
            const float next = sum + y;
            c = (next - sum) - y;
            sum = next;
        }
        sums[t] = sum;
    }
}

void sum_slices_by_thread(float* d_sums, int slices, int blocks, int threads_per_block) {
    sum_slices<<<1, 1>>>(d_sums, slices, blocks * threads_per_block);
}
