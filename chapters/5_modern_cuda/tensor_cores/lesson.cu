// Problem: C = A B once more, on tensor cores: units that multiply two small matrices in
// one instruction.
//
// A tensor core takes numbers of few bits and adds up their products in float (INT8: in
// 32-bit integers). By its datasheet an H200 does 15 times as many operations per second
// with FP16 as with FFMA instructions, and 30 times as many with FP8. So the difficulty is
// no longer to multiply. It is to deliver the operands fast enough, and to do everything
// else at the same time.
//
// The same kernels serve all formats, because an instruction always takes 32 bytes of each
// row of A, and 32 bytes of each row of B transposed, whether these are 16 numbers of FP16,
// 8 of TF32, or 32 of FP8. So the kernels see matrices as rows of bytes, and only the name
// of the instruction depends on the format. Inputs are rounded before they come here.
//
// The kernels are in step_01_wmma_global.cuh to step_09_wgmma_tuned.cuh, one step per file,
// to be read in this order. Steps 1 to 5 run from sm_80 on and on the CPU device, the
// others on sm_90a alone. operands.cuh, tiles.cuh, instructions.cuh, async_copies.cuh,
// wgmma.cuh, memory_access.cuh, and warpgroups.cuh have what they share. launches.cuh
// launches them, and vendor.cuh what they are compared with.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "chapters/5_modern_cuda/mistakes.h"
#include "chapters/5_modern_cuda/tensor_cores/formats.h"
#include "chapters/5_modern_cuda/tensor_cores/launches.cuh"
#include "chapters/5_modern_cuda/tensor_cores/layouts.cuh"
#include "chapters/5_modern_cuda/tensor_cores/vendor.cuh"
#include "chapters/5_modern_cuda/tensor_cores/wrong.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/child_process.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace modern_cuda {
namespace {

using warpwise::text_of;

// ---- the steps --------------------------------------------------------------------------

// 90 for compute capability 9.0.
int compute_capability() {
    int device = 0, major = 0, minor = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return 10 * major + minor;
}

// wgmma runs on compute capability 9.0 alone, in a program that was compiled for sm_90a.
bool has_wgmma() {
#ifdef __CPU_DEVICE__
    return false;
#else
    static const bool has = [] {
        if (compute_capability() != 90) return false;
        int compiled = 0;
        check(cudaMemcpyFromSymbol(&compiled, d_compiled_for_sm_90a, sizeof(int)));
        return compiled != 0;
    }();
    return has;
#endif
}

// Whether the steps without wgmma run.
template <class Format>
bool has_mma() {
    if (!warpwise::Lesson::on_gpu()) return true;
    return compute_capability() >= (std::is_same_v<Format, Fp8> ? 89 : 80);
}

template <class Format>
struct Method {
    std::string name, change;
    void (*run)(Product<Format>&);
    warpwise::StepKind kind = warpwise::StepKind::device;
};

// The steps that this device can run with this format, in order, then the vendor's.
template <class Format>
std::vector<Method<Format>> methods() {
    std::vector<Method<Format>> all;
    if (!has_mma<Format>()) return all;
    constexpr bool has_wmma = sizeof(typename Format::Element) > 1;
    if constexpr (has_wmma)
        all.push_back(
            {"wmma_global", "wmma, fragments from global memory", run_wmma_global<Format>});
    all.push_back({"mma_fragments", "mma.sync, words of fragments from global memory",
                   run_mma_fragments<Format>});
    if constexpr (has_wmma)
        all.push_back({"wmma_shared", "tiles of 128 x 256 in shared memory",
                       run_wmma_shared<Format>});
    all.push_back({"mma_ldmatrix", "mma.sync, fragments by ldmatrix, swizzled",
                   run_mma_ldmatrix<Format>});
    all.push_back(
        {"mma_cp_async", "a ring of slices, filled by cp.async", run_mma_cp_async<Format>});
#ifndef __CPU_DEVICE__
    if (has_wgmma()) {
        all.push_back({"wgmma_tma", "one thread loads by TMA, two warpgroups multiply",
                       run_wgmma_tma<Format>});
        all.push_back(
            {"wgmma_multicast", "two blocks share B", run_wgmma_multicast<Format>});
        all.push_back({"wgmma_persistent", "blocks stay, and C leaves by TMA",
                       run_wgmma_persistent<Format>});
        all.push_back({"wgmma_tuned", "ping-pong: one warpgroup multiplies, one stores",
                       run_wgmma_tuned<Format>});
    }
    all.push_back({"vendor", "cuBLASLt, the best of what its heuristics list",
                   vendor<Format, Choice::best>, warpwise::StepKind::vendor});
#endif
    return all;
}

constexpr std::array<const char*, 9> kStepNames = {
    "wmma_global", "mma_fragments",   "wmma_shared",      "mma_ldmatrix", "mma_cp_async",
    "wgmma_tma",   "wgmma_multicast", "wgmma_persistent", "wgmma_tuned"};

const std::vector<warpwise::Size> awkward = {
    {0, 5, 7},      {5, 0, 7},     {5, 7, 0},      {1, 1, 1},     {31, 33, 32},
    {33, 31, 65},   {1, 1009, 3},  {1009, 1, 3},   {2, 3, 307},   {127, 129, 65},
    {128, 256, 16}, {129, 260, 8}, {257, 132, 17}, {36, 64, 515}, {300, 20, 40}};

// The CPU device takes longer for a tile than a GPU, so that it has fewer sizes for formats
// other than FP16.
const std::vector<warpwise::Size> fewer = {{5, 0, 7},    {5, 7, 0},   {1, 1, 1},
                                           {33, 31, 65}, {129, 5, 8}, {2, 3, 307}};

// Calls `use` with a value of each format.
template <class Use>
void for_each_format(const Use& use) {
    use(Fp16{});
    use(Bf16{});
    use(Tf32{});
    use(Int8{});
    use(Fp8{});
}
constexpr std::size_t kFormats = 5;

std::vector<std::string> header_of_formats() {
    std::vector<std::string> header = {"step"};
    for_each_format([&](auto format) { header.push_back(format.name); });
    return header;
}

template <class Format>
void expect_right(warpwise::Lesson& lesson, Product<Format>& problem,
                  const Method<Format>& method, const std::string& size) {
    problem.poison();
    method.run(problem);
    const warpwise::Comparison result = problem.compare();
    lesson.expect(result.passed, std::string(Format::name) + ", " + method.name + ", " +
                                     size + ": the product is right (" + result.summary() +
                                     ")");
}

// FP16 is what the table of the steps has. The others are checked here.
void check_other_formats(warpwise::Lesson& lesson) {
    for_each_format([&](auto format) {
        using Format = decltype(format);
        if constexpr (!std::is_same_v<Format, Fp16>) {
            for (const warpwise::Size& size :
                 warpwise::Lesson::on_gpu() ? awkward : fewer) {
                Product<Format> problem(size);
                for (const Method<Format>& method : methods<Format>())
                    expect_right(lesson, problem, method, size.text());
            }
        }
    });
}

// ---- how fast ---------------------------------------------------------------------------

// What the datasheet of an H200 has, dense, in TFLOP/s.
template <class Format>
constexpr double datasheet = std::is_same_v<Format, Tf32>            ? 494.7
                             : sizeof(typename Format::Element) == 1 ? 1978.9
                                                                     : 989.4;

// What the driver says of the GPU's power and clock, by the names of their rows: the power
// is its average of the last second. Empty where there is no nvidia-smi.
std::map<std::string, double> power_state() {
    int device = 0;
    std::array<char, 32> address{};
    check(cudaGetDevice(&device));
    check(cudaDeviceGetPCIBusId(address.data(), address.size(), device));
    const auto said = warpwise::output_of(
        {"nvidia-smi", "--id=" + std::string(address.data()),
         "--query-gpu=power.draw,power.limit,clocks.sm", "--format=csv,noheader,nounits"});
    double watts = 0, limit = 0, megahertz = 0;
    if (!said ||
        std::sscanf(said->c_str(), "%lf, %lf, %lf", &watts, &limit, &megahertz) != 3)
        return {};
    return {{"W", watts}, {"W at most", limit}, {"MHz of the SMs", megahertz}};
}

// TFLOP/s of the methods of one format at one size, by their names, and the power state
// right after they were measured.
template <class Format>
std::map<std::string, double> measured_rates(warpwise::Lesson& lesson, std::size_t extent,
                                             const std::vector<std::string>& names) {
    std::map<std::string, double> rates;
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes));
    const warpwise::Size size = {extent, extent, extent};
    if (Product<Format>::device_bytes(size) > free_bytes / 2) return rates;
    Product<Format> problem(size);
    std::vector<Method<Format>> timed;
    for (const Method<Format>& method : methods<Format>())
        if (std::find(names.begin(), names.end(), method.name) != names.end())
            timed.push_back(method);
#ifndef __CPU_DEVICE__
    if (has_mma<Format>())
        timed.push_back({"first of cuBLASLt", "", vendor<Format, Choice::first>});
#endif
    std::vector<warpwise::Candidate> candidates;
    for (const Method<Format>& method : timed) {
        expect_right(lesson, problem, method, size.text());
        candidates.push_back({[run = method.run, &problem] { run(problem); }});
    }
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        candidates, {.samples = 10, .seconds = 0.2, .longest = 1});
    for (std::size_t i = 0; i < timed.size(); ++i)
        rates[timed[i].name] = problem.work().operations / timings[i].median * 1e-12;
    rates.merge(power_state());
    // The best was chosen by a few runs, so the first may turn out to be better.
    double& best = rates["vendor"];
    best = std::max(best, rates["first of cuBLASLt"]);
    return rates;
}

bool is_h200() {
    int device = 0;
    cudaDeviceProp properties;
    check(cudaGetDevice(&device));
    check(cudaGetDeviceProperties(&properties, device));
    return std::string(properties.name).find("H200") != std::string::npos;
}

// TFLOP/s of steps at one size: a column per format.
void show_rates(warpwise::Lesson& lesson, std::size_t extent,
                std::vector<std::string> names) {
    const std::string name = "rates_" + std::to_string(extent);
    if (!lesson.measures()) return lesson.show_recorded(name);
    names.push_back("vendor");
    std::vector<std::map<std::string, double>> rates;
    std::vector<double> peaks;
    for_each_format([&](auto format) {
        using Format = decltype(format);
        rates.push_back(measured_rates<Format>(lesson, extent, names));
        peaks.push_back(datasheet<Format>);
    });
    std::vector<std::vector<std::string>> rows;
    const auto add_row = [&](const std::string& title, const char* form,
                             const std::function<double(std::size_t)>& value) {
        rows.push_back({title});
        for (std::size_t i = 0; i < kFormats; ++i) {
            const double number = value(i);
            rows.back().push_back(number > 0 ? text_of(form, number) : "-");
        }
    };
    const auto rate = [&](std::size_t i, const std::string& of) {
        const auto found = rates[i].find(of);
        return found == rates[i].end() ? 0.0 : found->second;
    };
    names.insert(names.end() - 1, "first of cuBLASLt");
    for (const std::string& of : names)
        add_row(of == "vendor" ? "best of cuBLASLt" : of, "%.0f",
                [&](std::size_t i) { return rate(i, of); });
    add_row("wgmma_tuned over best of cuBLASLt", "%.3f", [&](std::size_t i) {
        const double best = rate(i, "vendor");
        return best > 0 ? rate(i, "wgmma_tuned") / best : 0.0;
    });
    if (is_h200())
        add_row("wgmma_tuned over the datasheet", "%.2f",
                [&](std::size_t i) { return rate(i, "wgmma_tuned") / peaks[i]; });
    for (const char* of : {"W", "W at most", "MHz of the SMs"})
        add_row(of, "%.0f", [&](std::size_t i) { return rate(i, of); });
    const std::string text = std::to_string(extent);
    lesson.table({name, "TFLOP/s (INT8: TOP/s) for " + text + " x " + text + " x " + text},
                 header_of_formats(), rows);
}

// Shapes of tile and cluster for step 9, in FP16. The first one is that of step 8.
struct Tried {
    const char *tile, *turns, *cluster;
    void (*run)(Product<Fp16>&);
};

void show_shapes(warpwise::Lesson& lesson) {
    if (!lesson.measures()) return lesson.show_recorded("shapes");
#ifndef __CPU_DEVICE__
    if (!has_wgmma()) return;
    constexpr Turns ping_pong = Turns::ping_pong;
    const std::vector<Tried> all = {
        {"128 x 256", "together", "2 x 1", run_tuned<Fp16, Shape<128, 256, 4, 2, 1>>},
        {"128 x 256", "together", "none", run_tuned<Fp16, Shape<128, 256, 4, 1, 1>>},
        {"128 x 256", "together", "2 x 2", run_tuned<Fp16, Shape<128, 256, 4, 2, 2>>},
        {"256 x 128", "together", "1 x 2", run_tuned<Fp16, Shape<256, 128, 4, 1, 2>>},
        {"64 x 256", "ping-pong", "2 x 1",
         run_tuned<Fp16, Shape<64, 256, 5, 2, 1, ping_pong, 1>>},
        {"128 x 128", "ping-pong", "none",
         run_tuned<Fp16, Shape<128, 128, 6, 1, 1, ping_pong>>},
        {"128 x 128", "ping-pong", "2 x 1",
         run_tuned<Fp16, Shape<128, 128, 6, 2, 1, ping_pong>>},
        {"128 x 128", "ping-pong", "1 x 2",
         run_tuned<Fp16, Shape<128, 128, 6, 1, 2, ping_pong>>},
        {"128 x 128", "ping-pong", "2 x 2",
         run_tuned<Fp16, Shape<128, 128, 6, 2, 2, ping_pong>>},
    };
    std::vector<std::vector<std::string>> rows;
    for (const Tried& tried : all) rows.push_back({tried.tile, tried.turns, tried.cluster});
    for (const std::size_t extent : {4096, 8192}) {
        Product<Fp16> problem({extent, extent, extent});
        std::vector<warpwise::Candidate> candidates;
        for (const Tried& tried : all) {
            expect_right<Fp16>(
                lesson, problem,
                {std::string(tried.tile) + " " + tried.turns + " " + tried.cluster, "",
                 tried.run},
                std::to_string(extent));
            candidates.push_back({[&tried, &problem] { tried.run(problem); }});
        }
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
            candidates, {.samples = 10, .seconds = 0.2, .longest = 1});
        for (std::size_t i = 0; i < all.size(); ++i)
            rows[i].push_back(
                text_of("%.0f", problem.work().operations / timings[i].median * 1e-12));
    }
    lesson.table({"shapes", "TFLOP/s of shapes of tile and cluster, FP16"},
                 {"tile", "warpgroups", "cluster", "4096", "8192"}, rows);
#endif
}

// ---- how exact --------------------------------------------------------------------------

// What the sums of one method err: the largest difference of any element from the double
// reference of the same rounded inputs.
template <class Format>
double error_of(Product<Format>& problem, void (*run)(Product<Format>&)) {
    problem.poison();
    run(problem);
    (void)problem.compare();
    return problem.error_of_sums();
}

std::string error_text(double error) { return error == 0 ? "0" : text_of("%.1e", error); }

void show_errors(warpwise::Lesson& lesson) {
    const std::size_t k = lesson.measures() ? 4096 : 512;
    std::vector<std::vector<std::string>> rows;
    for_each_format([&](auto format) {
        using Format = decltype(format);
        if (!has_mma<Format>()) return;
        Product<Format> problem({64, 128, k});
        const double by_mma = error_of(problem, run_mma_fragments<Format>);
        const double with_rounding = problem.error_with_rounding();
        lesson.expect(by_mma <= Format::tolerance(k, static_cast<double>(k)),
                      std::string(Format::name) + ": sums of mma.sync are near the exact");
        std::string by_wgmma = "-";
#ifndef __CPU_DEVICE__
        if (has_wgmma()) by_wgmma = error_text(error_of(problem, run_wgmma_tma<Format>));
#endif
        rows.push_back({Format::name, std::to_string(Format::bits), error_text(by_mma),
                        by_wgmma, error_text(with_rounding)});
    });
    lesson.table({"errors", "Largest error of C, 64 x 128 x " + std::to_string(k) +
                                ", inputs in [-1, 1]"},
                 {"format", "significant bits", "sums by mma.sync", "sums by wgmma",
                  "with rounding of the inputs"},
                 rows);
}

// Inputs of one sign, so that sums only grow, and what is cut off is always missing.
template <class Format>
std::pair<std::string, std::string> relative_errors(std::size_t k) {
    if (!has_mma<Format>()) return {"-", "-"};
    Product<Format> problem({16, 8, k}, 0);
    const double typical = static_cast<double>(k) / 4;
    const double by_mma = error_of(problem, run_mma_fragments<Format>) / typical;
    std::string by_wgmma = "-";
#ifndef __CPU_DEVICE__
    if (has_wgmma())
        by_wgmma = error_text(error_of(problem, run_wgmma_tma<Format>) / typical);
#endif
    return {error_text(by_mma), by_wgmma};
}

void show_sums(warpwise::Lesson& lesson) {
    const std::size_t largest = lesson.measures() ? 65536 : 4096;
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 64; k <= largest; k *= 8) {
        const auto [fp16_mma, fp16_wgmma] = relative_errors<Fp16>(k);
        const auto [fp8_mma, fp8_wgmma] = relative_errors<Fp8>(k);
        rows.push_back({std::to_string(k), fp16_mma, fp16_wgmma, fp8_mma, fp8_wgmma});
    }
    lesson.table(
        {"sums", "Largest error of a sum of k products, as a share of the sum"},
        {"k", "FP16 by mma.sync", "FP16 by wgmma", "FP8 by mma.sync", "FP8 by wgmma"},
        rows);
}

// ---- what shared memory has to do -------------------------------------------------------

void show_layouts(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const char* name, void (*kernel)(const uint4*, unsigned*),
                         double predicted) {
        const std::vector<float> zeros(kLayoutRows * kSliceBytes / sizeof(float));
        DeviceBuffer<float> d_in(zeros);
        DeviceBuffer<unsigned> d_out(32);
        const auto counts = lesson.count([&] {
            kernel<<<1, 32>>>(reinterpret_cast<const uint4*>(d_in.data()), d_out.data());
            warpwise::check_launch();
        });
        check(cudaDeviceSynchronize());
        if (!counts) return;
        const double wavefronts = counts->shared_load.wavefronts / 1.0 / kLayoutLoads;
        lesson.expect(wavefronts == predicted,
                      std::string(name) + ": as many wavefronts as predicted");
        rows.push_back({name, text_of("%.0f", wavefronts)});
    };
    add("rows of 128 bytes", fragments_from_rows<Layout::rows>, 32);
    add("rows of 144 bytes", fragments_from_rows<Layout::padded>, 4);
    add("rows of 128 bytes, swizzled", fragments_from_rows<Layout::swizzled>, 4);
    if (rows.empty()) return;  // on a GPU, and with --no-counters
    lesson.table({"layouts", "Wavefronts of one ldmatrix of four matrices, by layout"},
                 {"layout", "wavefronts"}, rows);
}

}  // namespace

void tensor_cores(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A tensor core multiplies two small matrices with one instruction of a warp, or of
four warps. It takes numbers of few bits, and adds in float. What does it take to keep it
busy? `result` compares with the product of the rounded inputs in double; `error with
rounding` includes the rounding of the inputs.)");
    lesson.predict(
        {.question = R"(A warp multiplies 16 x 16 by 16 x 8 numbers of FP16 with one
instruction. How many multiply-adds is that per lane?)",
         .answer = warpwise::Number{.value = 64, .unit = "multiply-adds"},
         .because =
             R"(16 x 8 sums of 16 products each are 2048 multiply-adds, and a warp has
32 lanes. An FFMA does one per lane.)"});
    lesson.predict(
        {.question = R"(Which of these steps is the fastest on a GPU?)",
         .answer = warpwise::Fastest{{"wmma_global", "wmma_shared", "mma_cp_async"}},
         .because =
             R"(Tensor cores are fast only if they do not wait for their inputs. Tiles
in shared memory serve many multiplications, and asynchronous copies bring the next ones
meanwhile.)"});
    std::vector<warpwise::Step<Product<Fp16>>> steps;
    for (const Method<Fp16>& method : methods<Fp16>())
        steps.push_back({method.name, method.change, method.run, method.kind});
    if (steps.empty()) {
        lesson.text(
            "This GPU has no tensor cores for these steps, so they are not shown. GPUs "
            "from "
            "sm_80 on have them.");
        return;
    }
    if (!has_wgmma())
        lesson.text(
            warpwise::Lesson::on_gpu()
                ? "The steps wgmma_tma, wgmma_multicast, wgmma_persistent, and wgmma_tuned "
                  "are left out: they need a GPU of compute capability 9.0, and a program "
                  "that was compiled for sm_90a."
                : "The steps wgmma_tma, wgmma_multicast, wgmma_persistent, and wgmma_tuned "
                  "are left out: the CPU device does not run wgmma.");
    lesson.steps<Product<Fp16>>(
        {.gpu = {4096, 4096, 4096}, .cpu = {128, 256, 64}, .awkward = awkward}, steps);
    check_other_formats(lesson);
    show_layouts(lesson);
    lesson.conclusion(
        R"(One instruction does the work of 64 FFMA, so everything else has to become
cheaper, too: tiles in shared memory, fragments by ldmatrix without bank conflicts, copies
that are in flight meanwhile. On Hopper, wgmma reads shared memory itself, and TMA fills
it.)");

    lesson.question(
        R"(How fast are the steps with other formats? The tables compare them with cuBLASLt:
with the first algorithm that its heuristics list, and with the best of all that they
list.)");
    lesson.predict(
        {.question = R"(FP8 numbers have half the bytes of FP16, and an instruction takes
twice as many. On a GPU, how many times as fast is wgmma_tuned with FP8 as with FP16, for
4096 x 4096 x 4096?)",
         .answer =
             warpwise::Measured{
                 .by = warpwise::CellRatio{{"rates_4096", {"wgmma_tuned"}, "FP8"},
                                           {"rates_4096", {"wgmma_tuned"}, "FP16"}},
                 .factor = 1.15},
         .because = R"(At most twice. What does not depend on the format, such as storing C,
takes as long as before.)"});
    show_rates(lesson, 4096, {kStepNames.begin(), kStepNames.end()});
    show_rates(lesson, 8192, {kStepNames.begin() + 5, kStepNames.end()});
    show_shapes(lesson);
    lesson.conclusion(
        R"(The kernels are the same for all formats: rows of 32 bytes go into an
instruction. So the rate grows as the numbers get shorter, as long as the operands arrive in
time. A comparison with a library is fair only against the best that it has.)");

    lesson.question(
        R"(What do fewer bits cost? The inputs are rounded, and tensor cores do not add up
exactly as floats do.)");
    lesson.predict(
        {.question =
             R"(FP16 and TF32 have 11 significant bits, bf16 has 8. How many times as
large is the error that the rounding of bf16 inputs makes, compared with that of FP16?)",
         .answer = warpwise::Number{.value = 8, .unit = "times", .factor = 2},
         .because =
             R"(Three bits less: each rounding is up to 2^3 times as far off. Errors of
single elements vary, so this holds roughly.)"});
    show_errors(lesson);
    show_sums(lesson);
    lesson.conclusion(
        R"(For most formats the rounding of the inputs is the larger error by far. INT8 sums
are exact. Products of one sign show how tensor cores add: what does not fit into their
adders is cut off, so that sums become too small, the more the longer they are. Compare the
columns of wgmma on a GPU.)");

    lesson.question(
        R"(Which mistakes does one make with fragments and tiles? A wrong leading dimension
or a tile that is not there yet gives wrong sums, and no error.)");
    lesson.predict(
        {.question = R"(A kernel loads fragments of A with wmma::load_matrix_sync. A has m
rows of k elements, and the leading dimension that it passes is m. For which matrices does
nobody notice?)",
         .answer = warpwise::Choice{.choices = {"square ones", "those with m < k", "none"},
                                    .right = 0},
         .because =
             R"(The leading dimension is the distance of two rows, which is k. Where m
equals k, the wrong number is the right one.)"});
    show_mistakes(lesson, "kernel", mistakes(), "before_its_copy");
    lesson.conclusion(
        warpwise::can_instrument()
            ? R"(The search for errors checks every address that a fragment is loaded from,
and which threads have to wait for which copies.)"
            : R"(These mistakes are found by the search for errors of the CPU device, which
this program does not have.)");
}

}  // namespace modern_cuda
