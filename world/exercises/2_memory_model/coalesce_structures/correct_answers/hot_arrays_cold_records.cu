// Correct answer: four arrays that are read, then records of the other members
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

namespace {
constexpr int wanted[4] = {0, 1, 2, 9};
bool is_wanted(int m) {
    for (int w : wanted) {
        if (w == m) return true;
    }
    return false;
}
}  // namespace

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> all;
    for (int m : wanted) {
        for (std::size_t i = 0; i != stars.size(); ++i) all.push_back((&stars[i].x)[m]);
    }
    for (std::size_t i = 0; i != stars.size(); ++i) {
        for (int m = 0; m < static_cast<int>(star_members); ++m) {
            if (!is_wanted(m)) all.push_back((&stars[i].x)[m]);
        }
    }
    return all;
}

__global__ void shine(const float* data, float* brightness, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float v[4];
    for (int k = 0; k < 4; ++k) v[k] = data[k * count + i];
    brightness[i] = v[3] / (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    shine<<<(count - 1) / 64 + 1, 64>>>(d_stars, d_brightness, count);
}
