// Wrong answer: eight bytes per load
// Rejected by: makes few requests for whole sectors
// Message: load requests
#include "exercises/2_memory_model/vector_loads/vector_loads.h"

#include <cstdint>

__global__ void adjust(float* samples, int n, int head, float gain, float offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int vectors = (n - head) / 2;
    float2* const body = reinterpret_cast<float2*>(samples + head);
    if (i < vectors) {
        const float2 two = body[i];
        body[i] = make_float2(gain * two.x + offset, gain * two.y + offset);
    }
    if (i == 0 && head == 1) samples[0] = gain * samples[0] + offset;
    if (i == 1 && head + 2 * vectors < n) samples[n - 1] = gain * samples[n - 1] + offset;
}

void adjust_samples(float* d_samples, int n, float gain, float offset) {
    if (n == 0) return;
    const int head = reinterpret_cast<std::uintptr_t>(d_samples) % 8 / 4;
    adjust<<<(n + 511) / 512, 256>>>(d_samples, n, head, gain, offset);
}
