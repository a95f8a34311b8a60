// Wrong answer: uploads the four members that this kernel needs, and forgets the others
// Rejected by: keeps every member of every star
// Message: arrange() returned 4 floats for 16 members
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    for (const Star& star : stars) floats.push_back(star.x);
    for (const Star& star : stars) floats.push_back(star.y);
    for (const Star& star : stars) floats.push_back(star.z);
    for (const Star& star : stars) floats.push_back(star.luminosity);
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = stars[i];
    const float y = stars[count + i];
    const float z = stars[2 * count + i];
    brightness[i] = stars[3 * count + i] / (x * x + y * y + z * z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    compute_brightness<<<(count + threads - 1) / threads, threads>>>(d_stars, d_brightness, count);
}
