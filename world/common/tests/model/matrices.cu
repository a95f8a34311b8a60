// Transposes, products of matrices, and products of a matrix and a vector.
#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace matrices_kernels {

// ---- transposes
// -----------------------------------------------------------------------------------------------------------

/// Reads rows, writes columns.
template <class T>
__global__ void transpose_from_rows(unsigned rows, unsigned cols, const T* in, T* out) {
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}

/// Reads columns, writes rows. The grid covers the output.
template <class T>
__global__ void transpose_to_rows(unsigned rows, unsigned cols, const T* in, T* out) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}

/// Through a tile of side x side elements in shared memory whose rows are `pitch` elements apart. Every thread copies
/// `side / depth` elements.
template <class T, unsigned side, unsigned depth, unsigned pitch>
__global__ void transpose_tile(unsigned rows, unsigned cols, const T* in, T* out) {
    __shared__ T tile[side * pitch];
    const unsigned first_row = blockIdx.y * side, first_col = blockIdx.x * side;
#pragma unroll
    for (unsigned k = 0; k < side; k += depth) {
        const unsigned row = first_row + threadIdx.y + k, col = first_col + threadIdx.x;
        if (row < rows && col < cols) tile[(threadIdx.y + k) * pitch + threadIdx.x] = in[row * cols + col];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < side; k += depth) {
        const unsigned col = first_col + threadIdx.y + k, row = first_row + threadIdx.x;
        if (row < rows && col < cols) out[col * rows + row] = tile[threadIdx.x * pitch + threadIdx.y + k];
    }
}

/// Without padding: the column is exchanged by an exclusive or with the row, so that columns use all banks.
__global__ void transpose_swizzled(unsigned rows, unsigned cols, const float* in, float* out) {
    __shared__ float tile[32][32];
    const unsigned first_row = blockIdx.y * 32, first_col = blockIdx.x * 32;
#pragma unroll
    for (unsigned k = 0; k < 32; k += 8) {
        const unsigned r = threadIdx.y + k;
        tile[r][threadIdx.x ^ r] = in[(first_row + r) * cols + first_col + threadIdx.x];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < 32; k += 8) {
        const unsigned c = threadIdx.y + k;
        out[(first_col + c) * rows + first_row + threadIdx.x] = tile[threadIdx.x][c ^ threadIdx.x];
    }
}

/// Each thread moves a tile of 4 x 4 elements in registers, with loads and stores of 16 bytes.
__global__ void transpose_in_registers(unsigned rows, unsigned cols, const float4* in, float4* out) {
    const unsigned col4 = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row4 = blockIdx.y * blockDim.y + threadIdx.y;
    if (4 * row4 >= rows || 4 * col4 >= cols) return;
    float4 line[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) line[k] = in[(4 * row4 + k) * (cols / 4) + col4];
    float4* const place = out + 4 * col4 * (rows / 4) + row4;
    place[0] = make_float4(line[0].x, line[1].x, line[2].x, line[3].x);
    place[rows / 4] = make_float4(line[0].y, line[1].y, line[2].y, line[3].y);
    place[rows / 2] = make_float4(line[0].z, line[1].z, line[2].z, line[3].z);
    place[3 * (rows / 4)] = make_float4(line[0].w, line[1].w, line[2].w, line[3].w);
}

template <class T>
auto transposed(unsigned rows, unsigned cols) {
    return [rows, cols](std::size_t i) { return element<T>(i % rows * cols + i / rows); };
}

unsigned quotient_rounded_up(unsigned a, unsigned b) { return (a + b - 1) / b; }

template <class T>
Prepared by_rows(unsigned rows, unsigned cols, dim3 block) {
    const Array<T> in = input<T>(std::size_t{rows} * cols);
    const Array<T> out = output<T>(std::size_t{rows} * cols);
    const dim3 grid(quotient_rounded_up(cols, block.x), quotient_rounded_up(rows, block.y));
    return prepared(transpose_from_rows<T>, {grid, block}, out, transposed<T>(rows, cols), 0, rows, cols, in, out);
}

template <class T>
Prepared by_columns(unsigned rows, unsigned cols, dim3 block) {
    const Array<T> in = input<T>(std::size_t{rows} * cols);
    const Array<T> out = output<T>(std::size_t{rows} * cols);
    const dim3 grid(quotient_rounded_up(rows, block.x), quotient_rounded_up(cols, block.y));
    return prepared(transpose_to_rows<T>, {grid, block}, out, transposed<T>(rows, cols), 0, rows, cols, in, out);
}

template <class T, unsigned side, unsigned depth, unsigned pitch>
Prepared by_tiles(unsigned rows, unsigned cols) {
    const Array<T> in = input<T>(std::size_t{rows} * cols);
    const Array<T> out = output<T>(std::size_t{rows} * cols);
    const Shape shape{dim3(quotient_rounded_up(cols, side), quotient_rounded_up(rows, side)), dim3(side, depth)};
    return prepared(transpose_tile<T, side, depth, pitch>, shape, out, transposed<T>(rows, cols), 0, rows, cols, in,
                    out);
}

Prepared swizzled(unsigned rows, unsigned cols) {
    const Array<float> in = input<float>(std::size_t{rows} * cols);
    const Array<float> out = output<float>(std::size_t{rows} * cols);
    return prepared(transpose_swizzled, {dim3(cols / 32, rows / 32), dim3(32, 8)}, out, transposed<float>(rows, cols),
                    0, rows, cols, in, out);
}

Prepared in_registers(unsigned rows, unsigned cols, dim3 block) {
    const Array<float> in = input<float>(std::size_t{rows} * cols);
    const Array<float> out = output<float>(std::size_t{rows} * cols);
    const dim3 grid(quotient_rounded_up(cols / 4, block.x), quotient_rounded_up(rows / 4, block.y));
    return prepared(transpose_in_registers, {grid, block}, out, transposed<float>(rows, cols), 0, rows, cols,
                    in.as<float4>(), out.as<float4>());
}

std::vector<Case> transposes() {
    return {
        {"transpose_from_rows_32x8", [] { return by_rows<float>(2048, 2048, dim3(32, 8)); }},
        {"transpose_from_rows_16x16", [] { return by_rows<float>(2048, 2048, dim3(16, 16)); }},
        {"transpose_from_rows_8x32", [] { return by_rows<float>(2048, 2048, dim3(8, 32)); }},
        {"transpose_to_rows_32x8", [] { return by_columns<float>(2048, 2048, dim3(32, 8)); }},
        {"transpose_to_rows_64x4_ragged", [] { return by_columns<float>(1000, 3001, dim3(64, 4)); }},
        {"transpose_tile_32x32", [] { return by_tiles<float, 32, 32, 32>(2048, 2048); }},
        {"transpose_tile_32x8", [] { return by_tiles<float, 32, 8, 32>(2048, 2048); }},
        {"transpose_padded_tile_32x32", [] { return by_tiles<float, 32, 32, 33>(2048, 2048); }},
        {"transpose_padded_tile_32x8", [] { return by_tiles<float, 32, 8, 33>(2048, 2048); }},
        {"transpose_padded_tile_32x4", [] { return by_tiles<float, 32, 4, 33>(2048, 2048); }},
        {"transpose_padded_tile_16x16", [] { return by_tiles<float, 16, 16, 17>(2048, 2048); }},
        {"transpose_padded_tile_64x8", [] { return by_tiles<float, 64, 8, 65>(2048, 2048); }},
        {"transpose_padded_tile_32x8_ragged", [] { return by_tiles<float, 32, 8, 33>(1000, 3001); }},
        {"transpose_padded_tile_32x8_small", [] { return by_tiles<float, 32, 8, 33>(256, 256); }},
        {"transpose_padded_tile_doubles", [] { return by_tiles<double, 32, 8, 33>(1024, 2048); }},
        {"transpose_tile_bytes", [] { return by_tiles<unsigned char, 32, 8, 36>(2048, 2048); }},
        {"transpose_from_rows_doubles", [] { return by_rows<double>(1024, 2048, dim3(32, 8)); }},
        {"transpose_swizzled", [] { return swizzled(2048, 2048); }},
        {"transpose_in_registers_8x8", [] { return in_registers(2048, 2048, dim3(8, 8)); }},
        {"transpose_in_registers_32x4", [] { return in_registers(2048, 2048, dim3(32, 4)); }},
    };
}

// ---- products of matrices
// -----------------------------------------------------------------------------------------------

struct Sizes {
    unsigned rows, cols, depth;  ///< of the result, and of the sums
};

/// One element per thread; lanes of a warp are neighbors in a row.
template <class T>
__global__ void product_plain(Sizes sizes, const T* a, const T* b, T* out) {
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    T sum = 0;
    for (unsigned k = 0; k < sizes.depth; ++k) sum += a[row * sizes.depth + k] * b[k * sizes.cols + col];
    out[row * sizes.cols + col] = sum;
}

/// One element per thread; lanes of a warp are neighbors in a column.
__global__ void product_along_columns(Sizes sizes, const float* a, const float* b, float* out) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned col = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (unsigned k = 0; k < sizes.depth; ++k) sum += a[row * sizes.depth + k] * b[k * sizes.cols + col];
    out[row * sizes.cols + col] = sum;
}

/// Tiles of side x side elements in shared memory, one element per thread.
template <class T, unsigned side>
__global__ void product_tiles(Sizes sizes, const T* a, const T* b, T* out) {
    __shared__ T tile_a[side][side];
    __shared__ T tile_b[side][side];
    const unsigned row = blockIdx.y * side + threadIdx.y;
    const unsigned col = blockIdx.x * side + threadIdx.x;
    T sum = 0;
    for (unsigned first = 0; first < sizes.depth; first += side) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * sizes.depth + first + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * sizes.cols + col];
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < side; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        __syncthreads();
    }
    out[row * sizes.cols + col] = sum;
}

/// 16 x 16 threads, `each` x `each` elements per thread, which lie 16 apart.
template <unsigned each>
__global__ void product_register_tiles(Sizes sizes, const float* a, const float* b, float* out) {
    constexpr unsigned side = 16 * each, depth = 16;
    __shared__ float tile_a[depth][side + 1];
    __shared__ float tile_b[depth][side];
    const unsigned thread = threadIdx.y * 16 + threadIdx.x;
    const unsigned first_row = blockIdx.y * side, first_col = blockIdx.x * side;
    float sum[each][each] = {};
    for (unsigned first = 0; first < sizes.depth; first += depth) {
#pragma unroll
        for (unsigned i = thread; i < side * depth; i += 256) {
            tile_a[i % depth][i / depth] = a[(first_row + i / depth) * sizes.depth + first + i % depth];
            tile_b[i / side][i % side] = b[(first + i / side) * sizes.cols + first_col + i % side];
        }
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < depth; ++k) {
            float from_a[each], from_b[each];
#pragma unroll
            for (unsigned r = 0; r < each; ++r) from_a[r] = tile_a[k][threadIdx.y + 16 * r];
#pragma unroll
            for (unsigned c = 0; c < each; ++c) from_b[c] = tile_b[k][threadIdx.x + 16 * c];
#pragma unroll
            for (unsigned r = 0; r < each; ++r) {
#pragma unroll
                for (unsigned c = 0; c < each; ++c) sum[r][c] += from_a[r] * from_b[c];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned r = 0; r < each; ++r) {
#pragma unroll
        for (unsigned c = 0; c < each; ++c) {
            out[(first_row + threadIdx.y + 16 * r) * sizes.cols + first_col + threadIdx.x + 16 * c] = sum[r][c];
        }
    }
}

/// Four rows per thread from global memory alone.
__global__ void product_four_rows(Sizes sizes, const float* a, const float* b, float* out) {
    const unsigned row = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum[4] = {};
    for (unsigned k = 0; k < sizes.depth; ++k) {
        const float value = b[k * sizes.cols + col];
#pragma unroll
        for (unsigned r = 0; r < 4; ++r) sum[r] += a[(row + r) * sizes.depth + k] * value;
    }
#pragma unroll
    for (unsigned r = 0; r < 4; ++r) out[(row + r) * sizes.cols + col] = sum[r];
}

/// Products of 4 x 4 matrices, one pair per thread.
__global__ void product_of_small_matrices(const float4* a, const float4* b, float4* out) {
    const unsigned i = thread_in_grid();
    float4 rows[4], right[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
        rows[k] = a[4 * i + k];
        right[k] = b[4 * i + k];
    }
#pragma unroll
    for (unsigned r = 0; r < 4; ++r) {
        const float4 row = rows[r];
        out[4 * i + r] = make_float4(row.x * right[0].x + row.y * right[1].x + row.z * right[2].x + row.w * right[3].x,
                                     row.x * right[0].y + row.y * right[1].y + row.z * right[2].y + row.w * right[3].y,
                                     row.x * right[0].z + row.y * right[1].z + row.z * right[2].z + row.w * right[3].z,
                                     row.x * right[0].w + row.y * right[1].w + row.z * right[2].w + row.w * right[3].w);
    }
}

/// Sums of products of these integers do not overflow.
template <class T>
T factor(std::size_t i) {
    if constexpr (std::is_integral_v<T>) {
        return element<unsigned char>(i);
    } else {
        return element<T>(i);
    }
}

/// Elements of a and b repeat with a period of 16 in both directions, so that a product is known from 16 x 16 sums.
template <class T>
T element_of_a(std::size_t row, std::size_t k) {
    return factor<T>(row % 16 * 16 + k % 16);
}
template <class T>
T element_of_b(std::size_t k, std::size_t col) {
    return factor<T>(1000 + k % 16 * 16 + col % 16);
}

template <class T>
Prepared product(void (*kernel)(Sizes, const T*, const T*, T*), Sizes sizes, dim3 grid, dim3 block) {
    const Array<T> a = input_of<T>(std::size_t{sizes.rows} * sizes.depth, [sizes](std::size_t i) {
        return element_of_a<T>(i / sizes.depth, i % sizes.depth);
    });
    const Array<T> b = input_of<T>(std::size_t{sizes.depth} * sizes.cols,
                                   [sizes](std::size_t i) { return element_of_b<T>(i / sizes.cols, i % sizes.cols); });
    const Array<T> out = output<T>(std::size_t{sizes.rows} * sizes.cols);
    std::vector<double> sums(256);
    for (std::size_t row = 0; row < 16; ++row) {
        for (std::size_t col = 0; col < 16; ++col) {
            for (std::size_t k = 0; k < sizes.depth; ++k) {
                sums[row * 16 + col] +=
                    static_cast<double>(element_of_a<T>(row, k)) * static_cast<double>(element_of_b<T>(k, col));
            }
        }
    }
    const auto expected = [sums, sizes](std::size_t i) { return sums[i / sizes.cols % 16 * 16 + i % sizes.cols % 16]; };
    return prepared(kernel, {grid, block}, out, expected, 1e-5, sizes, a, b, out);
}

template <class T>
Prepared plain_product(Sizes sizes, dim3 block) {
    return product<T>(product_plain<T>, sizes, dim3(sizes.cols / block.x, sizes.rows / block.y), block);
}

template <class T, unsigned side>
Prepared tiled_product(Sizes sizes) {
    return product<T>(product_tiles<T, side>, sizes, dim3(sizes.cols / side, sizes.rows / side), dim3(side, side));
}

template <unsigned each>
Prepared register_product(Sizes sizes) {
    const dim3 grid(sizes.cols / (16 * each), sizes.rows / (16 * each));
    return product<float>(product_register_tiles<each>, sizes, grid, dim3(16, 16));
}

Prepared small_products(unsigned n) {
    const Array<float> a = input<float>(16 * std::size_t{n});
    const Array<float> b = input_of<float>(16 * std::size_t{n}, [](std::size_t i) { return element<float>(i + 77); });
    const Array<float> out = output<float>(16 * std::size_t{n});
    const auto expected = [](std::size_t i) {
        const std::size_t first = i / 16 * 16, row = i / 4 % 4, col = i % 4;
        double sum = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            sum += element<double>(first + row * 4 + k) * element<double>(first + k * 4 + col + 77);
        }
        return sum;
    };
    return prepared(product_of_small_matrices, {n / 128, 128}, out, expected, 1e-6, a.as<float4>(), b.as<float4>(),
                    out.as<float4>());
}

std::vector<Case> products() {
    return {
        {"product_plain_16x16",
         [] {
             return plain_product<float>({512, 512, 512}, dim3(16, 16));
         }},
        {"product_plain_32x4",
         [] {
             return plain_product<float>({512, 512, 512}, dim3(32, 4));
         }},
        {"product_plain_256x1",
         [] {
             return plain_product<float>({512, 512, 384}, dim3(256, 1));
         }},
        {"product_plain_small",
         [] {
             return plain_product<float>({64, 64, 64}, dim3(16, 16));
         }},
        {"product_plain_doubles",
         [] {
             return plain_product<double>({384, 384, 384}, dim3(32, 8));
         }},
        {"product_plain_integers",
         [] {
             return plain_product<int>({384, 384, 384}, dim3(32, 8));
         }},
        {"product_along_columns",
         [] {
             return product<float>(product_along_columns, {384, 384, 384}, dim3(12, 48), dim3(32, 8));
         }},
        {"product_four_rows",
         [] {
             return product<float>(product_four_rows, {1024, 512, 256}, dim3(4, 64), dim3(128, 4));
         }},
        {"product_tile_8",
         [] {
             return tiled_product<float, 8>({512, 512, 256});
         }},
        {"product_tile_16",
         [] {
             return tiled_product<float, 16>({768, 768, 256});
         }},
        {"product_tile_32",
         [] {
             return tiled_product<float, 32>({768, 768, 256});
         }},
        {"product_tile_32_few_blocks",
         [] {
             return tiled_product<float, 32>({128, 256, 1024});
         }},
        {"product_tile_16_doubles",
         [] {
             return tiled_product<double, 16>({512, 512, 256});
         }},
        {"product_registers_2",
         [] {
             return register_product<2>({1024, 1024, 128});
         }},
        {"product_registers_4",
         [] {
             return register_product<4>({1024, 1024, 128});
         }},
        {"product_registers_8",
         [] {
             return register_product<8>({1536, 1408, 64});
         }},
        {"product_registers_8_one_block",
         [] {
             return register_product<8>({128, 128, 2048});
         }},
        {"product_tall",
         [] {
             return plain_product<float>({32768, 32, 64}, dim3(32, 8));
         }},
        {"product_small_matrices", [] { return small_products(256 * kKi); }},
    };
}

// ---- products of a matrix and a vector
// --------------------------------------------------------------------------------------

__global__ void row_per_thread(unsigned cols, const float* matrix, const float* vector, float* out) {
    const unsigned row = thread_in_grid();
    float sum = 0;
    for (unsigned col = 0; col < cols; ++col) sum += matrix[row * cols + col] * vector[col];
    out[row] = sum;
}

__global__ void row_per_warp(unsigned cols, const float4* matrix, const float4* vector, float* out) {
    const unsigned row = thread_in_grid() / 32;
    float sum = 0;
    for (unsigned k = threadIdx.x % 32; k < cols / 4; k += 32) {
        const float4 a = matrix[row * (cols / 4) + k], x = vector[k];
        sum += a.x * x.x + a.y * x.y + a.z * x.z + a.w * x.w;
    }
#pragma unroll
    for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
    if (threadIdx.x % 32 == 0) out[row] = sum;
}

__global__ void row_per_block(unsigned cols, const float* matrix, const float* vector, float* out) {
    __shared__ float sums[256];
    float sum = 0;
    for (unsigned col = threadIdx.x; col < cols; col += 256) sum += matrix[blockIdx.x * cols + col] * vector[col];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned distance = 128; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) sums[threadIdx.x] += sums[threadIdx.x + distance];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

/// The matrix is stored by columns: neighboring threads read neighboring rows.
__global__ void row_per_thread_of_columns(unsigned rows, unsigned cols, const float* matrix, const float* vector,
                                          float* out) {
    const unsigned row = thread_in_grid();
    float sum = 0;
#pragma unroll 8
    for (unsigned col = 0; col < cols; ++col) sum += matrix[col * rows + row] * vector[col];
    out[row] = sum;
}

__global__ void outer_product(unsigned cols, const float* a, const float* b, float* out) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    out[blockIdx.y * cols + col] = a[blockIdx.y] * b[col];
}

double row_times_vector(std::size_t first, std::size_t cols, std::size_t step) {
    double sum = 0;
    for (std::size_t col = 0; col < cols; ++col) sum += element<double>(first + col * step) * element<double>(col + 55);
    return sum;
}

Array<float> vector_of(unsigned cols) {
    return input_of<float>(cols, [](std::size_t i) { return element<float>(i + 55); });
}

Prepared by_row_per_thread(unsigned rows, unsigned cols) {
    const Array<float> matrix = input<float>(std::size_t{rows} * cols);
    const Array<float> vector = vector_of(cols);
    const Array<float> out = output<float>(rows);
    const auto expected = [cols](std::size_t row) { return row_times_vector(row * cols, cols, 1); };
    return prepared(row_per_thread, {rows / 64, 64}, out, expected, 1e-5, cols, matrix, vector, out);
}

Prepared by_row_per_warp(unsigned rows, unsigned cols) {
    const Array<float> matrix = input<float>(std::size_t{rows} * cols);
    const Array<float> vector = vector_of(cols);
    const Array<float> out = output<float>(rows);
    const auto expected = [cols](std::size_t row) { return row_times_vector(row * cols, cols, 1); };
    return prepared(row_per_warp, {rows / 8, 256}, out, expected, 1e-5, cols, matrix.as<float4>(), vector.as<float4>(),
                    out);
}

Prepared by_row_per_block(unsigned rows, unsigned cols) {
    const Array<float> matrix = input<float>(std::size_t{rows} * cols);
    const Array<float> vector = vector_of(cols);
    const Array<float> out = output<float>(rows);
    const auto expected = [cols](std::size_t row) { return row_times_vector(row * cols, cols, 1); };
    return prepared(row_per_block, {rows, 256}, out, expected, 1e-5, cols, matrix, vector, out);
}

Prepared by_columns_of_matrix(unsigned rows, unsigned cols, unsigned threads) {
    const Array<float> matrix = input<float>(std::size_t{rows} * cols);
    const Array<float> vector = vector_of(cols);
    const Array<float> out = output<float>(rows);
    const auto expected = [rows, cols](std::size_t row) { return row_times_vector(row, cols, rows); };
    return prepared(row_per_thread_of_columns, {rows / threads, threads}, out, expected, 1e-5, rows, cols, matrix,
                    vector, out);
}

Prepared outer(unsigned rows, unsigned cols) {
    const Array<float> a = input<float>(rows);
    const Array<float> b = vector_of(cols);
    const Array<float> out = output<float>(std::size_t{rows} * cols);
    const auto expected = [cols](std::size_t i) { return element<float>(i / cols) * element<float>(i % cols + 55); };
    return prepared(outer_product, {dim3(cols / 256, rows), 256}, out, expected, 0, cols, a, b, out);
}

std::vector<Case> matrix_vector() {
    return {
        {"vector_row_per_thread", [] { return by_row_per_thread(8 * kKi, 512); }},
        {"vector_row_per_thread_narrow", [] { return by_row_per_thread(256 * kKi, 16); }},
        {"vector_row_per_warp", [] { return by_row_per_warp(4 * kKi, 2048); }},
        {"vector_row_per_warp_narrow", [] { return by_row_per_warp(64 * kKi, 64); }},
        {"vector_row_per_block", [] { return by_row_per_block(4 * kKi, 2048); }},
        {"vector_row_per_block_narrow", [] { return by_row_per_block(16 * kKi, 128); }},
        {"vector_by_columns", [] { return by_columns_of_matrix(32 * kKi, 256, 128); }},
        {"vector_by_columns_few_rows", [] { return by_columns_of_matrix(4 * kKi, 1024, 32); }},
        {"vector_outer_product", [] { return outer(2048, 2048); }},
    };
}

}  // namespace matrices_kernels

std::vector<Family> matrix_families() {
    return {{"transposes", matrices_kernels::transposes()},
            {"products", matrices_kernels::products()},
            {"matrix_vector", matrices_kernels::matrix_vector()}};
}

}  // namespace model_kernels
