// Solution: stars that are read with too many sectors.
//
// A warp reads one member of 32 stars at a time, so the same members of all stars lie side
// by side: a structure of arrays. Each load then touches 4 sectors and uses all of their
// bytes, 16 for the four of them instead of 128; and the twelve members that nobody asks
// for are not moved at all.
//
// Other orders do as well: two arrays of float4, one of which holds x, y, z and luminosity
// of each star and is read with one load of 16 bytes; or groups of 32 stars, in each of
// which the members lie side by side.
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    floats.reserve(stars.size() * star_members);
    for (std::size_t member = 0; member < star_members; ++member) {
        for (const Star& star : stars) floats.push_back((&star.x)[member]);
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const size_t length = count;  // of an array; the places below may pass 2^31
    const float x = stars[0 * length + i];
    const float y = stars[1 * length + i];
    const float z = stars[2 * length + i];
    const float luminosity = stars[9 * length + i];
    brightness[i] = luminosity / (x * x + y * y + z * z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    compute_brightness<<<(count + threads - 1) / threads, threads>>>(d_stars, d_brightness,
                                                                     count);
}
