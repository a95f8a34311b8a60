// Exercise: stars that are read with too many sectors.
// The task: ./warpwise task coalesce_structures
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

// TODO 1: choose another order. Which members does the kernel read, and what does a warp
// read at the same time?
std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    for (const Star& star : stars) {
        const float* members = &star.x;
        floats.insert(floats.end(), members, members + star_members);
    }
    return floats;
}

// TODO 2: find the members where you have put them.
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
    compute_brightness<<<(count + threads - 1) / threads, threads>>>(d_stars, d_brightness,
                                                                     count);
}
