// Wrong answer: puts the members side by side, and reads them where they were before
// Rejected by: computes the brightness of every star
// Message: Does the kernel look for each member where arrange() has put it?
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    for (std::size_t member = 0; member < star_members; ++member) {
        for (const Star& star : stars) floats.push_back((&star.x)[member]);
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Star& star = reinterpret_cast<const Star*>(stars)[i];
    const float x = star.x;
    const float y = star.y;
    const float z = star.z;
    const float luminosity = star.luminosity;
    brightness[i] = luminosity / (x * x + y * y + z * z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    compute_brightness<<<(count + threads - 1) / threads, threads>>>(d_stars, d_brightness, count);
}
