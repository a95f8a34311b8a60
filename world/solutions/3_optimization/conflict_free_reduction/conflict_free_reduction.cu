// Solution: a sum over a block without idle lanes, bank conflicts and too many barriers.
//
// The upper half is added to the lower half. Threads 0 to half - 1 do it: whole warps, as
// long as half is at least
// 32. Thread t reads words t and t + half, so 32 neighbors read 32 neighboring words, which
// lie in 32 different banks. And what is left is again an array without gaps.
//
// One barrier before a round is enough: in a round nobody reads a part that somebody else
// writes. When 64 parts are left, a single warp goes on, and waits only for its own lanes.
// (Five shuffles would do the same without the array.)
#include <cuda_runtime.h>

#include "exercises/3_optimization/conflict_free_reduction/conflict_free_reduction.h"

constexpr unsigned frame_size = 512;  // samples of a frame, and threads of a block

__global__ void energy_of_frame(const float* samples, int count, float* energies) {
    __shared__ float part[frame_size];
    const int i = blockIdx.x * frame_size + threadIdx.x;
    const float sample = i < count ? samples[i] : 0.0f;
    part[threadIdx.x] = sample * sample;

    for (unsigned half = frame_size / 2; half >= 64; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        part[threadIdx.x] += part[threadIdx.x + 32];
        for (unsigned half = 16; half > 0; half /= 2) {
            __syncwarp();
            if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) energies[blockIdx.x] = part[0];
}

void frame_energies(const float* d_samples, int count, float* d_energies) {
    if (count == 0) return;
    const unsigned frames = (count + frame_size - 1) / frame_size;
    energy_of_frame<<<frames, frame_size>>>(d_samples, count, d_energies);
}
