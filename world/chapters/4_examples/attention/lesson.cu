// Problem: attention, the part of a language model in which each token looks at all others.
// A query is compared with all keys, the scores become weights by a softmax, and the result
// is the mean of all values with these weights:
//
//     S = Q K^T / sqrt(128),    P = softmax of the rows of S,    O = P V
//
// Q, K, V, and O have one row per token, of 128 elements. S has tokens x tokens elements:
// with 8192 tokens it is 32 times as large as all of them together. So the steps first get
// rid of S, with the online softmax of the lesson softmax, and then multiply faster, as in
// the lesson matrix_multiply: by tiles, and by tensor cores.
//
// Inputs are bf16, sums and results are floats. The steps are in step_01_... to
// step_07_..., to be read in this order; heads.cuh, tensor_core.cuh, tensor_tiles.cuh, and
// warpgroup.cuh have what they share. What libraries make of the problem is in
// libraries.cuh.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "chapters/4_examples/attention/libraries.cuh"
#include "chapters/4_examples/attention/problem.h"
#include "chapters/4_examples/attention/step_01_scores_in_memory.cuh"
#include "chapters/4_examples/attention/step_02_row_per_warp.cuh"
#include "chapters/4_examples/attention/step_03_register_tiles.cuh"
#include "chapters/4_examples/attention/step_04_mma_tiles.cuh"
#include "chapters/4_examples/attention/step_05_mma_ahead.cuh"
#include "chapters/4_examples/attention/step_07_mma_causal.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

#ifndef __CPU_DEVICE__
#include "chapters/4_examples/attention/step_06_wgmma.cuh"
#endif

namespace examples {
namespace {

using warpwise::text_of;
using Plain = Attention<Mask::none>;
using Causal = Attention<Mask::causal>;

// ---- steps ------------------------------------------------------------------------------

void run_scores_in_memory(Plain& p) {
    if (p.is_empty()) return;
    const Heads x = p.on_device();
    const std::size_t rows = p.heads * p.tokens;
    scores<<<warpwise::blocks_for(rows * p.tokens, kThreads), kThreads>>>(
        x, p.d_scores.data());
    warpwise::check_launch();
    softmax_of_scores<<<warpwise::blocks_for(rows, kWarps), kThreads>>>(x,
                                                                        p.d_scores.data());
    warpwise::check_launch();
    weighted_values<<<warpwise::blocks_for(rows * kDim, kThreads), kThreads>>>(
        x, p.d_scores.data());
    warpwise::check_launch();
}

void run_row_per_warp(Plain& p) {
    if (p.is_empty()) return;
    row_per_warp<<<warpwise::blocks_for(p.heads * p.tokens, kWarps), kThreads>>>(
        p.on_device());
    warpwise::check_launch();
}

// Blocks for tiles of so many rows: no tile has rows of two heads.
unsigned tiles_of_rows(std::size_t heads, std::size_t tokens, unsigned rows) {
    return warpwise::blocks_for(heads * warpwise::ceil_div(tokens, rows), 1);
}

void run_register_tiles(Plain& p) {
    if (p.is_empty()) return;
    register_tiles<<<tiles_of_rows(p.heads, p.tokens, kRows), kThreads>>>(p.on_device());
    warpwise::check_launch();
}

// 64 KB of shared memory have to be asked for.
template <auto Kernel, Mask mask>
void run_on_tensor_cores(Attention<mask>& p) {
    p.rounds_weights = true;
    if (p.is_empty()) return;
    warpwise::check(cudaFuncSetAttribute(
        Kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int{kSharedBytes}));
    Kernel<<<tiles_of_rows(p.heads, p.tokens, BM), kMmaThreads, kSharedBytes>>>(
        p.on_device());
    warpwise::check_launch();
}

// Tensor cores take bf16 from compute capability 8.0 on. The CPU device computes what they
// would.
bool has_tensor_cores() {
#ifdef __CPU_DEVICE__
    return true;
#else
    int device = 0, major = 0;
    warpwise::check(cudaGetDevice(&device));
    warpwise::check(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    return major >= 8;
#endif
}

#ifndef __CPU_DEVICE__

// wgmma runs on compute capability 9.0 alone, in a program that was compiled for sm_90a.
bool has_wgmma() {
    int device = 0, major = 0, minor = 0, compiled = 0;
    warpwise::check(cudaGetDevice(&device));
    warpwise::check(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    warpwise::check(
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    if (major != 9 || minor != 0) return false;
    warpwise::check(cudaMemcpyFromSymbol(&compiled, d_attention_for_sm_90a, sizeof(int)));
    return compiled != 0;
}

void run_wgmma(Plain& p) {
    p.rounds_weights = true;
    if (p.is_empty()) return;
    warpwise::check(cudaFuncSetAttribute(wgmma_overlap,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         int{kWgmmaSharedBytes}));
    wgmma_overlap<<<tiles_of_rows(p.heads, p.tokens, kSide), kWgmmaThreads,
                    kWgmmaSharedBytes>>>(p.on_device());
    warpwise::check_launch();
}

#endif

void tell_of_missing_steps(warpwise::Lesson& lesson) {
    if (!has_tensor_cores())
        lesson.text(
            "This GPU has no tensor cores for bf16, so the steps mma_tiles, mma_ahead, and "
            "mma_causal are left out. GPUs from sm_80 on have them.");
#ifdef __CPU_DEVICE__
    lesson.text(
        "The step wgmma_overlap is left out: its instructions are those of sm_90a, and the "
        "CPU device has none of them.");
#else
    if (!has_wgmma())
        lesson.text(
            "The step wgmma_overlap is left out: it needs a GPU of compute capability 9.0, "
            "and a program that was compiled for sm_90a.");
#endif
}

// Of one head of 128 tokens: bytes of all sectors that a step loads and stores, per score,
// without one reading of the queries and one writing of the results; bytes of sectors that
// it stores per row of results; and barriers that a warp passes. (A lane of register_tiles
// stores 16 bytes at a time of the 32 that it has, so each sector is touched twice.)
struct Method {
    const char* name;
    const char* change;
    void (*run)(Plain&);
    double bytes, result_bytes, barriers;
    bool stores_scores, needs_tensor_cores;
};
const std::vector<Method> methods = {
    {"scores_in_memory", "three kernels, the scores in memory", run_scores_in_memory, 4626,
     512, 0, true, false},
    {"row_per_warp", "one kernel: online softmax, one warp per row", run_row_per_warp, 768,
     512, 0, false, false},
    {"register_tiles", "tiles in shared memory and in registers", run_register_tiles, 8,
     1024, 8, false, false},
    {"mma_tiles", "tensor cores, weights stay in registers",
     run_on_tensor_cores<mma_tiles, Mask::none>, 4, 512, 4, false, true},
    {"mma_ahead", "keys and values are copied ahead",
     run_on_tensor_cores<mma_ahead, Mask::none>, 4, 512, 4, false, true},
};

std::vector<Method> methods_here() {
    std::vector<Method> here;
    std::copy_if(
        methods.begin(), methods.end(), std::back_inserter(here),
        [](const Method& m) { return has_tensor_cores() || !m.needs_tensor_cores; });
    return here;
}

// ---- what each step moves ---------------------------------------------------------------

std::string megabytes(double bytes) { return text_of("%.0f MB", bytes / 1e6); }

void show_memory(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const double tokens : {1024.0, 8192.0, 65536.0, 1048576.0}) {
        const double of_rows = tokens * kDim * (3 * sizeof(Bf16) + sizeof(float));
        const double of_scores = tokens * tokens * sizeof(float);
        rows.push_back({text_of("%.0f", tokens), megabytes(of_rows), megabytes(of_scores),
                        text_of("%.0f", of_scores / of_rows)});
    }
    lesson.table({"memory", "One head: what has to be in memory"},
                 {"tokens", "Q, K, V, and O", "scores", "ratio"}, rows);
}

void show_traffic(warpwise::Lesson& lesson) {
    constexpr std::size_t kTokens = 128;
    constexpr double of_scores = double{kTokens} * kTokens;
    Plain problem(warpwise::Size{1, kTokens});
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods_here()) {
        rows.push_back(
            {method.name,
             method.stores_scores ? text_of("%.0f", of_scores * sizeof(float)) : "0",
             warpwise::ratio_text(method.bytes), warpwise::ratio_text(method.barriers)});
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        if (!counts) continue;
        const std::string name = std::string(method.name) + ": ";
        lesson.expect(problem.compare().passed, name + "the result is right");
        const double once = kTokens * (kRowBytes + method.result_bytes);
        lesson.expect(counts->global().bytes_moved() == method.bytes * of_scores + once,
                      name + "bytes per score");
        lesson.expect(counts->barriers ==
                          method.barriers *
                              static_cast<double>(method.needs_tensor_cores
                                                      ? kTokens / BM * kMmaThreads / kLanes
                                                      : kTokens / kRows * kWarps),
                      name + "barriers");
        lesson.expect(counts->shared().conflicts() <= 0, name + "no bank conflicts");
    }
    lesson.table({"traffic", "One head of 128 tokens: what each step moves"},
                 {"step", "bytes of scores in memory", "bytes per score", "barriers"},
                 rows);
}

// Queries so long that all weight goes to few keys, or to one.
void show_magnitudes(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const float magnitude : {0.001f, 1.0f, 16.0f, 1048576.0f}) {
        Plain problem(warpwise::Size{1, 50}, magnitude);
        for (const Method& method : methods_here()) {
            problem.poison();
            method.run(problem);
            lesson.expect(problem.compare().passed,
                          std::string(method.name) +
                              text_of(", queries up to %g: right", double{magnitude}));
        }
        rows.push_back({text_of("%g", double{magnitude}),
                        text_of("%.3g", problem.furthest_score),
                        text_of("%.3g", problem.mean_of_largest_weights)});
    }
    lesson.table({"magnitudes", "One head of 50 tokens, whose queries become longer"},
                 {"queries up to", "largest score", "mean of the largest weights"}, rows);
}

// ---- the causal mask --------------------------------------------------------------------

struct Masked {
    const char* name;
    const char* change;
    void (*run)(Causal&);
    double tiles;  // of one head of 256 tokens
};
const std::vector<Masked> masked = {
    {"mma_masked", "all tiles, then the mask",
     run_on_tensor_cores<mma_causal<false>, Mask::causal>, 8},
    {"mma_causal", "only tiles up to the diagonal",
     run_on_tensor_cores<mma_causal<true>, Mask::causal>, 6},
};

void show_tiles(warpwise::Lesson& lesson) {
    constexpr std::size_t kTokens = 256;
    Causal problem(warpwise::Size{1, kTokens});
    std::vector<std::vector<std::string>> rows;
    for (const Masked& method : masked) {
        rows.push_back({method.name, text_of("%.0f", method.tiles)});
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        if (!counts) continue;
        lesson.expect(problem.compare().passed,
                      std::string(method.name) + ": the result is right");
        // 16 bytes per lane and load: of the queries once, of keys and values per tile.
        constexpr double bytes_per_load = kLanes * kChunk;
        const double of_queries = kTokens * kRowBytes / bytes_per_load;
        const double of_tile = 2 * kTileBytes / bytes_per_load;
        lesson.expect(counts->global_load.requests == of_queries + method.tiles * of_tile,
                      std::string(method.name) + ": tiles");
    }
    lesson.table({"tiles", "One head of 256 tokens: tiles of 128 queries and 64 keys"},
                 {"step", "tiles"}, rows);
}

void tell_causal(warpwise::Lesson& lesson) {
    if (!has_tensor_cores()) return;
    lesson.question(
        R"(When a model writes text, a token may only look at itself and at those before it.
This causal mask gives half of all scores a weight of 0. Masking them takes a comparison per
score. What does it take to not compute them at all?)");
    lesson.predict(
        {.question =
             R"(There are 256 tokens, and a tile has 128 queries and 64 keys. A token
sees itself and those before it. How many of the 8 tiles contain a score that counts?)",
         .answer =
             warpwise::Number{
                 .value = 6,
                 .unit = "tiles",
                 .shown_by = warpwise::TableCell{"tiles", {"mma_causal"}, "tiles"}},
         .because = R"(The queries 0 to 127 need the keys 0 to 127, which are 2 tiles, and
the other queries need 4. With many tokens, the share goes to one half.)"});
    lesson.predict(
        {.question = R"(There are 8192 tokens. How many times as long does the kernel take
on a GPU that computes all tiles and then masks them, as the one that skips those above the
diagonal?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"mma_masked", "mma_causal"},
                                      .unit = "times",
                                      .factor = 1.2},
         .because = R"(About half of the tiles are left, and only those on the diagonal have
to be masked.)"});
    show_tiles(lesson);
    std::vector<warpwise::Step<Causal>> steps;
    for (const Masked& method : masked)
        steps.push_back({method.name, method.change, method.run});
    lesson.steps<Causal>({.gpu = {16, 8192},
                          .cpu = {1, 256},
                          .awkward = {{0, 3}, {3, 0}, {1, 1}, {3, 2}, {2, 65}, {1, 150}}},
                         steps);
    lesson.conclusion(
        R"(The loop over the keys ends at the diagonal, so the skipped tiles are neither
copied nor computed. Only tiles on the diagonal have to be masked. Gop/s count what the mask
leaves, so a step that computes all tiles cannot reach more than half of its speed.)");
}

}  // namespace

void attention(warpwise::Lesson& lesson) {
    lesson.question(
        R"(In attention, each token compares its query with the keys of all tokens, and
takes the mean of their values, weighted by a softmax of these scores. The scores are a
matrix of tokens x tokens, which nobody asks for. What does it cost to store them, and how
can a kernel do without?)");
    lesson.predict(
        {.question = R"(A head has 8192 tokens. How many megabytes (10^6 bytes) do its
scores take as floats?)",
         .answer = warpwise::Number{.value = 268,
                                    .unit = "MB",
                                    .factor = 1.05,
                                    .shown_by =
                                        warpwise::TableCell{"memory", {"8192"}, "scores"}},
         .because = R"(8192 x 8192 scores of 4 bytes. Queries, keys, values, and results
have 10 MB together.)"});
    lesson.predict(
        {.question = R"(A key and a value have 256 bytes each. When a warp computes one row
alone, it reads both for each score: 512 bytes, of which sectors make 768. How many bytes
per score are left when a block reads them, in whole sectors, once for 64 rows?)",
         .answer = warpwise::Number{.value = 8,
                                    .unit = "bytes",
                                    .shown_by = warpwise::TableCell{"traffic",
                                                                    {"register_tiles"},
                                                                    "bytes per score"}},
         .because = R"(512 bytes serve 64 scores. With 128 rows per block, 4 are left.)"});
    show_memory(lesson);
    show_traffic(lesson);
    lesson.conclusion(
        R"(From step 2 on, no score goes to memory: the online softmax corrects what was
summed up with a smaller maximum. Tiles of 64 and 128 rows then bring the bytes per score
from 768 to 8 and to 4. Sixteen heads of 8192 tokens would have 4.3 GB of scores.)");

    lesson.question(
        R"(How fast are these steps? Both products together take 512 operations per score.
With 4 bytes per score, they should be limited by arithmetic.)");
    lesson.predict(
        {.question = R"(A later tile contains a larger score. A kernel multiplies the sum of
the weights by exp(old - new), but forgets the sums of the values. What is wrong with its
results?)",
         .answer = warpwise::Choice{{"nothing", "earlier values count too much",
                                     "earlier values count too little", "they are NaN"},
                                    1},
         .because = R"(Earlier values were added with exp(score - old), which is larger than
exp(score - new). The factor, which is below 1, has to make up for that.)"});
    lesson.predict(
        {.question = R"(Which of these steps is the fastest on a GPU?)",
         .answer = warpwise::Fastest{{"scores_in_memory", "register_tiles", "mma_ahead"}},
         .because = R"(Only mma_ahead multiplies on tensor cores, and their operands come
from shared memory while the next ones are copied.)"});
    tell_of_missing_steps(lesson);
    std::vector<warpwise::Step<Plain>> steps;
    for (const Method& method : methods_here())
        steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    if (has_wgmma())
        steps.push_back({"wgmma_overlap",
                         "warpgroups multiply while they compute exponentials", run_wgmma});
#endif
    add_library_steps(steps);
    warpwise::Sizes sizes = {
        .gpu = {16, 8192},
        .cpu = {1, 128},
        .awkward = {{0, 5}, {5, 0}, {1, 1}, {3, 2}, {1, 33}, {2, 65}, {1, 129}, {1, 150}}};
    // More than 65,535 blocks. This takes the CPU device minutes.
    if (warpwise::Lesson::on_gpu())
        sizes.awkward.insert(sizes.awkward.end(), {{70001, 1}, {1, 1009}, {3, 2048}});
    lesson.steps<Plain>(sizes, steps);
    show_magnitudes(lesson);
    lesson.conclusion(
        R"(Tiles bring keys and values once for many rows. After that the multiply-adds are
the limit, and tensor cores make 2048 of them with one instruction. On an H200, copies ahead
gain nothing here, probably because a second block on the SM already fills the gap. wgmma
gains, with exponentials that are computed meanwhile. Weights in bf16 cost accuracy where
few keys have all the weight.)");
    tell_causal(lesson);
}

}  // namespace examples
