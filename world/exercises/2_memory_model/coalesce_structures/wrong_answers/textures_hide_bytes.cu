// Wrong answer: keeps the order and reads it through a texture, whose sectors are not
//     counted
// Rejected by: computes the brightness of every star
// Message: no kernel read x of star 0 from d_stars
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    const float* first = stars.empty() ? nullptr : &stars[0].x;
    return {first, first + stars.size() * star_members};
}

__global__ void compute_brightness(cudaTextureObject_t stars, float* brightness,
                                   int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = tex1Dfetch<float>(stars, 16 * i);
    const float y = tex1Dfetch<float>(stars, 16 * i + 1);
    const float z = tex1Dfetch<float>(stars, 16 * i + 2);
    brightness[i] = tex1Dfetch<float>(stars, 16 * i + 9) / (x * x + y * y + z * z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<float*>(d_stars);
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = static_cast<size_t>(count) * sizeof(Star);
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    compute_brightness<<<(count + 255) / 256, 256>>>(texture, d_brightness, count);
    cudaDestroyTextureObject(texture);
}
