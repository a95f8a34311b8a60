// Wrong answer: the first round squares its partner's sample once more
// Rejected by: still reads each sample once in whole sectors
// Message: of global memory moved, at most
#include "exercises/3_optimization/conflict_free_reduction/conflict_free_reduction.h"

constexpr unsigned frame_size = 512;  // samples of a frame, and threads of a block

__global__ void energy_of_frame(const float* samples, int count, float* energies) {
    __shared__ float part[frame_size];
    const int i = blockIdx.x * frame_size + threadIdx.x;
    const float sample = i < count ? samples[i] : 0.0f;
    part[threadIdx.x] = sample * sample;

    if (threadIdx.x < 256) {
        const float other = i + 256 < count ? samples[i + 256] : 0.0f;
        part[threadIdx.x] += other * other;
    }
    for (unsigned half = frame_size / 4; half >= 64; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        float sum = part[threadIdx.x] + part[threadIdx.x + 32];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (threadIdx.x == 0) energies[blockIdx.x] = sum;
    }
}

void frame_energies(const float* d_samples, int count, float* d_energies) {
    if (count == 0) return;
    const unsigned frames = (count + frame_size - 1) / frame_size;
    energy_of_frame<<<frames, frame_size>>>(d_samples, count, d_energies);
}
