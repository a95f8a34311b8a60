// Correct answer: pairs in a structure, two pointers that are exchanged, tiles of 32 x 8
#include "exercises/4_examples/double_buffer/double_buffer.h"

constexpr int wide = 32, deep = 8;  // 32 rows and 32 columns of C, 8 terms at a time

struct Pair {
    float a[wide][deep];
    float b[deep][wide];
};

struct Extents {
    int m, n, k;
};

// Each thread brings one element of A and one of B, and computes four elements of C.
struct Loader {
    const float *a, *b;
    Extents of;
    int row, a_col, b_row, col;

    __device__ float from_a(int first) const {
        const int p = first + a_col;
        return row < of.m && p < of.k ? a[size_t(row) * of.k + p] : 0.0f;
    }
    __device__ float from_b(int first) const {
        const int p = first + b_row;
        return col < of.n && p < of.k ? b[size_t(p) * of.n + col] : 0.0f;
    }
};

__global__ void product(const float* a, const float* b, float* c, Extents of) {
    __shared__ Pair pairs[2];
    Pair *now = &pairs[0], *other = &pairs[1];
    const int t = threadIdx.x;
    const int across = (of.n + wide - 1) / wide;
    const int top = int(blockIdx.x) / across * wide, left = int(blockIdx.x) % across * wide;
    const int a_row = t / deep, a_col = t % deep, b_row = t / wide, b_col = t % wide;
    const Loader load{a, b, of, top + a_row, a_col, b_row, left + b_col};
    now->a[a_row][a_col] = load.from_a(0);
    now->b[b_row][b_col] = load.from_b(0);
    float sums[4] = {};
    for (int first = 0; first < of.k; first += deep) {
        __syncthreads();
        const bool more = first + deep < of.k;
        float next_a = 0, next_b = 0;
        if (more) {
            next_a = load.from_a(first + deep);
            next_b = load.from_b(first + deep);
        }
        for (int p = 0; p < deep; ++p) {
            const float right = now->b[p][b_col];
            for (int r = 0; r < 4; ++r) sums[r] += now->a[b_row + 8 * r][p] * right;
        }
        if (more) {
            other->a[a_row][a_col] = next_a;
            other->b[b_row][b_col] = next_b;
        }
        Pair* const swap = now;
        now = other;
        other = swap;
    }
    for (int r = 0; r < 4; ++r) {
        const int row = top + b_row + 8 * r, col = left + b_col;
        if (row < of.m && col < of.n) c[size_t(row) * of.n + col] = sums[r];
    }
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    const int tiles = ((m + wide - 1) / wide) * ((n + wide - 1) / wide);
    if (tiles > 0) product<<<tiles, 256>>>(d_a, d_b, d_c, {m, n, k});
}
