// Wrong answer: the host computes the energies, the kernel is empty
// Rejected by: adds up frames of 512 samples
// Message: copied from host memory; kernels have to write the result
#include "exercises/3_optimization/conflict_free_reduction/conflict_free_reduction.h"

#include <cuda_runtime.h>

#include <vector>

__global__ void energy_of_frame() {
    __shared__ float part[512];
    part[threadIdx.x] = 0;
}

void frame_energies(const float* d_samples, int count, float* d_energies) {
    if (count == 0) return;
    std::vector<float> samples(count), energies((count + 511) / 512);
    cudaMemcpy(samples.data(), d_samples, count * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; ++i) energies[i / 512] += samples[i] * samples[i];
    cudaMemcpy(d_energies, energies.data(), energies.size() * 4, cudaMemcpyHostToDevice);
    energy_of_frame<<<energies.size(), 512>>>();
}
