// Problem: the softmax of each row of a matrix of floats, exp(x - largest) / sum, which
// turns any numbers into positive ones whose sum is 1.
//
// Each element is read once and written once at best: 8 bytes. But it depends on all
// others of its row, twice: on the maximum, and on the sum of the exponentials, which needs
// the maximum. The plain way passes over a row three times. The steps first read whole
// sectors, then pass over the row less often, and then keep the row where it was read to.
// How a row is shared among threads depends on its length, so the last step is a function
// that picks a kernel.
//
// A row that contains NaN or infinity becomes NaN, and so does a row of nothing but
// -infinity: there the formula says 0 / 0. All steps keep to that, and the lesson checks
// it.
//
// Layer norm, whose mean and variance are combined in a similar way, is in layer_norm.cu.
#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "chapters/4_examples/softmax/kernels.cuh"
#include "chapters/4_examples/softmax/layer_norm.h"
#include "chapters/4_examples/softmax/matrix.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/cudnn.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::text_of;

// ---- steps ------------------------------------------------------------------------------

void run_thread_per_row(Matrix& m) {
    thread_per_row<<<warpwise::blocks_for(m.rows, kThreads), kThreads>>>(
        m.d_in.data(), m.rows, m.cols, m.d_out.data());
    warpwise::check_launch();
    m.rounds_like(1);
}

template <auto Kernel>
void run_block_per_row(Matrix& m) {
    if (m.rows == 0) return;
    Kernel<<<warpwise::blocks_for(m.rows, 1), kThreads>>>(m.d_in.data(), m.cols,
                                                          m.d_out.data());
    warpwise::check_launch();
    m.rounds_like(kThreads);
}

// What cudaMalloc returns begins at a multiple of 16 bytes; then all rows do.
bool allows_float4(const Matrix& m) { return m.cols % kFloats<float4> == 0; }

void run_online_float4(Matrix& m) {
    return allows_float4(m) ? run_block_per_row<online_float4>(m)
                            : run_block_per_row<online>(m);
}

constexpr std::size_t kLongestInRegisters = 32768;

template <class Piece, unsigned Threads, unsigned Floats>
void launch_row_in_registers(Matrix& m) {
    row_in_registers<Piece, Threads, Floats><<<warpwise::blocks_for(m.rows, 1), Threads>>>(
        m.d_in.data(), m.cols, m.d_out.data());
    warpwise::check_launch();
    m.rounds_like(Threads);
}

template <class Piece>
void launch_row_in_registers(Matrix& m) {
    if (m.rows == 0) return;
    if (m.cols <= 1024) return launch_row_in_registers<Piece, 256, 4>(m);
    if (m.cols <= 2048) return launch_row_in_registers<Piece, 256, 8>(m);
    if (m.cols <= 4096) return launch_row_in_registers<Piece, 256, 16>(m);
    if (m.cols <= 8192) return launch_row_in_registers<Piece, 512, 16>(m);
    if (m.cols <= 16384) return launch_row_in_registers<Piece, 512, 32>(m);
    return launch_row_in_registers<Piece, 1024, 32>(m);
}

void run_row_in_registers(Matrix& m) {
    if (m.cols > kLongestInRegisters) return run_online_float4(m);
    return allows_float4(m) ? launch_row_in_registers<float4>(m)
                            : launch_row_in_registers<float>(m);
}

constexpr std::size_t kLongestInLanes = 1024;

template <class Piece, unsigned Lanes, unsigned Floats>
void launch_row_in_lanes(Matrix& m) {
    row_in_lanes<Piece, Lanes, Floats>
        <<<warpwise::blocks_for(m.rows, kThreads / Lanes), kThreads>>>(
            m.d_in.data(), m.rows, m.cols, m.d_out.data());
    warpwise::check_launch();
    m.rounds_like(Lanes);
}

template <class Piece>
void launch_row_in_lanes(Matrix& m) {
    if (m.cols <= 4) return launch_row_in_lanes<Piece, 1, 4>(m);
    if (m.cols <= 8) return launch_row_in_lanes<Piece, 2, 4>(m);
    if (m.cols <= 16) return launch_row_in_lanes<Piece, 4, 4>(m);
    if (m.cols <= 32) return launch_row_in_lanes<Piece, 8, 4>(m);
    if (m.cols <= 64) return launch_row_in_lanes<Piece, 16, 4>(m);
    if (m.cols <= 128) return launch_row_in_lanes<Piece, 32, 4>(m);
    if (m.cols <= 256) return launch_row_in_lanes<Piece, 32, 8>(m);
    if (m.cols <= 512) return launch_row_in_lanes<Piece, 32, 16>(m);
    return launch_row_in_lanes<Piece, 32, 32>(m);
}

void run_row_in_lanes(Matrix& m) {
    if (m.cols > kLongestInLanes) return run_row_in_registers(m);
    return allows_float4(m) ? launch_row_in_lanes<float4>(m)
                            : launch_row_in_lanes<float>(m);
}

template <class Piece>
void launch_row_in_parts(Matrix& m) {
    const unsigned parts = warpwise::blocks_for(m.cols, kPart);
    const unsigned blocks = warpwise::blocks_for(m.rows * parts, 1);
    normalizers_of_parts<Piece>
        <<<blocks, kThreads>>>(m.d_in.data(), m.cols, parts, m.d_parts.data());
    warpwise::check_launch();
    write_parts<Piece><<<blocks, kThreads>>>(m.d_in.data(), m.cols, parts, m.d_parts.data(),
                                             m.d_out.data());
    warpwise::check_launch();
    m.rounds_like(kThreads * parts);
}

void run_row_in_parts(Matrix& m) {
    if (m.rows == 0 || m.cols == 0) return;
    return allows_float4(m) ? launch_row_in_parts<float4>(m)
                            : launch_row_in_parts<float>(m);
}

// Step 9, the function to call: it picks one of three kernels by the length of a row. Rows
// of up to 1024 floats belong to a warp or fewer lanes, and rows that fit into the
// registers of a block belong to a block. Longer rows are shared by several blocks.
void softmax_of_rows(Matrix& m) {
    if (m.cols <= kLongestInLanes) return run_row_in_lanes(m);
    if (m.cols <= kLongestInRegisters) return run_row_in_registers(m);
    return run_row_in_parts(m);
}

#ifdef WARPWISE_CUDNN
// What a user would call instead. A row is a sample of `cols` channels. cuDNN takes no
// matrix without elements.
void vendor_cudnn(Matrix& m) {
    static const cudnnHandle_t handle = warpwise::make_cudnn_handle();
    static const cudnnTensorDescriptor_t shape = [] {
        cudnnTensorDescriptor_t made = nullptr;
        warpwise::check_cudnn(cudnnCreateTensorDescriptor(&made));
        return made;
    }();
    m.rounds_like(kLanes);  // it does not say how it adds
    if (m.rows == 0 || m.cols == 0) return;
    warpwise::check_cudnn(cudnnSetTensor4dDescriptor(
        shape, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, warpwise::cudnn_extent(m.rows),
        warpwise::cudnn_extent(m.cols), 1, 1));
    const float one = 1, zero = 0;
    warpwise::check_cudnn(cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE,
                                              CUDNN_SOFTMAX_MODE_INSTANCE, &one, shape,
                                              m.d_in.data(), &zero, shape, m.d_out.data()));
}
#endif

// Of 64 rows of 1024 floats: bytes of all sectors that a step loads and stores, per
// element; its loads and stores per row; and barriers that a warp passes, of all launches.
struct Method {
    const char* name;
    const char* change;
    void (*run)(Matrix&);
    double bytes, requests, barriers;
};
const std::vector<Method> methods = {
    {"thread_per_row", "one thread per row, three passes", run_thread_per_row, 128, 128, 0},
    {"block_per_row", "one block per row, trees in shared memory",
     run_block_per_row<block_per_row>, 16, 128, 19},
    {"block_shuffles", "shuffles instead of trees", run_block_per_row<block_shuffles>, 16,
     128, 2},
    {"online", "maximum and sum in one pass", run_block_per_row<online>, 12, 96, 1},
    {"online_float4", "16 bytes per load", run_online_float4, 12, 24, 1},
    {"row_in_registers", "the row is read once and kept", run_row_in_registers, 8, 16, 1},
    {"row_in_lanes", "a warp or fewer lanes for a short row", run_row_in_lanes, 8, 16, 0},
    {"row_in_parts", "several blocks for a long row", run_row_in_parts, 12.125, 28, 2},
    {"softmax_of_rows", "the kernel that suits the length", softmax_of_rows, 8, 16, 0},
};

// ---- what each step asks for ------------------------------------------------------------

void show_passes(warpwise::Lesson& lesson) {
    constexpr std::size_t kRows = 64, kCols = 1024;
    Matrix problem(warpwise::Size{kRows, kCols});
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods) {
        rows.push_back({method.name, warpwise::ratio_text(method.bytes),
                        warpwise::ratio_text(method.requests),
                        warpwise::ratio_text(method.barriers)});
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        if (!counts) continue;
        const std::string name = std::string(method.name) + ": ";
        lesson.expect(problem.compare().passed, name + "the softmax is right");
        const warpwise::RequestCounts global = counts->global();
        lesson.expect(global.bytes_moved() == method.bytes * kRows * kCols,
                      name + "bytes per element");
        lesson.expect(global.requests == method.requests * kRows, name + "requests");
        lesson.expect(counts->barriers == method.barriers * kRows * kWarps,
                      name + "barriers");
        lesson.expect(counts->shared().conflicts() == 0, name + "no bank conflicts");
    }
    lesson.table({"passes", "64 rows of 1024 floats: what each step moves"},
                 {"step", "bytes per element", "requests per row", "barriers"}, rows);
}

// ---- special rows -----------------------------------------------------------------------

struct SpecialRow {
    const char* name;
    float (*element)(std::size_t col, std::size_t cols);
};
const std::vector<SpecialRow> special_rows = {
    {"all equal", [](std::size_t, std::size_t) { return 3.0f; }},
    {"all 1e30", [](std::size_t, std::size_t) { return 1e30f; }},
    {"1e30 and -1e30 in turn",
     [](std::size_t col, std::size_t) { return col % 2 == 0 ? 1e30f : -1e30f; }},
    {"the largest float, then the lowest",
     [](std::size_t col, std::size_t) { return col == 0 ? FLT_MAX : -FLT_MAX; }},
    {"all the lowest float", [](std::size_t, std::size_t) { return -FLT_MAX; }},
    {"ascending by 1",
     [](std::size_t col, std::size_t) { return static_cast<float>(col); }},
    {"-infinity at first, then numbers",
     [](std::size_t col, std::size_t cols) {
         return col < cols / 2 ? -INFINITY : static_cast<float>(col % 7);
     }},
    {"one number, all others -infinity",
     [](std::size_t col, std::size_t cols) { return col == cols / 2 ? -5.0f : -INFINITY; }},
    {"nothing but -infinity", [](std::size_t, std::size_t) { return -INFINITY; }},
    {"one infinity",
     [](std::size_t col, std::size_t cols) { return col == cols / 2 ? INFINITY : 1.0f; }},
    {"one NaN",
     [](std::size_t col, std::size_t cols) { return col == cols - 1 ? NAN : 1.0f; }},
};

// Three rows; the one in the middle is special.
Matrix beside_ordinary_rows(const SpecialRow& special, std::size_t cols) {
    std::vector<float> values = warpwise::uniform<float>(3 * cols, 52, -8, 8);
    for (std::size_t col = 0; col < cols; ++col)
        values[cols + col] = special.element(col, cols);
    return {3, cols, std::move(values)};
}

std::string number_or_nan(double value) {
    return std::isnan(value) ? "nan" : text_of("%.3g", value);
}

// Rows of lengths for all kernels of the last step, with whole pieces and without.
void show_special_rows(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const SpecialRow& special : special_rows) {
        for (const std::size_t cols : {2, 33, 300, 5001, 33000}) {
            Matrix problem = beside_ordinary_rows(special, cols);
            for (const Method& method : methods) {
                problem.poison();
                method.run(problem);
                lesson.expect(problem.compare().passed,
                              std::string(method.name) + ", " + std::to_string(cols) +
                                  " floats, " + special.name + ": right");
            }
        }
        Matrix problem = beside_ordinary_rows(special, 300);
        problem.poison();
        softmax_of_rows(problem);
        const std::vector<float> out = problem.d_out.download();
        const auto [smallest, largest] =
            std::minmax_element(out.begin() + 300, out.begin() + 600);
        std::string as_cudnn = "-";
#ifdef WARPWISE_CUDNN
        problem.poison();
        vendor_cudnn(problem);
        as_cudnn = problem.compare().passed ? "yes" : "no";
#endif
        rows.push_back(
            {special.name, number_or_nan(*smallest), number_or_nan(*largest), as_cudnn});
    }
    lesson.table({"special", "Softmax of special rows of 300 floats"},
                 {"the row", "smallest result", "largest result", "cuDNN gives the same"},
                 rows);
}

// Rows beyond the limit of a grid's y, in a kernel that has several per block.
void check_many_rows(warpwise::Lesson& lesson) {
    for (const auto& [rows, cols] :
         {std::pair<std::size_t, std::size_t>{70001, 3}, {70001, 1}, {66000, 8}}) {
        Matrix problem(warpwise::Size{rows, cols});
        problem.poison();
        softmax_of_rows(problem);
        lesson.expect(problem.compare().passed, std::to_string(rows) + " rows of " +
                                                    warpwise::counted(cols, "float"));
    }
}

// ---- how long a row may be --------------------------------------------------------------

struct Length {
    std::size_t cols;
    const char* kernel;
    unsigned threads;  // that share a row
    double bytes;      // per element
};
const std::vector<Length> lengths = {
    {4, "row_in_lanes", 1, 8},
    {16, "row_in_lanes", 4, 8},
    {64, "row_in_lanes", 16, 8},
    {256, "row_in_lanes", 32, 8},
    {1024, "row_in_lanes", 32, 8},
    {1032, "row_in_registers", 256, 8},
    {4096, "row_in_registers", 256, 8},
    {8192, "row_in_registers", 512, 8},
    {32768, "row_in_registers", 1024, 8},
    {65536, "row_in_parts", 2048, 12},
    {1048576, "row_in_parts", 32768, 12},
};

// What `softmax_of_rows` picks. A long row moves a little more: each of its blocks reads
// the pairs of all parts.
void show_picks(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const Length& length : lengths) {
        rows.push_back({std::to_string(length.cols), length.kernel,
                        std::to_string(length.threads),
                        warpwise::ratio_text(length.bytes)});
        const std::size_t of_floats = length.cols <= 32768 ? 65536 / length.cols : 1;
        Matrix problem(warpwise::Size{of_floats, length.cols});
        problem.poison();
        const auto counts = lesson.count([&] { softmax_of_rows(problem); });
        const std::string name = "rows of " + std::to_string(length.cols) + " floats: ";
        lesson.expect(problem.compare().passed, name + "the softmax is right");
        if (!counts) continue;
        const double bytes = counts->global().bytes_moved() /
                             static_cast<double>(problem.rows * problem.cols);
        lesson.expect(bytes >= length.bytes && bytes < length.bytes + 0.3,
                      name + "bytes per element");
    }
    lesson.table({"picks", "What softmax_of_rows picks"},
                 {"row length", "kernel", "threads per row", "bytes per element"}, rows);
}

struct Contender {
    const char* name;
    void (*run)(Matrix&);
    std::size_t shortest, longest;  // rows for which it has a kernel of its own
};
const std::vector<Contender> contenders = {
    {"online_float4", run_online_float4, 0, SIZE_MAX},
    {"row_in_registers", run_row_in_registers, 0, kLongestInRegisters},
    {"row_in_lanes", run_row_in_lanes, 0, kLongestInLanes},
    {"row_in_parts", run_row_in_parts, 1024, SIZE_MAX},
    {"softmax_of_rows", softmax_of_rows, 0, SIZE_MAX},
#ifdef WARPWISE_CUDNN
    {"cuDNN", vendor_cudnn, 0, SIZE_MAX},
#endif
};

// GB/s of 8 bytes per element, measured in turn; about as many elements each time.
void show_lengths(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("lengths");
        return;
    }
    std::size_t free_bytes = 0, all_bytes = 0, elements = std::size_t{1} << 28;
    warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
    while (elements > 4096 && 3 * elements * sizeof(float) > free_bytes) elements /= 2;
    Matrix problem(warpwise::Size{elements / 4096, 4096});
    std::vector<std::string> header = {"rows x cols"};
    for (const Contender& contender : contenders) header.push_back(contender.name);
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t cols : {4, 16, 33, 100, 256, 1000, 1024, 2048, 4096, 4097, 8192,
                                   16384, 32768, 65536, 1048576}) {
        problem.reshape(std::max<std::size_t>(1, elements / cols), cols);
        std::vector<warpwise::Candidate> candidates;
        rows.push_back({std::to_string(problem.rows) + " x " + std::to_string(cols)});
        for (const Contender& contender : contenders) {
            if (cols < contender.shortest || cols > contender.longest) continue;
            candidates.push_back({[&] { contender.run(problem); }});
            problem.poison();
            contender.run(problem);
            lesson.expect(problem.compare().passed,
                          rows.back()[0] + ", " + contender.name + ": right");
        }
        const auto timings =
            warpwise::measure_in_turn(candidates, {.samples = 10, .seconds = 0.1});
        std::size_t next = 0;
        for (const Contender& contender : contenders) {
            const bool is_other = cols < contender.shortest || cols > contender.longest;
            rows.back().push_back(is_other
                                      ? "-"
                                      : text_of("%.0f", problem.work().bytes /
                                                            timings[next++].median * 1e-9));
        }
    }
    lesson.table({"lengths", "GB/s by row length"}, header, rows);
}

}  // namespace

void softmax(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Softmax turns each row of a matrix into exp(x - largest) / sum. Each result needs
the maximum of its row and the sum of all exponentials, so the plain way passes over the row
three times. How many passes can go, and what does each step move?)");
    lesson.predict(
        {.question = R"(One block per row finds the maximum, then the sum, then writes the
quotients. Neighboring threads take neighboring columns, and a float has 4 bytes. How many
bytes per element do its loads and stores move?)",
         .answer = warpwise::Number{.value = 16,
                                    .unit = "bytes",
                                    .shown_by = warpwise::TableCell{"passes",
                                                                    {"block_per_row"},
                                                                    "bytes per element"}},
         .because = R"(The row is read three times and written once, 4 bytes each.)"});
    lesson.predict(
        {.question = R"(A single pass can find maximum and sum together. How many bytes per
element are left then, with the pass that writes the quotients?)",
         .answer = warpwise::Number{.value = 12,
                                    .unit = "bytes",
                                    .shown_by =
                                        warpwise::TableCell{
                                            "passes", {"online"}, "bytes per element"}},
         .because = R"(The row is read twice and written once. Only a kernel that keeps the
row gets to 8.)"});
    show_passes(lesson);
    lesson.conclusion(
        R"(One thread per row moves whole sectors for single floats: 128 bytes per element.
Three passes in whole sectors move 16, two move 12, and a row that stays in registers
moves 8. Trees take 19 barriers per row, shuffles 2, a pair of maximum and sum 1, and a
row that belongs to one warp takes none. Where there are counters, they agree exactly.)");
    lesson.question(
        R"(How fast are these steps for a large matrix? Are they all memory-bound? An
exponential takes few instructions.)");
    lesson.predict(
        {.question = R"(online_float4 moves 12 bytes per element, and row_in_registers 8.
How many times as long does online_float4 take on a GPU, with rows of 4096 floats?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"online_float4",
                                                                "row_in_registers"},
                                      .unit = "times",
                                      .factor = 1.2},
         .because = R"(12 / 8 is 1.5 if each byte comes from device memory. Less if the
second reading finds a part of the rows in the L2 cache.)"});
    std::vector<warpwise::Step<Matrix>> steps;
    for (const Method& method : methods)
        steps.push_back({method.name, method.change, method.run});
#ifdef WARPWISE_CUDNN
    steps.push_back({"cudnn", "cudnnSoftmaxForward, accurate", vendor_cudnn,
                     warpwise::StepKind::vendor});
#endif
    warpwise::Sizes sizes = {
        .gpu = {65536, 4096},
        .cpu = {64, 1000},
        .awkward = {{0, 0},     {0, 5},     {5, 0},     {1, 1},     {1, 31},
                    {31, 1},    {2, 2},     {3, 32},    {32, 33},   {33, 65},
                    {509, 7},   {7, 1009},  {5, 1024},  {3, 1025},  {2, 4096},
                    {2, 4099},  {1, 8192},  {3, 9001},  {130, 513}, {67, 100},
                    {1, 16385}, {1, 32768}, {2, 32771}, {1, 40000}, {1, 1000000}}};
    // More than 65,535 blocks. This takes the CPU device minutes.
    if (warpwise::Lesson::on_gpu())
        sizes.awkward.insert(sizes.awkward.end(), {{70001, 3}, {66000, 32}, {3, 5000000}});
    lesson.steps<Matrix>(sizes, steps);
    check_many_rows(lesson);
    lesson.conclusion(
        R"(From block_per_row on, all loads and stores touch no more sectors than their
bytes need. What differs is how often the row is read. The kernels whose row stays in
registers move as many bytes as a copy, so a copy is what their times are compared with.)");
    lesson.question(
        R"(What are the results if a row contains -infinity, as masked elements do, or
infinity or NaN, and if exp(x) itself would overflow?)");
    lesson.predict(
        {.question = R"(A thread has found no element yet: its sum is 0. A kernel lets
maxima begin at -infinity. In the combination the thread's factor is exp(old - new), and new
is -infinity, too, because all elements so far are. What is 0 times this factor?)",
         .answer = warpwise::Choice{{"0, because the sum is 0", "1", "NaN", "infinity"}, 2},
         .because = R"(-infinity minus -infinity is NaN, and so is everything computed from
it. The maxima of this lesson begin at the lowest finite float instead.)"});
    show_special_rows(lesson);
    lesson.conclusion(
        R"(Elements of -infinity get 0, and numbers of any size do not overflow, because
nothing is larger than exp(0). A row of nothing but -infinity is NaN: 0 / 0. NaN and
infinity make their row NaN, and only their row. All steps agree at each length.)");
    lesson.question(
        R"(No kernel suits rows of every length. Which one does `softmax_of_rows` pick, and
how many threads share a row?)");
    lesson.predict(
        {.question = R"(A row has 16 floats, and a lane takes 4 floats with one load. How
many rows does a warp compute at a time?)",
         .answer = warpwise::Number{.value = 8, .unit = "rows"},
         .because = R"(4 lanes have a piece of a row, and 32 / 4 is 8. Shuffles with
distances of 2 and 1 stay among the lanes of a row.)"});
    show_picks(lesson);
    show_lengths(lesson);
    lesson.conclusion(
        R"(A row of up to 1024 floats belongs to one warp or a part of it, one of up to
32768 to one block, and a longer one to several blocks, one for each 8192 floats. Only the
longer rows are read twice: the registers of one block are not enough for them.)");
    tell_layer_norm(lesson);
}

}  // namespace examples
