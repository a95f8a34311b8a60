// Wrong answer: one barrier, and thread 0 adds all parts
// Rejected by: lets 29 of 32 lanes work on average
// Message: of 32 lanes active on average, at least 29 wanted
#include "exercises/3_optimization/conflict_free_reduction/conflict_free_reduction.h"

constexpr unsigned frame_size = 512;  // samples of a frame, and threads of a block

__global__ void energy_of_frame(const float* samples, int count, float* energies) {
    __shared__ float part[frame_size];
    const int i = blockIdx.x * frame_size + threadIdx.x;
    const float sample = i < count ? samples[i] : 0.0f;
    part[threadIdx.x] = sample * sample;
    __syncthreads();
    if (threadIdx.x > 0) return;
    float sum = 0;
    for (unsigned k = 0; k < frame_size; ++k) sum += part[k];
    energies[blockIdx.x] = sum;
}

void frame_energies(const float* d_samples, int count, float* d_energies) {
    if (count == 0) return;
    const unsigned frames = (count + frame_size - 1) / frame_size;
    energy_of_frame<<<frames, frame_size>>>(d_samples, count, d_energies);
}
