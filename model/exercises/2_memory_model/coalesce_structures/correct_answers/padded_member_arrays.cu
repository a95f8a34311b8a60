// Correct answer: an array for each member, each padded to a multiple of 32 stars
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

static __host__ __device__ std::size_t padded(std::size_t n) { return (n + 31) / 32 * 32; }

std::vector<float> arrange(const std::vector<Star>& stars) {
    const std::size_t stride = padded(stars.size());
    std::vector<float> v(stride * star_members);
    for (std::size_t i = 0; i < stars.size(); i++) {
        for (std::size_t m = 0; m < star_members; m++) v[m * stride + i] = (&stars[i].x)[m];
    }
    return v;
}

__global__ void compute_brightness(const float* xs, const float* ys, const float* zs,
                                   const float* luminosities, float* brightness,
                                   int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = xs[i], y = ys[i], z = zs[i];
    brightness[i] = luminosities[i] / (x * x + y * y + z * z);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const std::size_t stride = padded(count);
    const dim3 block(192), grid((count + block.x - 1) / block.x);
    compute_brightness<<<grid, block>>>(d_stars, d_stars + stride, d_stars + 2 * stride,
                                        d_stars + 9 * stride, d_brightness, count);
}
