// Wrong answer: arrange stores the finished brightness in place of luminosity
// Rejected by: computes the brightness of every star
// Message: no kernel read x of star 0 from d_stars
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    floats.reserve(stars.size() * star_members);
    for (std::size_t m = 0; m < star_members; ++m) {
        for (const Star& s : stars) {
            const float square = s.x * s.x + s.y * s.y + s.z * s.z;
            floats.push_back(m == 9 ? s.luminosity / square : (&s.x)[m]);
        }
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    brightness[i] = stars[9 * count + i];
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    const int blocks = (count + threads - 1) / threads;
    compute_brightness<<<blocks, threads>>>(d_stars, d_brightness, count);
}
