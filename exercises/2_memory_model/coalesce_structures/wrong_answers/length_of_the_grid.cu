// Wrong answer: takes the number of threads for the length of the arrays, right only for multiples of the block
// Rejected by: computes the brightness of every star
// Message: out of bounds: a thread reads behind the end of 'stars'
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    for (std::size_t member = 0; member < star_members; ++member) {
        for (const Star& star : stars) floats.push_back((&star.x)[member]);
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int length = gridDim.x * blockDim.x;
    const float x = stars[i];
    const float y = stars[length + i];
    const float z = stars[2 * length + i];
    brightness[i] = stars[9 * length + i] / (x * x + y * y + z * z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    compute_brightness<<<(count + threads - 1) / threads, threads>>>(d_stars, d_brightness, count);
}
