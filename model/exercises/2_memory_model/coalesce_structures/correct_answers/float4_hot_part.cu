// Correct answer: x, y, z and luminosity as a float4 in front, the rest behind
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> out;
    out.reserve(stars.size() * star_members);
    for (const Star& s : stars) {
        out.push_back(s.x);
        out.push_back(s.y);
        out.push_back(s.z);
        out.push_back(s.luminosity);
    }
    for (const Star& s : stars) {
        const float cold[] = {s.vx,       s.vy,          s.vz,    s.mass,
                              s.radius,   s.temperature, s.age,   s.metallicity,
                              s.rotation, s.magnetism,   s.color, s.variability};
        out.insert(out.end(), std::begin(cold), std::end(cold));
    }
    return out;
}

__global__ void compute_brightness(const float4* __restrict__ hot,
                                   float* __restrict__ result, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 s = hot[i];  // one load of 16 bytes
    result[i] = s.w / (s.x * s.x + s.y * s.y + s.z * s.z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int block_size = 512;
    const int grid_size = (count + block_size - 1) / block_size;
    compute_brightness<<<grid_size, block_size>>>(reinterpret_cast<const float4*>(d_stars),
                                                  d_brightness, count);
}
