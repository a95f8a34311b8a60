// Wrong answer: fetches whole stars through shared memory: few sectors per request, most of
//     them wasted
// Rejected by: moves little more than the bytes that it needs
// Message: 4 sectors/request
#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

std::vector<float> arrange(const std::vector<Star>& stars) {
    std::vector<float> floats;
    for (const Star& star : stars) {
        const float* members = &star.x;
        floats.insert(floats.end(), members, members + star_members);
    }
    return floats;
}

constexpr int block_size = 128;
constexpr int members = star_members;

__global__ void compute_brightness(const float* stars, float* brightness, int count) {
    __shared__ float tile[block_size * (members + 1)];
    const int first = blockIdx.x * block_size;
    const int here = min(block_size, count - first);
    for (int k = threadIdx.x; k < here * members; k += block_size) {
        tile[k / members * (members + 1) + k % members] = stars[first * members + k];
    }
    __syncthreads();
    if (static_cast<int>(threadIdx.x) >= here) return;
    const float* star = tile + threadIdx.x * (members + 1);
    brightness[first + threadIdx.x] =
        star[9] / (star[0] * star[0] + star[1] * star[1] + star[2] * star[2]);
}

void apparent_brightness(const float* d_stars, float* d_brightness, int count) {
    if (count == 0) return;
    compute_brightness<<<(count + block_size - 1) / block_size, block_size>>>(
        d_stars, d_brightness, count);
}
