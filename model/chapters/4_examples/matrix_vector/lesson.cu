// Problem: a matrix of rows x cols floats times a vector: y[row] = a[row][0] * x[0] + ... +
// a[row][cols-1] * x[cols-1].
//
// Each element of the matrix is read once, for one multiplication and one addition. So only
// bytes count, and every row is a dot product of its own. The question is who shares a row:
// a thread, a few lanes, a warp, a block, several blocks? The answer depends on the shape:
// 2^28 elements may be 16384 rows of 16384, or 2^24 rows of 16, or 7 rows that never end.
// So the lesson does not end with a kernel but with a function that picks one.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#endif

#include "chapters/4_examples/matrix_vector/product.h"
#include "chapters/4_examples/matrix_vector/step_02_thread_per_row.cuh"
#include "chapters/4_examples/matrix_vector/step_03_block_per_row.cuh"
#include "chapters/4_examples/matrix_vector/step_04_warp_per_row.cuh"
#include "chapters/4_examples/matrix_vector/step_05_lanes_per_row.cuh"
#include "chapters/4_examples/matrix_vector/step_06_rows_per_block.cuh"
#include "chapters/4_examples/matrix_vector/step_07_pieces_per_lane.cuh"
#include "chapters/4_examples/matrix_vector/step_08_rows_of_a_range.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/cublas.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/read_only.cuh"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::text_of;

// Of a matrix. Rows are tight if they follow each other without padding, and begin
// anywhere.
struct Shape {
    std::size_t rows, cols;
    bool tight = false;

    std::size_t pitch() const { return tight ? cols : pitch_for(cols); }
    std::string name() const {
        return std::to_string(rows) + " x " + std::to_string(cols) +
               (tight ? ", tight" : "");
    }
};

// ---- steps ------------------------------------------------------------------------------

// Step 1, one core, in double.
void serial(Product& problem) {
    std::vector<float> y(problem.rows);
    for (std::size_t row = 0; row < problem.rows; ++row) {
        const float* const of_row = &problem.matrix[row * problem.pitch];
        double sum = 0;
        for (std::size_t col = 0; col < problem.cols; ++col)
            sum += double{of_row[col]} * double{problem.x[col]};
        y[row] = static_cast<float>(sum);
    }
    problem.d_y.upload(y);
    problem.rounds_like(problem.cols + 1);
}

void run_thread_per_row(Product& p) {
    thread_per_row<<<warpwise::blocks_for(p.rows, kThreads), kThreads>>>(
        p.d_matrix.data(), p.pitch, p.rows, p.cols, p.d_x.data(), p.d_y.data());
    warpwise::check_launch();
    p.rounds_like(1);
}

void run_block_per_row(Product& p) {
    if (p.rows == 0) return;
    block_per_row<<<warpwise::blocks_for(p.rows, 1), kThreads>>>(
        p.d_matrix.data(), p.pitch, p.cols, p.d_x.data(), p.d_y.data());
    warpwise::check_launch();
    p.rounds_like(kThreads);
}

void run_warp_per_row(Product& p) {
    warp_per_row<<<warpwise::blocks_for(p.rows, kWarps), kThreads>>>(
        p.d_matrix.data(), p.pitch, p.rows, p.cols, p.d_x.data(), p.d_y.data());
    warpwise::check_launch();
    p.rounds_like(kLanes);
}

template <unsigned Lanes>
void launch_lanes_per_row(Product& p) {
    lanes_per_row<Lanes><<<warpwise::blocks_for(p.rows, kThreads / Lanes), kThreads>>>(
        p.d_matrix.data(), p.pitch, p.rows, p.cols, p.d_x.data(), p.d_y.data());
    warpwise::check_launch();
    p.rounds_like(Lanes);
}

void run_lanes_per_row(Product& p) {
    if (p.cols <= 2) return launch_lanes_per_row<2>(p);
    if (p.cols <= 4) return launch_lanes_per_row<4>(p);
    if (p.cols <= 8) return launch_lanes_per_row<8>(p);
    if (p.cols <= 16) return launch_lanes_per_row<16>(p);
    return launch_lanes_per_row<32>(p);
}

template <class Piece, unsigned Rows>
void launch_rows_per_block(Product& p) {
    constexpr unsigned tile = kTuning.loads / Rows * kThreads * kFloats<Piece>;  // columns
    const std::size_t blocks = warpwise::ceil_div(p.rows, Rows);
    const std::size_t wanted = warpwise::ceil_div(kTuning.row_blocks, blocks);
    const unsigned sharing =
        warpwise::blocks_for(std::min(wanted, warpwise::ceil_div(p.cols, tile)), 1);
    rows_per_block<Piece, Rows>
        <<<dim3(warpwise::blocks_for(blocks, 1), sharing), kThreads>>>(
            p.d_matrix.data(), p.pitch, p.rows, p.cols, p.d_x.data(), p.d_y.data(),
            p.d_parts.data(), p.d_drawn.data());
    warpwise::check_launch();
    p.rounds_like(kThreads, sharing);
}

template <class Piece>
void launch_rows_per_block(Product& p) {
    if (p.rows == 0) return;
    if (p.rows == 1) return launch_rows_per_block<Piece, 1>(p);
    if (p.rows == 2) return launch_rows_per_block<Piece, 2>(p);
    if (p.rows <= 4) return launch_rows_per_block<Piece, 4>(p);
    return launch_rows_per_block<Piece, kMostRows>(p);
}

// Every row, and x, begins at a multiple of 16 bytes. (With one row the pitch does not
// matter.)
bool allows_float4(const Product& p) {
    const auto bits = reinterpret_cast<std::uintptr_t>(p.d_matrix.data()) |
                      reinterpret_cast<std::uintptr_t>(p.d_x.data()) |
                      (p.rows > 1 ? p.pitch * sizeof(float) : 0);
    return bits % sizeof(float4) == 0;
}

void run_rows_per_block(Product& p) {
    return allows_float4(p) ? launch_rows_per_block<float4>(p)
                            : launch_rows_per_block<float>(p);
}

template <unsigned Lanes, unsigned Pieces>
void launch_pieces_per_lane(Product& p) {
    constexpr unsigned rows_per_block = kTuning.loads / Pieces * kLanes / Lanes * kWarps;
    const unsigned most =
        warpwise::blocks_that_fill(pieces_per_lane<Lanes, Pieces>, kThreads);
    const unsigned blocks =
        std::min({warpwise::blocks_for(p.rows, rows_per_block), most, kTuning.lane_blocks});
    pieces_per_lane<Lanes, Pieces><<<blocks, kThreads>>>(p.d_matrix.data(), p.pitch, p.rows,
                                                         static_cast<unsigned>(p.cols),
                                                         p.d_x.data(), p.d_y.data());
    warpwise::check_launch();
    p.rounds_like(Lanes);
}

// Lanes and pieces for rows of a number of columns, rounded up to a power of two.
void launch_pieces_per_lane(Product& p) {
    switch (std::bit_ceil(warpwise::ceil_div(p.cols, kFloats<float4>))) {
        case 1:
            return launch_pieces_per_lane<1, 1>(p);
        case 2:
            return launch_pieces_per_lane<2, 1>(p);
        case 4:
            return launch_pieces_per_lane<4, 1>(p);
        case 8:
            return launch_pieces_per_lane<8, 1>(p);
        case 16:
            return launch_pieces_per_lane<16, 1>(p);
        case 32:
            return launch_pieces_per_lane<32, 1>(p);
        case 64:
            return launch_pieces_per_lane<32, 2>(p);
        default:
            return launch_pieces_per_lane<32, 4>(p);
    }
}

// Rows of up to 512 floats that begin at multiples of 16 bytes; others are left to step 6.
void run_pieces_per_lane(Product& p) {
    const bool is_for_pieces = p.pitch % kFloats<float4> == 0 && p.cols <= kLongest;
    return is_for_pieces ? launch_pieces_per_lane(p) : run_rows_per_block(p);
}

void launch_rows_of_a_range(Product& p) {
    if (p.rows == 0) return;
    const unsigned rows_per_block = kRange / static_cast<unsigned>(p.pitch) / 4 * 4;
    const unsigned lanes =
        std::min(kLanes, std::bit_floor(std::max(kThreads / rows_per_block, 1u)));
    rows_of_a_range<<<warpwise::blocks_for(p.rows, rows_per_block), kThreads>>>(
        p.d_matrix.data(), p.pitch, p.rows, static_cast<unsigned>(p.cols), p.d_x.data(),
        p.d_y.data(), rows_per_block, lanes);
    warpwise::check_launch();
    p.rounds_like(lanes);
}

// Rows of up to 512 floats with their padding; others are left to step 6.
void run_rows_of_a_range(Product& p) {
    const bool is_short = p.pitch > 0 && p.pitch <= kLongest;
    return is_short ? launch_rows_of_a_range(p) : run_rows_per_block(p);
}

// Step 9, tuning: the function to call for a matrix of any shape. It picks one of the
// kernels above. Where the limits are was found by trying: on an H200, lanes were ahead of
// blocks with 384 columns, and blocks were ahead of lanes with 500, by no more than 3 % up
// to 1024. Matrix and x begin at multiples of 16 bytes, as everything does that cudaMalloc
// returns. Whether rows do depends on the pitch.
void multiply(Product& p) {
    const bool aligned = p.pitch % kFloats<float4> == 0;
    if ((aligned ? p.cols : p.pitch) > kLongest) return run_rows_per_block(p);
    return aligned ? launch_pieces_per_lane(p) : launch_rows_of_a_range(p);
}

#ifndef __CPU_DEVICE__
// What a user would call instead. cuBLAS stores columns where we store rows, so it takes
// our matrix for its transpose, of cols x rows, and is asked to transpose it back. A matrix
// without elements it leaves alone.
void vendor_cublas(Product& p) {
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    if (p.rows == 0 || p.cols == 0) return p.d_y.fill_bytes(0);
    const float one = 1, zero = 0;
    warpwise::check_cublas(cublasSgemv_64(
        handle, CUBLAS_OP_T, static_cast<std::int64_t>(p.cols),
        static_cast<std::int64_t>(p.rows), &one, p.d_matrix.data(),
        static_cast<std::int64_t>(p.pitch), p.d_x.data(), 1, &zero, p.d_y.data(), 1));
    p.rounds_like(1);  // it does not say how it adds
}
#endif

// ---- which kernel wins where ------------------------------------------------------------

// Read bandwidth: reads both halves of the matrix and does nothing else.
void run_read_only(Product& p) {
    const float* const matrix = p.d_matrix.data();
    const std::size_t half = p.rows * p.pitch / 8 * 4;  // floats, a multiple of 16 bytes
    warpwise::read_only<kTuning.loads>(matrix, matrix + half, half * sizeof(float),
                                       p.d_drawn.data());
}

struct Contender {
    const char* name;
    void (*run)(Product&);
    unsigned threads_per_row;  // with few rows most of the chip has no work; 0: that does
                               // not happen
};
const std::vector<Contender> contenders = {
    {"thread", run_thread_per_row, 1},
    {"block", run_block_per_row, kThreads},
    {"warp", run_warp_per_row, kLanes},
    {"lanes", run_lanes_per_row, 32},
    {"rows per block", run_rows_per_block, 0},
    {"pieces", run_pieces_per_lane, 0},
    {"range", run_rows_of_a_range, 0},
    {"multiply", multiply, 0},
#ifndef __CPU_DEVICE__
    {"cuBLAS", vendor_cublas, 0},
    {"read", run_read_only, 0},
#endif
};
// Among them; before it are the steps that it picks from.
constexpr std::size_t kMultiply = 7;
bool only_reads(const Contender& contender) { return contender.run == run_read_only; }

// Shapes of about as many elements, if that takes no more than so many rows: narrow ones,
// wide ones, some that are multiples of nothing, and some tight ones.
std::vector<Shape> shapes_of(std::size_t elements, std::size_t most_rows) {
    std::vector<Shape> shapes;
    for (const std::size_t cols :
         {1, 4, 16, 17, 32, 64, 100, 128, 256, 1000, 1024, 4096, 16384}) {
        shapes.push_back({std::min(most_rows, elements / pitch_for(cols)), cols});
    }
    shapes.push_back({7, elements / 16});
    shapes.push_back({1, elements / 4});
    for (const std::size_t cols : {3, 17, 255})
        shapes.push_back({std::min(most_rows, elements / cols), cols, true});
    return shapes;
}

// The loads, as a multiple of the matrix, and requests to global and shared memory for each
// KiB of it. The pick may need no more than a tenth more of either than the step that needs
// the least. (But tight rows go through shared memory, which takes requests.)
void count_shapes(warpwise::Lesson& lesson) {
    constexpr std::size_t elements = std::size_t{1} << 17;
    Product problem({1, elements});
    std::vector<std::vector<std::string>> loads, requests;
    for (const Shape& shape : shapes_of(elements, 512)) {
        problem.reshape(shape.rows, shape.cols, shape.pitch());
        const double bytes = 4 * static_cast<double>(shape.rows * shape.cols);
        loads.push_back({shape.name()});
        requests.push_back({shape.name()});
        double least_moved = std::numeric_limits<double>::max(),
               least_requests = least_moved;
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            const std::string name = shape.name() + ", " + contenders[i].name + ": ";
            problem.poison();
            const auto counts = lesson.count([&] { contenders[i].run(problem); });
            lesson.expect(problem.compare().passed, name + "the product is right");
            if (!counts) continue;
            const double moved = counts->global_load.bytes_moved() / bytes;
            const double asked =
                (counts->global().requests + counts->shared().requests) / (bytes / 1024);
            loads.back().push_back(text_of("%.2f", moved));
            requests.back().push_back(text_of("%.1f", asked));
            if (i == kMultiply) {
                lesson.expect(moved <= 1.1 * least_moved,
                              name + "moves hardly more than any other step");
                if (!shape.tight)
                    lesson.expect(asked <= 1.1 * least_requests,
                                  name + "makes hardly more requests than any other step");
                lesson.expect(counts->active_lanes_per_step() >= 20,
                              name + "lanes have work");
            }
            least_moved = std::min(least_moved, moved);
            least_requests = std::min(least_requests, asked);
        }
    }
    if (loads.front().size() == 1) return;  // nothing was counted
    std::vector<std::string> header = {"rows x cols"};
    for (const Contender& contender : contenders) header.push_back(contender.name);
    lesson.table({"bytes", "Bytes that loads move, as a multiple of the matrix"}, header,
                 loads);
    lesson.table(
        {"requests", "Requests to global and shared memory, for each KiB of the matrix"},
        header, requests);
}

// GB/s of all contenders, measured in turn; "-" where a step has so few threads that it
// would take seconds.
std::vector<std::vector<std::string>> measure_shapes(warpwise::Lesson& lesson) {
    constexpr std::size_t fewest_threads = 4096;
    std::size_t free_bytes = 0, all_bytes = 0, elements = std::size_t{1} << 28;
    warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
    while (elements > 4096 && 3 * elements * sizeof(float) > free_bytes) elements /= 2;
    Product problem({1, elements});
    std::vector<std::vector<std::string>> rows;
    for (const Shape& shape : shapes_of(elements, elements)) {
        problem.reshape(shape.rows, shape.cols, shape.pitch());
        std::vector<double> speeds(contenders.size());
        std::vector<warpwise::Candidate> candidates;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            const Contender& contender = contenders[i];
            if (contender.threads_per_row != 0 &&
                shape.rows * contender.threads_per_row < fewest_threads)
                continue;
            candidates.push_back({[&problem, &contender] { contender.run(problem); }});
            places.push_back(i);
            if (only_reads(contender)) continue;
            problem.poison();
            contender.run(problem);
            lesson.expect(problem.compare().passed,
                          shape.name() + ", " + contender.name + ": the product is right");
        }
        const auto timings =
            warpwise::measure_in_turn(candidates, {.samples = 10, .seconds = 0.1});
        for (std::size_t i = 0; i < timings.size(); ++i) {
            const double matrix =
                sizeof(float) *
                static_cast<double>(shape.rows * problem.pitch);  // what `read` moves
            const double bytes =
                only_reads(contenders[places[i]]) ? matrix : problem.work().bytes;
            speeds[places[i]] = bytes / timings[i].median * 1e-9;
        }
        rows.push_back({shape.name()});
        for (const double speed : speeds)
            rows.back().push_back(speed == 0 ? "-" : text_of("%.0f", speed));
        const double best =
            *std::max_element(speeds.begin(), speeds.begin() + kMultiply + 1);
        rows.back().push_back(text_of("%.2f", speeds[kMultiply] / best));
    }
    return rows;
}

void show_shapes(warpwise::Lesson& lesson) {
    if (!warpwise::Lesson::on_gpu()) count_shapes(lesson);
    if (!lesson.measures()) {
        lesson.show_recorded("shapes");
        return;
    }
    std::vector<std::string> header = {"rows x cols"};
    for (const Contender& contender : contenders) header.push_back(contender.name);
    header.push_back("multiply / best step");
    lesson.table({"shapes", "GB/s by shape"}, header, measure_shapes(lesson));
}

// What the loads of each step have to come to, for 256 rows of 256 columns.
void check_predictions(warpwise::Lesson& lesson) {
    constexpr std::array<double, 8> predicted = {8.25,  2,      1.125,  2,
                                                 1.125, 1.0625, 1.0625, 1.0625};
    Product problem({256, 256});
    for (std::size_t i = 0; i < predicted.size(); ++i) {
        problem.poison();
        const auto counts = lesson.count([&] { contenders[i].run(problem); });
        if (!counts) continue;
        lesson.expect(counts->global_load.bytes_moved() == predicted[i] * 4 * 256 * 256,
                      std::string(contenders[i].name) + ": bytes that its loads move");
    }
}

// Rows that begin anywhere: no float4 there.
void check_tight_rows(warpwise::Lesson& lesson) {
    for (const auto& [rows, cols] : {std::array<std::size_t, 2>{0, 3},
                                     {5001, 1},
                                     {2003, 5},
                                     {67, 17},
                                     {9, 255},
                                     {35, 511},
                                     {33, 1001},
                                     {1, 5003},
                                     {5, 2501}}) {
        Product problem(rows, cols, cols);
        for (const auto run :
             {multiply, run_rows_per_block, run_rows_of_a_range, run_pieces_per_lane}) {
            problem.poison();
            run(problem);
            lesson.expect(problem.compare().passed,
                          "tight rows of " + std::to_string(cols) + " floats");
        }
    }
}

}  // namespace

void matrix_vector(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A matrix times a vector is one dot product per row. Every element of the matrix
is needed once, so matrices with equally many elements should take the same time. They do
not. Who should share a row: a thread, a few lanes, a warp, a block, or several blocks?)");
    lesson.predict(
        {.question = R"(256 rows of 256 columns: one thread per row. A load of a
warp takes 32 floats of one column, and the same float of x for all lanes. How many
times the bytes of the matrix do the loads move?)",
         .answer = warpwise::Number{.value = 8.25, .unit = "times"},
         .because = R"(32 sectors of 32 bytes for 128 bytes of the matrix, and one
sector of x per request, which is another quarter. One block per row moves 2 times the
matrix.)"});
    check_predictions(lesson);
    lesson.conclusion(
        R"(One thread per row moves 8 1/4 times the matrix: 32 sectors for 128 bytes, and
one sector of x per request. One block per row moves it twice, because it reads x for each
row. One warp per row moves 1 1/8. Where there are counters, they agree exactly.)");
    lesson.question(
        R"(How far do these kernels get on a large matrix, and what do loads of 16 bytes,
eight of them in flight per thread, add?)");
    lesson.predict(
        {.question = R"(The loads of thread_per_row ask for more than 8 times the matrix,
those of rows_per_block for little more than the matrix. How many times as long does
thread_per_row take on a GPU?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"thread_per_row",
                                                                "rows_per_block"},
                                      .unit = "times",
                                      .factor = 1.5},
         .because = R"(Whole sectors are loaded for single floats, and for large matrices
the caches do not keep them until the next column is needed.)"});

    std::vector<warpwise::Step<Product>> steps = {
        {"serial", "a loop in double, one core", serial, warpwise::StepKind::host},
        {"thread_per_row", "one thread per row", run_thread_per_row},
        {"block_per_row", "one block per row", run_block_per_row},
        {"warp_per_row", "one warp per row, x in shared memory", run_warp_per_row},
        {"lanes_per_row", "as many lanes as a narrow row needs", run_lanes_per_row},
        {"rows_per_block", "8 float4 per thread, of up to 8 rows", run_rows_per_block},
        {"pieces_per_lane", "float4 for short rows that are aligned", run_pieces_per_lane},
        {"rows_of_a_range", "float4 for short rows that begin anywhere",
         run_rows_of_a_range},
        {"multiply", "tuning: the kernel that suits the shape", multiply},
    };
#ifndef __CPU_DEVICE__
    steps.push_back(
        {"cublas", "cublasSgemv, transposed", vendor_cublas, warpwise::StepKind::vendor});
#endif
    warpwise::Sizes sizes = {
        .gpu = {16384, 16384},
        .cpu = {500, 200},
        .awkward = {{0, 0},     {0, 5},      {5, 0},    {1, 1},     {1, 31},   {31, 1},
                    {2, 2},     {3, 3},      {32, 32},  {33, 65},   {7, 1009}, {509, 7},
                    {509, 1},   {1, 100003}, {2, 9001}, {3, 12289}, {5, 8192}, {9, 1025},
                    {130, 513}, {67, 1023},  {517, 19}, {12, 5000}}};
    // More than 65,535 blocks of rows, and one very long row. This takes the CPU device
    // minutes.
    if (warpwise::Lesson::on_gpu())
        sizes.awkward.insert(sizes.awkward.end(), {{2100000, 1}, {1, 2100000}});
    lesson.steps<Product>(sizes, steps);
    check_tight_rows(lesson);
    lesson.conclusion(
        R"(On an H200, with 16384 x 16384, all kernels but thread_per_row come close to a
copy: they read the matrix once, in whole sectors. The counts differ in how often x is read
and in requests, which loads of 16 bytes lower in steps 6 to 9. Other shapes tell the
kernels apart.)");
    lesson.question(
        R"(Which kernel is right for which shape? The tables compare narrow and wide
matrices, and matrices with few rows.)");
    lesson.predict({.question = R"(The matrix has 16 columns, and one block of 256 threads
computes one row. How many of its threads multiply?)",
                    .answer = warpwise::Number{.value = 16, .unit = "threads"},
                    .because = R"(One for each column. The other 240 only take part in the
sum, so a block per row is far too much for short rows.)"});
    show_shapes(lesson);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(With 16 columns, 16 of 256 threads or 16 of 32 lanes multiply: a block
suits wide matrices, and lanes suit narrow ones. With 7 rows, 7 or 224 threads leave the
device empty, so only kernels in which several blocks share a row stay fast. `multiply`
picks the kernel for the shape.)"
            : R"(With 16 columns, 16 of 256 threads or 16 of 32 lanes multiply, and the
other threads only add requests. With 7 rows, 7 or 224 threads leave a GPU empty, which
these counters do not show. `multiply` picks the kernel for the shape, and the lesson
fails if it needs over a tenth more than the best.)");
}

}  // namespace examples
