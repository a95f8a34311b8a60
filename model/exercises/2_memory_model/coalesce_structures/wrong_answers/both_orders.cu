// Wrong answer: the four arrays in front and the whole catalog behind them
// Rejected by: keeps every member of every star
// Message: arrange() returned
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    floats.reserve(stars.size() * star_members);
    for (std::size_t m : {0, 1, 2, 9}) {
        for (const Star& star : stars) floats.push_back((&star.x)[m]);
    }
    for (const Star& star : stars)
        floats.insert(floats.end(), &star.x, &star.x + star_members);
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = stars[i];
    const float y = stars[count + i];
    const float z = stars[2 * count + i];
    const float luminosity = stars[3 * count + i];
    brightness[i] = luminosity / (x * x + y * y + z * z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    const int blocks = (count + threads - 1) / threads;
    compute_brightness<<<blocks, threads>>>(d_stars, d_brightness, count);
}
