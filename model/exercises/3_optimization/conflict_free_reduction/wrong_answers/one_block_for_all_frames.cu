// Wrong answer: one block computes all frames
// Rejected by: adds up frames of 512 samples
// Message: the task asks for at least 5 blocks
#include "exercises/3_optimization/conflict_free_reduction/conflict_free_reduction.h"

constexpr unsigned frame_size = 512;

__global__ void energy_of_frames(const float* samples, int count, float* energies) {
    __shared__ float part[frame_size / 32][32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int first = 0; first < count; first += frame_size) {
        const int i = first + threadIdx.x;
        const float sample = i < count ? samples[i] : 0.0f;
        __syncthreads();  // the parts of the frame before are done with
        part[warp][lane] = sample * sample;
        __syncthreads();
        if (warp == 0) {
            float sum = 0;
            for (unsigned row = 0; row < frame_size / 32; ++row) sum += part[row][lane];
            for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
            if (lane == 0) energies[first / frame_size] = sum;
        }
    }
}

void frame_energies(const float* d_samples, int count, float* d_energies) {
    if (count > 0) energy_of_frames<<<1, frame_size>>>(d_samples, count, d_energies);
}
