// Problem: sum[row][col] = a[row][col] + b[row][col] for two matrices of rows x cols
// floats, stored row after row.
//
// Element (row, col) is at row * cols + col, so a matrix addition is a vector addition with
// one more question: which thread takes which element? The arithmetic and the bytes needed
// are the same in every step below. The answer to that question alone makes the difference
// between the slowest and the fastest step.
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

#include "chapters/1_basics_and_pi/matrix_add/kernels.cuh"
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

    // The reference is the sum in double precision; a float addition rounds it once, by at
    // most half an epsilon. The double sum's own rounding is below a billionth of that.
    warpwise::Comparison compare() {
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        return warpwise::compare_each(
            d_sum.download(), count,
            [&](std::size_t i) { return static_cast<double>(a[i]) + b[i]; },
            {.relative = half_epsilon * (1 + 1e-8)});
    }

    warpwise::Work work() const {
        return {.bytes = 3.0 * sizeof(float) * count, .operations = 1.0 * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 3 * sizeof(float) * size.count();
    }
};

// Step 1, one block of one thread per element.
void one_thread_per_block(MatrixAdd& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, 1);
    add_one_thread_per_block<<<blocks, 1>>>(problem.d_a.data(), problem.d_b.data(),
                                            problem.d_sum.data(), problem.count);
    warpwise::check_launch();
}

// Step 2, as many full blocks as fit on the device at once.
void grid_stride_flat(MatrixAdd& problem) {
    constexpr unsigned threads = 256;
    const unsigned blocks =
        std::min(warpwise::blocks_for(problem.count, threads),
                 warpwise::blocks_that_fill(add_grid_stride_flat, threads));
    add_grid_stride_flat<<<blocks, threads>>>(problem.d_a.data(), problem.d_b.data(),
                                              problem.d_sum.data(), problem.count);
    warpwise::check_launch();
}

// Steps 3 and 4: blocks of 32 x 8 threads, so that a warp is one line of 32 threads in x. A
// grid has up to 2^31 - 1 blocks in x, but only 65535 in y. The kernels go on in y by the
// height of the grid until the matrix ends.
constexpr dim3 kBlock(32, 8);

dim3 grid_for(std::size_t extent_x, std::size_t extent_y) {
    const std::size_t blocks_y =
        std::max<std::size_t>(1, warpwise::ceil_div(extent_y, kBlock.y));
    return dim3(warpwise::blocks_for(extent_x, kBlock.x),
                static_cast<unsigned>(std::min<std::size_t>(blocks_y, 65535)));
}

// Step 3, x is the row.
void x_down_rows(MatrixAdd& problem) {
    add_x_down_rows<<<grid_for(problem.rows, problem.cols), kBlock>>>(
        problem.d_a.data(), problem.d_b.data(), problem.d_sum.data(), problem.rows,
        problem.cols);
    warpwise::check_launch();
}

// Step 4, x is the column.
void x_along_rows(MatrixAdd& problem) {
    add_x_along_rows<<<grid_for(problem.cols, problem.rows), kBlock>>>(
        problem.d_a.data(), problem.d_b.data(), problem.d_sum.data(), problem.rows,
        problem.cols);
    warpwise::check_launch();
}

// Step 5, one block per tile of kTile float4s.
void float4_flat(MatrixAdd& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, 4 * kTile);
    add_float4_flat<<<blocks, kTileThreads>>>(problem.d_a.data(), problem.d_b.data(),
                                              problem.d_sum.data(), problem.count);
    warpwise::check_launch();
}

#ifndef __CPU_DEVICE__
// What a user would call instead: a routine of the CUDA Core Compute Libraries, on the
// matrices as vectors.
void vendor(MatrixAdd& problem) {
    const float* a = problem.d_a.data();
    const float* b = problem.d_b.data();
#if __has_include(<cub/device/device_transform.cuh>)
    warpwise::check(cub::DeviceTransform::Transform(cuda::std::make_tuple(a, b),
                                                    problem.d_sum.data(), problem.count,
                                                    cuda::std::plus<float>{}));
#else
    thrust::transform(thrust::device, a, a + problem.count, b, problem.d_sum.data(),
                      thrust::plus<float>{});
#endif
}
#endif

}  // namespace

void matrix_add(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Every step below adds the same elements, exactly once each. Does it matter
which thread takes which element? A load or store of a warp is one request, and the
memory answers it in sectors of 32 bytes. A warp that uses only 4 bytes of a sector
still pays for 32.)");
    lesson.predict(
        {.question = R"(How many sectors of 32 bytes does one load touch if the 32
threads of the warp are in 32 rows of a wide matrix (step 3)?)",
         .answer =
             warpwise::Number{.value = 32,
                              .unit = "sectors",
                              .shown_by = warpwise::sectors_per_load("add_x_down_rows")},
         .because = R"(The rows are far from each other in memory, so each thread
needs a sector of its own.)"});
    lesson.predict(
        {.question = R"(How many sectors of 32 bytes does one load of floats touch
if the 32 threads of the warp are side by side in one row of the matrix (step 4)?)",
         .answer =
             warpwise::Number{.value = 4,
                              .unit = "sectors",
                              .shown_by = warpwise::sectors_per_load("add_x_along_rows")},
         .because = R"(32 neighboring floats are 128 bytes, which are 4 sectors,
and every byte of them is used.)"});

    std::vector<warpwise::Step<MatrixAdd>> steps = {
        {"add_one_thread_per_block", "one block for each element, one thread in it",
         one_thread_per_block},
        {"add_grid_stride_flat", "full warps stride over the matrix as one vector",
         grid_stride_flat},
        {"add_x_down_rows", "2-D blocks; threads of a warp in different rows", x_down_rows},
        {"add_x_along_rows", "2-D blocks; threads of a warp side by side", x_along_rows},
        {"add_float4_flat", "16 bytes per access, several in flight per thread",
         float4_flat},
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

    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(A request touches 32 sectors when its threads are in different rows,
and 4 when they are side by side. Exchanging x and y changes nothing else, and costs a
large part of the speed. One thread per block is slower still: 31 of 32 lanes are idle,
and too few bytes are in flight. The rule: threadIdx.x belongs to the index that is
contiguous in memory.)"
            : R"(A request touches 32 sectors when its threads are in different rows,
and 4 when they are side by side. Steps 1 and 3 move eight times the bytes that the
problem needs. On a GPU, step 1 is by far the slowest, because 31 of 32 lanes are idle
and too few bytes are in flight. The rule: threadIdx.x belongs to the index that is
contiguous in memory.)");
}

}  // namespace basics_and_pi
