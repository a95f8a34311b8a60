// Wrong answer: arrange computes the brightness as well and keeps it; the kernel copies it
//     from constant memory
// Rejected by: works with several catalogs at a time
// Message: 1000 elements: 1000 wrong
#include <algorithm>

#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

__constant__ float table[16384];
static std::vector<float> kept;

std::vector<float> arrange(const std::vector<Star>& stars) {
    kept.clear();
    for (const Star& s : stars)
        kept.push_back(s.luminosity / (s.x * s.x + s.y * s.y + s.z * s.z));
    std::vector<float> floats;
    for (std::size_t m = 0; m < star_members; ++m) {
        for (const Star& star : stars) floats.push_back((&star.x)[m]);
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = stars[i] + stars[count + i] + stars[2 * count + i] + stars[9 * count + i];
    brightness[i] = table[i] + 0 * sum;
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    cudaMemcpyToSymbol(table, kept.data(),
                       std::min<std::size_t>(kept.size(), 16384) * sizeof(float));
    compute_brightness<<<(count + 255) / 256, 256>>>(d_stars, d_brightness, count);
}
