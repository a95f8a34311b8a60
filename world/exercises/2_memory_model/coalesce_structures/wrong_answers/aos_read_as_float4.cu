// Wrong answer: the order stays, the star is read in pieces of 16 bytes
// Rejected by: moves little more than the bytes that it needs
// Message: of global memory moved, at most
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    const float* begin = reinterpret_cast<const float*>(stars.data());
    return std::vector<float>(begin, begin + stars.size() * star_members);
}

__global__ void compute_brightness(const float4* stars, float* brightness, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float4 place = stars[4 * i];
    const float4 third = stars[4 * i + 2];  // temperature, luminosity, age, metallicity
    brightness[i] = third.y / (place.x * place.x + place.y * place.y + place.z * place.z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    compute_brightness<<<(count + 255) / 256, 256>>>(
        reinterpret_cast<const float4*>(d_stars), d_brightness, count);
}
