// Stencils in one, two, and three dimensions. Elements next to the border are neither read as a center nor written.
#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace stencils_kernels {

// ---- one dimension: out[i] = sum of in[i] to in[i + 2 radius]
// ----------------------------------------------------------

template <unsigned radius>
__global__ void line_from_global(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k <= 2 * radius; ++k) sum += in[i + k];
    out[i] = sum;
}

template <unsigned radius>
__global__ void line_from_shared(const float* in, float* out) {
    __shared__ float values[256 + 2 * radius];
    const unsigned i = thread_in_grid();
    values[threadIdx.x] = in[i];
    if (threadIdx.x < 2 * radius) values[256 + threadIdx.x] = in[i + 256];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k <= 2 * radius; ++k) sum += values[threadIdx.x + k];
    out[i] = sum;
}

template <unsigned radius>
Prepared line(void (*kernel)(const float*, float*), unsigned n) {
    const Array<float> in = input<float>(n + 256);
    const Array<float> out = output<float>(n);
    const auto expected = [](std::size_t i) {
        float sum = 0;
        for (std::size_t k = 0; k <= 2 * radius; ++k) sum += element<float>(i + k);
        return sum;
    };
    return prepared(kernel, {n / 256, 256}, out, expected, 0, in, out);
}

// ---- two dimensions
// -------------------------------------------------------------------------------------------------------

/// The four neighbors minus four times the center.
template <class T>
__global__ void five_points(unsigned rows, unsigned cols, const T* in, T* out) {
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row == 0 || col == 0 || row + 1 >= rows || col + 1 >= cols) return;
    const unsigned i = row * cols + col;
    out[i] = in[i - cols] + in[i + cols] + in[i - 1] + in[i + 1] - 4 * in[i];
}

/// The same from a tile of 32 x 8 with its border in shared memory.
__global__ void five_points_shared(unsigned rows, unsigned cols, const float* in, float* out) {
    __shared__ float tile[10][34];
    const unsigned first_row = blockIdx.y * 8, first_col = blockIdx.x * 32;
    for (unsigned k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {
        // Row 0 of the tile is the row above the block; outside of the matrix the nearest element takes its place.
        const unsigned row = min(max(first_row + k / 34, 1u) - 1, rows - 1);
        const unsigned col = min(max(first_col + k % 34, 1u) - 1, cols - 1);
        tile[k / 34][k % 34] = in[row * cols + col];
    }
    __syncthreads();
    const unsigned row = first_row + threadIdx.y, col = first_col + threadIdx.x;
    if (row == 0 || col == 0 || row + 1 >= rows || col + 1 >= cols) return;
    const unsigned r = threadIdx.y + 1, c = threadIdx.x + 1;
    out[row * cols + col] = tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1] - 4 * tile[r][c];
}

/// Each thread walks down 16 rows and keeps three of them in registers.
__global__ void five_points_walking(unsigned rows, unsigned cols, const float* in, float* out) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned first = blockIdx.y * 16;
    if (col == 0 || col + 1 >= cols) return;
    float above = first == 0 ? 0 : in[(first - 1) * cols + col];
    float center = in[first * cols + col];
    for (unsigned row = first; row < first + 16 && row + 1 < rows; ++row) {
        const unsigned i = row * cols + col;
        const float below = in[i + cols];
        if (row != 0) out[i] = above + below + in[i - 1] + in[i + 1] - 4 * center;
        above = center;
        center = below;
    }
}

template <class T>
Prepared plane_of_five_points(void (*kernel)(unsigned, unsigned, const T*, T*), unsigned rows, unsigned cols,
                              dim3 block, unsigned rows_per_thread = 1) {
    const Array<T> in = input<T>(std::size_t{rows} * cols);
    const Array<T> out = output<T>(std::size_t{rows} * cols);
    const auto expected = [rows, cols](std::size_t i) {
        const std::size_t row = i / cols, col = i % cols;
        if (row == 0 || col == 0 || row + 1 == rows || col + 1 == cols) return std::numeric_limits<T>::quiet_NaN();
        return element<T>(i - cols) + element<T>(i + cols) + element<T>(i - 1) + element<T>(i + 1) - 4 * element<T>(i);
    };
    const dim3 grid((cols + block.x - 1) / block.x,
                    (rows + block.y * rows_per_thread - 1) / (block.y * rows_per_thread));
    return prepared(kernel, {grid, block}, out, expected, 0, rows, cols, in, out);
}

/// A square of (2 radius + 1)^2 elements.
template <int radius>
__global__ void square_mean(int rows, int cols, const float* in, float* out) {
    const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (row < radius || col < radius || row >= rows - radius || col >= cols - radius) return;
    float sum = 0;
#pragma unroll
    for (int r = -radius; r <= radius; ++r) {
#pragma unroll
        for (int c = -radius; c <= radius; ++c) sum += in[(row + r) * cols + col + c];
    }
    out[row * cols + col] = sum;
}

template <int radius>
Prepared plane_of_squares(int rows, int cols) {
    const Array<float> in = input<float>(static_cast<std::size_t>(rows) * cols);
    const Array<float> out = output<float>(static_cast<std::size_t>(rows) * cols);
    const auto expected = [rows, cols](std::size_t i) {
        const int row = static_cast<int>(i) / cols, col = static_cast<int>(i) % cols;
        if (row < radius || col < radius || row >= rows - radius || col >= cols - radius) {
            return std::numeric_limits<float>::quiet_NaN();
        }
        float sum = 0;
        for (int r = -radius; r <= radius; ++r) {
            for (int c = -radius; c <= radius; ++c) {
                sum += element<float>(static_cast<std::size_t>((row + r) * cols + col + c));
            }
        }
        return sum;
    };
    const dim3 block(32, 8);
    const dim3 grid(static_cast<unsigned>(cols + 31) / 32, static_cast<unsigned>(rows + 7) / 8);
    return prepared(square_mean<radius>, {grid, block}, out, expected, 0, rows, cols, in, out);
}

/// One step of the wave equation: three arrays.
__global__ void wave_step(unsigned rows, unsigned cols, const float* now, const float* before, float* after) {
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row == 0 || col == 0 || row + 1 >= rows || col + 1 >= cols) return;
    const unsigned i = row * cols + col;
    after[i] = 2 * now[i] - before[i] + 0.25f * (now[i - cols] + now[i + cols] + now[i - 1] + now[i + 1] - 4 * now[i]);
}

Prepared wave(unsigned rows, unsigned cols) {
    const Array<float> now = input<float>(std::size_t{rows} * cols);
    const Array<float> before =
        input_of<float>(std::size_t{rows} * cols, [](std::size_t i) { return element<float>(i + 9); });
    const Array<float> after = output<float>(std::size_t{rows} * cols);
    const auto expected = [rows, cols](std::size_t i) {
        const std::size_t row = i / cols, col = i % cols;
        if (row == 0 || col == 0 || row + 1 == rows || col + 1 == cols) return std::numeric_limits<float>::quiet_NaN();
        return 2 * element<float>(i) - element<float>(i + 9) +
               0.25f * (element<float>(i - cols) + element<float>(i + cols) + element<float>(i - 1) +
                        element<float>(i + 1) - 4 * element<float>(i));
    };
    const dim3 block(64, 4);
    return prepared(wave_step, {dim3(cols / 64, rows / 4), block}, after, expected, 0, rows, cols, now, before, after);
}

// ---- three dimensions
// -----------------------------------------------------------------------------------------------------

constexpr unsigned kSide = 128;  ///< of the cube
constexpr unsigned kLayer = kSide * kSide;

__host__ __device__ bool at_border(unsigned x, unsigned y, unsigned z) {
    return x == 0 || y == 0 || z == 0 || x + 1 == kSide || y + 1 == kSide || z + 1 == kSide;
}

template <class T>
__global__ void seven_points(const T* in, T* out) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (at_border(x, y, z)) return;
    const unsigned i = z * kLayer + y * kSide + x;
    out[i] = in[i - 1] + in[i + 1] + in[i - kSide] + in[i + kSide] + in[i - kLayer] + in[i + kLayer] - 6 * in[i];
}

/// Each thread walks through all layers and keeps three values of its column in registers.
__global__ void seven_points_walking(const float* in, float* out) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (at_border(x, y, 1)) return;
    unsigned i = y * kSide + x;
    float below = in[i];
    i += kLayer;
    float center = in[i];
    for (unsigned z = 1; z + 1 < kSide; ++z, i += kLayer) {
        const float above = in[i + kLayer];
        out[i] = in[i - 1] + in[i + 1] + in[i - kSide] + in[i + kSide] + below + above - 6 * center;
        below = center;
        center = above;
    }
}

template <class T>
Prepared cube(void (*kernel)(const T*, T*), dim3 block, unsigned layers_per_thread = 1) {
    const Array<T> in = input<T>(kLayer * kSide);
    const Array<T> out = output<T>(kLayer * kSide);
    const auto expected = [](std::size_t i) {
        if (at_border(i % kSide, i / kSide % kSide, static_cast<unsigned>(i / kLayer))) {
            return std::numeric_limits<T>::quiet_NaN();
        }
        return element<T>(i - 1) + element<T>(i + 1) + element<T>(i - kSide) + element<T>(i + kSide) +
               element<T>(i - kLayer) + element<T>(i + kLayer) - 6 * element<T>(i);
    };
    const dim3 grid(kSide / block.x, kSide / block.y, kSide / (block.z * layers_per_thread));
    return prepared(kernel, {grid, block}, out, expected, 0, in, out);
}

__global__ void twenty_seven_points(const float* in, float* out) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (at_border(x, y, z)) return;
    float sum = 0;
#pragma unroll
    for (unsigned dz = 0; dz < 3; ++dz) {
#pragma unroll
        for (unsigned dy = 0; dy < 3; ++dy) {
#pragma unroll
            for (unsigned dx = 0; dx < 3; ++dx) sum += in[(z + dz - 1) * kLayer + (y + dy - 1) * kSide + x + dx - 1];
        }
    }
    out[z * kLayer + y * kSide + x] = sum;
}

Prepared cube_of_twenty_seven(dim3 block) {
    const Array<float> in = input<float>(kLayer * kSide);
    const Array<float> out = output<float>(kLayer * kSide);
    const auto expected = [](std::size_t i) {
        const std::size_t x = i % kSide, y = i / kSide % kSide, z = i / kLayer;
        if (at_border(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z))) {
            return std::numeric_limits<float>::quiet_NaN();
        }
        float sum = 0;
        for (std::size_t dz = 0; dz < 3; ++dz) {
            for (std::size_t dy = 0; dy < 3; ++dy) {
                for (std::size_t dx = 0; dx < 3; ++dx) {
                    sum += element<float>((z + dz - 1) * kLayer + (y + dy - 1) * kSide + x + dx - 1);
                }
            }
        }
        return sum;
    };
    const dim3 grid(kSide / block.x, kSide / block.y, kSide / block.z);
    return prepared(twenty_seven_points, {grid, block}, out, expected, 0, in, out);
}

std::vector<Case> stencils() {
    return {
        {"stencil_line_radius_1", [] { return line<1>(line_from_global<1>, 4 * kMi); }},
        {"stencil_line_radius_4", [] { return line<4>(line_from_global<4>, 2 * kMi); }},
        {"stencil_line_radius_16", [] { return line<16>(line_from_global<16>, kMi); }},
        {"stencil_line_radius_4_shared", [] { return line<4>(line_from_shared<4>, 2 * kMi); }},
        {"stencil_line_radius_16_shared", [] { return line<16>(line_from_shared<16>, kMi); }},
        {"stencil_five_points_32x8", [] { return plane_of_five_points(five_points<float>, 1536, 2048, dim3(32, 8)); }},
        {"stencil_five_points_8x32", [] { return plane_of_five_points(five_points<float>, 1536, 2048, dim3(8, 32)); }},
        {"stencil_five_points_256x1",
         [] { return plane_of_five_points(five_points<float>, 1536, 2048, dim3(256, 1)); }},
        {"stencil_five_points_small", [] { return plane_of_five_points(five_points<float>, 200, 300, dim3(32, 8)); }},
        {"stencil_five_points_doubles",
         [] { return plane_of_five_points(five_points<double>, 1024, 2048, dim3(32, 8)); }},
        {"stencil_five_points_shared",
         [] { return plane_of_five_points(five_points_shared, 1536, 2048, dim3(32, 8)); }},
        {"stencil_five_points_walking",
         [] { return plane_of_five_points(five_points_walking, 1536, 2048, dim3(128, 1), 16); }},
        {"stencil_square_radius_1", [] { return plane_of_squares<1>(1024, 2048); }},
        {"stencil_square_radius_2", [] { return plane_of_squares<2>(1024, 2048); }},
        {"stencil_square_radius_3", [] { return plane_of_squares<3>(600, 1000); }},
        {"stencil_wave", [] { return wave(1536, 2048); }},
        {"stencil_seven_points_32x4x2", [] { return cube(seven_points<float>, dim3(32, 4, 2)); }},
        {"stencil_seven_points_8x8x8", [] { return cube(seven_points<float>, dim3(8, 8, 8)); }},
        {"stencil_seven_points_doubles", [] { return cube(seven_points<double>, dim3(64, 4, 1)); }},
        {"stencil_seven_points_walking", [] { return cube(seven_points_walking, dim3(32, 4, 1), kSide); }},
        {"stencil_twenty_seven_points", [] { return cube_of_twenty_seven(dim3(32, 8, 1)); }},
    };
}

}  // namespace stencils_kernels

std::vector<Family> stencil_families() { return {{"stencils", stencils_kernels::stencils()}}; }

}  // namespace model_kernels
