// Problem: one block of GPT-2, the network of which a small model has 12: layer norm,
// attention, and two products with GELU between them, each half added to what went into it
// (block.h has the formulas). Nothing in it is new: softmax, layer norm, and matrix product
// are lessons of this chapter. Here they stand in one program, in float, and the question
// is which of them is worth replacing.
//
// Step 1 has all parts naive. Each further step replaces one of them, so that the total
// falls, and the tables say what each part takes.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "chapters/4_examples/transformer_block/block.h"
#include "chapters/4_examples/transformer_block/step_01_naive.cuh"
#include "chapters/4_examples/transformer_block/step_02_norm_by_warp.cuh"
#include "chapters/4_examples/transformer_block/step_03_shared_tile.cuh"
#include "chapters/4_examples/transformer_block/step_04_register_tile.cuh"
#include "chapters/4_examples/transformer_block/step_05_online_attention.cuh"
#include "chapters/4_examples/transformer_block/step_06_fused_products.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/counts.h"
#include "common/helpers/cublas.h"
#include "common/helpers/instrument.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"
#include "common/lesson/roofline.h"

namespace examples {
namespace {

using warpwise::text_of;

// ---- layer norms ------------------------------------------------------------------------

void norm_naive(const Block& b, const float* d_in, const Norm& norm, float* d_out) {
    norm_by_thread<<<warpwise::blocks_for(b.tokens, kThreads), kThreads>>>(
        d_in, b.tokens, b.width, norm.d_gamma.data(), norm.d_beta.data(), d_out);
    warpwise::check_launch();
}

void norm_warp(const Block& b, const float* d_in, const Norm& norm, float* d_out) {
    norm_by_warp<<<warpwise::blocks_for(b.tokens, kWarps), kThreads>>>(
        d_in, b.tokens, b.width, norm.d_gamma.data(), norm.d_beta.data(), d_out);
    warpwise::check_launch();
}

// ---- products ---------------------------------------------------------------------------

// Of rows of `linear.in` floats, one per token, with the weights.
Extents extents_of(const Block& b, const Linear& linear) {
    return {b.tokens, linear.out, linear.in};
}

void product_naive(const Block& b, const float* d_in, const Linear& linear, float* d_out) {
    const dim3 block(kLanes, kWarps);
    product_by_thread<<<warpwise::blocks_for_matrix(b.tokens, linear.out, block), block>>>(
        d_in, linear.d_weights.data(), d_out, extents_of(b, linear));
    warpwise::check_launch();
}

void product_tile(const Block& b, const float* d_in, const Linear& linear, float* d_out) {
    const std::size_t tiles =
        warpwise::ceil_div(b.tokens, TILE) * warpwise::ceil_div(linear.out, TILE);
    product_shared_tile<<<warpwise::blocks_for(tiles, 1), TILE * TILE>>>(
        d_in, linear.d_weights.data(), d_out, extents_of(b, linear));
    warpwise::check_launch();
}

std::size_t register_tiles(const Block& b, const Linear& linear) {
    return warpwise::ceil_div(b.tokens, BM) * warpwise::ceil_div(linear.out, BN);
}

void product_registers(const Block& b, const float* d_in, const Linear& linear,
                       float* d_out) {
    product_register_tile<<<warpwise::blocks_for(register_tiles(b, linear), 1), kThreads>>>(
        d_in, linear.d_weights.data(), d_out, extents_of(b, linear));
    warpwise::check_launch();
}

template <class Epilogue>
void product_and(const Block& b, const float* d_in, const Linear& linear, float* d_out,
                 Epilogue epilogue) {
    product_fused<<<warpwise::blocks_for(register_tiles(b, linear), 1), kThreads>>>(
        d_in, linear.d_weights.data(), d_out, extents_of(b, linear), epilogue);
    warpwise::check_launch();
}

#ifndef __CPU_DEVICE__
// cuBLAS counts down the columns: our rows are its columns (lesson matrix_multiply).
void product_cublas(const Block& b, const float* d_in, const Linear& linear, float* d_out) {
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    const int m = warpwise::cublas_extent(b.tokens),
              n = warpwise::cublas_extent(linear.out),
              k = warpwise::cublas_extent(linear.in);
    warpwise::check_cublas(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    const float one = 1, zero = 0;
    warpwise::check_cublas(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one,
                                       linear.d_weights.data(), n, d_in, k, &zero, d_out,
                                       n));
}
#endif

// ---- attention --------------------------------------------------------------------------

Heads heads_of(const Block& b) { return {b.tokens, b.heads, b.head()}; }

void attention_naive(Block& b) {
    const dim3 block(kLanes, kWarps);
    dim3 grid = warpwise::blocks_for_matrix(b.tokens, b.tokens, block);
    grid.z = static_cast<unsigned>(b.heads);
    scores_of_all<<<grid, block>>>(b.d_qkv.data(), heads_of(b), b.d_scores.data());
    warpwise::check_launch();
    const std::size_t rows = b.heads * b.tokens;
    softmax_by_thread<<<warpwise::blocks_for(rows, kThreads), kThreads>>>(b.d_scores.data(),
                                                                          rows, b.tokens);
    warpwise::check_launch();
    weigh_values<<<warpwise::blocks_for_matrix(b.tokens, b.width, block), block>>>(
        b.d_scores.data(), b.d_qkv.data(), heads_of(b), b.d_attended.data());
    warpwise::check_launch();
}

template <unsigned Head>
void launch_attention_online(Block& b) {
    const std::size_t blocks = b.heads * warpwise::ceil_div(b.tokens, kRows);
    attention_online<Head><<<warpwise::blocks_for(blocks, 1), kAttentionWarps * kLanes>>>(
        b.d_qkv.data(), heads_of(b), b.d_attended.data());
    warpwise::check_launch();
}

void attention_fused(Block& b) {
    return b.head() <= 32 ? launch_attention_online<32>(b) : launch_attention_online<64>(b);
}

// ---- element by element -----------------------------------------------------------------

void with_bias(const Block& b, const float* d_in, const Linear& linear, float* d_out) {
    const std::size_t count = b.tokens * linear.out;
    add_bias<<<warpwise::blocks_for(count, kThreads), kThreads>>>(
        d_in, linear.d_bias.data(), count, linear.out, d_out);
    warpwise::check_launch();
}

void with_residual(const Block& b, const float* d_in, const float* d_residual,
                   float* d_out) {
    const std::size_t count = b.tokens * b.width;
    add<<<warpwise::blocks_for(count, kThreads), kThreads>>>(d_in, d_residual, count,
                                                             d_out);
    warpwise::check_launch();
}

void with_gelu(const Block& b, const float* d_in, float* d_out) {
    const std::size_t count = b.tokens * b.up.out;
    gelu<<<warpwise::blocks_for(count, kThreads), kThreads>>>(d_in, count, d_out);
    warpwise::check_launch();
}

// ---- the block --------------------------------------------------------------------------

// Which kernels a step takes. `product` is null where bias, GELU, and residual are fused
// into the products.
struct Method {
    const char* name;
    const char* change;
    void (*norm)(const Block&, const float* d_in, const Norm&, float* d_out);
    void (*product)(const Block&, const float* d_in, const Linear&, float* d_out);
    void (*attention)(Block&);

    bool is_fused() const { return product == nullptr; }
};

enum class Part { all, norms, products, attention, elements };

// Runs the block, or only the kernels of one part of it, on what is in the buffers: that is
// how a part is counted and timed. No kernel overwrites what it reads, except the softmax
// of the scores, so each part can run again.
void run(Block& b, const Method& method, Part only = Part::all) {
    if (b.tokens == 0) return;
    const auto takes = [only](Part part) { return only == Part::all || only == part; };
    const bool norms = takes(Part::norms), products = takes(Part::products),
               elements = takes(Part::elements) && !method.is_fused();
    float *const x = b.d_x.data(), *const normed = b.d_normed.data(),
                 *const qkv = b.d_qkv.data(), *const attended = b.d_attended.data(),
                 *const middle = b.d_middle.data(), *const inner = b.d_inner.data(),
                 *const out = b.d_out.data(), *const sums = b.d_sums.data(),
                 *const biased = b.d_biased.data();

    if (norms) method.norm(b, x, b.first_norm, normed);
    if (products && method.is_fused())
        product_and(b, normed, b.qkv, qkv, Bias{b.qkv.d_bias.data()});
    if (products && !method.is_fused()) method.product(b, normed, b.qkv, sums);
    if (elements) with_bias(b, sums, b.qkv, qkv);

    if (takes(Part::attention)) method.attention(b);

    if (products && method.is_fused())
        product_and(b, attended, b.projection, middle,
                    BiasAndResidual{b.projection.d_bias.data(), x});
    if (products && !method.is_fused()) method.product(b, attended, b.projection, sums);
    if (elements) {
        with_bias(b, sums, b.projection, biased);
        with_residual(b, biased, x, middle);
    }

    if (norms) method.norm(b, middle, b.second_norm, normed);
    if (products && method.is_fused())
        product_and(b, normed, b.up, inner, BiasAndGelu{b.up.d_bias.data()});
    if (products && !method.is_fused()) method.product(b, normed, b.up, sums);
    if (elements) {
        with_bias(b, sums, b.up, biased);
        with_gelu(b, biased, inner);
    }

    if (products && method.is_fused())
        product_and(b, inner, b.down, out, BiasAndResidual{b.down.d_bias.data(), middle});
    if (products && !method.is_fused()) method.product(b, inner, b.down, sums);
    if (elements) {
        with_bias(b, sums, b.down, biased);
        with_residual(b, biased, middle, out);
    }
}

const std::vector<Method> methods = {
    {"all_naive", "each part as its formula reads", norm_naive, product_naive,
     attention_naive},
    {"norm_by_warp", "layer norm by a warp per row, Welford's sum", norm_warp,
     product_naive, attention_naive},
    {"shared_tile", "products by tiles in shared memory", norm_warp, product_tile,
     attention_naive},
    {"register_tile", "4 x 4 elements per thread, in registers", norm_warp,
     product_registers, attention_naive},
    {"online_attention", "attention in one kernel, with the online softmax", norm_warp,
     product_registers, attention_fused},
    {"fused_products", "bias, GELU, and residual inside the products", norm_warp, nullptr,
     attention_fused},
};

#ifndef __CPU_DEVICE__
// What a user would call for the products. cublasSgemm adds no bias, so the kernels for
// single elements are those of step 5.
const Method by_cublas = {"cublas_products", "step 5 with cublasSgemm", norm_warp,
                          product_cublas, attention_fused};
#endif

struct NamedPart {
    Part part;
    const char* name;
};
const std::vector<NamedPart> parts = {{Part::norms, "layer norms"},
                                      {Part::products, "products"},
                                      {Part::attention, "attention"},
                                      {Part::elements, "element by element"}};

// ---- what each part asks for ------------------------------------------------------------

// Of 64 tokens, a width of 64, and 2 heads: bytes that loads and stores of the layer norms
// move, per element, and bytes that loads of the products move, per multiply-add.
struct Asked {
    double launches, norm, product;
};
const std::vector<Asked> asked = {{16, 130, 5},    {16, 20, 5},     {16, 20, 0.5},
                                  {16, 20, 0.125}, {14, 20, 0.125}, {7, 20, 0}};

void show_parts(warpwise::Lesson& lesson) {
    constexpr double kTokens = 64, kWidth = 64;
    Block problem({64, 64, 2});
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < methods.size(); ++i) {
        const Method& method = methods[i];
        const std::string name = std::string(method.name) + ": ";
        problem.poison();
        run(problem, method);
        lesson.expect(problem.compare().passed, name + "the block is right");
        const auto counted = [&](Part part) {
            return lesson.count([&] { run(problem, method, part); });
        };
        const auto norms = counted(Part::norms), products = counted(Part::products),
                   attention = counted(Part::attention), others = counted(Part::elements);
        if (!norms || !products || !attention || !others) continue;
        const std::size_t launches =
            warpwise::count_launches([&] { run(problem, method); }, {.lines = false})
                .size();
        const double of_norm = norms->global().bytes_moved() / (2 * kTokens * kWidth);
        const double of_product =
            products->global_load.bytes_moved() / (12 * kTokens * kWidth * kWidth);
        lesson.expect(static_cast<double>(launches) == asked[i].launches,
                      name + "as many launches as predicted");
        lesson.expect(of_norm == asked[i].norm, name + "bytes of the layer norms");
        lesson.expect(
            asked[i].product == 0 ? of_product < 0.25 : of_product == asked[i].product,
            name + "bytes of the products");
        rows.push_back({method.name, std::to_string(launches),
                        warpwise::ratio_text(of_norm), text_of("%.3g", of_product),
                        warpwise::bytes_moved_text(attention->global().bytes_moved()),
                        method.is_fused()
                            ? "-"
                            : warpwise::bytes_moved_text(others->global().bytes_moved())});
    }
    if (rows.empty()) return;  // on a GPU, and with --no-counters
    lesson.table(
        {"parts", "64 tokens, width 64, 2 heads: launches, and what each part moves"},
        {"step", "launches", "layer norm, bytes per element",
         "product, bytes loaded per multiply-add", "attention", "element by element"},
        rows);
}

// ---- what a clock says ------------------------------------------------------------------

// The least bytes and operations of a part, and which kernels they are of. An element of a
// norm counts as 8 operations. What is done element by element can be fused, so it needs no
// bytes of its own.
warpwise::Work work_of(const Block& b, Part part) {
    const double t = static_cast<double>(b.tokens), w = static_cast<double>(b.width);
    switch (part) {
        case Part::norms:
            return {.bytes = 4 * 2 * (2 * t * w + 2 * w), .operations = 2 * 8 * t * w};
        case Part::products:
            return {.bytes = 4 * (16 * t * w + 12 * w * w + 9 * w),
                    .operations = 24 * t * w * w};
        case Part::attention:
            return {.bytes = 4 * 4 * t * w, .operations = 2 * t * (t + 1) * w};
        case Part::elements:
            return {};
        case Part::all:
            break;
    }
    return b.work();
}

// Operations per second at the highest clock; 0 where the units of the chip are not known.
double peak_rate() {
    int device = 0, major = 0, minor = 0, kilohertz = 0;
    warpwise::check(cudaGetDevice(&device));
    warpwise::check(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    warpwise::check(
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    warpwise::check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
    return 1e9 * warpwise::peak_gop_per_s(major, minor,
                                          static_cast<int>(warpwise::multiprocessors()),
                                          kilohertz * 1e-3);
}

// Times of the parts, in the order of `parts`, and of the whole; 0 where there is no such
// part. One row per method.
struct Times {
    std::vector<std::vector<double>> of_methods;
    double copy_rate = 0;  // bytes per second
};

// All candidates in turn, with caches as warm as the kernel before leaves them.
Times measure_parts(Block& problem, const std::vector<Method>& all) {
    const std::size_t copied =
        std::min(std::size_t{1} << 28, warpwise::free_device_bytes() / 64);
    const DeviceBuffer<float> d_from(copied);
    DeviceBuffer<float> d_to(copied);
    std::vector<warpwise::Candidate> candidates = {{[&] {
        warpwise::check(cudaMemcpyAsync(d_to.data(), d_from.data(), d_to.bytes(),
                                        cudaMemcpyDeviceToDevice));
    }}};
    problem.poison();
    run(problem, methods.front());  // what the parts read
    const auto has = [](const Method& method, Part part) {
        return part != Part::elements || !method.is_fused();
    };
    for (const Method& method : all) {
        for (const NamedPart& named : parts) {
            if (has(method, named.part))
                candidates.push_back({[&problem, &method, part = named.part] {
                    run(problem, method, part);
                }});
        }
        candidates.push_back({[&problem, &method] { run(problem, method); }});
    }
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        candidates, {.samples = 20, .seconds = 0.05, .flush_l2 = false});
    Times times;
    times.copy_rate = 2 * static_cast<double>(d_to.bytes()) / timings[0].median;
    std::size_t next = 1;
    for (const Method& method : all) {
        times.of_methods.emplace_back();
        for (const NamedPart& named : parts) {
            times.of_methods.back().push_back(
                has(method, named.part) ? timings[next++].median : 0);
        }
        times.of_methods.back().push_back(timings[next++].median);
    }
    return times;
}

std::string microseconds(double seconds) {
    return seconds > 0 ? text_of("%.1f", seconds * 1e6) : "-";
}

void print_measured_times(warpwise::Lesson& lesson) {
    std::vector<Method> all = methods;
#ifndef __CPU_DEVICE__
    all.push_back(by_cublas);
#endif
    const warpwise::Size size = lesson.size({1024, 768, 12}, {64, 64, 2});
    Block problem(size);
    const Times times = measure_parts(problem, all);

    std::vector<std::string> header = {"step"};
    for (const NamedPart& named : parts) header.push_back(named.name);
    header.push_back("whole block");
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
        rows.push_back({all[i].name});
        for (const double time : times.of_methods[i])
            rows.back().push_back(microseconds(time));
    }
    lesson.table(
        {"times", "Microseconds of each part, " + size.text() + " (tokens, width, heads)"},
        header, rows);

    // The share of the roofline: the least time that bytes or operations allow, over the
    // time of the part.
    const double peak = peak_rate();
    const std::vector<double>& naive = times.of_methods.front();
    const std::vector<double>& last = times.of_methods[methods.size() - 1];
    rows.clear();
    for (std::size_t i = 0; i <= parts.size(); ++i) {
        const bool whole = i == parts.size();
        const warpwise::Work work = work_of(problem, whole ? Part::all : parts[i].part);
        const double by_bytes = work.bytes / times.copy_rate,
                     by_operations = peak > 0 ? work.operations / peak : 0;
        const double least = std::max(by_bytes, by_operations);
        const auto share = [&](double time) {
            return time > 0 && least > 0 ? text_of("%.1f %%", 100 * least / time) : "-";
        };
        rows.push_back({whole ? "whole block" : parts[i].name,
                        work.bytes > 0 ? text_of("%.1f", work.bytes * 1e-6) : "-",
                        work.operations > 0 ? text_of("%.3f", work.operations * 1e-9) : "-",
                        microseconds(least),
                        least == 0                 ? "-"
                        : by_operations > by_bytes ? "FP32 units"
                                                   : "memory",
                        microseconds(naive[i]), share(naive[i]), microseconds(last[i]),
                        share(last[i])});
    }
    lesson.table({"roofline", "The least time of each part, and what is reached of it"},
                 {"part", "MB", "GFLOP", "least us", "set by", "all_naive us",
                  "all_naive, share", "fused_products us", "fused_products, share"},
                 rows);
}

void show_times(warpwise::Lesson& lesson) {
    if (lesson.measures()) return print_measured_times(lesson);
    lesson.show_recorded("times");
    lesson.show_recorded("roofline");
}

}  // namespace

void transformer_block(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A transformer block of GPT-2 consists of layer norms, attention, GELU, and
products. Their kernels are known from lessons of this chapter, and each has a naive
version. Which part is worth replacing first, and what is left to gain between the
parts?)");
    lesson.predict(
        {.question = R"(A layer norm with one thread per row reads each element of x three
times and writes one result. The lanes of a warp are a row of 64 floats apart. All lanes
read the same gamma and beta at a time. How many bytes per element do a warp's loads and
stores move?)",
         .answer =
             warpwise::Number{
                 .value = 130,
                 .unit = "bytes",
                 .shown_by =
                     warpwise::TableCell{
                         "parts", {"all_naive"}, "layer norm, bytes per element"}},
         .because = R"(Each of the four accesses takes a sector of 32 bytes per lane: 128.
A sector of gamma and one of beta serve 32 lanes, one byte each.)"});
    lesson.predict(
        {.question = R"(The naive block takes 16 launches: 2 layer norms, 4 products, 3 of
attention, and 7 that add a bias or a residual or take GELU. At the end attention is one
kernel, and the products do what the 7 did. How many launches are left?)",
         .answer =
             warpwise::Number{
                 .value = 7,
                 .unit = "launches",
                 .shown_by = warpwise::TableCell{"parts", {"fused_products"}, "launches"}},
         .because = R"(2 layer norms, 4 products, and 1 of attention.)"});
    show_parts(lesson);
    lesson.conclusion(
        R"(Whole sectors take the layer norm from 130 bytes per element to 20. A tile
divides the bytes that a product loads by its side, 16 and then 64. Attention loses its
matrices of scores, and the kernels between the products disappear. Where there are
counters, they agree exactly.)");

    lesson.question(
        R"(The counters say what each part moves, but not which part takes the time. What
does the total do, step by step?)");
    lesson.predict(
        {.question = R"(Step 1 has all parts naive, fused_products has all of them
replaced, in float as before. How many times as long does step 1 take on a GPU?)",
         .answer =
             warpwise::Measured{.by = warpwise::TimeRatio{"all_naive", "fused_products"},
                                .unit = "times",
                                .factor = 2},
         .because = R"(The parts gain very differently, and each counts by its share of the
time. The table of parts below shows both.)"});
    std::vector<warpwise::Step<Block>> steps;
    for (const Method& method : methods)
        steps.push_back(
            {method.name, method.change, [&method](Block& b) { run(b, method); }});
#ifndef __CPU_DEVICE__
    steps.push_back({by_cublas.name, by_cublas.change, [](Block& b) { run(b, by_cublas); },
                     warpwise::StepKind::vendor});
#endif
    lesson.steps<Block>({.gpu = {1024, 768, 12},
                         .cpu = {64, 64, 2},
                         .awkward = {{0, 8, 2},
                                     {1, 1, 1},
                                     {1, 64, 1},
                                     {2, 6, 3},
                                     {31, 32, 1},
                                     {33, 40, 8},
                                     {32, 66, 2},
                                     {65, 36, 1},
                                     {67, 63, 1},
                                     {97, 30, 2}}},
                        steps);
    lesson.conclusion(
        R"(GB/s and Gop/s count what any version of the block has to do: x, weights, and
result once, and the multiply-adds of the products and of the scores that are not
masked.)");

    lesson.question(
        R"(Which part is the time, before and after, and how far is each from what the GPU
allows? The least time of a part is that of its bytes or of its operations, whichever takes
longer.)");
    lesson.predict(
        {.question = R"(The products have 14.5 of the 16.1 billion operations of the block.
When all parts are replaced, how many times as long do the products take as attention, on a
GPU?)",
         .answer =
             warpwise::Measured{
                 .by = warpwise::CellRatio{{"times", {"fused_products"}, "products"},
                                           {"times", {"fused_products"}, "attention"}},
                 .unit = "times",
                 .factor = 2},
         .because = R"(They have 9 times the operations. Attention gets less out of the
GPU: its exponentials, its corrections, and blocks of unequal length come on top.)"});
    show_times(lesson);
    lesson.conclusion(
        R"(Replace the part that takes the most time, measure, and look again, because each
step changes the shares of all parts. The products have nine tenths of the operations, so
what they reach of the FP32 units decides in the end. The step after that would be tensor
cores, which take inputs of fewer bits.)");
}

}  // namespace examples
