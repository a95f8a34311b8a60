// cuda::std::span and cuda::std::mdspan as parameters of kernels, cuda::std::array and numeric_limits in device code.
#include <cuda/cmath>
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/span>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

template <typename T>
using Matrix = cuda::std::mdspan<T, cuda::std::dextents<int, 2>>;
using Tile = cuda::std::mdspan<float, cuda::std::extents<int, 4, 8>>;

__global__ void transpose(Matrix<const float> in, Matrix<float> out) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < in.extent(0) && col < in.extent(1)) out(col, row) = in(row, col);
}

__global__ void ranges(cuda::std::span<const float> in, cuda::std::span<cuda::std::array<float, 2>> out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= out.size()) return;
    cuda::std::array<float, 2> range = {cuda::std::numeric_limits<float>::max(), cuda::std::numeric_limits<float>::lowest()};
    auto part = in.subspan(i * 10, i * 10 + 10 <= in.size() ? 10 : in.size() - i * 10);
    for (float x : part) {
        range[0] = x < range[0] ? x : range[0];
        range[1] = x > range[1] ? x : range[1];
    }
    out[i] = range;
}

__global__ void fill_tile(float *out) {
    __shared__ float memory[32];
    Tile tile(memory);
    tile(threadIdx.x / 8, threadIdx.x % 8) = (float)threadIdx.x;
    __syncthreads();
    cuda::std::mdspan<float, cuda::std::extents<int, 4, 8>, cuda::std::layout_left> left(out);
    left(threadIdx.x / 8, threadIdx.x % 8) = tile(threadIdx.x / 8, threadIdx.x % 8);
}

int main() {
    bool ok = true;
    for (int rows : {1, 7, 33}) {
        for (int cols : {1, 31, 50}) {
            std::vector<float> in(rows * cols), out(rows * cols);
            for (int i = 0; i < rows * cols; ++i) in[i] = (float)((i * 37) % 101);
            float *d_in, *d_out;
            cudaMalloc(&d_in, in.size() * sizeof(float));
            cudaMalloc(&d_out, in.size() * sizeof(float));
            cudaMemcpy(d_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice);
            dim3 block(16, 8);
            transpose<<<dim3(cuda::ceil_div(cols, 16), cuda::ceil_div(rows, 8)), block>>>(
                Matrix<const float>(d_in, rows, cols), Matrix<float>(d_out, cols, rows));
            cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost);
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < cols; ++c) ok = ok && out[c * rows + r] == in[r * cols + c];
            int parts = cuda::ceil_div(rows * cols, 10);
            cuda::std::array<float, 2> *d_ranges;
            cudaMalloc(&d_ranges, parts * sizeof(*d_ranges));
            ranges<<<cuda::ceil_div(parts, 64), 64>>>(cuda::std::span<const float>(d_in, in.size()),
                                                      cuda::std::span<cuda::std::array<float, 2>>(d_ranges, parts));
            std::vector<float> found(2 * parts);
            cudaMemcpy(found.data(), d_ranges, 2 * parts * sizeof(float), cudaMemcpyDeviceToHost);
            for (int p = 0; p < parts; ++p) {
                float low = in[10 * p], high = in[10 * p];
                for (int i = 10 * p; i < rows * cols && i < 10 * p + 10; ++i) {
                    low = in[i] < low ? in[i] : low;
                    high = in[i] > high ? in[i] : high;
                }
                ok = ok && found[2 * p] == low && found[2 * p + 1] == high;
            }
            cudaFree(d_in);
            cudaFree(d_out);
            cudaFree(d_ranges);
        }
    }
    float *d_tile;
    std::vector<float> tile(32);
    cudaMalloc(&d_tile, 32 * sizeof(float));
    fill_tile<<<1, 32>>>(d_tile);
    cudaMemcpy(tile.data(), d_tile, 32 * sizeof(float), cudaMemcpyDeviceToHost);
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 8; ++c) ok = ok && tile[c * 4 + r] == r * 8 + c;
    cudaFree(d_tile);
    printf("views: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
