// Wrong answer: stars of the last group of 32 are left out if it is not full
// Rejected by: computes the brightness of every star
// Message: in kernel compute_brightness
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    for (std::size_t first = 0; first + 32 <= stars.size(); first += 32) {
        for (std::size_t m = 0; m < star_members; ++m) {
            for (std::size_t k = 0; k < 32; ++k) floats.push_back((&stars[first + k].x)[m]);
        }
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float* group = stars + i / 32 * 512 + i % 32;
    const float x = group[0], y = group[32], z = group[64];
    brightness[i] = group[288] / (x * x + y * y + z * z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    const int blocks = (count + threads - 1) / threads;
    compute_brightness<<<blocks, threads>>>(d_stars, d_brightness, count);
}
