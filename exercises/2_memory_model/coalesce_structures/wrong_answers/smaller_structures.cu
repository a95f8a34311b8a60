// Wrong answer: brings the four members together, and reads them one by one: lanes are still 16 bytes apart
// Rejected by: moves little more than the bytes that it needs
// Message: 16 sectors/request
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    for (const Star& star : stars) {
        for (const float member : {star.x, star.y, star.z, star.luminosity}) floats.push_back(member);
    }
    for (std::size_t member = 3; member < star_members; ++member) {
        if (member == 9) continue;  // luminosity
        for (const Star& star : stars) floats.push_back((&star.x)[member]);
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float* star = stars + 4 * i;
    const float x = star[0];
    const float y = star[1];
    const float z = star[2];
    const float luminosity = star[3];
    brightness[i] = luminosity / (x * x + y * y + z * z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    compute_brightness<<<(count + threads - 1) / threads, threads>>>(d_stars, d_brightness, count);
}
