// Correct answer: groups of 32 stars, inside of each the members side by side, padded
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

namespace {
constexpr std::size_t group = 32;
}

std::vector<float> arrange(const std::vector<Star>& stars) {
    const std::size_t groups = (stars.size() + group - 1) / group;
    std::vector<float> result(groups * group * star_members, 0.0f);
    for (std::size_t i = 0; i < stars.size(); ++i) {
        const float* from = &stars[i].x;
        float* to = result.data() + i / group * group * star_members + i % group;
        for (std::size_t m = 0; m < star_members; ++m) to[m * group] = from[m];
    }
    return result;
}

__global__ void brightness_kernel(const float* stars, float* brightness, int count) {
    const int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid < count) {
        const int lane = tid & 31;
        const float* g = stars + static_cast<size_t>(tid >> 5) * (32 * star_members) + lane;
        const float x = g[0], y = g[32], z = g[64], l = g[9 * 32];
        brightness[tid] = l / (x * x + y * y + z * z);
    }
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count <= 0) return;
    brightness_kernel<<<(count + 127) / 128, 128>>>(d_stars, d_brightness, count);
}
