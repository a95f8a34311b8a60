// Wrong answer: pads the matrices on the device to whole tiles and never frees the copies
// Rejected by: multiplies matrices of whole tiles
// Message: 3 allocations of device memory
#include "exercises/4_examples/tiled_product_any_size/tiled_product_any_size.h"

constexpr int side = 16;

__global__ void product_tiles(const float* a, const float* b, float* c, int k, int n) {
    __shared__ float a_tile[side][side];
    __shared__ float b_tile[side][side];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t row = blockIdx.y * side + y, col = blockIdx.x * side + x;
    float sum = 0;
    for (int first = 0; first < k; first += side) {
        a_tile[y][x] = a[row * k + first + x];
        b_tile[y][x] = b[(first + y) * static_cast<size_t>(n) + col];
        __syncthreads();
        for (int p = 0; p < side; ++p) sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

static size_t whole(int extent) { return (extent + side - 1) / side * side; }

static float* padded(const float* matrix, int rows, int cols) {
    const size_t width = whole(cols) * sizeof(float), height = whole(rows);
    if (width * height == 0) return nullptr;
    float* copy = nullptr;
    cudaMalloc(&copy, width * height);
    cudaMemset(copy, 0, width * height);
    if (matrix != nullptr) {
        const size_t bytes = cols * sizeof(float);
        cudaMemcpy2D(copy, width, matrix, bytes, bytes, rows, cudaMemcpyDeviceToDevice);
    }
    return copy;
}

void multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const float* a = padded(d_a, m, k);
    const float* b = padded(d_b, k, n);
    float* c = padded(nullptr, m, n);
    const dim3 grid(whole(n) / side, whole(m) / side);
    product_tiles<<<grid, dim3(side, side)>>>(a, b, c, whole(k), whole(n));
    cudaMemcpy2D(d_c, n * sizeof(float), c, whole(n) * sizeof(float), n * sizeof(float), m,
                 cudaMemcpyDeviceToDevice);
}
