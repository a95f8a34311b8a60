// Correct answer: groups of 8 stars, a sector for each member, with padding
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

constexpr int sector = 8;  // floats in 32 bytes

std::vector<float> arrange(const std::vector<Star>& stars) {
    const std::size_t rounded = (stars.size() + sector - 1) / sector * sector;
    std::vector<float> floats(rounded * star_members, -1.0f);
    std::size_t group = 0, place = 0;
    for (const Star& star : stars) {
        for (std::size_t m = 0; m < star_members; ++m)
            floats[(group * star_members + m) * sector + place] = (&star.x)[m];
        if (++place == sector) {
            place = 0;
            ++group;
        }
    }
    return floats;
}

__device__ float member(const float* stars, int i, int m) {
    return stars[(static_cast<size_t>(i / sector) * star_members + m) * sector +
                 i % sector];
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = member(stars, i, 0), y = member(stars, i, 1), z = member(stars, i, 2);
    brightness[i] = member(stars, i, 9) / (x * x + y * y + z * z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    const int blocks = (count + threads - 1) / threads;
    compute_brightness<<<blocks, threads>>>(d_stars, d_brightness, count);
}
