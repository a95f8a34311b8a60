// Wrong answer: a class whose member of type double adds up
// Rejected by: is exact for a few slices per thread
// Message: the answer declares
#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

/// Value of slice `i`, computed in double and rounded once.
__device__ float slice_value(int i, int slices) {
    const double x = (i + 0.5) / slices;
    return static_cast<float>(4 / (1 + x * x));
}

struct Sum {
    double value{};
    __device__ void add(float slice) { value += slice; }
};

__global__ void sum_slices(float* sums, int slices) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    Sum sum;
    for (int i = thread; i < slices; i += gridDim.x * blockDim.x)
        sum.add(slice_value(i, slices));
    sums[thread] = static_cast<float>(sum.value);
}

void sum_slices_by_thread(float* d_sums, int slices, int blocks, int threads_per_block) {
    sum_slices<<<blocks, threads_per_block>>>(d_sums, slices);
}
