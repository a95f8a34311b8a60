// Correct answer: one warp per row, without shared memory
#include "exercises/4_examples/layer_norm_welford/layer_norm_welford.h"

#include <cuda_runtime.h>

__global__ void normalize_rows(const float* in, size_t rows, size_t cols, float* out) {
    const size_t row = size_t{blockIdx.x} * 8 + threadIdx.x / 32;
    if (row >= rows) return;  // the whole warp
    const float* const from = in + row * cols;
    float count = 0, mean = 0, m2 = 0;
    for (size_t col = threadIdx.x % 32; col < cols; col += 32) {
        const float x = from[col], difference = x - mean;
        count += 1;
        mean += difference / count;
        m2 += difference * (x - mean);
    }
    for (unsigned mask = 1; mask < 32; mask *= 2) {
        const float other_count = __shfl_xor_sync(0xffffffff, count, mask);
        const float other_mean = __shfl_xor_sync(0xffffffff, mean, mask);
        const float other_m2 = __shfl_xor_sync(0xffffffff, m2, mask);
        const float both = count + other_count, difference = other_mean - mean;
        if (both > 0) {
            m2 += other_m2 + difference * difference * count * (other_count / both);
            mean += difference * (other_count / both);
            count = both;
        }
    }
    const float factor = rsqrtf(m2 / count + 1e-5f);
    for (size_t col = threadIdx.x % 32; col < cols; col += 32)
        out[row * cols + col] = (from[col] - mean) * factor;
}

void normalize(const float* d_in, size_t rows, size_t cols, float* d_out) {
    if (rows == 0 || cols == 0) return;
    normalize_rows<<<static_cast<unsigned>((rows + 7) / 8), 256>>>(d_in, rows, cols, d_out);
}
