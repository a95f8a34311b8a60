// Problem: a matrix of rows x cols floats times a vector: y[row] = a[row][0] * x[0] + ... + a[row][cols-1] *
// x[cols-1].
//
// Each element of the matrix is read once, for one multiplication and one addition. So only bytes count, and every
// row is a dot product of its own. The question is who shares a row: a thread, a few lanes, a warp, a block, several
// blocks? The answer depends on the shape: 2^28 elements may be 16384 rows of 16384, or 2^24 rows of 16, or 7 rows
// that never end. So the lesson does not end with a kernel but with a function that picks one.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#endif

#include "chapters/4_examples/matrix_vector.h"
#include "chapters/4_examples/matrix_vector_pieces.h"
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

constexpr unsigned kTile = 1024;  // floats of x that step 4 has in shared memory at a time

// Of a matrix. Rows are tight if they follow each other without padding, and begin anywhere.
struct Shape {
    std::size_t rows, cols;
    bool tight = false;

    std::size_t pitch() const { return tight ? cols : pitch_for(cols); }
    std::string name() const { return std::to_string(rows) + " x " + std::to_string(cols) + (tight ? ", tight" : ""); }
};

// What a GPU measured, shown where there is none: GB/s of each contender of the last table.
struct Recorded {
    Shape shape;
    std::array<double, 8> gigabytes_per_second;
};
constexpr std::initializer_list<Recorded> recorded_h200 = {
    {{67108864, 1}, {1635, 10, 61, 1071, 20, 1663, 292, 4344}},
    {{67108864, 4}, {4061, 26, 153, 1412, 61, 4150, 469, 4344}},
    {{16777216, 16}, {2015, 88, 516, 1189, 205, 4161, 2080, 4346}},
    {{13421772, 17}, {2816, 93, 541, 615, 194, 3519, 2168, 4264}},
    {{8388608, 32}, {1029, 173, 1001, 1139, 398, 4120, 1828, 4344}},
    {{4194304, 64}, {1012, 333, 1502, 2165, 778, 4063, 1890, 4344}},
    {{2581110, 100}, {1889, 491, 1790, 2236, 1187, 3901, 2674, 4266}},
    {{2097152, 128}, {995, 630, 3054, 3429, 1513, 4130, 3456, 4344}},
    {{1048576, 256}, {977, 1127, 4250, 4120, 2803, 4190, 4112, 4347}},
    {{268435, 1000}, {1809, 2834, 3897, 4019, 4343, 4343, 3579, 4247}},
    {{262144, 1024}, {963, 3429, 4318, 4270, 4351, 4346, 4267, 4345}},
    {{65536, 4096}, {970, 4193, 4231, 4217, 4338, 4338, 3885, 4346}},
    {{16384, 16384}, {476, 4216, 4118, 4181, 4255, 4258, 4020, 4345}},
    {{7, 16777216}, {0, 0, 0, 0, 3875, 3878, 3322, 4082}},
    {{1, 67108864}, {0, 0, 0, 0, 3935, 3936, 2250, 3755}},
    {{89478485, 3, true}, {3654, 21, 123, 1119, 54, 4315, 347, 4276}},
    {{15790320, 17, true}, {3128, 93, 542, 618, 243, 4218, 2190, 4271}},
    {{1052688, 255, true}, {1997, 1105, 3245, 3971, 3125, 4140, 3795, 4264}},
};
constexpr const char* recorded_on = "recorded on one NVIDIA H200 (examples --device cuda, 2026-11-22)";

// ---- steps --------------------------------------------------------------------------------------------------------

// Step 1, one core, in double.
void serial(Product& problem) {
    std::vector<float> y(problem.rows);
    for (std::size_t row = 0; row < problem.rows; ++row) {
        const float* const of_row = &problem.matrix[row * problem.pitch];
        double sum = 0;
        for (std::size_t col = 0; col < problem.cols; ++col) sum += double{of_row[col]} * double{problem.x[col]};
        y[row] = static_cast<float>(sum);
    }
    problem.d_y.upload(y);
    problem.rounds_like(problem.cols + 1);
}

// Step 2, a thread a row: the loop of step 1, for 32 rows at a time in each warp.
// Slow: the lanes are a row apart from each other, so each of them wants a sector of its own, uses 4 of its 32 bytes
// and comes back for the next 4. And a matrix with fewer rows than the chip has threads leaves the rest without work.
__global__ void thread_a_row(const float* a, std::size_t pitch, std::size_t rows, std::size_t cols, const float* x,
                             float* y) {
    const std::size_t row = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (std::size_t col = 0; col < cols; ++col) sum += a[row * pitch + col] * x[col];
    y[row] = sum;
}

void run_thread_a_row(Product& p) {
    thread_a_row<<<warpwise::blocks_for(p.rows, kThreads), kThreads>>>(p.d_matrix.data(), p.pitch, p.rows, p.cols,
                                                                       p.d_x.data(), p.d_y.data());
    warpwise::check_launch();
    p.rounds_like(1);
}

// Step 3, a block a row: neighboring threads take neighboring columns, and add up what they have by shuffles (lesson
// dot_product). Better: whole sectors, used up at once.
// Slow: for each element of the matrix an element of x is read, too. And with 16 columns 240 of 256 threads have
// nothing to do, but take part in the adding up: a barrier and eight times five shuffles for 16 products.
__global__ void block_a_row(const float* a, std::size_t pitch, std::size_t cols, const float* x, float* y) {
    __shared__ float warp_sums[kWarps];
    const std::size_t row = blockIdx.x;
    float sum = 0;
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads) sum += a[row * pitch + col] * x[col];
    for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    if (threadIdx.x % kLanes == 0) warp_sums[threadIdx.x / kLanes] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (unsigned warp = 1; warp < kWarps; ++warp) sum += warp_sums[warp];
    y[row] = sum;
}

void run_block_a_row(Product& p) {
    if (p.rows == 0) return;
    block_a_row<<<warpwise::blocks_for(p.rows, 1), kThreads>>>(p.d_matrix.data(), p.pitch, p.cols, p.d_x.data(),
                                                               p.d_y.data());
    warpwise::check_launch();
    p.rounds_like(kThreads);
}

// Step 4, a warp a row, and x in shared memory, a tile at a time, for the eight rows of the block.
// Better: a warp adds up without waiting for others, and an eighth of the reads of x is left. On a GTX 295 of 2010
// this was more than twice as fast as step 3 for short rows.
// Slow: two barriers a tile, at which nothing is under way; 4 bytes a load; and with 16 columns half of the warp
// idles.
__global__ void warp_a_row(const float* a, std::size_t pitch, std::size_t rows, std::size_t cols, const float* x,
                           float* y) {
    __shared__ float tile[kTile];
    const std::size_t row = std::size_t{blockIdx.x} * kWarps + threadIdx.x / kLanes;
    const unsigned lane = threadIdx.x % kLanes;
    float sum = 0;
    for (std::size_t first = 0; first < cols; first += kTile) {
        const unsigned width = static_cast<unsigned>(cols - first < kTile ? cols - first : kTile);
        __syncthreads();  // nobody reads the tile before this one any more
        for (unsigned i = threadIdx.x; i < width; i += kThreads) tile[i] = x[first + i];
        __syncthreads();
        if (row >= rows) continue;  // but come to the barriers
        for (unsigned i = lane; i < width; i += kLanes) sum += a[row * pitch + first + i] * tile[i];
    }
    for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    if (lane == 0 && row < rows) y[row] = sum;
}

void run_warp_a_row(Product& p) {
    warp_a_row<<<warpwise::blocks_for(p.rows, kWarps), kThreads>>>(p.d_matrix.data(), p.pitch, p.rows, p.cols,
                                                                   p.d_x.data(), p.d_y.data());
    warpwise::check_launch();
    p.rounds_like(kLanes);
}

// Step 5, a row has as many lanes as columns, rounded up to a power of two: 2 to 16 for narrow matrices, else 32. So
// a warp takes up to 16 rows at a time, and a shuffle with a smaller distance stays among the lanes of a row.
// Better: no lane without work. Slow: a load brings 4 bytes, and in a narrow matrix each thread has just one of them.
template <unsigned Lanes>
__global__ void lanes_a_row(const float* a, std::size_t pitch, std::size_t rows, std::size_t cols, const float* x,
                            float* y) {
    const std::size_t row = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) / Lanes;
    const unsigned lane = threadIdx.x % Lanes;
    float sum = 0;
    if (row < rows) {
        for (std::size_t col = lane; col < cols; col += Lanes) sum += a[row * pitch + col] * x[col];
    }
    for (unsigned distance = Lanes / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    if (lane == 0 && row < rows) y[row] = sum;
}

template <unsigned Lanes>
void launch_lanes_a_row(Product& p) {
    lanes_a_row<Lanes><<<warpwise::blocks_for(p.rows, kThreads / Lanes), kThreads>>>(
        p.d_matrix.data(), p.pitch, p.rows, p.cols, p.d_x.data(), p.d_y.data());
    warpwise::check_launch();
    p.rounds_like(Lanes);
}

void run_lanes_a_row(Product& p) {
    if (p.cols <= 2) return launch_lanes_a_row<2>(p);
    if (p.cols <= 4) return launch_lanes_a_row<4>(p);
    if (p.cols <= 8) return launch_lanes_a_row<8>(p);
    if (p.cols <= 16) return launch_lanes_a_row<16>(p);
    return launch_lanes_a_row<32>(p);
}

// ---- steps 6 and 7 are in matrix_vector_pieces.h; the vendor's routine ----

#ifndef __CPU_DEVICE__
// What a user would call instead. cuBLAS stores columns where we store rows, so it takes our matrix for its
// transpose, of cols x rows, and is asked to transpose it back. A matrix without elements it leaves alone.
void vendor_cublas(Product& p) {
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    if (p.rows == 0 || p.cols == 0) return p.d_y.fill_bytes(0);
    const float one = 1, zero = 0;
    warpwise::check_cublas(cublasSgemv_64(handle, CUBLAS_OP_T, static_cast<std::int64_t>(p.cols),
                                          static_cast<std::int64_t>(p.rows), &one, p.d_matrix.data(),
                                          static_cast<std::int64_t>(p.pitch), p.d_x.data(), 1, &zero, p.d_y.data(), 1));
    p.rounds_like(1);  // it does not say how it adds
}
#endif

// ---- which kernel wins where --------------------------------------------------------------------------------

// The roof R: reads both halves of the matrix and does nothing else.
void run_read_only(Product& p) {
    const float* const matrix = p.d_matrix.data();
    const std::size_t half = p.rows * p.pitch / 8 * 4;  // floats, a multiple of 16 bytes
    warpwise::read_only<kTuning.loads>(matrix, matrix + half, half * sizeof(float), p.d_drawn.data());
}

struct Contender {
    const char* name;
    void (*run)(Product&);
    unsigned threads_a_row;  // with few rows the others of the chip idle; 0: that does not happen
};
const std::vector<Contender> contenders = {
    {"thread", run_thread_a_row, 1}, {"block", run_block_a_row, kThreads},  {"warp", run_warp_a_row, kLanes},
    {"lanes", run_lanes_a_row, 32},  {"rows a block", run_rows_a_block, 0}, {"multiply", multiply, 0},
#ifndef __CPU_DEVICE__
    {"cuBLAS", vendor_cublas, 0},    {"roof R", run_read_only, 0},
#endif
};
constexpr std::size_t kMultiply = 5;  // among them; what is before it are the steps that it competes with
bool is_roof(const Contender& contender) { return contender.run == run_read_only; }

// Shapes of about as many elements, if that takes no more than so many rows: narrow ones, wide ones, some that are
// multiples of nothing, and some tight ones.
std::vector<Shape> shapes_of(std::size_t elements, std::size_t most_rows) {
    std::vector<Shape> shapes;
    for (const std::size_t cols : {1, 4, 16, 17, 32, 64, 100, 128, 256, 1000, 1024, 4096, 16384}) {
        shapes.push_back({std::min(most_rows, elements / pitch_for(cols)), cols});
    }
    shapes.push_back({7, elements / 16});
    shapes.push_back({1, elements / 4});
    for (const std::size_t cols : {3, 17, 255}) shapes.push_back({std::min(most_rows, elements / cols), cols, true});
    return shapes;
}

// The loads, as a multiple of the matrix, and requests to global and shared memory for each KiB of it. The pick may
// need no more than a tenth more of either than the step that needs the least. (But tight rows go through shared
// memory, which takes requests.)
void count_shapes(warpwise::Lesson& lesson) {
    constexpr std::size_t elements = std::size_t{1} << 17;
    Product problem({1, elements});
    std::vector<std::vector<std::string>> loads, requests;
    for (const Shape& shape : shapes_of(elements, 512)) {
        problem.reshape(shape.rows, shape.cols, shape.pitch());
        const double bytes = 4 * static_cast<double>(shape.rows * shape.cols);
        loads.push_back({shape.name()});
        requests.push_back({shape.name()});
        double least_moved = std::numeric_limits<double>::max(), least_requests = least_moved;
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            const std::string name = shape.name() + ", " + contenders[i].name + ": ";
            problem.poison();
            const auto counts = lesson.count([&] { contenders[i].run(problem); });
            lesson.expect(problem.compare().passed, name + "the product is right");
            if (!counts) continue;
            const double moved = counts->global_load.bytes_moved() / bytes;
            const double asked = (counts->global().requests + counts->shared().requests) / (bytes / 1024);
            loads.back().push_back(text_of("%.2f", moved));
            requests.back().push_back(text_of("%.1f", asked));
            if (i == kMultiply) {
                lesson.expect(moved <= 1.1 * least_moved, name + "moves hardly more than any other step");
                if (!shape.tight)
                    lesson.expect(asked <= 1.1 * least_requests,
                                  name + "makes hardly more requests than any other step");
                lesson.expect(counts->active_lanes_per_step() >= 20, name + "lanes have work");
            }
            least_moved = std::min(least_moved, moved);
            least_requests = std::min(least_requests, asked);
        }
    }
    if (loads.front().size() == 1) return;  // nothing was counted
    std::vector<std::string> header = {"rows x cols"};
    for (const Contender& contender : contenders) header.push_back(contender.name);
    lesson.table("Bytes that loads move, as a multiple of the matrix", header, loads);
    lesson.table("Requests to global and shared memory, for each KiB of the matrix", header, requests);
}

// GB/s of all contenders, measured in turn; 0 where a step has so few threads that it would take seconds.
std::vector<Recorded> measure_shapes(warpwise::Lesson& lesson) {
    constexpr std::size_t fewest_threads = 4096;
    std::size_t free_bytes = 0, all_bytes = 0, elements = std::size_t{1} << 28;
    warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
    while (elements > 4096 && 3 * elements * sizeof(float) > free_bytes) elements /= 2;
    Product problem({1, elements});
    std::vector<Recorded> results;
    for (const Shape& shape : shapes_of(elements, elements)) {
        problem.reshape(shape.rows, shape.cols, shape.pitch());
        results.push_back({shape, {}});
        std::vector<warpwise::Candidate> candidates;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            const Contender& contender = contenders[i];
            if (contender.threads_a_row != 0 && shape.rows * contender.threads_a_row < fewest_threads) continue;
            candidates.push_back({[&problem, &contender] { contender.run(problem); }});
            places.push_back(i);
            if (is_roof(contender)) continue;
            problem.poison();
            contender.run(problem);
            lesson.expect(problem.compare().passed, shape.name() + ", " + contender.name + ": the product is right");
        }
        const auto timings = warpwise::measure_in_turn(candidates, {.samples = 10, .seconds = 0.1});
        for (std::size_t i = 0; i < timings.size(); ++i) {
            const double matrix = sizeof(float) * static_cast<double>(shape.rows * problem.pitch);  // the roof's
            const double bytes = is_roof(contenders[places[i]]) ? matrix : problem.work().bytes;
            results.back().gigabytes_per_second[places[i]] = bytes / timings[i].median * 1e-9;
        }
    }
    return results;
}

void show_shapes(warpwise::Lesson& lesson) {
    if (!warpwise::Lesson::on_gpu()) count_shapes(lesson);
    const std::vector<Recorded> results =
        lesson.measures() ? measure_shapes(lesson) : std::vector<Recorded>(recorded_h200);
    std::vector<std::vector<std::string>> cells;
    for (const auto& [shape, speeds] : results) {
        cells.push_back({shape.name()});
        for (const double speed : speeds) cells.back().push_back(speed == 0 ? "-" : text_of("%.0f", speed));
        const double best = *std::max_element(speeds.begin(), speeds.begin() + kMultiply + 1);
        cells.back().push_back(text_of("%.2f", speeds[kMultiply] / best));
    }
    if (cells.empty()) return;
    std::vector<std::string> header = {"rows x cols"};
    for (const char* name : {"thread", "block", "warp", "lanes", "rows a block", "multiply", "cuBLAS", "roof R"}) {
        header.push_back(name);
    }
    header.push_back("multiply / best step");
    const std::string where = lesson.measures() ? "" : std::string(", ") + recorded_on;
    lesson.table("GB/s by shape" + where, header, cells);
}

// What the loads of each step have to come to, for 256 rows of 256 columns.
void check_predictions(warpwise::Lesson& lesson) {
    constexpr std::array<double, 6> predicted = {8.25, 2, 1.125, 2, 1.125, 1.0625};
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
        for (const auto run : {multiply, run_rows_a_block}) {
            problem.poison();
            run(problem);
            lesson.expect(problem.compare().passed, "tight rows of " + std::to_string(cols) + " floats");
        }
    }
}

}  // namespace

void matrix_vector(warpwise::Lesson& lesson) {
    lesson.text(
        R"(A matrix times a vector is one dot product for each row. Every element of the matrix is needed once,
so it is all about reading it, and the time should be the same for every matrix of as many elements.
It is not: which kernel is good depends on how long the rows are.

What you will see: a row for each thread, for each block, for each warp, for a few lanes; then loads of 16
bytes, eight at a time. And in the end a function that picks the right kernel for a shape, because no kernel is
right for all.

The rows are pitched (lesson pitched_memory): padded to a multiple of 16 bytes, or of 32 if they are long.

Predict, for 256 rows of 256 columns. The matrix has 256 KB, x has 1 KB. How many bytes do the loads of each
step move, as a multiple of the matrix?

A thread a row: 32 lanes read 32 rows, 1 KB apart. And all of them read the same element of x.

A block a row: neighbors read neighbors, in the matrix and in x.

A warp a row: eight warps read x once, together.)");
    check_predictions(lesson);
    lesson.text(
        R"(A thread a row: 32 sectors for 128 bytes, which is 8 times the matrix, and a sector of x for each
request: 8 and 1/4. On a GPU the next seven elements of a sector may still be in a cache when they
are asked for, if not too many rows are under way. A block a row: once the matrix, once x for each
row: 2. A warp a row: x only once for eight rows, 1 and 1/8. Where there are counters these figures
are held against them, exactly.)");

    std::vector<warpwise::Step<Product>> steps = {
        {"serial", "a loop in double, one core", serial, warpwise::StepKind::host},
        {"thread_a_row", "a thread a row", run_thread_a_row},
        {"block_a_row", "a block a row", run_block_a_row},
        {"warp_a_row", "a warp a row, x in shared memory", run_warp_a_row},
        {"lanes_a_row", "as many lanes as a narrow row needs", run_lanes_a_row},
        {"rows_a_block", "8 float4 a thread, of up to 8 rows", run_rows_a_block},
        {"multiply", "the kernel that suits the shape", multiply},
    };
#ifndef __CPU_DEVICE__
    steps.push_back({"cublas", "cublasSgemv, transposed", vendor_cublas, warpwise::StepKind::vendor});
#endif
    warpwise::Sizes sizes = {
        .gpu = {16384, 16384},
        .cpu = {500, 200},
        .awkward = {{0, 0},    {0, 5},    {5, 0},     {1, 1},     {1, 31},   {31, 1},     {2, 2},    {3, 3},
                    {32, 32},  {33, 65},  {7, 1009},  {509, 7},   {509, 1},  {1, 100003}, {2, 9001}, {3, 12289},
                    {5, 8192}, {9, 1025}, {130, 513}, {67, 1023}, {517, 19}, {12, 5000}}};
    // More than 65,535 blocks of rows, and one very long row. This takes the CPU device minutes.
    if (warpwise::Lesson::on_gpu()) sizes.awkward.insert(sizes.awkward.end(), {{2100000, 1}, {1, 2100000}});
    lesson.steps<Product>(sizes, steps);
    check_tight_rows(lesson);
    lesson.text(
        R"(That was one shape. Now others, narrow and wide ones. Predict who wins with 16 columns: where is a
block of 256 threads for 16 products, where a warp of 32 lanes, where does a lane get any work? And
with 7 rows: how many threads does a thread a row start, how many a warp a row?)");
    show_shapes(lesson);
    lesson.text(
        warpwise::Lesson::on_gpu()
            ? R"(Look down the columns. A block is good for wide matrices and poor for narrow ones, as predicted; a warp
and a few lanes are better there. Two things are not as the counters have it. On an H200 a few lanes lose next to
nothing where rows are long, as long as there are many of them. And with 17 columns or fewer they lose to a thread a
row: the next seven elements of its sectors do come from a cache. (Less of that works where rows are a power of two
apart; and with 16384 rows too few threads are under way.) With few rows only `rows a block` and `multiply` give all
multiprocessors work; a dash stands where a step would have fewer than 4096 threads, and take seconds.

Roof R reads the matrix and does nothing else. The others also have x to read and y to write, which counts for them,
and padding, which does not: with 4 columns y is a fifth of the bytes, with 17 columns 3 floats of 20 are padding.
Tight rows have none, and `multiply` takes them through shared memory. The last column is below 0.9 where it picks the
wrong kernel for this chip.)"
            : R"(Look down the columns. In the first table a thread a row stands out: it moves the matrix eight
times. (Rows of 1, 3 and 4 floats are shorter than a sector.) The second one has what the first one
hides. With 16 columns a block a row makes a hundred requests for each one of `multiply`: seven of
its eight warps have no column, and yet take part in the adding up. A warp a row is better, a few
lanes are better still, and then float4 brings four times as much with a request. With long rows all
of that adding up is lost among the loads. `multiply` has to be within a tenth of the best in both,
for every shape: that is held against the counters. Only tight rows, which begin anywhere, take it
more requests: it puts them into shared memory first, as float4, and adds up there.

What no counter sees is that 7 rows are 7 threads for step 2, and 224 for step 4, on a chip that wants 100,000
and more: there several blocks have to share a row. Nor does it see a cache: on an H200 a thread a row is not eight
times as slow, and with 17 columns or fewer it is faster than a few lanes.)");
    lesson.text(
        R"(When to use which: rows of up to 512 floats are for lanes, longer ones for blocks. Whether a narrow
matrix is worth a kernel of your own can be read off the column of cuBLAS: on an H200 it has about half of the speed of
`multiply` with 16 to 64 columns and with a single row, and at least 0.8 of it where rows have 255 columns or more.

Mistakes to avoid: an index of 32 bits, which ends at 2^31 elements; a `return` of warps without a row before a
barrier that they have to come to; float4 where the rows are tight and their length is no multiple of 4; reading
the padding, which may hold NaN, and 0 times NaN is no 0; a single kernel for all shapes because it was measured
at one.

Try next: a narrow matrix, a wide one, and the lines that cost most.

    examples matrix_vector --size 10000x16
    examples matrix_vector --size 3x100000 --check
    examples matrix_vector --lines --step block_a_row)");
}

}  // namespace examples
