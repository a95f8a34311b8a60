// Correct answer: blocks of 128 x 2 threads, 64-bit numbers, a helper for the first column
#include "exercises/4_examples/aligned_elimination/aligned_elimination.h"

__host__ __device__ constexpr size_t round_down(size_t n, size_t to) { return n / to * to; }
constexpr size_t round_up(size_t n, size_t to) { return round_down(n + to - 1, to); }

size_t floats_from_row_to_row(int cols) { return round_up(cols, 32); }

__global__ void subtract_rows(float* matrix, size_t pitch, size_t rows, size_t cols,
                              size_t c) {
    const size_t x = round_down(c + 1, 128) + size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (x <= c || x >= cols) return;
    const float* const top = matrix + c * pitch;
    const float over = top[x], pivot = top[c];
    size_t y = size_t{blockIdx.y} * 32 + threadIdx.y;
    for (int k = 0; k < 16 && y < rows; ++k, y += 2) {
        if (y != c) matrix[y * pitch + x] -= matrix[y * pitch + c] / pivot * over;
    }
}

void eliminate(float* d_a, size_t pitch, int rows, int cols, int column) {
    const size_t left = round_down(column + 1, 128);
    if (left >= static_cast<size_t>(cols)) return;
    const dim3 block(128, 2);
    const dim3 grid((cols - left + 127) / 128, (rows + 31) / 32);
    subtract_rows<<<grid, block>>>(d_a, pitch, rows, cols, column);
}
