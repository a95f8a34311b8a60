// Correct answer: each thread owns the samples between two multiples of 16
#include "exercises/2_memory_model/vector_loads/vector_loads.h"

#include <cstdint>

__global__ void adjust(float* samples, int n, int over, float gain, float offset) {
    const int first = 4 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) - over;
    if (first >= 0 && first + 4 <= n) {
        float4* const mine = reinterpret_cast<float4*>(samples + first);
        float4 four = *mine;
        four = {gain * four.x + offset, gain * four.y + offset, gain * four.z + offset,
                gain * four.w + offset};
        *mine = four;
    } else {
        for (int i = max(first, 0); i < min(first + 4, n); ++i)
            samples[i] = gain * samples[i] + offset;
    }
}

void adjust_samples(float* d_samples, int n, float gain, float offset) {
    if (n == 0) return;
    const int over = reinterpret_cast<std::uintptr_t>(d_samples) / 4 % 4;
    adjust<<<(n + over + 511) / 512, 128>>>(d_samples, n, over, gain, offset);
}
