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

// The roof R: reads both halves of the matrix and does nothing else.
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
    {"roof R", run_read_only, 0},
#endif
};
// Among them; before it are the steps that it picks from.
constexpr std::size_t kMultiply = 7;
bool is_roof(const Contender& contender) { return contender.run == run_read_only; }

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
    lesson.table("Bytes that loads move, as a multiple of the matrix", header, loads);
    lesson.table("Requests to global and shared memory, for each KiB of the matrix", header,
                 requests);
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
            if (is_roof(contender)) continue;
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
                static_cast<double>(shape.rows * problem.pitch);  // the roof's
            const double bytes =
                is_roof(contenders[places[i]]) ? matrix : problem.work().bytes;
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
        lesson.show_recorded("GB/s by shape");
        return;
    }
    std::vector<std::string> header = {"rows x cols"};
    for (const Contender& contender : contenders) header.push_back(contender.name);
    header.push_back("multiply / best step");
    lesson.table("GB/s by shape", header, measure_shapes(lesson));
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
    lesson.text(
        R"(A matrix times a vector is one dot product for each row. Every element of the
matrix is needed once, so it is all about reading it, and the time should be the same for
every matrix of as many elements. It is not: which kernel is good depends on how long the
rows are.

What you will see: a row for each thread, for each block, for each warp, for a few lanes;
then loads of 16 bytes, eight at a time. And in the end a function that picks the right
kernel for a shape, because no kernel is right for all.

The rows are pitched (lesson pitched_memory): padded to a multiple of 16 bytes, or of 32 if
they are long.

Predict, for 256 rows of 256 columns. The matrix has 256 KB, x has 1 KB. How many bytes do
the loads of each step move, as a multiple of the matrix?

One thread per row: 32 lanes read 32 rows, 1 KB apart. And all of them read the same
element of x.

One block per row: neighbors read neighbors, in the matrix and in x.

One warp per row: eight warps read x once, together.)");
    check_predictions(lesson);
    lesson.text(
        R"(One thread per row: 32 sectors for 128 bytes, which is 8 times the matrix, and a
sector of x for each request: 8 and 1/4. On a GPU the next seven elements of a sector may
still be in a cache when they are asked for, if not too many rows are in flight. One block
per row: once the matrix, once x for each row: 2. One warp per row: x only once for eight
rows, 1 and 1/8. Where there are counters these figures are held against them,
exactly.)");

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
    lesson.text(
        R"(That was one shape. Now others, narrow and wide ones. Predict who wins with 16
columns: where is a block of 256 threads for 16 products, where a warp of 32 lanes, where
does a lane get any work? And with 7 rows: how many threads does one thread per row start,
and how many does one warp per row?)");
    show_shapes(lesson);
    lesson.text(
        warpwise::Lesson::on_gpu()
            ? R"(Look down the columns. A block is good for wide matrices and poor for
narrow ones, as predicted; a warp and a few lanes are better there. Two things are not as
the counters have it. On an H200 a few lanes lose next to nothing where rows are long,
provided that there are many rows. And with 17 columns or fewer they lose to one thread per
row: the next seven elements of its sectors do come from a cache. (Less of that works where
rows are a power of two apart; and with 16384 rows too few threads are in flight.) With few
rows only `rows per block`, `pieces`, `range`, and `multiply` give all multiprocessors
work; a dash stands where a step would have fewer than 4096 threads, and take seconds.

Roof R reads the matrix and does nothing else. The others also have x to read and y to
write, which counts for them, and padding, which does not: with 4 columns y is a fifth of
the bytes, with 17 columns 3 floats of 20 are padding. Tight rows have none, and `multiply`
takes them through shared memory. The last column is below 0.9 where it picks the wrong
kernel for this chip.)"
            : R"(Look down the columns. In the first table one thread per row stands out:
it moves the matrix eight times. (Rows of 1, 3 and 4 floats are shorter than a sector.) The
second one has what the first one hides. With 16 columns one block per row makes about 100
times as many requests as `multiply`: seven of its eight warps have no column, and yet take
part in the adding up. One warp per row is better, a few lanes are better still, and then
float4 brings four times as much with a request. With long rows all of that adding up is
lost among the loads. `multiply` has to be within a tenth of the best in both, for every
shape, and the lesson fails if it is not. Only tight rows, which begin anywhere, take it
more requests: it puts them into shared memory first, as float4, and adds up there.

What no counter sees is that 7 rows are 7 threads for step 2, and 224 for step 4, on a chip
that wants 100,000 and more: there several blocks have to share a row. Nor does it see a
cache: on an H200 one thread per row is not eight times as slow, and with 17 columns or
fewer it is faster than a few lanes.)");
    lesson.text(
        R"(When to use which: rows of up to 512 floats are for lanes, longer ones for
blocks. Whether a narrow matrix is worth a kernel of your own can be read off the column of
cuBLAS: on an H200 it has about half of the speed of `multiply` with 16 to 64 columns and
with a single row, and at least 0.8 of it where rows have 255 columns or more.

Mistakes to avoid: an index of 32 bits, which ends at 2^31 elements; a `return` of warps
without a row before a barrier that they have to come to; float4 where the rows are tight
and their length is no multiple of 4; reading the padding, which may hold NaN, and 0 times
NaN is no 0; a single kernel for all shapes because it was measured at one.

Try next: a narrow matrix, a wide one, and the lines that cost most.

    examples matrix_vector --size 10000x16
    examples matrix_vector --size 3x100000 --check
    examples matrix_vector --lines --step block_per_row)");
}

}  // namespace examples
