// Wrong answer: loads whole float4, from before the array on
// Rejected by: adjusts arrays that begin anywhere
// Message: A kernel read memory before the first sample
#include "exercises/2_memory_model/vector_loads/vector_loads.h"

#include <cstdint>

__global__ void adjust(float* aligned, int first, int end, float gain, float offset) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= end) return;
    if (i + 4 <= end) {
        const float4 four = *reinterpret_cast<float4*>(aligned + i);
        const float values[] = {gain * four.x + offset, gain * four.y + offset,
                                gain * four.z + offset, gain * four.w + offset};
        if (i >= first) {
            *reinterpret_cast<float4*>(aligned + i) =
                make_float4(values[0], values[1], values[2], values[3]);
        } else {
            for (int k = first; k < 4; ++k) aligned[k] = values[k];
        }
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
