// Wrong answer: the first threads work, but their places are ever farther apart
// Rejected by: has no bank conflicts on the parts
// Message: in shared memory
#include "exercises/3_optimization/conflict_free_reduction/conflict_free_reduction.h"

constexpr unsigned frame_size = 512;  // samples of a frame, and threads of a block

__global__ void energy_of_frame(const float* samples, int count, float* energies) {
    __shared__ float part[frame_size];
    const int i = blockIdx.x * frame_size + threadIdx.x;
    const float sample = i < count ? samples[i] : 0.0f;
    part[threadIdx.x] = sample * sample;

    for (unsigned distance = 1; distance < frame_size; distance *= 2) {
        const unsigned place = 2 * distance * threadIdx.x;
        if (distance <= 8) {
            __syncthreads();
        } else {
            if (threadIdx.x >= 32) return;
            __syncwarp();
        }
        if (place < frame_size) part[place] += part[place + distance];
    }
    if (threadIdx.x == 0) energies[blockIdx.x] = part[0];
}

void frame_energies(const float* d_samples, int count, float* d_energies) {
    if (count == 0) return;
    const unsigned frames = (count + frame_size - 1) / frame_size;
    energy_of_frame<<<frames, frame_size>>>(d_samples, count, d_energies);
}
