// Wrong answer: each thread takes eight neighboring stars, so lanes are 32 bytes apart
// Rejected by: moves little more than the bytes that it needs
// Message: of global memory moved, at most
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    floats.reserve(stars.size() * star_members);
    for (std::size_t m = 0; m < star_members; ++m) {
        for (const Star& star : stars) floats.push_back((&star.x)[m]);
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 8 * thread; i < 8 * thread + 8 && i < count; ++i) {
        const float x = stars[i];
        const float y = stars[count + i];
        const float z = stars[2 * count + i];
        brightness[i] = stars[9 * count + i] / (x * x + y * y + z * z);
    }
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    compute_brightness<<<(count + 1023) / 1024, 128>>>(d_stars, d_brightness, count);
}
