// Correct answer: A is transposed in its tile, and a thread has 2 x 2 elements
#include "exercises/4_examples/double_buffer/double_buffer.h"

template <int side>
__global__ void product(const float* __restrict__ a, const float* __restrict__ b,
                        float* __restrict__ c, int m, int n, int k) {
    constexpr int half = side / 2;  // threads in each direction, and terms per pair
    __shared__ float left[2][half][side + 1], right[2][half][side];
    const int x = threadIdx.x, y = threadIdx.y, blocks_across = (n + side - 1) / side;
    const int top = blockIdx.x / blocks_across * side;
    const int start = blockIdx.x % blocks_across * side;
    float held_a[2], held_b[2], sums[2][2] = {{0, 0}, {0, 0}};
    const auto hold = [&](int first) {
        for (int h = 0; h < 2; ++h) {
            const int row = top + y + h * half, p = first + x;
            held_a[h] = row < m && p < k ? a[size_t(row) * k + p] : 0;
            const int q = first + y, col = start + x + h * half;
            held_b[h] = q < k && col < n ? b[size_t(q) * n + col] : 0;
        }
    };
    const auto release = [&](int pair) {
        for (int h = 0; h < 2; ++h) {
            left[pair][x][y + h * half] = held_a[h];
            right[pair][y][x + h * half] = held_b[h];
        }
    };
    hold(0);
    release(0);
    int pair = 0;
    for (int first = 0; first < k; first += half, pair ^= 1) {
        __syncthreads();
        hold(first + half);
        for (int p = 0; p < half; ++p) {
            const float a0 = left[pair][p][y], a1 = left[pair][p][y + half];
            const float b0 = right[pair][p][x], b1 = right[pair][p][x + half];
            sums[0][0] += a0 * b0, sums[0][1] += a0 * b1;
            sums[1][0] += a1 * b0, sums[1][1] += a1 * b1;
        }
        release(pair ^ 1);
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            const int row = top + y + i * half, col = start + x + j * half;
            if (row < m && col < n) c[size_t(row) * n + col] = sums[i][j];
        }
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    constexpr int side = 32;
    const int blocks = (m + side - 1) / side * ((n + side - 1) / side);
    product<side><<<blocks, dim3(side / 2, side / 2)>>>(d_a, d_b, d_c, m, n, k);
}
