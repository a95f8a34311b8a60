// Wrong answer: loads and stores whole float4 from the multiple of 16 before the array on
// Rejected by: adjusts arrays that begin anywhere
// Message: before the first sample
#include "exercises/2_memory_model/vector_loads/vector_loads.h"

#include <cstdint>

__global__ void adjust(float* aligned, int first, int end, float gain, float offset) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= end) return;
    if (i + 4 <= end) {
        float4 four = *reinterpret_cast<float4*>(aligned + i);
        if (i >= first) four.x = gain * four.x + offset;
        if (i + 1 >= first) four.y = gain * four.y + offset;
        if (i + 2 >= first) four.z = gain * four.z + offset;
        if (i + 3 >= first) four.w = gain * four.w + offset;
        *reinterpret_cast<float4*>(aligned + i) = four;
    } else {
        for (int k = max(i, first); k < end; ++k) aligned[k] = gain * aligned[k] + offset;
    }
}

void adjust_samples(float* d_samples, int n, float gain, float offset) {
    if (n == 0) return;
    const int over = reinterpret_cast<std::uintptr_t>(d_samples) % 16 / 4;
    adjust<<<(n + over + 1023) / 1024, 256>>>(d_samples - over, over, n + over, gain,
                                              offset);
}
