// Problem: C = A B for an m x k matrix A and a k x n matrix B of floats, all stored row
// after row.
//
// Each of the m n elements of C is a sum of k products. That is 2 m n k operations on no
// more than m k + k n + m n floats. So the larger the matrices are, the more often each
// float is used, and the less the memory needs to limit. A good product is limited by the
// multiply-add units alone. Each step below removes something that stands in their way:
// first global memory, then shared memory, and in the end the instructions that are not
// multiply-adds.
//
// Extents may be anything, 0 included: a product with k = 0 is a matrix of zeros.
//
// The kernels are in step_01_row_per_block.cuh to step_23_larger_thread_tile.cuh, one step
// per file, to be read in this order. tiles.cuh and pipeline.cuh have what they share. This
// file launches them, predicts what they ask of the memories, and compares. Tensor cores
// are the subject of chapter 5.
#include <cuda_runtime.h>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chapters/4_examples/matrix_multiply/product.h"
#include "chapters/4_examples/matrix_multiply/step_01_row_per_block.cuh"
#include "chapters/4_examples/matrix_multiply/step_02_row_in_shared.cuh"
#include "chapters/4_examples/matrix_multiply/step_03_pitched.cuh"
#include "chapters/4_examples/matrix_multiply/step_04_tile.cuh"
#include "chapters/4_examples/matrix_multiply/step_05_tile_kahan.cuh"
#include "chapters/4_examples/matrix_multiply/step_06_column_per_thread.cuh"
#include "chapters/4_examples/matrix_multiply/step_07_square_per_thread.cuh"
#include "chapters/4_examples/matrix_multiply/step_08_float4_global.cuh"
#include "chapters/4_examples/matrix_multiply/step_09_transposed.cuh"
#include "chapters/4_examples/matrix_multiply/step_10_float4_shared.cuh"
#include "chapters/4_examples/matrix_multiply/step_11_double_buffer.cuh"
#include "chapters/4_examples/matrix_multiply/step_12_split_tile.cuh"
#include "chapters/4_examples/matrix_multiply/step_13_warp_tiles.cuh"
#include "chapters/4_examples/matrix_multiply/step_14_cp_async.cuh"
#include "chapters/4_examples/matrix_multiply/step_15_no_guards.cuh"
#include "chapters/4_examples/matrix_multiply/step_16_register_prefetch.cuh"
#include "chapters/4_examples/matrix_multiply/step_17_deeper_tiles.cuh"
#include "chapters/4_examples/matrix_multiply/step_18_smaller_blocks.cuh"
#include "chapters/4_examples/matrix_multiply/step_19_no_launch_bound.cuh"
#include "chapters/4_examples/matrix_multiply/step_20_block_order.cuh"
#include "chapters/4_examples/matrix_multiply/step_21_tuning.cuh"
#include "chapters/4_examples/matrix_multiply/step_22_kahan.cuh"
#include "chapters/4_examples/matrix_multiply/step_23_larger_thread_tile.cuh"
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

using warpwise::DeviceBuffer;
using warpwise::text_of;

// ---- the problem and its launches -------------------------------------------------------

// The product, and a second copy of B whose rows all begin at multiples of 128 bytes.
// Between the end of a row and the beginning of the next are zeros.
struct Multiplication : FloatProduct {
    std::size_t pitch;  // floats from row to row of d_b_pitched
    DeviceBuffer<float> d_b_pitched;

    explicit Multiplication(const warpwise::Size& size)
        : FloatProduct(size), pitch(pitch_of(n)), d_b_pitched(k * pitch) {
        d_b_pitched.fill_bytes(0);
        if (k * n == 0) return;
        warpwise::check(cudaMemcpy2D(d_b_pitched.data(), pitch * sizeof(float), d_b.data(),
                                     n * sizeof(float), n * sizeof(float), k,
                                     cudaMemcpyDeviceToDevice));
    }

    Extents extents() const { return {m, n, k}; }

    static std::size_t pitch_of(std::size_t n) {
        return warpwise::ceil_div(n, kLanes) * kLanes;
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return FloatProduct::device_bytes(size) +
               sizeof(float) * size[2] * pitch_of(size[1]);
    }
};

void row_per_block(Multiplication& problem) {
    if (problem.m == 0) return;
    product_row_per_block<<<warpwise::blocks_for(problem.m, 1), kRowThreads>>>(
        problem.d_a.data(), problem.d_b.data(), problem.d_c.data(), problem.extents());
    warpwise::check_launch();
}

void row_in_shared(Multiplication& problem) {
    if (problem.m == 0) return;
    product_row_in_shared<<<warpwise::blocks_for(problem.m, 1), kRowThreads>>>(
        problem.d_a.data(), problem.d_b.data(), problem.d_c.data(), problem.extents());
    warpwise::check_launch();
}

void pitched(Multiplication& problem) {
    if (problem.m == 0) return;
    product_pitched<<<warpwise::blocks_for(problem.m, 1), kRowThreads>>>(
        problem.d_a.data(), problem.d_b_pitched.data(), problem.d_c.data(),
        problem.extents(), problem.pitch);
    warpwise::check_launch();
}

using TileKernel = void (*)(const float*, const float*, float*, Extents);

void launch_tiles(TileKernel kernel, Multiplication& problem, unsigned tile_rows,
                  unsigned tile_cols, unsigned threads) {
    const std::size_t tiles =
        warpwise::ceil_div(problem.m, tile_rows) * warpwise::ceil_div(problem.n, tile_cols);
    if (tiles == 0) return;
    kernel<<<warpwise::blocks_for(tiles, 1), threads>>>(
        problem.d_a.data(), problem.d_b.data(), problem.d_c.data(), problem.extents());
    warpwise::check_launch();
}

void tile(Multiplication& problem) {
    launch_tiles(product_tile, problem, TILE, TILE, TILE * TILE);
}

void tile_kahan(Multiplication& problem) {
    launch_tiles(product_tile_kahan, problem, TILE, TILE, TILE * TILE);
}

void column_per_thread(Multiplication& problem) {
    constexpr unsigned BM = 64, BN = 64, BK = 8, TM = 8;
    launch_tiles(product_column_per_thread<BM, BN, BK, TM>, problem, BM, BN, BM * BN / TM);
}

// Steps 7 to 13 have the same tiles.
constexpr unsigned BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;

template <TileKernel kernel>
void thread_tiles(Multiplication& problem) {
    launch_tiles(kernel, problem, BM, BN, BM * BN / (TM * TN));
}

// Steps 14 to 23 have a kernel for rows of B that begin at multiples of 16 bytes, and one
// for others.
template <class Sizes, TileKernel aligned, TileKernel any>
void pipelined(Multiplication& problem) {
    launch_tiles(problem.n % 4 == 0 ? aligned : any, problem, Sizes::BM, Sizes::BN,
                 Tiling<Sizes>::threads);
}

// ---- what a user would call instead -----------------------------------------------------

#ifndef __CPU_DEVICE__
// cuBLAS counts down the columns: our rows are its columns, and C = A B is for it the
// transpose of C, which is the transpose of B times the transpose of A. In its default mode
// `Sgemm` computes with floats as they are; the modes that round them to TF32 on the way
// would not be the same product. So the mode is set, not taken as found.
void vendor(Multiplication& problem) {
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    if (problem.m == 0 || problem.n == 0) return;
    const int m = warpwise::cublas_extent(problem.m),
              n = warpwise::cublas_extent(problem.n),
              k = warpwise::cublas_extent(problem.k);
    if (k == 0) {
        warpwise::check(cudaMemsetAsync(problem.d_c.data(), 0, problem.d_c.bytes()));
        return;
    }
    warpwise::check_cublas(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    const float one = 1, zero = 0;
    const float *const a = problem.d_a.data(), *const b = problem.d_b.data();
    warpwise::check_cublas(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b,
                                       n, a, k, &zero, problem.d_c.data(), n));
}
#endif

// ---- what the steps ask of both memories ------------------------------------------------

// A step, and what the text predicts for each multiply-add of a warp when all tiles are
// whole and n is 128.
struct Method {
    const char* name;
    const char* change;
    void (*run)(Multiplication&);
    double global_floats;      // per lane, touched by loads from global memory
    double loads, wavefronts;  // of shared memory
};
constexpr std::size_t kCountedN = 128, kCountedK = 64;
constexpr double ahead = 1 + 1.0 / kCountedK;  // steps 16 to 23 fetch one term too many
constexpr std::array<Method, 23> methods = {{
    {"product_row_per_block", "one block per row of C, one thread per element",
     row_per_block, 1.25, 0, 0},
    {"product_row_in_shared", "the row of A in shared memory", row_in_shared,
     1 + 1.0 / kCountedN, 1, 1},
    {"product_pitched", "rows of B aligned, four columns per thread", pitched,
     1 + 1.0 / kCountedN, 0.25, 0.25},
    {"product_tile", "square tiles in shared memory", tile, 1.0 / 16, 2, 2},
    {"product_tile_kahan", "side branch: compensated sums", tile_kahan, 1.0 / 16, 2, 2},
    {"product_column_per_thread", "8 elements of C per thread", column_per_thread, 1.0 / 32,
     9.0 / 8, 9.0 / 8},
    {"product_square_per_thread", "8 x 8 elements of C per thread",
     thread_tiles<product_square_per_thread<BM, BN, BK, TM, TN>>, 1.0 / 64, 16.0 / 64,
     16.0 / 64},
    {"product_float4_global", "16 bytes per load from global memory",
     thread_tiles<product_float4_global<BM, BN, BK, TM, TN>>, 1.0 / 64, 16.0 / 64,
     16.0 / 64},
    {"product_transposed", "the tile of A transposed, and nothing else",
     thread_tiles<product_transposed<BM, BN, BK, TM, TN>>, 1.0 / 64, 16.0 / 64, 16.0 / 64},
    {"product_float4_shared", "16 bytes per load from shared memory",
     thread_tiles<product_float4_shared<BM, BN, BK, TM, TN>>, 1.0 / 64, 4.0 / 64,
     20.0 / 64},
    {"product_double_buffer", "the next tiles are loaded meanwhile",
     thread_tiles<product_double_buffer<BM, BN, BK, TM, TN>>, 1.0 / 64, 4.0 / 64,
     20.0 / 64},
    {"product_split_tile", "the thread tile in four parts: no bank conflicts",
     thread_tiles<product_split_tile<BM, BN, BK, TM, TN>>, 1.0 / 64, 4.0 / 64, 12.0 / 64},
    {"product_warp_tiles", "64 x 32 elements per warp, lanes 8 x 4",
     thread_tiles<product_warp_tiles<BM, BN, BK, TM, TN>>, 1.0 / 64, 4.0 / 64, 8.0 / 64},
    {"product_cp_async", "copies to shared memory by cp.async",
     pipelined<WarpTileSizes, product_cp_async<WarpTileSizes, 4>,
               product_cp_async<WarpTileSizes, 1>>,
     1.0 / 64, 4.0 / 64, 8.0 / 64},
    {"product_no_guards", "no guards in the loop",
     pipelined<WarpTileSizes, product_no_guards<WarpTileSizes, 4>,
               product_no_guards<WarpTileSizes, 1>>,
     1.0 / 64, 4.0 / 64, 8.0 / 64},
    {"product_register_prefetch", "operands of the next term are fetched ahead",
     pipelined<WarpTileSizes, product_register_prefetch<WarpTileSizes, 4>,
               product_register_prefetch<WarpTileSizes, 1>>,
     1.0 / 64, 4.0 / 64 * ahead, 8.0 / 64 * ahead},
    {"product_deeper_tiles", "the same with BK = 16",
     pipelined<DeeperTileSizes, product_register_prefetch<DeeperTileSizes, 4>,
               product_register_prefetch<DeeperTileSizes, 1>>,
     1.0 / 64, 4.0 / 64 * ahead, 8.0 / 64 * ahead},
    {"product_smaller_blocks", "the same with BM = 64, four blocks per SM",
     pipelined<SmallerBlockSizes, product_register_prefetch<SmallerBlockSizes, 4>,
               product_register_prefetch<SmallerBlockSizes, 1>>,
     3.0 / 128, 4.0 / 64 * ahead, 8.0 / 64 * ahead},
    {"product_no_launch_bound", "side branch: the same without launch bound",
     pipelined<UnboundedSizes, product_register_prefetch<UnboundedSizes, 4>,
               product_register_prefetch<UnboundedSizes, 1>>,
     3.0 / 128, 4.0 / 64 * ahead, 8.0 / 64 * ahead},
    {"product_block_order", "blocks go through C in groups of 32 rows of tiles",
     pipelined<BlockOrderSizes, product_block_order<BlockOrderSizes, 4>,
               product_block_order<BlockOrderSizes, 1>>,
     3.0 / 128, 4.0 / 64 * ahead, 8.0 / 64 * ahead},
    {"product_pipeline", "tuning: order of the multiply-adds, registers",
     pipelined<TunedSizes, product_pipeline<TunedSizes, 4>,
               product_pipeline<TunedSizes, 1>>,
     3.0 / 128, 4.0 / 64 * ahead, 8.0 / 64 * ahead},
    {"product_pipeline_kahan", "side branch: compensated sums",
     pipelined<CompensatedSizes, product_pipeline<CompensatedSizes, 4>,
               product_pipeline<CompensatedSizes, 1>>,
     3.0 / 128, 4.0 / 64 * ahead, 8.0 / 64 * ahead},
    {"product_pipeline_16x8", "side branch: 16 x 8 elements per thread, 8 warps per SM",
     pipelined<LargerThreadTileSizes, product_pipeline<LargerThreadTileSizes, 4>,
               product_pipeline<LargerThreadTileSizes, 1>>,
     1.0 / 64, 6.0 / 128 * ahead, 12.0 / 128 * ahead},
}};
// product_warp_tiles and the steps after it.
constexpr std::size_t kFirstTimedForShapes = 12;

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
        const double global_floats =
            counts->global_load.bytes_moved() / sizeof(float) / kLanes / multiply_adds;
        const double loads = counts->shared_load.requests / multiply_adds;
        const double wavefronts = counts->shared_load.wavefronts / multiply_adds;
        const auto same = [](double counted, double predicted) {
            return std::fabs(counted - predicted) < 1e-9;
        };
        lesson.expect(same(global_floats, method.global_floats),
                      name + "as many floats of global memory");
        lesson.expect(same(loads, method.loads), name + "as many loads from shared memory");
        lesson.expect(same(wavefronts, method.wavefronts),
                      name + "as many wavefronts of shared memory");
        const auto text = [](double value) { return text_of("%.4f", value); };
        rows.push_back({method.name, text(global_floats), text(loads), text(wavefronts)});
    }
    if (rows.empty()) return;  // on a GPU, and with --no-counters
    lesson.table(
        {"counts",
         "What each multiply-add of a warp asks for, 128 x 128 x 64: counted, and as "
         "predicted"},
        {"step", "floats of global memory per lane", "loads from shared memory",
         "wavefronts"},
        rows);
}

// ---- what a compensated sum gains -------------------------------------------------------

// The largest relative error of any element of a 32 x 32 product with k terms, all positive
// so that sums only grow. Returns that of the plain kernel and that of the compensated one.
std::pair<double, double> relative_errors(std::size_t k) {
    const std::vector<float> a = warpwise::uniform<float>(TILE * k, 45, 0, 1);
    const std::vector<float> b = warpwise::uniform<float>(k * TILE, 46, 0, 1);
    std::vector<double> expected(TILE * TILE);
    warpwise::parallel_for_parts(
        TILE, TILE, [&](std::size_t row, std::size_t, std::size_t) {
            for (std::size_t p = 0; p < k; ++p) {
                for (std::size_t col = 0; col < TILE; ++col)
                    expected[row * TILE + col] +=
                        static_cast<double>(a[row * k + p]) * b[p * TILE + col];
            }
        });
    DeviceBuffer<float> d_a(a), d_b(b), d_c(TILE * TILE);
    const auto error_of = [&](TileKernel kernel) {
        d_c.fill_bytes(0xFF);
        kernel<<<1, TILE * TILE>>>(d_a.data(), d_b.data(), d_c.data(), {TILE, TILE, k});
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
    const std::size_t largest =
        lesson.measures() ? std::size_t{1} << 20 : std::size_t{1} << 12;
    std::vector<std::vector<std::string>> rows;
    std::pair<double, double> last;
    for (std::size_t k = 128; k <= largest; k *= lesson.measures() ? 8 : 4) {
        last = relative_errors(k);
        rows.push_back(
            {std::to_string(k), text_of("%.1e", last.first), text_of("%.1e", last.second)});
    }
    lesson.table({"error", "Largest relative error against k"},
                 {"k", "product_tile", "product_tile_kahan"}, rows);
    constexpr double half_unit = std::numeric_limits<float>::epsilon() / 2;
    lesson.expect(last.second <= 2 * half_unit,
                  "compensated sums err by no more than two halves of the last place");
    lesson.expect(last.first >= 8 * last.second,
                  "plain sums of many terms err at least eight times as much");
}

// ---- what a clock says ------------------------------------------------------------------

// Shapes that a GPU is timed with: two that fill it, and one whose rows begin anywhere and
// whose tiles are cut.
struct Shape {
    std::size_t m, n, k;
    std::string text() const {
        return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
    }
    warpwise::Size size() const { return {m, n, k}; }
};
constexpr std::array<Shape, 3> timed_shapes = {
    {{4096, 4096, 4096}, {8192, 8192, 8192}, {4099, 4111, 4127}}};

std::vector<std::string> rates_header() {
    std::vector<std::string> header = {"step"};
    for (const Shape& shape : timed_shapes) header.push_back(shape.text());
    return header;
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
            lesson.expect(problem.compare().passed,
                          name + ", " + shape.text() + ": the product is right");
            candidates.push_back({[run = run, &problem] { run(problem); }, false});
        }
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(candidates);
        for (std::size_t i = 0; i < timed.size(); ++i)
            rows[i].push_back(
                text_of("%.1f", problem.work().operations / timings[i].median * 1e-12));
    }
    lesson.table({"shapes", "TFLOP/s for each shape"}, rates_header(), rows);
}

const std::vector<warpwise::Size> awkward = {
    {0, 5, 7},      {5, 0, 7},     {5, 7, 0},      {1, 1, 1},     {31, 33, 32},
    {33, 31, 65},   {1, 1009, 3},  {1009, 1, 3},   {2, 3, 307},   {127, 129, 65},
    {128, 256, 16}, {129, 260, 8}, {257, 132, 17}, {36, 64, 515}, {300, 20, 40}};

}  // namespace

void matrix_multiply(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A product of n x n matrices takes 2 n^3 operations on 3 n^2 floats, so
arithmetic should limit it, not memory. Where do the operands of a multiply-add have to
come from, and how often must each be used, for this to be true?)");
    lesson.predict(
        {.question = R"(With 32 x 32 tiles in shared memory and one output per
thread, how many loads from shared memory does each multiply-add need?)",
         .answer = warpwise::Number{.value = 2, .unit = "loads"},
         .because = R"(One element of A and one of B, and each is used once by the
thread.)"});
    lesson.predict(
        {.question = R"(With tiles in shared memory and 8 x 8 outputs per thread,
how many loads from shared memory does each multiply-add need?)",
         .answer = warpwise::Number{.value = 0.25, .unit = "loads"},
         .because = R"(8 elements of A and 8 of B are enough for 64 multiply-adds:
16 / 64.)"});

    std::vector<warpwise::Step<Multiplication>> steps;
    for (const Method& method : methods)
        steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    steps.push_back(
        {"vendor", "cublasSgemm, default math mode", vendor, warpwise::StepKind::vendor});
#endif
    warpwise::Sizes sizes = {
        .gpu = {4096, 4096, 4096}, .cpu = {128, 128, 64}, .awkward = awkward};
    // More than 65,535 tiles in one direction. This takes the CPU device minutes.
    if (warpwise::Lesson::on_gpu())
        sizes.awkward.insert(sizes.awkward.end(), {{2100000, 1, 1}, {1, 2100000, 1}});
    lesson.steps<Multiplication>(sizes, steps);

    count_loads(lesson);
    lesson.conclusion(
        R"(One element per thread needs two wavefronts per multiply-add, an eighth of the
SM's speed at best. 8 x 8 elements need a quarter of a wavefront. In
product_float4_shared, 16-byte loads take 20 wavefronts instead of 16 per 64
multiply-adds, because two lanes meet in each bank. Split tiles need 12, and warp tiles
8.)");
    lesson.question(
        R"(How exact are these sums? An addition to a large sum rounds away what is too
small for its last place. Kahan's compensated sum keeps it, with four operations instead
of one.)");
    lesson.predict(
        {.question = R"(A plain float sum over terms of one sign becomes longer with
k. What happens to the largest relative error of the product?)",
         .answer =
             warpwise::Choice{
                 {"it grows with k", "it stays the same", "it becomes smaller with k"}, 0},
         .because = R"(Each addition rounds, and the larger the sum is, the coarser
the roundings. The compensated sum stays exact to the last place.)"});

    show_errors(lesson);
    lesson.conclusion(
        R"(Over terms of one sign, the plain error grows with k, while the compensated sum
stays exact to the last place. Its price depends on the limiter: product_tile waits for
shared memory, so it pays little. In the pipeline the multiply-add units are the limit, so
expect a quarter of the speed.)");

    lesson.question(
        R"(How much of this shows in the time? The table has all shapes, and
cublasSgemm with its math mode set so that it does not round the inputs.)");
    lesson.predict(
        {.question = R"(4099 x 4111 x 4127 is hardly larger than 4096 x 4096 x 4096, but no
extent divides evenly, and rows begin anywhere. What fraction of its TFLOP/s does
product_pipeline keep on a GPU?)",
         .answer =
             warpwise::Measured{
                 .by =
                     warpwise::CellRatio{
                         {"shapes", {"product_pipeline"}, "4099 x 4111 x 4127"},
                         {"shapes", {"product_pipeline"}, "4096 x 4096 x 4096"}},
                 .factor = 1.15},
         .because = R"(Rows that begin anywhere cannot be loaded 16 bytes at a time, and the
tiles at the edges are partly empty.)"});
    if (lesson.measures()) {
        print_measured_rates(lesson);
    } else {
        lesson.show_recorded("shapes");
    }
    lesson.conclusion(
        R"(On an H200 the large gains come with sums in registers, whose operands each
serve several multiply-adds. After that, each instruction that is not a multiply-add takes
the place of one, so the last steps remove such instructions and the waiting. On any GPU,
move operands up until no level of memory is asked for more than it can deliver.)");
}

}  // namespace examples
