// Wrong answer: keeps the order and reads 16 bytes at a time, which fetches what nobody wants in fewer requests
// Rejected by: moves little more than the bytes that it needs
// Message: Sectors are moved whole. Which of their bytes are wanted?
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    for (const Star& star : stars) {
        const float* members = &star.x;
        floats.insert(floats.end(), members, members + star_members);
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4* star = reinterpret_cast<const float4*>(stars) + 4 * i;
    const float4 place = star[0];
    const float luminosity = star[2].y;
    brightness[i] = luminosity / (place.x * place.x + place.y * place.y + place.z * place.z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    compute_brightness<<<(count + threads - 1) / threads, threads>>>(d_stars, d_brightness, count);
}
