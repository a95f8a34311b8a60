// Wrong answer: a single block computes all stars
// Rejected by: shares the stars among many threads
// Message: the task asks for at least 4 blocks
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    for (std::size_t m = 0; m < star_members; ++m) {
        for (const Star& star : stars) floats.push_back((&star.x)[m]);
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const float x = stars[i], y = stars[count + i], z = stars[2 * count + i];
        brightness[i] = stars[9 * count + i] / (x * x + y * y + z * z);
    }
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count > 0) compute_brightness<<<1, 1024>>>(d_stars, d_brightness, count);
}
