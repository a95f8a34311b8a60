// Wrong answer: copies the stars back, computes on the host, launches an empty kernel
// Rejected by: computes the brightness of every star
// Message: was copied from host memory
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    floats.reserve(stars.size() * star_members);
    for (std::size_t m = 0; m < star_members; ++m) {
        for (const Star& star : stars) floats.push_back((&star.x)[m]);
    }
    return floats;
}

__global__ void compute_brightness() {}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const std::size_t n = count;
    std::vector<float> stars(n * star_members), result(n);
    cudaMemcpy(stars.data(), d_stars, stars.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (std::size_t i = 0; i < n; ++i) {
        const float x = stars[i], y = stars[n + i], z = stars[2 * n + i];
        result[i] = stars[9 * n + i] / (x * x + y * y + z * z);
    }
    cudaMemcpy(d_brightness, result.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    compute_brightness<<<1, 1>>>();
}
