// Correct answer: a launch for each of the three parts
#include "exercises/2_memory_model/vector_loads/vector_loads.h"

#include <cstdint>

__global__ void by_float(float* samples, int n, float gain, float offset) {
    if (threadIdx.x < n) samples[threadIdx.x] = gain * samples[threadIdx.x] + offset;
}

__global__ void by_vector(float4* body, int vectors, float gain, float offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    const float4 four = body[i];
    body[i] = make_float4(gain * four.x + offset, gain * four.y + offset,
                          gain * four.z + offset, gain * four.w + offset);
}

void adjust_samples(float* d_samples, int n, float gain, float offset) {
    int head = 0;
    while (head < n && reinterpret_cast<std::uintptr_t>(d_samples + head) % 16 != 0) ++head;
    const int vectors = (n - head) / 4, tail = n - head - 4 * vectors;
    if (head > 0) by_float<<<1, 32>>>(d_samples, head, gain, offset);
    if (vectors > 0)
        by_vector<<<(vectors + 127) / 128, 128>>>(
            reinterpret_cast<float4*>(d_samples + head), vectors, gain, offset);
    if (tail > 0) by_float<<<1, 32>>>(d_samples + n - tail, tail, gain, offset);
}
