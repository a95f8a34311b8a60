// Wrong answer: single floats for arrays that begin in between
// Rejected by: makes few requests for whole sectors
// Message: load requests
#include "exercises/2_memory_model/vector_loads/vector_loads.h"

#include <cstdint>

__global__ void by_float(float* samples, int first, int n, float gain, float offset) {
    const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) samples[i] = gain * samples[i] + offset;
}

__global__ void by_vector(float4* body, int vectors, float gain, float offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    const float4 four = body[i];
    body[i] = make_float4(gain * four.x + offset, gain * four.y + offset,
                          gain * four.z + offset, gain * four.w + offset);
}

void adjust_samples(float* d_samples, int n, float gain, float offset) {
    if (n == 0) return;
    const int vectors = reinterpret_cast<std::uintptr_t>(d_samples) % 16 == 0 ? n / 4 : 0;
    if (vectors > 0)
        by_vector<<<(vectors + 255) / 256, 256>>>(reinterpret_cast<float4*>(d_samples),
                                                  vectors, gain, offset);
    if (n > 4 * vectors)
        by_float<<<(n - 4 * vectors + 255) / 256, 256>>>(d_samples, 4 * vectors, n, gain,
                                                         offset);
}
