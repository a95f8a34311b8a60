// Wrong answer: the host computes all sums, an empty kernel is launched
// Rejected by: is exact for a few slices per thread
// Message: copied from host memory
#include "exercises/1_basics_and_pi/pi_accuracy/pi_accuracy.h"

#include <cuda_runtime.h>

#include <vector>

__global__ void sum_slices() {}

void sum_slices_by_thread(float* d_sums, int slices, int blocks, int threads_per_block) {
    const int threads = blocks * threads_per_block;
    std::vector<double> sums(threads, 0.0);
    for (int i = 0; i < slices; ++i) {
        const double x = (i + 0.5) / slices;
        sums[i % threads] += 4 / (1 + x * x);
    }
    const std::vector<float> rounded(sums.begin(), sums.end());
    cudaMemcpy(d_sums, rounded.data(), threads * sizeof(float), cudaMemcpyHostToDevice);
    sum_slices<<<blocks, threads_per_block>>>();
}
