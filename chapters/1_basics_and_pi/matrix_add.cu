// Problem: sum[row][col] = a[row][col] + b[row][col] for two matrices of rows x cols floats, stored row after row.
//
// Element (row, col) lies at row * cols + col, so a matrix addition is a vector addition with one more question: which
// thread takes which element? The arithmetic and the bytes are the same in every step below; the answer to that
// question alone makes the difference between the slowest and the fastest.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#ifndef __CPU_DEVICE__
#if __has_include(<cub/device/device_transform.cuh>)
#include <cub/device/device_transform.cuh>
#include <cuda/std/functional>
#include <cuda/std/tuple>
#define VENDOR_ROUTINE "cub::DeviceTransform"
#else
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/transform.h>
#define VENDOR_ROUTINE "thrust::transform"
#endif
#endif

#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/lesson/lesson.h"

namespace basics_and_pi {
namespace {

using warpwise::DeviceBuffer;

// The two matrices on the host and on the device, and room for their sum on the device.
struct MatrixAdd {
    std::size_t rows, cols, count;
    std::vector<float> a, b;
    DeviceBuffer<float> d_a, d_b, d_sum;

    explicit MatrixAdd(const warpwise::Size& size)
        : rows(size[0]),
          cols(size[1]),
          count(rows * cols),
          a(warpwise::uniform<float>(count, 3)),
          b(warpwise::uniform<float>(count, 4)),
          d_a(a),
          d_b(b),
          d_sum(count) {}

    void poison() { d_sum.fill_bytes(0xFF); }

    // The reference is the sum in double precision; a float addition rounds it once, by at most half an epsilon. The
    // double sum's own rounding is below a billionth of that.
    warpwise::Comparison compare() {
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        return warpwise::compare_each(d_sum.download(), count,
                                      [&](std::size_t i) { return static_cast<double>(a[i]) + b[i]; },
                                      {.relative = half_epsilon * (1 + 1e-8)});
    }

    warpwise::Work work() const { return {.bytes = 3.0 * sizeof(float) * count, .operations = 1.0 * count}; }

    static std::size_t device_bytes(const warpwise::Size& size) { return 3 * sizeof(float) * size.count(); }
};

// Step 1, one thread a block: the launch of many a first program, in which the block's number is the element's.
// It is right, and it is slow twice over. A block of one thread still occupies a whole warp: 31 of 32 lanes do nothing.
// And an SM keeps no more than 32 blocks at home (on most chips), so 32 threads where it has room for 2048.
__global__ void add_one_thread_a_block(const float* a, const float* b, float* sum, std::size_t count) {
    const std::size_t i = blockIdx.x;
    if (i < count) sum[i] = a[i] + b[i];
}

void one_thread_a_block(MatrixAdd& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, 1);
    add_one_thread_a_block<<<blocks, 1>>>(problem.d_a.data(), problem.d_b.data(), problem.d_sum.data(), problem.count);
    warpwise::check_launch();
}

// Step 2, full warps: blocks of 256 threads that stride over the matrix as if it were one long vector.
// Better: all lanes work, and as many threads as the device can hold. Slow: 8 bytes under way for each thread.
// What it cannot do: tell row from column. Where the work depends on them, i / cols and i % cols would cost two
// divisions an element, which is why the next steps number the threads in two dimensions.
__global__ void add_grid_stride_flat(const float* a, const float* b, float* sum, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        sum[i] = a[i] + b[i];
    }
}

void grid_stride_flat(MatrixAdd& problem) {
    constexpr unsigned threads = 256;
    const unsigned blocks = std::min(warpwise::blocks_for(problem.count, threads),
                                     warpwise::blocks_that_fill(add_grid_stride_flat, threads));
    add_grid_stride_flat<<<blocks, threads>>>(problem.d_a.data(), problem.d_b.data(), problem.d_sum.data(),
                                              problem.count);
    warpwise::check_launch();
}

// Blocks of 32 x 8 threads: a warp is one line of 32 threads in x. A grid reaches 2^31 - 1 blocks in x, but 65535 in y
// only, so the kernels go on in y by the height of the grid until the matrix ends.
constexpr dim3 kBlock(32, 8);

dim3 grid_for(std::size_t extent_x, std::size_t extent_y) {
    const std::size_t blocks_y = std::max<std::size_t>(1, warpwise::ceil_div(extent_y, kBlock.y));
    return dim3(warpwise::blocks_for(extent_x, kBlock.x),
                static_cast<unsigned>(std::min<std::size_t>(blocks_y, 65535)));
}

// Step 3, two dimensions the way they are written in mathematics: first index, x, for the row; second, y, for the
// column. Right again, and slow: neighboring threads of a warp have neighboring x, so they stand in neighboring
// rows, and their elements lie `cols` floats apart. Memory moves in sectors of 32 bytes. One load of a warp touches 32
// of them and uses 4 bytes of each; the caches save some of the rest for the warps of the neighboring columns, but not
// all of it.
__global__ void add_x_down_rows(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (row >= rows) return;
    for (std::size_t col = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; col < cols; col += stride) {
        const std::size_t i = row * cols + col;
        sum[i] = a[i] + b[i];
    }
}

void x_down_rows(MatrixAdd& problem) {
    add_x_down_rows<<<grid_for(problem.rows, problem.cols), kBlock>>>(problem.d_a.data(), problem.d_b.data(),
                                                                      problem.d_sum.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

// Step 4, x and y exchanged: x along the row. Not one operation less, but the 32 lanes of a warp now touch 128 bytes
// side by side, 4 sectors, and use all of every sector. This is what coalesced means.
// Slow: 8 bytes under way for each thread, and at the right edge of a matrix whose columns are no multiple of 32 some
// lanes of every row have nothing to do (all but one if there is a single column).
__global__ void add_x_along_rows(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (col >= cols) return;
    for (std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows; row += stride) {
        const std::size_t i = row * cols + col;
        sum[i] = a[i] + b[i];
    }
}

void x_along_rows(MatrixAdd& problem) {
    add_x_along_rows<<<grid_for(problem.cols, problem.rows), kBlock>>>(
        problem.d_a.data(), problem.d_b.data(), problem.d_sum.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

// Step 5, 16 bytes an access. A row starts at a multiple of 16 bytes only if cols is a multiple of 4, so float4s row by
// row would be misaligned in three of four matrices. But nothing here depends on row or column: the matrix is taken as
// the long vector that it is in memory, and only its end needs care. Each thread loads kVectors float4s of both
// matrices before it adds the first; the block whose tile the end of the matrix cuts short adds float by float. Better:
// a quarter of the instructions for the same bytes, 32 * kVectors bytes under way for each thread, no idle lanes at any
// edge, no loop. What is left is the memory's own speed.
constexpr unsigned kTileThreads = 256;
constexpr unsigned kVectors = 2;                     // float4s of each input that a thread has under way
constexpr unsigned kTile = kTileThreads * kVectors;  // float4s of a block

__global__ void add_float4_flat(const float* a, const float* b, float* sum, std::size_t count) {
    const auto* a4 = reinterpret_cast<const float4*>(a);
    const auto* b4 = reinterpret_cast<const float4*>(b);
    auto* sum4 = reinterpret_cast<float4*>(sum);
    const std::size_t vectors = count / 4;
    const std::size_t tile_begin = std::size_t{blockIdx.x} * kTile;

    if (tile_begin + kTile <= vectors) {
        float4 left[kVectors], right[kVectors];
#pragma unroll
        for (unsigned k = 0; k < kVectors; ++k) {
            left[k] = a4[tile_begin + k * kTileThreads + threadIdx.x];
            right[k] = b4[tile_begin + k * kTileThreads + threadIdx.x];
        }
#pragma unroll
        for (unsigned k = 0; k < kVectors; ++k) {
            sum4[tile_begin + k * kTileThreads + threadIdx.x] = make_float4(
                left[k].x + right[k].x, left[k].y + right[k].y, left[k].z + right[k].z, left[k].w + right[k].w);
        }
        return;
    }
    for (std::size_t i = 4 * tile_begin + threadIdx.x; i < count; i += kTileThreads) sum[i] = a[i] + b[i];
}

void float4_flat(MatrixAdd& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, 4 * kTile);
    add_float4_flat<<<blocks, kTileThreads>>>(problem.d_a.data(), problem.d_b.data(), problem.d_sum.data(),
                                              problem.count);
    warpwise::check_launch();
}

#ifndef __CPU_DEVICE__
// What a user would call instead: a routine of the CUDA Core Compute Libraries, on the matrices as vectors.
void vendor(MatrixAdd& problem) {
    const float* a = problem.d_a.data();
    const float* b = problem.d_b.data();
#if __has_include(<cub/device/device_transform.cuh>)
    warpwise::check(cub::DeviceTransform::Transform(cuda::std::make_tuple(a, b), problem.d_sum.data(), problem.count,
                                                    cuda::std::plus<float>{}));
#else
    thrust::transform(thrust::device, a, a + problem.count, b, problem.d_sum.data(), thrust::plus<float>{});
#endif
}
#endif

}  // namespace

void matrix_add(warpwise::Lesson& lesson) {
    lesson.text(
        R"(Adding two matrices, stored row after row: the same twelve bytes an element as in vector_add, and a
choice. Which thread takes which element?

What you will see: the beginner's launch of one thread a block, a loop over the matrix as one vector, two kernels
with two-dimensional blocks that differ in nothing but which of x and y is the row, and 16-byte accesses.

A warp's load or store is one request. The memory answers it in sectors of 32 bytes, and whoever touches 4 bytes of a
sector pays for 32. Before you look at the table, count: how many sectors does one request touch if its 32 threads
stand in 32 rows of a wide matrix, and how many if they stand side by side in one row?)");

    std::vector<warpwise::Step<MatrixAdd>> steps = {
        {"add_one_thread_a_block", "one block for each element, one thread in it", one_thread_a_block},
        {"add_grid_stride_flat", "full warps stride over the matrix as one vector", grid_stride_flat},
        {"add_x_down_rows", "2-D blocks; threads of a warp in different rows", x_down_rows},
        {"add_x_along_rows", "2-D blocks; threads of a warp side by side", x_along_rows},
        {"add_float4_flat", "16 bytes an access, several under way a thread", float4_flat},
    };
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", VENDOR_ROUTINE, vendor, warpwise::StepKind::vendor});
#endif
    // The last two are longer in one direction than a grid of 65535 blocks of 8 threads.
    lesson.steps<MatrixAdd>({.gpu = {16384, 16384},
                             .cpu = {512, 384},
                             .awkward = {{0, 0},
                                         {0, 5},
                                         {5, 0},
                                         {1, 1},
                                         {1, 31},
                                         {31, 1},
                                         {32, 32},
                                         {33, 65},
                                         {1, 1009},
                                         {1009, 1},
                                         {64, 64},
                                         {129, 67},
                                         {3, 4099},
                                         {524287, 1},
                                         {1, 524287}}},
                            steps);

    lesson.text(
        R"(The count: 32 sectors when the threads stand in different rows, 4 when they stand side by side. The bytes
used are 128 in both. Eight neighboring columns share a sector, so the caches can rescue part of the waste if the
warps of those columns come before the sector is thrown out; a block of 32 x 8 threads gives them that chance. On an
H200 the L1 cache does this for the loads, and what step 3 loses, it loses mostly at its stores
(docs/results/causes_h200.md).)");
    if (warpwise::Lesson::on_gpu()) {
        lesson.text(
            R"(Why it is so. One thread a block loses most: 31 of 32 lanes are idle, and an SM holds 32 threads
instead of 2048, far too few to have enough bytes under way. Full warps gain all of that back at once. Exchanging x
and y costs a large part of it again, for no operation more or less, and putting x along the rows returns it. The
last step asks for 16 bytes at a time and comes to the roof; what the matrix looks like no longer matters to it.)");
    } else {
        lesson.text(
            R"(On a GPU, one thread a block loses most: 31 of 32 lanes are idle, and an SM holds 32 threads instead
of 2048, far too few to have enough bytes under way. Full warps gain all of that back at once. Exchanging x and y
costs a large part of it again, for no operation more or less. The CPU device does not show times: it runs each
mapping and proves it right.)");
    }
    lesson.text(
        R"(The rule to take along: threadIdx.x belongs to the index that is contiguous in memory, the last one of a
row-major array.

Mistakes to avoid: exchanging rows and cols in the guards (right for square matrices, wrong for all others: test with
33 x 65); row * rows + col; rows in grid.y without a loop (no launch beyond 65535 blocks); int for an index that can
pass 2^31 elements.

Try next: a tall and a wide matrix with the same number of elements, and a row length that is no multiple of 4. Which
steps care, and why?

    basics_and_pi matrix_add --size 4000x33
    basics_and_pi matrix_add --size 33x4000 --step add_x_along_rows)");
}

}  // namespace basics_and_pi
