// Problem: transpose a matrix of rows x cols floats, out[col][row] = in[row][col], both stored row after row.
//
// Nothing is computed; four bytes are read and four are written for each element, as in a copy. So a copy is the
// roof. But neighbors of the input end up `rows` floats apart in the output: a warp that reads side by side writes
// far apart, and one that writes side by side reads far apart. The way out leads through shared memory, where nothing
// has to be side by side; only banks have to differ. And then it is a copy, with the same question: how many bytes
// are under way?
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#endif

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/cublas.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/lesson/lesson.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;

constexpr unsigned kLanes = 32;
constexpr std::size_t kSectorBytes = 32;

// Shapes that a GPU is timed with: the main size, one with more bytes, and one whose rows begin anywhere.
struct Shape {
    std::size_t rows, cols;
    std::string text() const { return std::to_string(rows) + " x " + std::to_string(cols); }
};
constexpr std::array<Shape, 3> timed_shapes = {{{16384, 16384}, {32768, 32768}, {10007, 16411}}};

// The matrix on the host and on the device, its transpose on the host, and room for it on the device.
struct Transpose {
    std::size_t rows, cols;
    std::vector<float> in, expected;
    DeviceBuffer<float> d_in, d_out;

    explicit Transpose(const warpwise::Size& size)
        : rows(size[0]),
          cols(size[1]),
          in(warpwise::uniform<float>(rows * cols, 12)),
          expected(rows * cols),
          d_in(in),
          d_out(rows * cols) {
        // Strips of 16 columns: a cache line of the input is used up before the next one comes.
        constexpr std::size_t strip = 16;
        warpwise::parallel_for(cols, [&](std::size_t begin, std::size_t end) {
            for (std::size_t first = begin; first < end; first += strip) {
                for (std::size_t row = 0; row < rows; ++row) {
                    for (std::size_t col = first; col < std::min(first + strip, end); ++col) {
                        expected[col * rows + row] = in[row * cols + col];
                    }
                }
            }
        });
    }

    void poison() { d_out.fill_bytes(0xFF); }

    // Nothing is rounded: every element has to be exact.
    warpwise::Comparison compare() {
        return warpwise::compare_each(d_out.download(), rows * cols,
                                      [&](std::size_t i) { return static_cast<double>(expected[i]); });
    }

    warpwise::Work work() const { return {.bytes = 2.0 * sizeof(float) * rows * cols}; }

    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(float) * size.count(); }
};

// Step 1, the loop over the rows of a serial program, with a thread for each row. A thread reads its row from left to
// right. Its neighbors read the rows below: 32 lanes touch 32 sectors, and use 4 bytes of each. What they write lies
// side by side. And there are only as many threads as rows, far too few to keep a GPU busy.
__global__ void transpose_row_a_thread(const float* in, float* out, std::size_t rows, std::size_t cols) {
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (std::size_t col = 0; col < cols; ++col) out[col * rows + row] = in[row * cols + col];
}

// Small blocks, so that few threads spread over many SMs.
constexpr unsigned kLineThreads = 64;

void row_a_thread(Transpose& problem) {
    transpose_row_a_thread<<<warpwise::blocks_for(problem.rows, kLineThreads), kLineThreads>>>(
        problem.d_in.data(), problem.d_out.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

// Step 2, a thread for each column of the input: it writes a row of the output from left to right. Now lanes read
// side by side and write 32 sectors. A sector that a load asked for in vain may still be in the cache when the next
// column's turn comes; a store has to send its 4 bytes on to the L2 cache, each in a sector of its own.
__global__ void transpose_column_a_thread(const float* in, float* out, std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    for (std::size_t row = 0; row < rows; ++row) out[col * rows + row] = in[row * cols + col];
}

void column_a_thread(Transpose& problem) {
    transpose_column_a_thread<<<warpwise::blocks_for(problem.cols, kLineThreads), kLineThreads>>>(
        problem.d_in.data(), problem.d_out.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

// Step 3, a thread for each element, in blocks of 32 x 8. Better: threads enough. Slow: one side is still scattered.
// (A grid has at most 65535 blocks in y, so the kernel goes on by the height of the grid.)
constexpr unsigned kBlockRows = 8;

__global__ void transpose_naive(const float* in, float* out, std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (col >= cols) return;
    for (std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows; row += stride) {
        out[col * rows + row] = in[row * cols + col];
    }
}

void naive(Transpose& problem) {
    const unsigned blocks_y = std::min(warpwise::blocks_for(problem.rows, kBlockRows), 65535u);
    const dim3 grid(warpwise::blocks_for(problem.cols, kLanes), blocks_y);
    transpose_naive<<<grid, dim3(kLanes, kBlockRows)>>>(problem.d_in.data(), problem.d_out.data(), problem.rows,
                                                        problem.cols);
    warpwise::check_launch();
}

// From here on each block moves a square tile. Tiles are numbered along the rows, in one dimension, which has room
// for 2^31 - 1 of them.
struct Corner {
    std::size_t row, col;
};

__device__ Corner corner_of_block(std::size_t cols, unsigned side) {
    const unsigned tiles_a_row = static_cast<unsigned>((cols + side - 1) / side);
    return {std::size_t{blockIdx.x / tiles_a_row} * side, std::size_t{blockIdx.x % tiles_a_row} * side};
}

using TileKernel = void (*)(const float*, float*, std::size_t, std::size_t);

template <TileKernel kernel, unsigned side, unsigned threads_x, unsigned threads_y>
void run_tiles(Transpose& problem) {
    const std::size_t tiles = warpwise::ceil_div(problem.rows, side) * warpwise::ceil_div(problem.cols, side);
    if (tiles == 0) return;
    kernel<<<warpwise::blocks_for(tiles, 1), dim3(threads_x, threads_y)>>>(problem.d_in.data(), problem.d_out.data(),
                                                                           problem.rows, problem.cols);
    warpwise::check_launch();
}

// Step 4, a tile of 32 x 32 in shared memory. A warp reads a row of the tile and, after the barrier, writes a
// *column* of it, which is a piece of a row of the output: both side by side. The output has rows of `rows` floats,
// and the tile's place in it is (corner.col, corner.row); a tile at the edge may be cut short in one direction or the
// other, so load and store each have a guard of their own, and no thread leaves before the barrier. Slow: the column
// that a warp takes from the tile lies in a single bank.
constexpr unsigned kTile = 32;

__global__ void transpose_tile(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const Corner corner = corner_of_block(cols, kTile);

    if (corner.row + y < rows && corner.col + x < cols) tile[y][x] = in[(corner.row + y) * cols + corner.col + x];
    __syncthreads();
    if (corner.col + y < cols && corner.row + x < rows) out[(corner.col + y) * rows + corner.row + x] = tile[x][y];
}

// Step 5, one more column that nobody uses: tile[x][y] is word 33 x + y, in another bank for every x.
// Slow: 1024 threads wait at one barrier, and an SM has room for two such blocks. While one of them waits for its
// last warp, half of the SM has nothing under way. And each thread reads 4 bytes in its life.
__global__ void transpose_padded_tile(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][kTile + 1];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const Corner corner = corner_of_block(cols, kTile);

    if (corner.row + y < rows && corner.col + x < cols) tile[y][x] = in[(corner.row + y) * cols + corner.col + x];
    __syncthreads();
    if (corner.col + y < cols && corner.row + x < rows) out[(corner.col + y) * rows + corner.row + x] = tile[x][y];
}

// Step 6, the same without padding: element (row, col) is kept at column col ^ row. Neither better nor worse, since
// there was no conflict left; but the tile's rows stay aligned, which step 12 will need.
__global__ void transpose_swizzled_tile(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const Corner corner = corner_of_block(cols, kTile);

    if (corner.row + y < rows && corner.col + x < cols) tile[y][x ^ y] = in[(corner.row + y) * cols + corner.col + x];
    __syncthreads();
    if (corner.col + y < cols && corner.row + x < rows) out[(corner.col + y) * rows + corner.row + x] = tile[x][y ^ x];
}

// Step 7, four elements a thread: a block of 32 x 8 threads takes the tile in four goes, and asks for all four
// elements before it puts the first into the tile. Better: 16 bytes under way for each thread, and an SM has room for
// eight such blocks, of which some load while others store. Slow: if rows begin anywhere, most requests touch a fifth
// sector.
constexpr unsigned kElements = kTile / kBlockRows;  // of a thread

__global__ void transpose_four_a_thread(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][kTile];
    const unsigned x = threadIdx.x;
    const Corner corner = corner_of_block(cols, kTile);

    float values[kElements];
#pragma unroll
    for (unsigned k = 0; k < kElements; ++k) {
        const unsigned y = threadIdx.y + k * kBlockRows;
        const bool inside = corner.row + y < rows && corner.col + x < cols;
        values[k] = inside ? in[(corner.row + y) * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kElements; ++k) {
        const unsigned y = threadIdx.y + k * kBlockRows;
        tile[y][x ^ y] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kElements; ++k) {
        const unsigned y = threadIdx.y + k * kBlockRows;
        const bool inside = corner.col + y < cols && corner.row + x < rows;
        if (inside) out[(corner.col + y) * rows + corner.row + x] = tile[x][y ^ x];
    }
}

// Step 8: sixteen elements per thread. The tile is that of step 7, and a block of 32 x 2
// threads takes it in sixteen goes. So a block has 64 threads.
// Faster because a thread has 64 bytes in flight instead of 16. (nvcc 13.0 gives it 64
// registers, so an SM holds half as many threads as in step 7, with twice the bytes in
// flight.) An H200 gains little. Still slow, probably because a row of the tile is only 128 bytes
// long: a block reads 32 short pieces, and writes 32 short pieces.
constexpr unsigned kFewRows = 2;                 // of threads
constexpr unsigned kSixteen = kTile / kFewRows;  // elements of a thread

__global__ void transpose_sixteen_per_thread(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kTile][kTile];
    const unsigned x = threadIdx.x;
    const Corner corner = corner_of_block(cols, kTile);

    float values[kSixteen];
#pragma unroll
    for (unsigned k = 0; k < kSixteen; ++k) {
        const unsigned y = threadIdx.y + k * kFewRows;
        const bool inside = corner.row + y < rows && corner.col + x < cols;
        values[k] = inside ? in[(corner.row + y) * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kSixteen; ++k) {
        const unsigned y = threadIdx.y + k * kFewRows;
        tile[y][x ^ y] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kSixteen; ++k) {
        const unsigned y = threadIdx.y + k * kFewRows;
        const bool inside = corner.col + y < cols && corner.row + x < rows;
        if (inside) out[(corner.col + y) * rows + corner.row + x] = tile[x][y ^ x];
    }
}

constexpr unsigned kWide = 64;

// Step 9: the other half of the change, beside step 7. The tile has 64 x 64 elements, and a
// thread takes four of them, as in step 7. So a block has 32 x 32 threads. Each warp takes
// two pieces of 32 neighbors from each of two rows. Only the lower five bits of the row
// choose the place in a row of the tile, because there are 32 banks:
// the swizzle is x ^ (y % 32).
// This could be faster because rows of the tile are twice as long, and fewer tiles share
// their edges. Still slow, probably because 1024 threads wait at one barrier, as in step 5.
//
// Step 10 is the same kernel with 8 rows of threads: the larger tile of step 9, and the
// sixteen elements per thread of step 8, in blocks of 256 threads as in step 7.
// Faster because the two changes need each other: on an H200 either alone gained little. Still
// slow if rows begin anywhere, because then most requests touch a fifth sector.
template <unsigned BlockRows>
__global__ void transpose_wide_swizzled_tile(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kWide][kWide];
    constexpr unsigned elements = kWide * kWide / (kLanes * BlockRows);
    const Corner corner = corner_of_block(cols, kWide);

    float values[elements];
#pragma unroll
    for (unsigned k = 0; k < elements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * BlockRows;
        const bool inside = corner.row + y < rows && corner.col + x < cols;
        values[k] = inside ? in[(corner.row + y) * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < elements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * BlockRows;
        tile[y][x ^ (y % kLanes)] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < elements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * BlockRows;
        const bool inside = corner.col + y < cols && corner.row + x < rows;
        if (inside) out[(corner.col + y) * rows + corner.row + x] = tile[x][y ^ (x % kLanes)];
    }
}

// Step 11: padding instead of the swizzle, nothing else. Neither has a conflict, so this
// should take about the same time. Padding spares the exclusive or, and nvcc 13.0 needs 34
// registers for it instead of 40; the steps for rows that begin anywhere keep it. Still
// slow if rows begin anywhere, as before.
constexpr unsigned kWideElements = kWide * kWide / (kLanes * kBlockRows);

__global__ void transpose_wide_tile(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kWide][kWide + 1];
    const Corner corner = corner_of_block(cols, kWide);

    float values[kWideElements];
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * kBlockRows;
        const bool inside = corner.row + y < rows && corner.col + x < cols;
        values[k] = inside ? in[(corner.row + y) * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        tile[threadIdx.y + k / 2 * kBlockRows][threadIdx.x + k % 2 * kLanes] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * kBlockRows;
        const bool inside = corner.col + y < cols && corner.row + x < rows;
        if (inside) out[(corner.col + y) * rows + corner.row + x] = tile[x][y];
    }
}

// Step 12, 16 bytes per access, for loads, stores and the tile. A float4 of the input is
// four columns of one row, one of the output four rows of one column. So each thread takes
// four float4s, one below the other: 4 x 4 elements, which it transposes in registers,
// where that costs nothing: it only gives other names to them. A column of the tile is kept
// as 16 float4s. Number `y` of column 4 x + k is kept at y ^ (x % 8): eight lanes are
// served at a time, and they are in eight different groups of four banks, x = 0 to 7 when
// the tile is written and y = 0 to 7 when it is read. Better: a quarter of the requests.
// This needs rows of both matrices that begin at multiples of 16 bytes; a matrix of any
// other shape goes to step 11.
constexpr unsigned kFours = kWide / 4;

__global__ void transpose_float4_tile(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float4 tile[kWide][kFours];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const Corner corner = corner_of_block(cols, kWide);

    // Rows and columns are multiples of 4, so that of 4 x 4 elements all are inside the matrix, or none.
    if (corner.row + 4 * y < rows && corner.col + 4 * x < cols) {
        float4 four[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            const float* const place = in + (corner.row + 4 * y + k) * cols + corner.col + 4 * x;
            four[k] = *reinterpret_cast<const float4*>(place);
        }
        tile[4 * x][y ^ (x % 8)] = make_float4(four[0].x, four[1].x, four[2].x, four[3].x);
        tile[4 * x + 1][y ^ (x % 8)] = make_float4(four[0].y, four[1].y, four[2].y, four[3].y);
        tile[4 * x + 2][y ^ (x % 8)] = make_float4(four[0].z, four[1].z, four[2].z, four[3].z);
        tile[4 * x + 3][y ^ (x % 8)] = make_float4(four[0].w, four[1].w, four[2].w, four[3].w);
    }
    __syncthreads();
    if (corner.col + 4 * y < cols && corner.row + 4 * x < rows) {
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            float* const place = out + (corner.col + 4 * y + k) * rows + corner.row + 4 * x;
            *reinterpret_cast<float4*>(place) = tile[4 * y + k][x ^ (y % 8)];
        }
    }
}

// Step 13: columns of the tile begin where sectors of the output begin. This is for rows
// that begin anywhere. There, a sector at the edge of a tile is stored in two pieces, by
// two tiles. The memory takes whole sectors, so the sector has to be read from the memory
// and put together if the two pieces do not meet in the L2 cache. Loads are different: a
// sector that two tiles load comes from the cache the second time. So row `col` of the
// output, which begins (col * rows) % 8 floats after the start of a sector, is stored from
// so many rows above the tile on. The tile gets 7 more rows at the top, which the tile
// above it loads, too.
// Faster because all stores are whole sectors. Still slow because the tile above is far
// away in the order of the blocks, so that the 7 rows may have left the cache by then.
constexpr unsigned kSectorFloats = kSectorBytes / sizeof(float);
constexpr unsigned kSkew = kSectorFloats - 1;  // the most rows that a column begins higher
constexpr unsigned kSkewedRows = kWide + kSectorFloats;
constexpr unsigned kSkewedElements = kSkewedRows * kWide / (kLanes * kBlockRows);

__global__ void transpose_shifted_columns(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kSkewedRows][kWide + 1];
    const Corner corner = corner_of_block(cols, kWide);
    // If no column begins higher, the first rows stay empty.
    const unsigned top = rows % kSectorFloats == 0 ? kSkew : 0;

    // Row y of the tile is row corner.row + y - kSkew of the matrix. Below 0 that wraps, and
    // is no row either.
    float values[kSkewedElements];
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t row = corner.row + y - kSkew;
        const bool inside = y >= top && y < kSkew + kWide && row < rows && corner.col + x < cols;
        values[k] = inside ? in[row * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        tile[threadIdx.y + k / 2 * kBlockRows][threadIdx.x + k % 2 * kLanes] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t col = corner.col + y;
        const unsigned higher = static_cast<unsigned>(col * rows % kSectorFloats);
        const std::size_t row = corner.row + x - higher;
        if (col < cols && row < rows) out[col * rows + row] = tile[kSkew + x - higher][y];
    }
}

// Step 14: tiles are numbered down the columns of the matrix, nothing else.
// Faster because the tile above, which loads the same 7 rows, is the block before this one:
// both have their turn at the same time, and the rows are in the L2 cache. Still slow
// because a row of the tile is 256 bytes that begin anywhere, and the bytes around its two
// ends are asked for in parts, at two times: for this tile, and for the one beside it.
__global__ void transpose_whole_sectors(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kSkewedRows][kWide + 1];
    const unsigned tiles_a_column = static_cast<unsigned>((rows + kSkew + kWide - 1) / kWide);
    const Corner corner = {std::size_t{blockIdx.x % tiles_a_column} * kWide,
                           std::size_t{blockIdx.x / tiles_a_column} * kWide};
    // If no column begins higher, the first rows stay empty.
    const unsigned top = rows % kSectorFloats == 0 ? kSkew : 0;

    // Row y of the tile is row corner.row + y - kSkew of the matrix. Below 0 that wraps, and
    // is no row either.
    float values[kSkewedElements];
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t row = corner.row + y - kSkew;
        const bool inside = y >= top && y < kSkew + kWide && row < rows && corner.col + x < cols;
        values[k] = inside ? in[row * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        tile[threadIdx.y + k / 2 * kBlockRows][threadIdx.x + k % 2 * kLanes] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t col = corner.col + y;
        const unsigned higher = static_cast<unsigned>(col * rows % kSectorFloats);
        const std::size_t row = corner.row + x - higher;
        if (col < cols && row < rows) out[col * rows + row] = tile[kSkew + x - higher][y];
    }
}

// Step 15: 256 bytes per fetch, for the same matrices. The kernel is that of step 14, but
// its loads carry a hint: if a sector is not in the L2 cache, all of the 256 bytes around
// it are to be fetched, from one multiple of 256 to the next. (load_with_neighbors does
// this. The hint needs PTX, because CUDA C++ has no words for it.)
// Faster because the tile beside this one should find its part of those bytes in the cache.
// Where rows begin at multiples of 256 bytes there is nothing to gain; such matrices go to
// step 14. Still slow because rows of the tile are short, so that there are many ends.
constexpr std::size_t kChunkFloats = 256 / sizeof(float);

// The element `index` after `first`; 0 if that is outside. If it is not in the L2 cache, all 256 bytes around it are to
// be fetched (PTX ISA, ld with .level::prefetch_size). CUDA C++ has no words for this.
// Three things to copy along with it. `volatile` and "memory" tell the compiler that this reads memory, so that it
// keeps it in order with other accesses. Where the element is outside, no pointer to it may even be formed, so its
// address is computed as a number. And ld.global takes an address of global memory, which __cvta_generic_to_global
// makes.
__device__ float load_with_neighbors(const float* first, std::size_t index, bool inside) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(__CPU_DEVICE__)
    const std::size_t address = __cvta_generic_to_global(first) + index * sizeof(float);
    float value;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.f32 %0, 0f00000000; @p ld.global.L2::256B.f32 %0, [%1]; }"
                 : "=f"(value)
                 : "l"(address), "r"(static_cast<unsigned>(inside))
                 : "memory");
    return value;
#else
    return inside ? first[index] : 0;
#endif
}

__global__ void transpose_hinted_loads(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kSkewedRows][kWide + 1];
    const unsigned tiles_a_column = static_cast<unsigned>((rows + kSkew + kWide - 1) / kWide);
    const Corner corner = {std::size_t{blockIdx.x % tiles_a_column} * kWide,
                           std::size_t{blockIdx.x / tiles_a_column} * kWide};
    // If no column begins higher, the first rows stay empty.
    const unsigned top = rows % kSectorFloats == 0 ? kSkew : 0;

    // Row y of the tile is row corner.row + y - kSkew of the matrix. Below 0 that wraps, and
    // is no row either.
    float values[kSkewedElements];
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t row = corner.row + y - kSkew;
        const bool inside = y >= top && y < kSkew + kWide && row < rows && corner.col + x < cols;
        values[k] = load_with_neighbors(in, row * cols + corner.col + x, inside);
    }
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        tile[threadIdx.y + k / 2 * kBlockRows][threadIdx.x + k % 2 * kLanes] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes, y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t col = corner.col + y;
        const unsigned higher = static_cast<unsigned>(col * rows % kSectorFloats);
        const std::size_t row = corner.row + x - higher;
        if (col < cols && row < rows) out[col * rows + row] = tile[kSkew + x - higher][y];
    }
}

// Step 16: the longer tile alone, beside step 14. It has 112 x 96 elements and not
// 64 x 64, and no hint as in step 15.
// Faster because there are fewer ends of rows, and fewer rows that two tiles load. Still
// slow because the bytes around the ends of a row are still fetched in parts.
// (112 + 8 rows of 96 + 1 floats are nearly the 48 KiB that an array in shared memory may
// have. 12 rows of threads take the 120 rows in ten goes, and the 96 columns in eight.
// __launch_bounds__ is content with two blocks per SM, so that all loads get registers.
// Matrices whose rows begin at multiples of 256 bytes go to step 14 here, too.)
constexpr unsigned kLongRows = 112, kLongCols = 96;
constexpr unsigned kLongSkewedRows = kLongRows + kSectorFloats;  // its rows, and those that columns may begin higher
constexpr unsigned kLongBlockRows = 12, kLongThreads = kLanes * kLongBlockRows;
constexpr unsigned kLoadsARow = kLongCols / kLanes, kStoresAColumn = (kLongRows + kLanes - 1) / kLanes;
constexpr unsigned kLongLoads = kLongSkewedRows / kLongBlockRows * kLoadsARow;
constexpr unsigned kLongStores = kLongCols / kLongBlockRows * kStoresAColumn;

__global__ void __launch_bounds__(kLongThreads, 2)
    transpose_long_tile(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kLongSkewedRows][kLongCols + 1];
    const unsigned tiles_a_column = static_cast<unsigned>((rows + kSkew + kLongRows - 1) / kLongRows);
    const Corner corner = {std::size_t{blockIdx.x % tiles_a_column} * kLongRows,
                           std::size_t{blockIdx.x / tiles_a_column} * kLongCols};
    const unsigned top = rows % kSectorFloats == 0 ? kSkew : 0;

    float values[kLongLoads];
#pragma unroll
    for (unsigned k = 0; k < kLongLoads; ++k) {
        const unsigned x = threadIdx.x + k % kLoadsARow * kLanes, y = threadIdx.y + k / kLoadsARow * kLongBlockRows;
        const std::size_t row = corner.row + y - kSkew;
        const bool inside = y >= top && y < kSkew + kLongRows && row < rows && corner.col + x < cols;
        values[k] = inside ? in[row * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kLongLoads; ++k) {
        const unsigned x = threadIdx.x + k % kLoadsARow * kLanes, y = threadIdx.y + k / kLoadsARow * kLongBlockRows;
        tile[y][x] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kLongStores; ++k) {
        const unsigned x = threadIdx.x + k % kStoresAColumn * kLanes;
        const unsigned y = threadIdx.y + k / kStoresAColumn * kLongBlockRows;
        const std::size_t col = corner.col + y;
        const unsigned higher = static_cast<unsigned>(col * rows % kSectorFloats);
        const std::size_t row = corner.row + x - higher;
        if (x < kLongRows && col < cols && row < rows) out[col * rows + row] = tile[kSkew + x - higher][y];
    }
}

// Step 17: tuning, both. The longer tile of step 16, with the hint of step 15. For 10007 x
// 16411 one H200 measured 3867 GB/s in step 14, 3980 GB/s with the hint, 3939 GB/s with the
// longer tile, and 4020 GB/s with both. For square matrices all four are the same.
//
// For 32771 x 32779 both were slower in a trial (not recorded), 3738 GB/s after 3828, perhaps
// because the tile beside comes 293 tiles later there; in bands 146 tiles high, the tiles made 3924.
__global__ void __launch_bounds__(kLongThreads, 2)
    transpose_whole_chunks(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kLongSkewedRows][kLongCols + 1];
    const unsigned tiles_a_column = static_cast<unsigned>((rows + kSkew + kLongRows - 1) / kLongRows);
    const Corner corner = {std::size_t{blockIdx.x % tiles_a_column} * kLongRows,
                           std::size_t{blockIdx.x / tiles_a_column} * kLongCols};
    const unsigned top = rows % kSectorFloats == 0 ? kSkew : 0;

    float values[kLongLoads];
#pragma unroll
    for (unsigned k = 0; k < kLongLoads; ++k) {
        const unsigned x = threadIdx.x + k % kLoadsARow * kLanes, y = threadIdx.y + k / kLoadsARow * kLongBlockRows;
        const std::size_t row = corner.row + y - kSkew;
        const bool inside = y >= top && y < kSkew + kLongRows && row < rows && corner.col + x < cols;
        values[k] = load_with_neighbors(in, row * cols + corner.col + x, inside);
    }
#pragma unroll
    for (unsigned k = 0; k < kLongLoads; ++k) {
        const unsigned x = threadIdx.x + k % kLoadsARow * kLanes, y = threadIdx.y + k / kLoadsARow * kLongBlockRows;
        tile[y][x] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kLongStores; ++k) {
        const unsigned x = threadIdx.x + k % kStoresAColumn * kLanes;
        const unsigned y = threadIdx.y + k / kStoresAColumn * kLongBlockRows;
        const std::size_t col = corner.col + y;
        const unsigned higher = static_cast<unsigned>(col * rows % kSectorFloats);
        const std::size_t row = corner.row + x - higher;
        if (x < kLongRows && col < cols && row < rows) out[col * rows + row] = tile[kSkew + x - higher][y];
    }
}

bool begins_at_16(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

void wide_tile(Transpose& problem) { run_tiles<transpose_wide_tile, kWide, kLanes, kBlockRows>(problem); }

void float4_tile(Transpose& problem) {
    const bool rows_begin_at_16 = problem.rows % 4 == 0 && problem.cols % 4 == 0 && begins_at_16(problem.d_in.data()) &&
                                  begins_at_16(problem.d_out.data());
    if (rows_begin_at_16) {
        run_tiles<transpose_float4_tile, kWide, kFours, kFours>(problem);
    } else {
        wide_tile(problem);
    }
}

// The rows that columns begin higher can make one more row of tiles.
template <TileKernel kernel>
void run_shifted(Transpose& problem) {
    const std::size_t tiles = warpwise::ceil_div(problem.rows + kSkew, kWide) * warpwise::ceil_div(problem.cols, kWide);
    if (tiles == 0) return;
    kernel<<<warpwise::blocks_for(tiles, 1), dim3(kLanes, kBlockRows)>>>(problem.d_in.data(), problem.d_out.data(),
                                                                         problem.rows, problem.cols);
    warpwise::check_launch();
}

constexpr auto shifted_columns = run_shifted<transpose_shifted_columns>;
constexpr auto whole_sectors = run_shifted<transpose_whole_sectors>;

void hinted_loads(Transpose& problem) {
    if (problem.cols % kChunkFloats == 0) {
        whole_sectors(problem);
    } else {
        run_shifted<transpose_hinted_loads>(problem);
    }
}

// Rows that begin at multiples of 256 bytes have nothing to gain: step 14 does those.
template <TileKernel kernel>
void run_long(Transpose& problem) {
    if (problem.cols % kChunkFloats == 0) {
        whole_sectors(problem);
        return;
    }
    const std::size_t tiles_a_column = warpwise::ceil_div(problem.rows + kSkew, kLongRows);
    const std::size_t tiles = tiles_a_column * warpwise::ceil_div(problem.cols, kLongCols);
    kernel<<<warpwise::blocks_for(tiles, 1), dim3(kLanes, kLongBlockRows)>>>(problem.d_in.data(), problem.d_out.data(),
                                                                             problem.rows, problem.cols);
    warpwise::check_launch();
}

constexpr auto long_tile = run_long<transpose_long_tile>;
constexpr auto whole_chunks = run_long<transpose_whole_chunks>;

#ifndef __CPU_DEVICE__
// What a user would call instead: C = alpha op(A) + beta op(B) with op(A) the transpose of A, and beta = 0, so that B
// is not read. cuBLAS counts down the columns: our rows are its columns, in A and in C.
void vendor(Transpose& problem) {
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    if (problem.rows == 0 || problem.cols == 0) return;
    const int rows = warpwise::cublas_extent(problem.rows), cols = warpwise::cublas_extent(problem.cols);
    const float one = 1, zero = 0;
    float* const out = problem.d_out.data();
    warpwise::check_cublas(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, problem.d_in.data(), cols,
                                       &zero, out, rows, out, rows));
}
#endif

// ---- what the steps ask of the memory -----------------------------------------------------------------------------

// A step, and what the text predicts if rows and columns are multiples of 64.
struct Method {
    const char* name;
    const char* change;
    void (*run)(Transpose&);
    double sectors_a_load, sectors_a_store;  // for each request
    double passes_a_tile_load;               // of shared memory; 0: no tile
};
constexpr std::array<Method, 17> methods = {
    {{"transpose_row_a_thread", "a thread reads a row", row_a_thread, 32, 4, 0},
     {"transpose_column_a_thread", "a thread writes a row", column_a_thread, 4, 32, 0},
     {"transpose_naive", "a thread an element, 2-D blocks", naive, 4, 32, 0},
     {"transpose_tile", "through a tile in shared memory", run_tiles<transpose_tile, kTile, kTile, kTile>, 4, 4, 32},
     {"transpose_padded_tile", "the tile padded", run_tiles<transpose_padded_tile, kTile, kTile, kTile>, 4, 4, 1},
     {"transpose_swizzled_tile", "the tile swizzled", run_tiles<transpose_swizzled_tile, kTile, kTile, kTile>, 4, 4, 1},
     {"transpose_four_a_thread", "four elements a thread",
      run_tiles<transpose_four_a_thread, kTile, kLanes, kBlockRows>, 4, 4, 1},
     {"transpose_sixteen_per_thread", "sixteen elements per thread, same tile",
      run_tiles<transpose_sixteen_per_thread, kTile, kLanes, kFewRows>, 4, 4, 1},
     {"transpose_wide_four_per_thread", "64 x 64, four elements per thread",
      run_tiles<transpose_wide_swizzled_tile<kLanes>, kWide, kLanes, kLanes>, 4, 4, 1},
     {"transpose_wide_swizzled_tile", "64 x 64, sixteen elements per thread",
      run_tiles<transpose_wide_swizzled_tile<kBlockRows>, kWide, kLanes, kBlockRows>, 4, 4, 1},
     {"transpose_wide_tile", "padded instead of swizzled", wide_tile, 4, 4, 1},
     {"transpose_float4_tile", "16 bytes per access, if rows allow", float4_tile, 16, 16, 4},
     {"transpose_shifted_columns", "columns begin where sectors do", shifted_columns, 4, 4, 1},
     {"transpose_whole_sectors", "tiles numbered down the columns", whole_sectors, 4, 4, 1},
     {"transpose_hinted_loads", "256 bytes per fetch", hinted_loads, 4, 4, 1},
     {"transpose_long_tile", "a longer tile, without the hint", long_tile, 4, 4, 1},
     {"transpose_whole_chunks", "tuning: the hint and the longer tile", whole_chunks, 4, 4, 1}}};
constexpr std::size_t kFirstForAnyRows = 6;  // the steps that are compared for rows of any length: this one and on

// Runs the step, expects a transposed matrix, and returns the counts where there are any.
std::optional<warpwise::Counts> count_step(warpwise::Lesson& lesson, const Method& method, Transpose& problem) {
    problem.poison();
    const auto counts = lesson.count([&] { method.run(problem); });
    lesson.expect(problem.compare().passed, std::string(method.name) + ": the matrix is transposed");
    return counts;
}

void expect_whole_tiles(warpwise::Lesson& lesson) {
    Transpose problem({128, 192});
    for (const Method& method : methods) {
        const auto counts = count_step(lesson, method, problem);
        if (!counts) continue;
        const std::string name = method.name;
        lesson.expect(counts->global_load.sectors_per_request() == method.sectors_a_load,
                      name + ": a load touches as many sectors as predicted");
        lesson.expect(counts->global_store.sectors_per_request() == method.sectors_a_store,
                      name + ": a store touches as many sectors as predicted");
        lesson.expect(counts->shared_load.wavefronts_per_request() == method.passes_a_tile_load,
                      name + ": a load from the tile takes as many passes as predicted");
        lesson.expect(counts->shared_store.conflicts() == 0, name + ": no conflicts when the tile is filled");
    }
}

// How a step takes the rows of the input and of the output: in pieces of so many floats; and how many rows of the input
// two tiles load, of each so many.
struct Pieces {
    std::size_t load, store, loaded_twice = 0, of_each = kWide;
};

Pieces pieces_of(const Method& method, const Shape& shape) {
    const std::size_t skew = shape.rows % kSectorFloats == 0 ? 0 : kSkew;
    const bool has_long_tile = method.run == long_tile || method.run == whole_chunks;
    if (has_long_tile && shape.cols % kChunkFloats != 0) return {kLanes, shape.rows, skew, kLongRows};
    if (method.run == shifted_columns || method.run == whole_sectors || method.run == hinted_loads || has_long_tile) {
        return {kLanes, shape.rows, skew};
    }
    if (method.run == float4_tile && shape.rows % 4 == 0 && shape.cols % 4 == 0) return {kWide, kWide};
    return {kLanes, kLanes};
}

// Sectors that are touched when every row of a matrix is taken in pieces of `piece` floats: for each, all sectors
// from its first byte to its last. The last `loaded_twice` rows of each `of_each` rows count twice.
double sectors_in_pieces(std::size_t rows, std::size_t cols, std::size_t piece, std::size_t loaded_twice = 0,
                         std::size_t of_each = kWide) {
    std::size_t sectors = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t times = row % of_each + loaded_twice >= of_each ? 2 : 1;
        for (std::size_t col = 0; col < cols; col += piece) {
            const std::size_t first = (row * cols + col) * sizeof(float);
            const std::size_t last = first + std::min(piece, cols - col) * sizeof(float) - 1;
            sectors += times * (last / kSectorBytes - first / kSectorBytes + 1);
        }
    }
    return static_cast<double>(sectors);
}

void compare_row_lengths(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const Shape& shape : {Shape{192, 256}, Shape{196, 260}, Shape{197, 259}}) {
        Transpose problem({shape.rows, shape.cols});
        const double least = problem.work().bytes / 2 / kSectorBytes;
        for (std::size_t i = kFirstForAnyRows; i < methods.size(); ++i) {
            const std::string name = methods[i].name;
            const Pieces pieces = pieces_of(methods[i], shape);
            const double predicted_load =
                sectors_in_pieces(shape.rows, shape.cols, pieces.load, pieces.loaded_twice, pieces.of_each);
            const double predicted_store = sectors_in_pieces(shape.cols, shape.rows, pieces.store);
            std::string load = "-", store = "-";
            if (const auto counts = count_step(lesson, methods[i], problem)) {
                const double loaded = counts->global_load.sectors, stored = counts->global_store.sectors;
                lesson.expect(loaded == predicted_load, name + ", " + shape.text() + ": loads as many sectors");
                lesson.expect(stored == predicted_store, name + ", " + shape.text() + ": stores as many sectors");
                if (methods[i].run != float4_tile) {  // whose warps at the edge, which are not full, take another pass
                    const double conflicts = counts->shared_load.conflicts() + counts->shared_store.conflicts();
                    lesson.expect(conflicts == 0, name + ", " + shape.text() + ": no conflicts in the tile");
                }
                load = warpwise::ratio_text(loaded / least);
                store = warpwise::ratio_text(stored / least);
            }
            rows.push_back({shape.text(), name, warpwise::ratio_text(predicted_load / least), load,
                            warpwise::ratio_text(predicted_store / least), store});
        }
    }
    lesson.table("Sectors touched, as multiples of those that the matrix fills",
                 {"matrix", "step", "loads", "counted", "stores", "counted"}, rows);
}

// ---- what a clock says --------------------------------------------------------------------------------------------

// The last steps, the vendor's routine and a copy, in turn, for one shape after the other.
void print_measured_rates(warpwise::Lesson& lesson) {
    std::vector<std::pair<std::string, void (*)(Transpose&)>> timed;
    for (std::size_t i = kFirstForAnyRows; i < methods.size(); ++i) timed.emplace_back(methods[i].name, methods[i].run);
#ifndef __CPU_DEVICE__
    timed.emplace_back("vendor", vendor);
#endif
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, run] : timed) rows.push_back({name});
    rows.push_back({"a copy"});
    for (const Shape& shape : timed_shapes) {
        const warpwise::Size size = {shape.rows, shape.cols};
        std::size_t free_bytes = 0, all_bytes = 0;
        warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
        if (Transpose::device_bytes(size) > free_bytes / 10 * 9) {
            for (std::vector<std::string>& row : rows) row.push_back("no room");
            continue;
        }
        Transpose problem(size);
        std::vector<warpwise::Candidate> candidates;
        for (const auto& [name, run] : timed) {
            problem.poison();
            run(problem);
            lesson.expect(problem.compare().passed, name + ": transposes " + shape.text());
            candidates.push_back({[run = run, &problem] { run(problem); }, false});
        }
        candidates.push_back({[&problem] {
                                  warpwise::check(cudaMemcpyAsync(problem.d_out.data(), problem.d_in.data(),
                                                                  problem.d_in.bytes(), cudaMemcpyDeviceToDevice));
                              },
                              false});
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(candidates, {.seconds = 0.2});
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].push_back(std::to_string(std::lround(problem.work().bytes / timings[i].median * 1e-9)));
        }
    }
    std::vector<std::string> header = {"step"};
    for (const Shape& shape : timed_shapes) header.push_back(shape.text());
    lesson.table("GB/s for each shape", header, rows);
}

}  // namespace

void transpose(warpwise::Lesson& lesson) {
    lesson.text(
        R"(Transposing a matrix: out[col][row] = in[row][col]. It moves as many bytes as a copy does, and computes
nothing; so a copy is what it has to be measured against. But what lies side by side on one side lies a whole row
apart on the other.

What you will see: loops that scatter their loads or their stores, a tile in shared memory that scatters neither, the
tile without bank conflicts, and then more bytes under way for each thread.

Before you look, predict for a warp's load and for its store: how many sectors of 32 bytes? For a thread that walks
along a row of the input; one that walks along a row of the output; a thread for each element. Then the tile. A block
reads 32 x 32 elements row by row, waits, and takes them from the tile column by column. In how many passes over
shared memory does a warp get a column of float tile[32][32], and in how many one of float tile[32][33]?)");

    std::vector<warpwise::Step<Transpose>> steps;
    for (const Method& method : methods) steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cublasSgeam", vendor, warpwise::StepKind::vendor});
#endif
    warpwise::Sizes sizes = {.gpu = {16384, 16384},
                             .cpu = {512, 384},
                             .awkward = {{0, 0},
                                         {0, 5},
                                         {5, 0},
                                         {1, 1},
                                         {1, 31},
                                         {31, 1},
                                         {31, 33},
                                         {32, 32},
                                         {33, 65},
                                         {64, 64},
                                         {1, 1009},
                                         {1009, 1},
                                         {60, 132},
                                         {68, 36},
                                         {129, 67},
                                         {3, 4099},
                                         {4099, 3}}};
    // More than 65535 tiles below each other, and side by side: too much work for the CPU device.
    if (warpwise::Lesson::on_gpu()) sizes.awkward.insert(sizes.awkward.end(), {{2097221, 1}, {1, 2097221}});
    lesson.steps<Transpose>(sizes, steps);
    expect_whole_tiles(lesson);

    lesson.text(
        R"(Scattered means 32 sectors with 4 useful bytes in each, and without a tile one side is always scattered:
loads in step 1, stores in steps 2 and 3. (Steps 2 and 3 ask for the same sectors. They differ in how many threads
ask.) With a tile both sides are down to 4. What is left are 32 passes for a column, because all of it lies in one
bank: 31 conflicts for each of 32 columns. Padding makes it one pass, and so does swizzling.

From step 5 to step 11 a request costs the same. Counters say what a request costs; they do
not say how many requests are in flight at a time. In steps 4 to 6 a thread has a single
load of 4 bytes in flight, in steps 7 and 9 it has four of them, in steps 8, 10, and 11 it
has sixteen. Between steps 7 and 10 two things change: elements per thread, and the size of
the tile. Step 8 has only the first change, and step 9 has only the second. Step 12 has as
many bytes as step 11 in a quarter of the requests: 16 sectors and 4 passes are the least
for 16 bytes per lane, and no more for each byte than before. Steps 13 to 17 are for other
matrices.)");
    lesson.text(warpwise::Lesson::on_gpu()
                    ? R"(The times in the table tell what that is worth. A step that stops far below the roof, with
nothing left to save in the counters, has too few bytes in flight, or something that none of them shows.)"
                    : R"(On a GPU the table has times: predict which of the steps from 5 on come close to the roof,
and look there.)");

    lesson.text(
        R"(So far all rows began at a multiple of 32 bytes. Rows of an odd number of floats
begin anywhere. Then a request for 32 neighbors touches five sectors in seven cases of
eight, on both sides of a transpose, and float4s are out of the question. Step 13 cuts the
tile so that all of its stores are whole sectors, and pays with 7 rows that two tiles load.
Step 14 gives both tiles their turn at the same time. Step 15 has 256 bytes fetched at a
time. Step 16 has a longer tile instead, 112 x 96 and not 64 x 64, and step 17 has both.
(Where rows begin at multiples of 256 bytes, steps 15 to 17 do what step 14 does.) Predict
for rows of an odd length, as a multiple of the sectors that the matrix fills: what do steps
7 to 11 load and store, what steps 13 to 15, and what steps 16 and 17?)");
    compare_row_lengths(lesson);
    lesson.text(
        R"(32 floats that begin anywhere are 4 and 7/8 sectors instead of 4, or 1.22 times
the least; and a little more where the last tile of a row is cut short. Steps 13 to 15 load
71 rows for 64, 1.35 times the least, steps 16 and 17 load 119 rows for 112, 1.29 times.
They store 1.03 times the least: what is too many are the ends of rows. Rows of a multiple
of 4 floats lie in between: every other one begins in the middle of a sector, and step 12
may still take float4s. For all other matrices step 12 does what step 11 does.

So by the counters step 13 is hardly better than the others: in all, 1.19 times the least
against 1.22. But the sectors are not equal. One that is loaded twice at about the same time
comes from the memory once, and then from the L2 cache. One that is stored in two pieces by
two tiles has to wait in the cache for its other piece; if that does not come in time, the
memory is asked for the sector, to have the rest of it, and gets it back: an experiment
confirmed that (docs/results/causes_h200.md). And
no counter here tells how many bytes the L2 cache fetches at a time. Predict: which step is
fastest for 10007 x 16411?)");
    if (lesson.measures()) {
        print_measured_rates(lesson);
    } else {
        lesson.show_recorded("GB/s for each shape");
    }
    lesson.text(
        R"(What is left to improve in step 14? Trial versions tell (their runs are not
recorded): one that only stores wrote 10007 x 16411 floats at 4286 GB/s, one that only loads
read them at 2926. So steps 15 to 17 are about loads. On an H200 256 bytes per fetch alone
brought 3 % for this matrix, the longer tile alone 2 %, and both together 4 %. There is a
limit to it: in a trial for 32771 x 32779 both together made 3738 GB/s of
3828. The tile beside comes 293 tiles later there, too late, it seems, for what was fetched
for it. In bands that are 146 tiles high, the tiles made 3924. (One NVIDIA H200,
2026-11-22.)

Does the order of the tiles matter? On the GPUs of 2009 it did: the memory's channels took
turns every 256 bytes, so that with rows of a power of two all blocks of a column met in the
same channel, and a diagonal numbering of the blocks was part of every fast transpose
(Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA, 2009). Today's chips scatter
addresses over their channels. It matters again for another reason: tiles that share sectors
should be under way together. Step 13 has its tiles numbered along the rows, and step 14 down
the columns. Between them an H200 went from 3942 GB/s to 4082 GB/s for 16384 x 16384,
and from 3565 GB/s to 3867 GB/s for
10007 x 16411.

The rule to take along: when one side of a move has to be scattered, scatter it in shared memory. Then it is a copy.

Mistakes to avoid: the input's row length for the output (right for square matrices only); one guard for load and
store (at the edge, other threads load than store); leaving before the barrier when there is nothing to load; int for
row * cols; rows in grid.y without a loop; a test with 1024 x 1024 and no other. The exercises transpose_any_shape and
transpose_both_ways begin there.

Try next: leave the exclusive or away where step 7 reads its tile, then also where it writes
it; number the tiles of step 17 in bands; let step 15 fetch 128 bytes at a time; give step 8
a block of 32 x 1 threads; transpose a matrix of 4 columns, and compare the requests of
loads and stores: what shape should a tile have for it?

    optimization transpose --size 4096x4 --lines --step transpose_four_a_thread
    optimization transpose --size 1001x1003 --check)");
}

}  // namespace optimization
