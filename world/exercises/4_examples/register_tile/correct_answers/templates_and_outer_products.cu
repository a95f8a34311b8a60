// Correct answer: a template of outer products, 8 x 4 elements for each of 32 x 4 threads
#include "exercises/4_examples/register_tile/register_tile.h"

template <int R, int S>
struct Outer {
    float sums[R][S];

    __device__ void clear() {
        for (int i = 0; i < R * S; ++i) sums[i / S][i % S] = 0;
    }
    template <class Left, class Right>
    __device__ void add(const Left& left, const Right& right) {
        float ls[R], rs[S];
#pragma unroll
        for (int i = 0; i < R; ++i) ls[i] = left(i);
#pragma unroll
        for (int j = 0; j < S; ++j) rs[j] = right(j);
#pragma unroll
        for (int i = 0; i < R; ++i) {
#pragma unroll
            for (int j = 0; j < S; ++j) sums[i][j] = fmaf(ls[i], rs[j], sums[i][j]);
        }
    }
};

constexpr int width = 128, height = 32, depth = 8;  // of the tiles, with 32 x 4 threads

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
    extern __shared__ float tiles[];
    float* const left = tiles;                    // height x depth
    float* const right = tiles + height * depth;  // depth x width
    const int x = threadIdx.x, y = threadIdx.y, t = y * 32 + x;
    const int across = (n - 1) / width + 1;
    const int top = blockIdx.x / across * height, start = blockIdx.x % across * width;
    Outer<8, 4> outer;
    outer.clear();
    for (int first = 0; first < k; first += depth) {
        if (first > 0) __syncthreads();
        for (int i = t; i < height * depth; i += 128) {
            const int row = top + i / depth, p = first + i % depth;
            left[i] = row < m && p < k ? a[size_t(row) * k + p] : 0;
        }
        for (int i = t; i < depth * width; i += 128) {
            const int p = first + i / width, col = start + i % width;
            right[i] = p < k && col < n ? b[size_t(p) * n + col] : 0;
        }
        __syncthreads();
        for (int p = 0; p < depth; ++p) {
            outer.add([&](int i) { return left[(y + 4 * i) * depth + p]; },
                      [&](int j) { return right[p * width + x + 32 * j]; });
        }
    }
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 4; ++j) {
            const int row = top + y + 4 * i, col = start + x + 32 * j;
            if (row < m && col < n) c[size_t(row) * n + col] = outer.sums[i][j];
        }
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m < 1 || n < 1) return;
    const int blocks = ((m - 1) / height + 1) * ((n - 1) / width + 1);
    const size_t bytes = (height * depth + depth * width) * sizeof(float);
    product<<<blocks, dim3(32, 4), bytes>>>(d_a, d_b, d_c, m, n, k);
}
