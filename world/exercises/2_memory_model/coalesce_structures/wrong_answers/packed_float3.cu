// Wrong answer: places as packed float3: three loads of 12 sectors each
// Rejected by: moves little more than the bytes that it needs
// Message: of global memory moved, at most
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    for (const Star& s : stars) floats.insert(floats.end(), {s.x, s.y, s.z});
    for (const Star& s : stars) floats.push_back(s.luminosity);
    for (const Star& s : stars) {
        floats.insert(floats.end(), {s.vx, s.vy, s.vz, s.mass, s.radius, s.temperature});
        floats.insert(floats.end(), {s.age, s.metallicity, s.rotation});
        floats.insert(floats.end(), {s.magnetism, s.color, s.variability});
    }
    return floats;
}

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float3 place = reinterpret_cast<const float3*>(stars)[i];
    const float luminosity = stars[3 * count + i];
    const float square = place.x * place.x + place.y * place.y + place.z * place.z;
    brightness[i] = luminosity / square;
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const int threads = 256;
    const int blocks = (count + threads - 1) / threads;
    compute_brightness<<<blocks, threads>>>(d_stars, d_brightness, count);
}
