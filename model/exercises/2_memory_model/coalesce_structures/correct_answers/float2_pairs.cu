// Correct answer: pairs (x, y) and pairs (z, luminosity), read as float2
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    const std::size_t n = stars.size();
    std::vector<float> f(n * star_members);
    std::size_t rest = 4 * n;
    for (std::size_t i = 0; i < n; ++i) {
        const Star& s = stars[i];
        f[2 * i] = s.x;
        f[2 * i + 1] = s.y;
        f[2 * n + 2 * i] = s.z;
        f[2 * n + 2 * i + 1] = s.luminosity;
        for (std::size_t m = 3; m < star_members; ++m) {
            if (m != 9) f[rest++] = (&s.x)[m];
        }
    }
    return f;
}

__global__ void brightness_of(const float2* xy, const float2* zl, float* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const float2 a = xy[i];
        const float2 b = zl[i];
        out[i] = b.y / (a.x * a.x + a.y * a.y + b.x * b.x);
    }
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    const float2* xy = reinterpret_cast<const float2*>(d_stars);
    brightness_of<<<(count + 255) / 256, 256>>>(xy, xy + count, d_brightness, count);
}
