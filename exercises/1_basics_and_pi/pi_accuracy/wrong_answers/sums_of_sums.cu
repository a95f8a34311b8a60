// Wrong answer: plain sums of 1024 slices, added up plainly
// Rejected by: handles any number of slices and threads
// Message: These are the sums that plain addition gives
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
    float partial = 0;
    int added = 0;
    for (int i = thread; i < slices; i += stride) {
        partial += slice_value(i, slices);
        if (++added % 1024 == 0) {
            sum += partial;
            partial = 0;
        }
    }
    sums[thread] = sum + partial;
}

void sum_slices_by_thread(float* d_sums, int slices, int blocks, int threads_per_block) {
    sum_slices<<<blocks, threads_per_block>>>(d_sums, slices);
}
