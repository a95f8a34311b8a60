// Exercise: a sum over a block with idle lanes, bank conflicts and too many barriers.
// The task: ./warpwise task conflict_free_reduction
#include "exercises/3_optimization/conflict_free_reduction/conflict_free_reduction.h"

constexpr unsigned frame_size = 512;  // samples per frame, and threads per block

__global__ void energy_of_frame(const float* samples, int count, float* energies) {
    __shared__ float part[frame_size];
    const int i = blockIdx.x * frame_size + threadIdx.x;
    const float sample = i < count ? samples[i] : 0.0f;
    part[threadIdx.x] = sample * sample;

    // TODO 1: in every round, every second thread is idle. Let the first threads of the
    // block do the work.
    // TODO 2: from round to round, the words of neighboring threads are farther apart.
    // Choose pairs that lie in 32 different banks.
    // TODO 3: wait for the block only as often as needed. When one warp is left, wait for
    // that warp alone.
    for (unsigned distance = 1; distance < frame_size; distance *= 2) {
        __syncthreads();
        const unsigned place = distance * threadIdx.x;
        if (threadIdx.x % 2 == 0 && place < frame_size)
            part[place] += part[place + distance];
        __syncthreads();
    }
    if (threadIdx.x == 0) energies[blockIdx.x] = part[0];
}

void frame_energies(const float* d_samples, int count, float* d_energies) {
    if (count == 0) return;
    const unsigned frames = (count + frame_size - 1) / frame_size;
    energy_of_frame<<<frames, frame_size>>>(d_samples, count, d_energies);
}
