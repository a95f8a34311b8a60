// Problem: transpose a matrix of rows x cols floats, out[col][row] = in[row][col], both
// stored row after row.
//
// Nothing is computed; four bytes are read and four are written for each element, as in a
// copy. So a copy is the limit. But neighbors of the input end up `rows` floats apart in
// the output: a warp that reads neighbors writes far apart, and one that writes neighbors
// reads far apart. The way out leads through shared memory, where words may lie anywhere as
// long as their banks differ. Then it is a copy, with the same question: how many bytes are
// in flight?
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#endif

#include "chapters/3_optimization/transpose/kernels.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/cublas.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/lesson/lesson.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;

struct Shape {
    std::size_t rows, cols;
    std::string text() const { return std::to_string(rows) + " x " + std::to_string(cols); }
};

// Shapes that a GPU is timed with: the main size, one with more bytes, and one whose rows
// begin anywhere.
constexpr std::array<Shape, 3> timed_shapes = {
    {{16384, 16384}, {32768, 32768}, {10007, 16411}}};

// Shapes at which each step is checked.
constexpr Shape awkward_shapes[] = {{0, 0},    {0, 5},    {5, 0},    {1, 1},   {1, 31},
                                    {31, 1},   {31, 33},  {32, 32},  {33, 65}, {64, 64},
                                    {1, 1009}, {1009, 1}, {60, 132}, {68, 36}, {129, 67},
                                    {3, 4099}, {4099, 3}};

// The matrix on the host and on the device, its transpose on the host, and room for it on
// the device.
struct Transpose {
    std::size_t rows, cols;
    std::vector<float> in, expected;
    DeviceBuffer<float> d_in, d_out;

    explicit Transpose(const warpwise::Size& size)
        : rows(size[0]),
          cols(size[1]),
          in(warpwise::uniform<float>(rows * cols, 12)),
          expected(rows * cols),
          d_in(in),
          d_out(rows * cols) {
        // Strips of 16 columns: a cache line of the input is used up before the next one
        // comes.
        constexpr std::size_t strip = 16;
        warpwise::parallel_for(cols, [&](std::size_t begin, std::size_t end) {
            for (std::size_t first = begin; first < end; first += strip) {
                for (std::size_t row = 0; row < rows; ++row) {
                    for (std::size_t col = first; col < std::min(first + strip, end);
                         ++col) {
                        expected[col * rows + row] = in[row * cols + col];
                    }
                }
            }
        });
    }

    void poison() { d_out.fill_bytes(0xFF); }

    // Nothing is rounded: every element has to be exact.
    warpwise::Comparison compare() {
        return warpwise::compare_each(d_out.download(), rows * cols, [&](std::size_t i) {
            return static_cast<double>(expected[i]);
        });
    }

    warpwise::Work work() const { return {.bytes = 2.0 * sizeof(float) * rows * cols}; }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(float) * size.count();
    }
};

// Small blocks, so that few threads spread over many SMs.
constexpr unsigned kLineThreads = 64;

void row_per_thread(Transpose& problem) {
    transpose_row_per_thread<<<warpwise::blocks_for(problem.rows, kLineThreads),
                               kLineThreads>>>(problem.d_in.data(), problem.d_out.data(),
                                               problem.rows, problem.cols);
    warpwise::check_launch();
}

void column_per_thread(Transpose& problem) {
    transpose_column_per_thread<<<warpwise::blocks_for(problem.cols, kLineThreads),
                                  kLineThreads>>>(problem.d_in.data(), problem.d_out.data(),
                                                  problem.rows, problem.cols);
    warpwise::check_launch();
}

void naive(Transpose& problem) {
    const unsigned blocks_y =
        std::min(warpwise::blocks_for(problem.rows, kBlockRows), 65535u);
    const dim3 grid(warpwise::blocks_for(problem.cols, kLanes), blocks_y);
    transpose_naive<<<grid, dim3(kLanes, kBlockRows)>>>(
        problem.d_in.data(), problem.d_out.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

using TileKernel = void (*)(const float*, float*, std::size_t, std::size_t);

template <TileKernel kernel, unsigned side, unsigned threads_x, unsigned threads_y>
void run_tiles(Transpose& problem) {
    const std::size_t tiles =
        warpwise::ceil_div(problem.rows, side) * warpwise::ceil_div(problem.cols, side);
    if (tiles == 0) return;
    kernel<<<warpwise::blocks_for(tiles, 1), dim3(threads_x, threads_y)>>>(
        problem.d_in.data(), problem.d_out.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

bool begins_at_16(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

void wide_tile(Transpose& problem) {
    run_tiles<transpose_wide_tile, kWide, kLanes, kBlockRows>(problem);
}

void float4_tile(Transpose& problem) {
    const bool rows_begin_at_16 = problem.rows % 4 == 0 && problem.cols % 4 == 0 &&
                                  begins_at_16(problem.d_in.data()) &&
                                  begins_at_16(problem.d_out.data());
    if (rows_begin_at_16) {
        run_tiles<transpose_float4_tile, kWide, kFours, kFours>(problem);
    } else {
        wide_tile(problem);
    }
}

// The rows that columns begin higher can make one more row of tiles.
template <TileKernel kernel>
void run_shifted(Transpose& problem) {
    const std::size_t tiles = warpwise::ceil_div(problem.rows + kSkew, kWide) *
                              warpwise::ceil_div(problem.cols, kWide);
    if (tiles == 0) return;
    kernel<<<warpwise::blocks_for(tiles, 1), dim3(kLanes, kBlockRows)>>>(
        problem.d_in.data(), problem.d_out.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

constexpr auto shifted_columns = run_shifted<transpose_shifted_columns>;
constexpr auto whole_sectors = run_shifted<transpose_whole_sectors>;

void hinted_loads(Transpose& problem) {
    if (problem.cols % kChunkFloats == 0) {
        whole_sectors(problem);
    } else {
        run_shifted<transpose_hinted_loads>(problem);
    }
}

// Rows that begin at multiples of 256 bytes have nothing to gain: step 14 does those.
template <TileKernel kernel>
void run_long(Transpose& problem) {
    if (problem.cols % kChunkFloats == 0) {
        whole_sectors(problem);
        return;
    }
    const std::size_t tiles_per_column =
        warpwise::ceil_div(problem.rows + kSkew, kLongRows);
    const std::size_t tiles =
        tiles_per_column * warpwise::ceil_div(problem.cols, kLongCols);
    kernel<<<warpwise::blocks_for(tiles, 1), dim3(kLanes, kLongBlockRows)>>>(
        problem.d_in.data(), problem.d_out.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

constexpr auto long_tile = run_long<transpose_long_tile>;
constexpr auto whole_chunks = run_long<transpose_whole_chunks>;

#ifndef __CPU_DEVICE__
// What a user would call instead: C = alpha op(A) + beta op(B) with op(A) the transpose of
// A, and beta = 0, so that B is not read. cuBLAS counts down the columns: our rows are its
// columns, in A and in C.
void vendor(Transpose& problem) {
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    if (problem.rows == 0 || problem.cols == 0) return;
    const int rows = warpwise::cublas_extent(problem.rows),
              cols = warpwise::cublas_extent(problem.cols);
    const float one = 1, zero = 0;
    float* const out = problem.d_out.data();
    warpwise::check_cublas(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one,
                                       problem.d_in.data(), cols, &zero, out, rows, out,
                                       rows));
}
#endif

// ---- what the steps request from memory -------------------------------------------------

// A step, and what the text predicts if rows and columns are multiples of 64.
struct Method {
    const char* name;
    const char* change;
    void (*run)(Transpose&);
    double sectors_per_load, sectors_per_store;  // of a request
    double wavefronts_per_tile_load;             // of a request; 0: no tile
};
constexpr std::array<Method, 17> methods = {
    {{"transpose_row_per_thread", "a thread reads a row", row_per_thread, 32, 4, 0},
     {"transpose_column_per_thread", "a thread writes a row", column_per_thread, 4, 32, 0},
     {"transpose_naive", "one thread per element, 2-D blocks", naive, 4, 32, 0},
     {"transpose_tile", "through a tile in shared memory",
      run_tiles<transpose_tile, kTile, kTile, kTile>, 4, 4, 32},
     {"transpose_padded_tile", "the tile padded",
      run_tiles<transpose_padded_tile, kTile, kTile, kTile>, 4, 4, 1},
     {"transpose_swizzled_tile", "the tile swizzled",
      run_tiles<transpose_swizzled_tile, kTile, kTile, kTile>, 4, 4, 1},
     {"transpose_four_per_thread", "four elements per thread",
      run_tiles<transpose_four_per_thread, kTile, kLanes, kBlockRows>, 4, 4, 1},
     {"transpose_sixteen_per_thread", "sixteen elements per thread, same tile",
      run_tiles<transpose_sixteen_per_thread, kTile, kLanes, kFewRows>, 4, 4, 1},
     {"transpose_wide_four_per_thread", "64 x 64, four elements per thread",
      run_tiles<transpose_wide_swizzled_tile<kLanes>, kWide, kLanes, kLanes>, 4, 4, 1},
     {"transpose_wide_swizzled_tile", "64 x 64, sixteen elements per thread",
      run_tiles<transpose_wide_swizzled_tile<kBlockRows>, kWide, kLanes, kBlockRows>, 4, 4,
      1},
     {"transpose_wide_tile", "padded instead of swizzled", wide_tile, 4, 4, 1},
     {"transpose_float4_tile", "16 bytes per access, if rows allow", float4_tile, 16, 16,
      4},
     {"transpose_shifted_columns", "columns begin where sectors do", shifted_columns, 4, 4,
      1},
     {"transpose_whole_sectors", "tiles numbered down the columns", whole_sectors, 4, 4, 1},
     {"transpose_hinted_loads", "256 bytes per fetch", hinted_loads, 4, 4, 1},
     {"transpose_long_tile", "a longer tile, without the hint", long_tile, 4, 4, 1},
     {"transpose_whole_chunks", "tuning: the hint and the longer tile", whole_chunks, 4, 4,
      1}}};

// The steps that are compared for rows of any length: this one and on.
constexpr std::size_t kFirstForAnyRows = 6;

// Runs the step, expects a transposed matrix, and returns the counts where there are any.
std::optional<warpwise::Counts> count_step(warpwise::Lesson& lesson, const Method& method,
                                           Transpose& problem) {
    problem.poison();
    const auto counts = lesson.count([&] { method.run(problem); });
    lesson.expect(problem.compare().passed,
                  std::string(method.name) + ": the matrix is transposed");
    return counts;
}

void expect_whole_tiles(warpwise::Lesson& lesson) {
    Transpose problem({128, 192});
    for (const Method& method : methods) {
        const auto counts = count_step(lesson, method, problem);
        if (!counts) continue;
        const std::string name = method.name;
        lesson.expect(counts->global_load.sectors_per_request() == method.sectors_per_load,
                      name + ": a load touches as many sectors as predicted");
        lesson.expect(
            counts->global_store.sectors_per_request() == method.sectors_per_store,
            name + ": a store touches as many sectors as predicted");
        lesson.expect(
            counts->shared_load.wavefronts_per_request() == method.wavefronts_per_tile_load,
            name + ": a load from the tile takes as many wavefronts as predicted");
        lesson.expect(counts->shared_store.conflicts() == 0,
                      name + ": no conflicts when the tile is filled");
    }
}

// How a step takes the rows of the input and of the output: in pieces of so many floats;
// and how many rows of the input two tiles load, of each so many.
struct Pieces {
    std::size_t load, store, loaded_twice = 0, of_each = kWide;
};

Pieces pieces_of(const Method& method, const Shape& shape) {
    const std::size_t skew = shape.rows % kSectorFloats == 0 ? 0 : kSkew;
    const bool has_long_tile = method.run == long_tile || method.run == whole_chunks;
    if (has_long_tile && shape.cols % kChunkFloats != 0)
        return {kLanes, shape.rows, skew, kLongRows};
    if (method.run == shifted_columns || method.run == whole_sectors ||
        method.run == hinted_loads || has_long_tile) {
        return {kLanes, shape.rows, skew};
    }
    if (method.run == float4_tile && shape.rows % 4 == 0 && shape.cols % 4 == 0)
        return {kWide, kWide};
    return {kLanes, kLanes};
}

// Sectors that are touched when every row of a matrix is taken in pieces of `piece` floats:
// for each, all sectors from its first byte to its last. The last `loaded_twice` rows of
// each `of_each` rows count twice.
double sectors_in_pieces(std::size_t rows, std::size_t cols, std::size_t piece,
                         std::size_t loaded_twice = 0, std::size_t of_each = kWide) {
    std::size_t sectors = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t times = row % of_each + loaded_twice >= of_each ? 2 : 1;
        for (std::size_t col = 0; col < cols; col += piece) {
            const std::size_t first = (row * cols + col) * sizeof(float);
            const std::size_t last =
                first + std::min(piece, cols - col) * sizeof(float) - 1;
            sectors += times * (last / kSectorBytes - first / kSectorBytes + 1);
        }
    }
    return static_cast<double>(sectors);
}

void compare_row_lengths(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const Shape& shape : {Shape{192, 256}, Shape{196, 260}, Shape{197, 259}}) {
        Transpose problem({shape.rows, shape.cols});
        const double least = problem.work().bytes / 2 / kSectorBytes;
        for (std::size_t i = kFirstForAnyRows; i < methods.size(); ++i) {
            const std::string name = methods[i].name;
            const Pieces pieces = pieces_of(methods[i], shape);
            const double predicted_load = sectors_in_pieces(
                shape.rows, shape.cols, pieces.load, pieces.loaded_twice, pieces.of_each);
            const double predicted_store =
                sectors_in_pieces(shape.cols, shape.rows, pieces.store);
            std::string load = "-", store = "-";
            if (const auto counts = count_step(lesson, methods[i], problem)) {
                const double loaded = counts->global_load.sectors,
                             stored = counts->global_store.sectors;
                lesson.expect(loaded == predicted_load,
                              name + ", " + shape.text() + ": loads as many sectors");
                lesson.expect(stored == predicted_store,
                              name + ", " + shape.text() + ": stores as many sectors");
                // Warps of float4_tile at the edge are not full, and take one more
                // wavefront.
                if (methods[i].run != float4_tile) {
                    const double conflicts =
                        counts->shared_load.conflicts() + counts->shared_store.conflicts();
                    lesson.expect(conflicts == 0, name + ", " + shape.text() +
                                                      ": no conflicts in the tile");
                }
                load = warpwise::ratio_text(loaded / least);
                store = warpwise::ratio_text(stored / least);
            }
            rows.push_back({shape.text(), name,
                            warpwise::ratio_text(predicted_load / least), load,
                            warpwise::ratio_text(predicted_store / least), store});
        }
    }
    lesson.table(
        {"sectors", "Sectors touched, as multiples of those that the matrix fills"},
        {"matrix", "step", "loads", "counted", "stores", "counted"}, rows);
}

// ---- what a clock says ------------------------------------------------------------------

// The last steps, the vendor's routine and a copy, in turn, for one shape after the other.
void print_measured_rates(warpwise::Lesson& lesson) {
    std::vector<std::pair<std::string, void (*)(Transpose&)>> timed;
    for (std::size_t i = kFirstForAnyRows; i < methods.size(); ++i)
        timed.emplace_back(methods[i].name, methods[i].run);
#ifndef __CPU_DEVICE__
    timed.emplace_back("vendor", vendor);
#endif
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, run] : timed) rows.push_back({name});
    rows.push_back({"a copy"});
    for (const Shape& shape : timed_shapes) {
        const warpwise::Size size = {shape.rows, shape.cols};
        std::size_t free_bytes = 0, all_bytes = 0;
        warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
        if (Transpose::device_bytes(size) > free_bytes / 10 * 9) {
            for (std::vector<std::string>& row : rows) row.push_back("no room");
            continue;
        }
        Transpose problem(size);
        std::vector<warpwise::Candidate> candidates;
        for (const auto& [name, run] : timed) {
            problem.poison();
            run(problem);
            lesson.expect(problem.compare().passed, name + ": transposes " + shape.text());
            candidates.push_back({[run = run, &problem] { run(problem); }, false});
        }
        candidates.push_back({[&problem] {
                                  warpwise::check(cudaMemcpyAsync(
                                      problem.d_out.data(), problem.d_in.data(),
                                      problem.d_in.bytes(), cudaMemcpyDeviceToDevice));
                              },
                              false});
        const std::vector<warpwise::Timing> timings =
            warpwise::measure_in_turn(candidates, {.seconds = 0.2});
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].push_back(std::to_string(
                std::lround(problem.work().bytes / timings[i].median * 1e-9)));
        }
    }
    std::vector<std::string> header = {"step"};
    for (const Shape& shape : timed_shapes) header.push_back(shape.text());
    lesson.table({"shapes", "GB/s for each shape"}, header, rows);
}

}  // namespace

void transpose(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Transposing a matrix moves as many bytes as a copy and computes nothing, so a
copy is what it has to be measured against. But what lies side by side in the input lies a
whole row apart in the output. Can both sides be coalesced?)");
    lesson.predict(
        {.question = R"(transpose_naive loads 32 neighboring floats of a row, and
stores them into a column. How many sectors does a store of a warp touch?)",
         .answer =
             warpwise::Number{.value = 32,
                              .unit = "sectors",
                              .shown_by = warpwise::sectors_per_store("transpose_naive")},
         .because = R"(The 32 floats go to 32 rows of the result, each of them into
a sector of its own.)"});
    lesson.predict(
        {.question = R"(In how many wavefronts does a warp get a column of float
tile[32][32] from shared memory?)",
         .answer = warpwise::Number{.value = 32,
                                    .unit = "wavefronts",
                                    .shown_by = warpwise::wavefronts_per_shared_load(
                                        "transpose_tile")},
         .because = R"(All elements of the column are in the same bank. In float
tile[32][33] they are in 32 banks, and one wavefront is enough.)"});

    std::vector<warpwise::Step<Transpose>> steps;
    for (const Method& method : methods)
        steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cublasSgeam", vendor, warpwise::StepKind::vendor});
#endif
    warpwise::Sizes sizes = {.gpu = {16384, 16384}, .cpu = {512, 384}};
    for (const auto& [rows, cols] : awkward_shapes) sizes.awkward.push_back({rows, cols});
    // More than 65535 tiles below each other, and side by side: too much work for the CPU
    // device.
    if (warpwise::Lesson::on_gpu())
        sizes.awkward.insert(sizes.awkward.end(), {{2097221, 1}, {1, 2097221}});
    lesson.steps<Transpose>(sizes, steps);
    expect_whole_tiles(lesson);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(Without a tile one side is always scattered: 32 sectors instead of 4. With
a tile both sides touch 4, but a column of tile[32][32] takes 32 wavefronts; with padding or
a swizzle it takes one. Steps 8 and 10 to 12 have 64 bytes per thread in flight. A step that
stops far below copy bandwidth has too few bytes in flight, or a limit that no counter
shows.)"
            : R"(Without a tile one side is always scattered: 32 sectors instead of 4. With
a tile both sides touch 4, but a column of tile[32][32] takes 32 wavefronts; with padding or
a swizzle it takes one. Steps 8 and 10 to 12 have 64 bytes per thread in flight. Counters do
not show that, but times do, in the last table.)");

    lesson.question(
        R"(So far all rows began at multiples of 32 bytes. Rows of an odd number of floats
begin anywhere, so the edge of a tile cuts sectors in two. Step 13 cuts its tile so that all
stores are whole sectors, and loads 7 rows twice. Steps 16 and 17 have a longer tile, 112 x
96. What does that save?)");
    lesson.predict(
        {.question = R"(Rows of an odd length begin anywhere in a sector. How many
sectors do 32 neighboring floats of such rows touch on average?)",
         .answer = warpwise::Number{.value = 4.875, .unit = "sectors"},
         .because = R"(One of 8 beginnings is a multiple of 32 bytes, with 4
sectors. The other seven touch 5.)"});
    compare_row_lengths(lesson);
    lesson.conclusion(
        R"(32 floats that begin anywhere touch 4 7/8 sectors on average, 1.22 times the
least. Steps 13 to 15 load 71 rows for 64, 1.35 times the least, steps 16 and 17 load 119
for 112, 1.29 times; all of them store hardly more than the least. So in all, step 13
requests nearly as many sectors as step 11.)");

    lesson.question(
        R"(Loads and stores of half a sector do not cost the same, and no counter tells how
many bytes the L2 cache fetches at a time, or in which order the tiles come. What do steps
13 to 17 bring?)");
    lesson.predict(
        {.question = R"(transpose_shifted_columns (step 13) stores whole sectors, but loads
a third more than it needs. How many times as fast as transpose_wide_tile (step 11) is it
for 10007 x 16411 on a GPU?)",
         .answer =
             warpwise::Measured{
                 .by =
                     warpwise::CellRatio{
                         {"shapes", {"transpose_shifted_columns"}, "10007 x 16411"},
                         {"shapes", {"transpose_wide_tile"}, "10007 x 16411"}},
                 .unit = "times",
                 .factor = 1.2},
         .because = R"(A sector that is stored in two parts may have to be read from device
memory first, so half sectors cost more in stores than in loads.)"});
    if (lesson.measures()) {
        print_measured_rates(lesson);
    } else {
        lesson.show_recorded("shapes");
    }
    lesson.conclusion(
        R"(Where rows begin anywhere, whole sectors decide: a sector that two tiles store in
parts may have to be read from memory first. The order of the tiles brings some more, and so
do the hint for 256 bytes and the longer tile. For the square matrices steps 14 to 17 run
the same kernel. If one side of a move has to be scattered, scatter it in shared memory:
then it is a copy.)");
}

}  // namespace optimization
