// Problem: C = A B for an m x k matrix A and a k x n matrix B of floats, all stored row after row.
//
// Each of the m n elements of C is a sum of k products. That is 2 m n k operations on no more than m k + k n + m n
// floats: the larger the matrices, the more often each float is used, and the less the memory has to limit. So a
// good product is limited by the multiply-add units alone. All of the steps below are about what stands in their way:
// first the memory, then shared memory, and in the end the instructions that are not multiply-adds.
//
// Extents may be anything, 0 included: a product with k = 0 is a matrix of zeros.
//
// To be read in this order: steps 1 to 5 here, 6 to 10 in matrix_multiply_registers.h, 11 and 12 in
// matrix_multiply_pipeline.h, then what comes behind them here, and at last matrix_multiply_tensor_cores.cu.
#include <cuda_runtime.h>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chapters/4_examples/matrix_multiply.h"
#include "chapters/4_examples/matrix_multiply_pipeline.h"
#include "chapters/4_examples/matrix_multiply_registers.h"
#include "chapters/4_examples/matrix_multiply_tiles.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/cublas.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::text_of;

// ---- a row of C for each block ------------------------------------------------------------------------------------

constexpr unsigned kRowThreads = 256;

// Step 1, a block for each row of C, and a thread for each of its elements. The lanes of a warp read the same element
// of A and neighbors of B: coalesced, nothing to find fault with. Slow: two loads for each multiply-add, and each
// block reads all of B. Nothing that a thread has loaded is used by any other, unless a cache still has it.
__global__ void product_row_a_block(const float* a, const float* b, float* c, Extents x) {
    const std::size_t row = blockIdx.x;
    for (std::size_t col = threadIdx.x; col < x.n; col += kRowThreads) {
        float sum = 0;
        for (std::size_t p = 0; p < x.k; ++p) sum += a[row * x.k + p] * b[p * x.n + col];
        c[row * x.n + col] = sum;
    }
}

void row_a_block(Multiplication& problem) {
    if (problem.m == 0) return;
    product_row_a_block<<<warpwise::blocks_for(problem.m, 1), kRowThreads>>>(problem.d_a.data(), problem.d_b.data(),
                                                                             problem.d_c.data(), problem.extents());
    warpwise::check_launch();
}

// Step 2, the row of A in shared memory, which all threads of the block read; a piece at a time, because a row may be
// longer than shared memory. Better: one load of global memory for each multiply-add instead of two. Slow: the other
// one, and that each element of A is still a load, if from nearer by.
constexpr unsigned kPiece = 1024;

__global__ void product_row_in_shared(const float* a, const float* b, float* c, Extents x) {
    __shared__ float piece[kPiece];
    const std::size_t row = blockIdx.x;
    for (std::size_t first_col = 0; first_col < x.n; first_col += kRowThreads) {
        const std::size_t col = first_col + threadIdx.x;
        float sum = 0;
        for (std::size_t first = 0; first < x.k; first += kPiece) {
            const unsigned length = static_cast<unsigned>(min(std::size_t{kPiece}, x.k - first));
            for (unsigned p = threadIdx.x; p < length; p += kRowThreads) piece[p] = a[row * x.k + first + p];
            __syncthreads();
            if (col < x.n) {
                for (unsigned p = 0; p < length; ++p) sum += piece[p] * b[(first + p) * x.n + col];
            }
            __syncthreads();  // all have read the piece: the next one may come
        }
        if (col < x.n) c[row * x.n + col] = sum;
    }
}

void row_in_shared(Multiplication& problem) {
    if (problem.m == 0) return;
    product_row_in_shared<<<warpwise::blocks_for(problem.m, 1), kRowThreads>>>(problem.d_a.data(), problem.d_b.data(),
                                                                               problem.d_c.data(), problem.extents());
    warpwise::check_launch();
}

// Step 3, rows of B that begin at multiples of 128 bytes, however many columns there are. So a warp's load never
// touches a sector more than it needs, and a thread may take four neighboring columns with one load of 16 bytes.
// Better: a quarter of the loads, of B and of the piece of A. Slow: each block still reads all of B, and of all that
// it reads each float is used once.
__global__ void product_pitched(const float* a, const float* b, float* c, Extents x, std::size_t pitch) {
    __shared__ float piece[kPiece];
    const std::size_t row = blockIdx.x;
    for (std::size_t first_col = 0; first_col < x.n; first_col += 4 * kRowThreads) {
        const std::size_t col = first_col + 4 * threadIdx.x;
        float4 sum = make_float4(0, 0, 0, 0);
        for (std::size_t first = 0; first < x.k; first += kPiece) {
            const unsigned length = static_cast<unsigned>(min(std::size_t{kPiece}, x.k - first));
            for (unsigned p = threadIdx.x; p < length; p += kRowThreads) piece[p] = a[row * x.k + first + p];
            __syncthreads();
            if (col < x.n) {
                for (unsigned p = 0; p < length; ++p) {
                    const float4 four = *reinterpret_cast<const float4*>(&b[(first + p) * pitch + col]);
                    const float left = piece[p];
                    sum.x += left * four.x;
                    sum.y += left * four.y;
                    sum.z += left * four.z;
                    sum.w += left * four.w;
                }
            }
            __syncthreads();
        }
        if (col < x.n) c[row * x.n + col] = sum.x;
        if (col + 1 < x.n) c[row * x.n + col + 1] = sum.y;
        if (col + 2 < x.n) c[row * x.n + col + 2] = sum.z;
        if (col + 3 < x.n) c[row * x.n + col + 3] = sum.w;
    }
}

void pitched(Multiplication& problem) {
    if (problem.m == 0) return;
    product_pitched<<<warpwise::blocks_for(problem.m, 1), kRowThreads>>>(
        problem.d_a.data(), problem.d_b_pitched.data(), problem.d_c.data(), problem.extents(), problem.pitch);
    warpwise::check_launch();
}

// ---- a tile of C for each block -----------------------------------------------------------------------------------

// Step 4, square tiles. A block computes 32 x 32 elements of C. For 32 terms of the sums at a time, its threads put
// a tile of A and one of B into shared memory, an element each, and then every element is used 32 times. What lies
// outside of the matrices is put in as 0: it adds nothing to any sum, and every thread can go through all 32 terms.
// Better: global memory is asked for a sixteenth of a float for each multiply-add instead of a whole one. Slow: each
// multiply-add needs an element of A and one of B from shared memory, which makes one pass a cycle, where the SM
// could do four multiply-adds of a warp. (nvcc takes four neighbors of A with one load. That leaves 1.25 loads.) On an
// H200 it loses to step 3, where a thread has four sums.
constexpr unsigned kSide = 32;

__global__ void product_tile(const float* a, const float* b, float* c, Extents x) {
    __shared__ float a_tile[kSide][kSide];
    __shared__ float b_tile[kSide][kSide];
    const unsigned tile_row = threadIdx.x / kSide, tile_col = threadIdx.x % kSide;
    const Corner corner = corner_of_block(x, kSide, kSide);
    const std::size_t row = corner.row + tile_row, col = corner.col + tile_col;

    float sum = 0;
    for (std::size_t first = 0; first < x.k; first += kSide) {
        a_tile[tile_row][tile_col] = row < x.m && first + tile_col < x.k ? a[row * x.k + first + tile_col] : 0;
        b_tile[tile_row][tile_col] = first + tile_row < x.k && col < x.n ? b[(first + tile_row) * x.n + col] : 0;
        __syncthreads();
        for (unsigned p = 0; p < kSide; ++p) sum += a_tile[tile_row][p] * b_tile[p][tile_col];
        __syncthreads();
    }
    if (row < x.m && col < x.n) c[row * x.n + col] = sum;
}

void tile(Multiplication& problem) { launch_tiles(product_tile, problem, kSide, kSide, kSide * kSide); }

// Step 5, a side branch: the same with Kahan's compensated sum. `lost` is what the last addition rounded away, and
// the next term makes up for it; the product itself is exact inside of the fused multiply-add. Better: the error no
// longer grows with k. Slow: four operations that wait for each other instead of one. But here the multiply-add
// units are idle most of the time: see what it costs.
__global__ void product_tile_kahan(const float* a, const float* b, float* c, Extents x) {
    __shared__ float a_tile[kSide][kSide];
    __shared__ float b_tile[kSide][kSide];
    const unsigned tile_row = threadIdx.x / kSide, tile_col = threadIdx.x % kSide;
    const Corner corner = corner_of_block(x, kSide, kSide);
    const std::size_t row = corner.row + tile_row, col = corner.col + tile_col;

    float sum = 0, lost = 0;
    for (std::size_t first = 0; first < x.k; first += kSide) {
        a_tile[tile_row][tile_col] = row < x.m && first + tile_col < x.k ? a[row * x.k + first + tile_col] : 0;
        b_tile[tile_row][tile_col] = first + tile_row < x.k && col < x.n ? b[(first + tile_row) * x.n + col] : 0;
        __syncthreads();
        for (unsigned p = 0; p < kSide; ++p) {
            const float term = fmaf(a_tile[tile_row][p], b_tile[p][tile_col], -lost);
            const float next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }
        __syncthreads();
    }
    if (row < x.m && col < x.n) c[row * x.n + col] = sum;
}

void tile_kahan(Multiplication& problem) { launch_tiles(product_tile_kahan, problem, kSide, kSide, kSide * kSide); }

// ---- what a user would call instead -------------------------------------------------------------------------------

#ifndef __CPU_DEVICE__
// cuBLAS counts down the columns: our rows are its columns, and C = A B is for it the transpose of C, which is the
// transpose of B times the transpose of A. In its default mode `Sgemm` computes with floats as they are; the modes
// that round them to TF32 on the way would not be the same product. So the mode is set, not taken as found.
void vendor(Multiplication& problem) {
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    if (problem.m == 0 || problem.n == 0) return;
    const int m = warpwise::cublas_extent(problem.m), n = warpwise::cublas_extent(problem.n),
              k = warpwise::cublas_extent(problem.k);
    if (k == 0) {
        warpwise::check(cudaMemsetAsync(problem.d_c.data(), 0, problem.d_c.bytes()));
        return;
    }
    warpwise::check_cublas(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    const float one = 1, zero = 0;
    const float *const a = problem.d_a.data(), *const b = problem.d_b.data();
    warpwise::check_cublas(
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, problem.d_c.data(), n));
}
#endif

// ---- what the steps ask of both memories --------------------------------------------------------------------------

// A step, and what the text predicts for each multiply-add of a warp when all tiles are whole and n is 128.
struct Method {
    const char* name;
    const char* change;
    void (*run)(Multiplication&);
    double global_floats;  // a lane's share of what loads of global memory touch
    double loads, passes;  // of shared memory
};
constexpr std::size_t kCountedN = 128, kCountedK = 64;
constexpr double ahead = 1 + 1.0 / kCountedK;  // the pipeline fetches one term more than there are
constexpr std::array<Method, 12> methods = {
    {{"product_row_a_block", "a block a row of C, a thread an element", row_a_block, 1.25, 0, 0},
     {"product_row_in_shared", "the row of A in shared memory", row_in_shared, 1 + 1.0 / kCountedN, 1, 1},
     {"product_pitched", "rows of B aligned, four columns a thread", pitched, 1 + 1.0 / kCountedN, 0.25, 0.25},
     {"product_tile", "square tiles in shared memory", tile, 1.0 / 16, 2, 2},
     {"product_tile_kahan", "side branch: compensated sums", tile_kahan, 1.0 / 16, 2, 2},
     {"product_column_a_thread", "8 elements of C a thread", column_a_thread, 1.0 / 32, 9.0 / 8, 9.0 / 8},
     {"product_square_a_thread", "8 x 8 elements of C a thread", square_a_thread, 1.0 / 64, 16.0 / 64, 16.0 / 64},
     {"product_float4", "16 bytes a load, A transposed", float4_loads, 1.0 / 64, 4.0 / 64, 20.0 / 64},
     {"product_double_buffer", "meanwhile the next tiles are loaded", double_buffered, 1.0 / 64, 4.0 / 64, 20.0 / 64},
     {"product_warp_tiles", "lanes arranged for the banks", warp_tiles, 1.0 / 64, 4.0 / 64, 8.0 / 64},
     {"product_pipeline", "cp.async, a pipeline without guards", pipeline, 3.0 / 128, 4.0 / 64 * ahead,
      8.0 / 64 * ahead},
     {"product_pipeline_kahan", "side branch: compensated sums", pipeline_kahan, 3.0 / 128, 4.0 / 64 * ahead,
      8.0 / 64 * ahead}}};
constexpr std::size_t kFirstTimedForShapes = 9;  // this step and those behind it are timed for several shapes

void count_loads(warpwise::Lesson& lesson) {
    Multiplication problem({128, kCountedN, kCountedK});
    const double multiply_adds = problem.work().operations / 2 / kLanes;  // of a warp
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods) {
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        const std::string name = std::string(method.name) + ": ";
        lesson.expect(problem.compare().passed, name + "the product is right");
        if (!counts) continue;
        const double global_floats = counts->global_load.bytes_moved() / sizeof(float) / kLanes / multiply_adds;
        const double loads = counts->shared_load.requests / multiply_adds;
        const double passes = counts->shared_load.wavefronts / multiply_adds;
        const auto same = [](double counted, double predicted) { return std::fabs(counted - predicted) < 1e-9; };
        lesson.expect(same(global_floats, method.global_floats), name + "as many floats of global memory");
        lesson.expect(same(loads, method.loads), name + "as many loads from shared memory");
        lesson.expect(same(passes, method.passes), name + "as many passes over shared memory");
        const auto text = [](double value) { return text_of("%.4f", value); };
        rows.push_back({method.name, text(global_floats), text(loads), text(passes)});
    }
    if (rows.empty()) return;  // on a GPU, and with --no-counters
    lesson.table("What each multiply-add of a warp asks for, 128 x 128 x 64: counted, and as predicted",
                 {"step", "floats of global memory a lane", "loads from shared memory", "passes over it"}, rows);
}

// ---- what a compensated sum gains ---------------------------------------------------------------------------------

// The largest relative error of any element of a 32 x 32 product with k terms, all positive so that sums only grow.
// Returns that of the plain kernel and that of the compensated one.
std::pair<double, double> relative_errors(std::size_t k) {
    const std::vector<float> a = warpwise::uniform<float>(kSide * k, 45, 0, 1);
    const std::vector<float> b = warpwise::uniform<float>(k * kSide, 46, 0, 1);
    std::vector<double> expected(kSide * kSide);
    warpwise::parallel_for_parts(kSide, kSide, [&](std::size_t row, std::size_t, std::size_t) {
        for (std::size_t p = 0; p < k; ++p) {
            for (std::size_t col = 0; col < kSide; ++col)
                expected[row * kSide + col] += static_cast<double>(a[row * k + p]) * b[p * kSide + col];
        }
    });
    DeviceBuffer<float> d_a(a), d_b(b), d_c(kSide * kSide);
    const auto error_of = [&](TileKernel kernel) {
        d_c.fill_bytes(0xFF);
        kernel<<<1, kSide * kSide>>>(d_a.data(), d_b.data(), d_c.data(), {kSide, kSide, k});
        warpwise::check_launch();
        const std::vector<float> c = d_c.download();
        double largest = 0;
        for (std::size_t i = 0; i < c.size(); ++i) {
            const double error = std::fabs(c[i] - expected[i]) / expected[i];
            largest = std::isnan(error) ? error : std::max(largest, error);
        }
        return largest;
    };
    return {error_of(product_tile), error_of(product_tile_kahan)};
}

void show_errors(warpwise::Lesson& lesson) {
    const std::size_t largest = lesson.measures() ? std::size_t{1} << 20 : std::size_t{1} << 12;
    std::vector<std::vector<std::string>> rows;
    std::pair<double, double> last;
    for (std::size_t k = 128; k <= largest; k *= lesson.measures() ? 8 : 4) {
        last = relative_errors(k);
        rows.push_back({std::to_string(k), text_of("%.1e", last.first), text_of("%.1e", last.second)});
    }
    lesson.table("Largest relative error against k", {"k", "product_tile", "product_tile_kahan"}, rows);
    constexpr double half_unit = std::numeric_limits<float>::epsilon() / 2;
    lesson.expect(last.second <= 2 * half_unit, "compensated sums err by no more than two halves of the last place");
    lesson.expect(last.first >= 8 * last.second, "plain sums of many terms err at least eight times as much");
}

// ---- what a clock says --------------------------------------------------------------------------------------------

// Shapes that a GPU is timed with: two that fill it, and one whose rows begin anywhere and whose tiles are cut.
struct Shape {
    std::size_t m, n, k;
    std::string text() const { return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k); }
    warpwise::Size size() const { return {m, n, k}; }
};
constexpr std::array<Shape, 3> timed_shapes = {{{4096, 4096, 4096}, {8192, 8192, 8192}, {4099, 4111, 4127}}};

// What a GPU measured, shown where there is none: TFLOP/s of each step for each shape.
struct Recorded {
    const char* step;
    std::array<double, timed_shapes.size()> teraflops;
};
constexpr std::initializer_list<Recorded> recorded_h200 = {
    {"product_warp_tiles", {43.9, 44.4, 35.6}},
    {"product_pipeline", {50.4, 52.0, 43.2}},
    {"product_pipeline_kahan", {14.0, 14.3, 12.1}},
    {"vendor", {51.2, 51.2, 44.7}},
};
constexpr const char* recorded_on = "recorded on one NVIDIA H200 (examples --device cuda, 2026-11-22)";

std::vector<std::string> rates_header() {
    std::vector<std::string> header = {"step"};
    for (const Shape& shape : timed_shapes) header.push_back(shape.text());
    return header;
}

void print_recorded_rates(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const Recorded& recorded : recorded_h200) {
        rows.push_back({recorded.step});
        for (const double rate : recorded.teraflops) rows.back().push_back(text_of("%.1f", rate));
    }
    lesson.table(std::string("TFLOP/s for each shape, ") + recorded_on, rates_header(), rows);
}

// The last steps and the vendor's routine, in turn, for one shape after the other.
void print_measured_rates(warpwise::Lesson& lesson) {
    std::vector<std::pair<std::string, void (*)(Multiplication&)>> timed;
    for (std::size_t i = kFirstTimedForShapes; i < methods.size(); ++i)
        timed.emplace_back(methods[i].name, methods[i].run);
#ifndef __CPU_DEVICE__
    timed.emplace_back("vendor", vendor);
#endif
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, run] : timed) rows.push_back({name});
    for (const Shape& shape : timed_shapes) {
        std::size_t free_bytes = 0, all_bytes = 0;
        warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
        if (Multiplication::device_bytes(shape.size()) > free_bytes / 2) {
            for (std::vector<std::string>& row : rows) row.push_back("-");
            continue;
        }
        Multiplication problem(shape.size());
        std::vector<warpwise::Candidate> candidates;
        for (const auto& [name, run] : timed) {
            problem.poison();
            run(problem);
            lesson.expect(problem.compare().passed, name + ", " + shape.text() + ": the product is right");
            candidates.push_back({[run = run, &problem] { run(problem); }, false});
        }
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(candidates);
        for (std::size_t i = 0; i < timed.size(); ++i)
            rows[i].push_back(text_of("%.1f", problem.work().operations / timings[i].median * 1e-12));
    }
    lesson.table("TFLOP/s for each shape", rates_header(), rows);
}

const std::vector<warpwise::Size> awkward = {{0, 5, 7},      {5, 0, 7},      {5, 7, 0},      {1, 1, 1},
                                             {31, 33, 32},   {33, 31, 65},   {1, 1009, 3},   {1009, 1, 3},
                                             {2, 3, 307},    {127, 129, 65}, {128, 256, 16}, {129, 260, 8},
                                             {257, 132, 17}, {36, 64, 515},  {300, 20, 40}};

// ---- tensor cores -------------------------------------------------------------------------------------------------

void show_tensor_cores(warpwise::Lesson& lesson) {
#ifdef __CPU_DEVICE__
    lesson.text("Tensor cores (TF32 and bf16) are not shown here: the CPU device has none. A GPU from sm_80 on has.");
#else
    const warpwise::Sizes sizes = {.gpu = {4096, 4096, 4096}, .cpu = {}, .awkward = awkward};
    const auto tf32 = tf32_steps();
    const auto bf16 = bf16_steps();
    if (tf32.empty() && bf16.empty()) {
        lesson.text("Tensor cores are not shown: this GPU has none for TF32 and bf16. From sm_80 on all have.");
        return;
    }
    lesson.text(
        R"(Tensor cores multiply small matrices with one instruction of a warp, or of four warps. They take
inputs of fewer bits, and add up in float. TF32 keeps 11 significant bits of a float, bf16 keeps 8 in 16 bits. Inputs
are rounded before the clock starts, so `check` is about the sums alone; `error with rounding` is the distance from
the product of the floats as they were. B is given transposed, to the steps and to cuBLAS alike.)");
    if (!tf32.empty()) lesson.steps<Tf32Product>(sizes, tf32);
    if (!bf16.empty()) lesson.steps<Bf16Product>(sizes, bf16);
    lesson.text(
        R"(An H200 needs all of it. With fragments from global memory its tensor cores do 10 TFLOP/s of TF32 and 20
of bf16, less than half of what product_pipeline does without them. mma_cp_async has a third of what the datasheet
says, and half of what cuBLAS has. What makes up the rest are wgmma and the tensor memory accelerator: with them both
precisions are where cuBLAS is. And bf16 has its price: 3 bits less of each input, 8 times the error.)");
#endif
}

}  // namespace

void matrix_multiply(warpwise::Lesson& lesson) {
    lesson.text(
        R"(A matrix product: each element of C is a row of A times a column of B. For matrices of n x n that is
2 n^3 operations on 3 n^2 floats. With n = 4096 each float is worth 2700 operations; an H200 does 56 while its memory
delivers one (66.9 TFLOP/s and 4.8 TB/s, by the datasheet). So this is a problem that arithmetic
limits, not memory: if each float is fetched once, or at least not too often.

What you will see: a product in which every operand comes from global memory, then from shared memory, then from
registers; each time the operands of a multiply-add come from nearer by and serve more of them. In the end nothing is
left in the inner loop but multiply-adds. Two side branches add up with compensation.

Before you look, three predictions. An SM starts four warp-wide instructions a cycle, four multiply-adds at best, and
its shared memory makes one pass a cycle. With tiles of 32 x 32, one thread an element: how many loads from shared
memory does a multiply-add need, and so at best what share of the SM's speed is left? If a thread computes 8 x 8
elements instead: how many? And in which step does a load of 16 bytes make things worse?)");

    std::vector<warpwise::Step<Multiplication>> steps;
    for (const Method& method : methods) steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cublasSgemm, default math mode", vendor, warpwise::StepKind::vendor});
#endif
    warpwise::Sizes sizes = {.gpu = {4096, 4096, 4096}, .cpu = {128, 128, 64}, .awkward = awkward};
    // More than 65,535 tiles in one direction. This takes the CPU device minutes.
    if (warpwise::Lesson::on_gpu()) sizes.awkward.insert(sizes.awkward.end(), {{2100000, 1, 1}, {1, 2100000, 1}});
    lesson.steps<Multiplication>(sizes, steps);

    count_loads(lesson);
    lesson.text(
        R"(The answers. A thread an element needs two operands from shared memory for each multiply-add: two
passes, and so at most one multiply-add in two cycles, where the SM could do eight. (nvcc takes four neighbors of a
row of A with one load, here and in the next two steps; the counts follow the source.) With a column of 8 elements a
thread, the element of B serves eight times: 9/8. With 8 x 8 it is an outer product, 16 operands for 64
multiply-adds, a quarter of a pass each: just what the SM can do beside four multiply-adds a cycle, if nothing else
happens.

So a tile that all threads share is not what does it. On an H200 product_tile is slower than product_pitched, whose
threads have four sums each: an element of A serves four times, and a load of B is 16 bytes. The gains come with sums
in registers: 2.2 times for 8 of them, and 1.6 times more for 8 x 8.

Loads of 16 bytes cut the loads to 4 for 64 multiply-adds, which leaves more instructions to be multiply-adds. But
look at the passes: 20 instead of 16. A load of 16 bytes is served 8 lanes at a time, and their pieces of B lie 32
bytes apart, so that two of them meet in each bank. Arranged otherwise, the same lanes need 8: pieces side by side,
and lanes in pairs that want the same, which are served 16 at a time. On an H200 fewer loads bring 19 %, and the other
arrangement brings 22 %.

Then passes are no longer what limits. Each instruction that is no multiply-add takes the place of one, so count
those: the inner loop of the last plain step has 1024 multiply-adds among 1168 instructions, 88 % (nvcc 13.0 for
sm_90). With 16 x 8 elements a thread there would be fewer others, 92 %. But such a thread needs twice the registers,
an SM has room for 8 warps instead of 16, and on an H200 that was a tenth slower: the sums of a thread do not wait for
each other, but its loads have to arrive, and the barrier at the end of a tile has to be passed.)");

    show_errors(lesson);
    lesson.text(
        R"(Each addition to a large sum rounds away what is too small for its last place. Over many terms of one
sign that adds up: the plain error grows with k, while the compensated sum stays at the last place. The price is four
operations instead of one, and it depends on what limits: in product_tile_kahan the multiply-add units had been
waiting for shared memory anyway, and on an H200 it takes 10 % longer. In the pipeline, where they are all that
counts, predict a quarter of the plain speed.)");

    if (lesson.measures()) {
        print_measured_rates(lesson);
    } else {
        print_recorded_rates(lesson);
        lesson.text(
            R"(On a GPU the table shows operations a second, and beside them cublasSgemm with its mode pinned, so
that it does not round the inputs. The CPU device copies at once where a GPU's cp.async copies in the background; all
else of the pipeline is as on a GPU. The column `occupancy` supposes 32 registers a thread; --registers takes the
real number.)");
    }
    show_tensor_cores(lesson);

    lesson.text(
        R"(The rule to take along: count what each multiply-add asks of every level, and move the operands up a
level until none of them is asked for more than it can give. Registers are the largest memory of an SM, 256 KB, and
the only one that feeds the arithmetic at full speed.

Mistakes to avoid: guarding the store but not the loads (the exercise tiled_product_any_size); leaving out the second
barrier, so that a fast warp overwrites the tile that a slow one still reads; leaving threads at the edge before a
barrier that others wait at; guarding by a branch inside of the inner loop, where a zero in the tile does the same; n
where the row length is k; comparing with a library that rounds to TF32 without asking.

Try next: where do the passes come from? Then change PlainSizes in matrix_multiply_pipeline.h: thread tiles of 16 x 8 in
warp tiles of 64 x 64 and blocks of 128 x 128, two on an SM. What do the counts say, and what would the registers?

    examples matrix_multiply --lines --step product_float4
    examples matrix_multiply --size 127x129x65 --check
    examples matrix_multiply --size 100x100x1 --step product_warp_tiles)");
}

}  // namespace examples
