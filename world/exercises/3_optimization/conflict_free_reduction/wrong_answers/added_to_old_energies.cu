// Wrong answer: each warp adds its sum to the energy by an atomic
// Rejected by: adds up frames of 512 samples
// Message: element: none was ever written
#include "exercises/3_optimization/conflict_free_reduction/conflict_free_reduction.h"

constexpr unsigned frame_size = 512;  // samples of a frame, and threads of a block

__global__ void energy_of_frame(const float* samples, int count, float* energies) {
    __shared__ float part[frame_size];
    const int i = blockIdx.x * frame_size + threadIdx.x;
    const float sample = i < count ? samples[i] : 0.0f;
    part[threadIdx.x] = sample * sample;
    __syncwarp();
    float sum = part[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(&energies[blockIdx.x], sum);
}

void frame_energies(const float* d_samples, int count, float* d_energies) {
    if (count == 0) return;
    const unsigned frames = (count + frame_size - 1) / frame_size;
    energy_of_frame<<<frames, frame_size>>>(d_samples, count, d_energies);
}
