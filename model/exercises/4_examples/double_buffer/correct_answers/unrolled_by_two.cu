// Correct answer: two turns in one loop, one per pair of tiles
#include "exercises/4_examples/double_buffer/double_buffer.h"

constexpr int T = 16;

__device__ void fill(float (*tile)[T], float value) {
    tile[threadIdx.y][threadIdx.x] = value;
}

__device__ float terms(const float (*a)[T], const float (*b)[T]) {
    float sum = 0;
    for (int p = 0; p < T; ++p) sum = fmaf(a[threadIdx.y][p], b[p][threadIdx.x], sum);
    return sum;
}

__global__ void multiply_tiles(const float* a, const float* b, float* c, int m, int n,
                               int k) {
    __shared__ float a_even[T][T], b_even[T][T], a_odd[T][T], b_odd[T][T];
    const int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    const auto of_a = [&](int first) {
        const int p = first + threadIdx.x;
        return row < m && p < k ? a[static_cast<size_t>(row) * k + p] : 0.0f;
    };
    const auto of_b = [&](int first) {
        const int p = first + threadIdx.y;
        return p < k && col < n ? b[static_cast<size_t>(p) * n + col] : 0.0f;
    };
    fill(a_even, of_a(0));
    fill(b_even, of_b(0));
    __syncthreads();
    float sum = 0;
    for (int first = 0; first < k; first += 2 * T) {
        float next_a = of_a(first + T), next_b = of_b(first + T);
        sum += terms(a_even, b_even);
        fill(a_odd, next_a);
        fill(b_odd, next_b);
        __syncthreads();
        next_a = of_a(first + 2 * T), next_b = of_b(first + 2 * T);
        sum += terms(a_odd, b_odd);
        fill(a_even, next_a);
        fill(b_even, next_b);
        __syncthreads();
    }
    if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sum;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    multiply_tiles<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(d_a, d_b, d_c, m,
                                                                           n, k);
}
