// Problem: move tiles between global and shared memory without the threads. From compute
// capability 9.0 on, an SM has a tensor memory accelerator (TMA) for that.
//
// A transpose needs nothing else: its tiles come in, are turned, and go out. So the steps
// show what the accelerator can do, against a copy. A second problem, in which every block
// needs the same table, is for multicast.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "chapters/2_memory_model/provoked.h"
#include "chapters/5_modern_cuda/mistakes.h"
#include "chapters/5_modern_cuda/tensor_memory_accelerator/kernels.cuh"
#include "chapters/5_modern_cuda/tensor_memory_accelerator/multicast.cuh"
#include "chapters/5_modern_cuda/tensor_memory_accelerator/wrong.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/cublas.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/tensor_map.h"
#include "common/helpers/text.h"
#include "common/helpers/this_cluster.cuh"
#include "common/lesson/lesson.h"

namespace modern_cuda {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

// ---- the transpose ----------------------------------------------------------------------

// Floats from one row to the next: a multiple of 16 bytes.
std::size_t pitch_of(std::size_t floats) { return warpwise::ceil_div(floats, 4) * 4; }

// The matrix and its transpose, both with pitched rows. What lies behind a row of the
// output is not looked at: the accelerator stores the last 16 bytes of a row whole.
struct Matrices {
    std::size_t rows, cols;
    std::size_t pitch_in, pitch_out;
    std::vector<float> in;
    DeviceBuffer<float> d_in, d_out;
    unsigned most_blocks = 0;  // that a launch may have; 0: as many as are resident

    explicit Matrices(const warpwise::Size& size)
        : rows(size[0]),
          cols(size[1]),
          pitch_in(pitch_of(cols)),
          pitch_out(pitch_of(rows)),
          in(warpwise::uniform<float>(rows * pitch_in, 12)),
          d_in(in),
          d_out(cols * pitch_out) {}

    void poison() { d_out.fill_bytes(0xFF); }

    // Nothing is rounded: every element has to be exact.
    warpwise::Comparison compare() {
        std::vector<float> out = d_out.download();
        for (std::size_t col = 0; col < cols; ++col)
            for (std::size_t row = rows; row < pitch_out; ++row)
                out[col * pitch_out + row] = 0;
        return warpwise::compare_each(out, out.size(), [&](std::size_t i) {
            const std::size_t row = i % pitch_out, col = i / pitch_out;
            return row < rows ? static_cast<double>(in[row * pitch_in + col]) : 0.0;
        });
    }

    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * static_cast<double>(rows * cols)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return sizeof(float) * (size[0] * pitch_of(size[1]) + size[1] * pitch_of(size[0]));
    }

    Transposed transposed() {
        return {d_out.data(), pitch_out, static_cast<unsigned>(rows),
                static_cast<unsigned>(cols)};
    }
    // The maps of the input and of the output, with boxes of `box_rows` rows.
    CUtensorMap map_in(unsigned box_rows, CUtensorMapSwizzle swizzle) const {
        return warpwise::tensor_map({.data = d_in.data(),
                                     .rows = rows,
                                     .cols = cols,
                                     .pitch = pitch_in * sizeof(float),
                                     .box_rows = box_rows,
                                     .box_cols = kTile,
                                     .swizzle = swizzle});
    }
    CUtensorMap map_out(unsigned box_rows) const {
        return warpwise::tensor_map({.data = d_out.data(),
                                     .rows = cols,
                                     .cols = rows,
                                     .pitch = pitch_out * sizeof(float),
                                     .box_rows = box_rows,
                                     .box_cols = kTile});
    }
    unsigned tiles(unsigned side) const {
        return static_cast<unsigned>(warpwise::ceil_div(rows, side) *
                                     warpwise::ceil_div(cols, side));
    }
};

template <void (*kernel)(const float*, std::size_t, Transposed)>
void by_address(Matrices& problem) {
    if (problem.tiles(kTile) == 0) return;
    kernel<<<problem.tiles(kTile), kThreads>>>(problem.d_in.data(), problem.pitch_in,
                                               problem.transposed());
    warpwise::check_launch();
}

template <void (*kernel)(CUtensorMap, Transposed), CUtensorMapSwizzle swizzle>
void by_map(Matrices& problem) {
    if (problem.tiles(kTile) == 0) return;
    kernel<<<problem.tiles(kTile), kThreads>>>(problem.map_in(kTile, swizzle),
                                               problem.transposed());
    warpwise::check_launch();
}

constexpr CUtensorMapSwizzle kSwizzle = CU_TENSOR_MAP_SWIZZLE_128B;

void tensor_store(Matrices& problem) {
    if (problem.tiles(kTile) == 0) return;
    transpose_tensor_store<<<problem.tiles(kTile), kThreads>>>(
        problem.map_in(kTile, kSwizzle), problem.map_out(kTile),
        static_cast<unsigned>(problem.cols));
    warpwise::check_launch();
}

template <unsigned Side, unsigned Stages>
void in_stages(Matrices& problem) {
    constexpr auto kernel = transpose_in_stages<Side, Stages>;
    constexpr std::size_t shared_bytes = sizeof(Buffers<Side, Stages>);
    static const unsigned resident = [] {
        warpwise::check(cudaFuncSetAttribute(kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(shared_bytes)));
        return warpwise::blocks_that_fill(kernel, kThreads, shared_bytes);
    }();
    const unsigned most = problem.most_blocks > 0 ? problem.most_blocks : resident;
    const unsigned blocks = std::min(most, problem.tiles(Side));
    if (blocks == 0) return;
    kernel<<<blocks, kThreads, shared_bytes>>>(
        problem.map_in(Side, kSwizzle), problem.map_out(Side),
        static_cast<unsigned>(problem.rows), static_cast<unsigned>(problem.cols));
    warpwise::check_launch();
}

#ifndef __CPU_DEVICE__
// What a user would call instead. It computes out = 1 * transposed(in) + 0 * out.
void vendor(Matrices& problem) {
    if (problem.rows == 0 || problem.cols == 0) return;
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    const float one = 1, zero = 0;
    float* const out = problem.d_out.data();
    const int pitch_out = warpwise::cublas_extent(problem.pitch_out);
    warpwise::check_cublas(cublasSgeam(
        handle, CUBLAS_OP_T, CUBLAS_OP_N, warpwise::cublas_extent(problem.rows),
        warpwise::cublas_extent(problem.cols), &one, problem.d_in.data(),
        warpwise::cublas_extent(problem.pitch_in), &zero, out, pitch_out, out, pitch_out));
}
#endif

struct Method {
    const char* name;
    const char* change;
    void (*run)(Matrices&);
    // What the text predicts of a matrix of whole tiles.
    unsigned wavefronts_per_load;  // of the threads' loads from the tile
    unsigned bytes_per_lane;       // of such a load
    bool needs_accelerator = true;
    bool is_step = true;  // else only a row of the table of shapes
};

const std::vector<Method>& methods() {
    static const std::vector<Method> all = {
        {"transpose_padded_tile", "by threads, through a padded tile",
         by_address<transpose_padded_tile>, 1, 4, false},
        {"transpose_bulk_rows", "a bulk copy for each row", by_address<transpose_bulk_rows>,
         4, 4},
        {"transpose_tensor_map", "a tensor map: one copy per tile",
         by_map<transpose_tensor_map, CU_TENSOR_MAP_SWIZZLE_NONE>, 32, 4},
        {"transpose_swizzled_tile", "the tile swizzled",
         by_map<transpose_swizzled_tile, kSwizzle>, 4, 4},
        {"transpose_swizzled_quads", "16 bytes per load from the tile",
         by_map<transpose_swizzled_quads, kSwizzle>, 4, 16},
        {"transpose_tensor_store", "stored by the accelerator", tensor_store, 4, 16},
        {"transpose_in_stages", "4 tiles in flight per block", in_stages<32, 4>, 4, 16},
        {"transpose_wide_stages", "tuning: 64 x 64, 2 in flight", in_stages<64, 2>, 4, 16},
        {"  32 x 32, 2 stages", "", in_stages<32, 2>, 4, 16, true, false},
        {"  32 x 32, 8 stages", "", in_stages<32, 8>, 4, 16, true, false},
        {"  64 x 64, 1 stage", "", in_stages<64, 1>, 4, 16, true, false},
        {"  64 x 64, 3 stages", "", in_stages<64, 3>, 4, 16, true, false},
        {"  64 x 64, 4 stages", "", in_stages<64, 4>, 4, 16, true, false},
    };
    return all;
}

// Those that this device can run.
std::vector<Method> runnable(bool steps_only) {
    std::vector<Method> all = methods();
    const bool has_it = warpwise::has_tensor_memory_accelerator();
    std::erase_if(all, [&](const Method& method) {
        return (method.needs_accelerator && !has_it) || (steps_only && !method.is_step);
    });
    return all;
}

void tell_what_is_missing(warpwise::Lesson& lesson) {
    if (warpwise::has_tensor_memory_accelerator()) return;
    std::string names;
    for (const Method& method : methods())
        if (method.needs_accelerator && method.is_step)
            names += (names.empty() ? "" : ", ") + std::string(method.name);
    lesson.text(
        "This GPU has no tensor memory accelerator (it begins with compute capability "
        "9.0), so these are left out: " +
        names + ", and all of the multicast.");
}

// Runs a method on whole tiles, expects what the text predicts, and shows it.
void show_conflicts(warpwise::Lesson& lesson) {
    Matrices problem(warpwise::Size{128, 192});
    problem.most_blocks = 4;
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : runnable(true)) {
        const std::string step = method.name;
        const unsigned least = std::max(1u, method.bytes_per_lane / 4);
        rows.push_back({step, std::to_string(method.bytes_per_lane),
                        std::to_string(method.wavefronts_per_load), std::to_string(least)});
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        if (!counts) continue;
        lesson.expect(problem.compare().passed, step + ": right when counted");
        const double elements = 128 * 192;
        const double loads = elements * sizeof(float) / 32 / method.bytes_per_lane;
        lesson.expect(
            counts->shared_load.conflicts() == loads * (method.wavefronts_per_load - least),
            step + ": as many conflicts as predicted");
        lesson.expect(counts->shared_store.conflicts() == 0,
                      step + ": no conflicts when the tile is filled");
        lesson.expect(counts->global_load.bytes == elements * sizeof(float) &&
                          counts->global_store.bytes == elements * sizeof(float),
                      step + ": each byte read and written once");
        lesson.expect(counts->global_load.sectors == elements * sizeof(float) / 32 &&
                          counts->global_store.sectors == elements * sizeof(float) / 32,
                      step + ": whole sectors");
    }
    lesson.table({"conflicts", "Loads of a column of the tile by 32 lanes"},
                 {"step", "bytes per lane", "wavefronts", "at least"}, rows);
}

// ---- tensor maps that are refused -------------------------------------------------------

void show_refusals(warpwise::Lesson& lesson) {
    if (!warpwise::has_tensor_memory_accelerator()) return;
    const DeviceBuffer<float> d_matrix(128 * 128);
    struct Map {
        const char* what;
        warpwise::MatrixBoxes boxes;
        bool is_right;
    };
    const warpwise::MatrixBoxes right = {.data = d_matrix.data(),
                                         .rows = 100,
                                         .cols = 97,
                                         .pitch = 400,
                                         .box_rows = 32,
                                         .box_cols = 32,
                                         .swizzle = kSwizzle};
    std::vector<Map> maps = {{"97 columns, rows 400 bytes apart", right, true}};
    const auto add = [&](const char* what, bool is_right, auto change) {
        maps.push_back({what, right, is_right});
        change(maps.back().boxes);
    };
    add("97 columns, rows 388 bytes apart", false, [](auto& map) { map.pitch = 388; });
    add("begins at the second float", false,
        [&](auto& map) { map.data = d_matrix.data() + 1; });
    add("boxes of 256 rows", true, [](auto& map) { map.box_rows = 256; });
    add("boxes of 257 rows", false, [](auto& map) { map.box_rows = 257; });
    add("boxes of 30 columns: 120 bytes", false, [](auto& map) { map.box_cols = 30; });
    add("boxes of 64 columns, with this swizzle", false,
        [](auto& map) { map.box_cols = 64; });
    add("boxes of 64 columns, without a swizzle", true, [](auto& map) {
        map.box_cols = 64;
        map.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    });
    add("a matrix without rows", false, [](auto& map) { map.rows = 0; });
    std::vector<std::vector<std::string>> rows;
    for (const Map& each : maps) {
        CUtensorMap map;
        const CUresult result = warpwise::encode(map, each.boxes);
        lesson.expect((result == CUDA_SUCCESS) == each.is_right,
                      std::string(each.what) + ": encoded or refused as it should be");
        rows.push_back({each.what, result == CUDA_SUCCESS ? "CUDA_SUCCESS"
                                   : result == CUDA_ERROR_INVALID_VALUE
                                       ? "CUDA_ERROR_INVALID_VALUE"
                                       : std::to_string(result)});
    }
    lesson.table({"refusals", "What cuTensorMapEncodeTiled returns for 100 x 97 floats"},
                 {"map", "result"}, rows);
}

// ---- mistakes that the CPU device finds -------------------------------------------------

using WrongKernel = void (*)(CUtensorMap, CUtensorMap, float*);

Mistake in_kernel(const char* name, const char* what, WrongKernel kernel,
                  const char* kind) {
    const auto run = [kernel] {
        DeviceBuffer<float> d_in(warpwise::uniform<float>(32 * 32, 1)), d_out(64 * 32),
            d_values(32);
        d_out.fill_bytes(0);
        const auto map = [](const DeviceBuffer<float>& matrix, std::size_t rows) {
            return warpwise::tensor_map({.data = matrix.data(),
                                         .rows = rows,
                                         .cols = 32,
                                         .pitch = 128,
                                         .box_rows = 32,
                                         .box_cols = 32});
        };
        kernel<<<1, 32>>>(map(d_in, 32), map(d_out, 64), d_values.data());
        (void)cudaDeviceSynchronize();
    };
    return {name, what, run, kind};
}

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        in_kernel("barrier_instead_of_phase", "__syncthreads() instead of a wait",
                  barrier_instead_of_phase, "data_race"),
        in_kernel("wrong_parity", "parity 1 for the first phase", wrong_parity,
                  "data_race"),
        in_kernel("bytes_of_the_rows_inside", "counts what lies inside",
                  bytes_of_the_rows_inside, "barrier_misuse"),
        in_kernel("bytes_of_two_boxes", "expects too many bytes", bytes_of_two_boxes,
                  "missing_arrival"),
        in_kernel("box_between_rows", "16 bytes off", box_between_rows,
                  "misaligned_access"),
        in_kernel("store_without_fence", "no fence before a store", store_without_fence,
                  "data_race"),
        in_kernel("overwrites_before_it_is_read", "no wait before the next tile",
                  overwrites_before_it_is_read, "data_race"),
        in_kernel("ends_before_it_is_read", "no wait at the end", ends_before_it_is_read,
                  "use_after_free"),
    };
    return all;
}

// ---- times on a GPU ---------------------------------------------------------------------

struct Shape {
    std::size_t rows, cols;
    std::string text() const { return std::to_string(rows) + " x " + std::to_string(cols); }
};

void show_shapes(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        for (const Shape& shape : {Shape{70, 130}, Shape{129, 67}}) {
            Matrices problem(warpwise::Size{shape.rows, shape.cols});
            for (const Method& method : runnable(false)) {
                problem.poison();
                method.run(problem);
                lesson.expect(problem.compare().passed,
                              std::string(method.name) + ": transposes " + shape.text());
            }
        }
        return lesson.show_recorded("shapes");
    }
    std::vector<std::pair<std::string, void (*)(Matrices&)>> timed;
    for (const Method& method : runnable(false))
        timed.emplace_back(method.name, method.run);
#ifndef __CPU_DEVICE__
    timed.emplace_back("vendor", vendor);
#endif
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, run] : timed) rows.push_back({name});
    rows.push_back({"a copy"});
    std::vector<std::string> header = {"step"};
    for (const Shape& shape :
         {Shape{16384, 16384}, Shape{8192, 8192}, Shape{10007, 16411}, Shape{2048, 2048}}) {
        header.push_back(shape.text());
        const warpwise::Size size = {shape.rows, shape.cols};
        std::size_t free_bytes = 0, all_bytes = 0;
        warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
        if (Matrices::device_bytes(size) > free_bytes / 10 * 9) {
            for (std::vector<std::string>& row : rows) row.push_back("no room");
            continue;
        }
        Matrices problem(size);
        std::vector<warpwise::Candidate> candidates;
        for (const auto& [name, run] : timed) {
            problem.poison();
            run(problem);
            lesson.expect(problem.compare().passed, name + ": transposes " + shape.text());
            candidates.push_back({[run = run, &problem] { run(problem); }});
        }
        candidates.push_back({[&problem] {
            warpwise::check(
                cudaMemcpyAsync(problem.d_out.data(), problem.d_in.data(),
                                std::min(problem.d_in.bytes(), problem.d_out.bytes()),
                                cudaMemcpyDeviceToDevice));
        }});
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
            candidates, {.samples = 10, .seconds = 0.1, .longest = 1});
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i].push_back(
                text_of("%.4g", problem.work().bytes / timings[i].median * 1e-9));
    }
    lesson.table({"shapes", "GB/s for each shape"}, header, rows);
}

// ---- a table that all blocks need -------------------------------------------------------

struct Distances {
    unsigned query_count, count;
    std::vector<float> table, queries;
    std::vector<double> expected;
    DeviceBuffer<float> d_table, d_queries, d_out;

    explicit Distances(const warpwise::Size& size)
        : query_count(static_cast<unsigned>(size[0])),
          count(static_cast<unsigned>(size[1])),
          table(warpwise::uniform<float>(pitch_of(count), 3)),
          queries(warpwise::uniform<float>(query_count, 4)),
          expected(query_count),
          d_table(table),
          d_queries(queries),
          d_out(query_count) {
        // With the values in order, the distance follows from two sums.
        std::vector<double> sorted(table.begin(), table.begin() + count);
        std::sort(sorted.begin(), sorted.end());
        std::vector<double> sums(count + std::size_t{1});
        for (std::size_t i = 0; i < count; ++i) sums[i + 1] = sums[i] + sorted[i];
        for (std::size_t q = 0; q < query_count; ++q) {
            const double query = queries[q];
            const auto below = static_cast<std::size_t>(
                std::lower_bound(sorted.begin(), sorted.end(), query) - sorted.begin());
            const auto number = static_cast<double>(below);
            expected[q] = query * number - sums[below] + (sums[count] - sums[below]) -
                          query * (static_cast<double>(count) - number);
        }
    }

    void poison() { d_out.fill_bytes(0xFF); }

    // A thread adds up every 256th group of four values, one after the other.
    warpwise::Comparison compare() {
        const double per_thread = static_cast<double>(count) / kReaders + 64;
        return warpwise::compare(
            d_out.download(), expected,
            {.absolute = 64 * FLT_EPSILON, .relative = per_thread * FLT_EPSILON});
    }
    warpwise::Work work() const {
        return {.bytes = sizeof(float) * (static_cast<double>(count) + 2.0 * query_count),
                .operations = 2.0 * count * query_count};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return sizeof(float) * (pitch_of(size[1]) + 2 * size[0]) + 4096;
    }
};

using Reading = void (*)(const float*, unsigned, const float*, unsigned, float*);

// A block for each query, in clusters of `cluster` blocks.
template <Reading kernel, unsigned cluster>
void read_table(Distances& problem) {
    if (problem.query_count == 0) return;
    static const bool allowed = [] {
        warpwise::check(cudaFuncSetAttribute(kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(sizeof(Reader))));
        return true;
    }();
    (void)allowed;
    const std::size_t clusters = warpwise::ceil_div(problem.query_count, cluster);
    warpwise::check(warpwise::launch_in_clusters(
        kernel,
        {.blocks = static_cast<unsigned>(clusters) * cluster,
         .cluster = cluster,
         .threads = kReaders,
         .shared_bytes = sizeof(Reader)},
        problem.d_table.data(), problem.count, problem.d_queries.data(),
        problem.query_count, problem.d_out.data()));
}

const std::vector<warpwise::Step<Distances>>& readings() {
    static const std::vector<warpwise::Step<Distances>> all = {
        {"distances_alone", "each block copies the table", read_table<distances_alone, 1>},
        {"distances_multicast_2", "2 blocks copy half of it each",
         read_table<distances_multicast<2>, 2>},
        {"distances_multicast_4", "4 blocks", read_table<distances_multicast<4>, 4>},
        {"distances_multicast_8", "8 blocks", read_table<distances_multicast<8>, 8>},
    };
    return all;
}

// How often the table is read from global memory, for 8 queries.
void show_table_reads(warpwise::Lesson& lesson) {
    constexpr unsigned queries = 8, count = 3 * kPart;
    Distances problem(warpwise::Size{queries, count});
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < readings().size(); ++i) {
        const unsigned cluster = 1u << i;
        const double bytes = sizeof(float) * double{count} * queries / cluster;
        rows.push_back({std::to_string(cluster), text_of("%.0f", bytes / 32),
                        std::to_string(queries / cluster)});
        problem.poison();
        const auto counts = lesson.count([&] { readings()[i].run(problem); });
        if (!counts) continue;
        lesson.expect(problem.compare().passed, readings()[i].name + ": right");
        lesson.expect(counts->global_load.bytes - bytes <= 8 * 32 * 32,
                      readings()[i].name + ": reads the table as often as predicted");
    }
    lesson.table({"reads", "8 blocks need a table of 48 KiB"},
                 {"blocks per cluster", "sectors read", "times the table is read"}, rows);
}

}  // namespace

void tensor_memory_accelerator(warpwise::Lesson& lesson) {
    lesson.question(
        R"(From compute capability 9.0 on, one thread can have a whole tile copied between
global and shared memory: by the tensor memory accelerator (TMA), which computes the
addresses, fills in zeros at the edge, and can swizzle the tile. A transpose needs its
columns. What becomes of the bank conflicts if the accelerator fills the tile?)");
    lesson.predict(
        {.question = R"(A bulk copy needs addresses at multiples of 16 bytes, so the rows of
a 32 x 32 tile of floats are padded to 36 floats, and not to 33. 32 lanes load a column, 4
bytes each. How many wavefronts does the load take?)",
         .answer = warpwise::Number{.value = 4,
                                    .unit = "wavefronts",
                                    .shown_by = warpwise::TableCell{"conflicts",
                                                                    {"transpose_bulk_rows"},
                                                                    "wavefronts"}},
         .because = R"(Row r begins in bank 4 r modulo 32, so the column lies in 8 banks,
and in each of them are four of its elements.)"});
    lesson.predict(
        {.question = R"(A tensor map says that the accelerator fills a tile of 32 x 32
floats, without swizzle or padding. How many wavefronts does a load of a column take?)",
         .answer =
             warpwise::Number{.value = 32,
                              .unit = "wavefronts",
                              .shown_by =
                                  warpwise::TableCell{
                                      "conflicts", {"transpose_tensor_map"}, "wavefronts"}},
         .because = "The rows are 128 bytes apart, so the whole column is in one bank."});
    lesson.predict(
        {.question = R"(A box of 32 x 32 floats begins at the last column of a matrix, so 31
of its columns lie outside. How many bytes must its barrier expect?)",
         .answer = warpwise::Choice{.choices = {"128, those inside of the matrix",
                                                "4096, the whole box",
                                                "0, because a box that crosses the edge is "
                                                "refused"},
                                    .right = 1},
         .because = R"(What lies outside is filled with zeros in shared memory, and those
bytes count as well.)"});

    std::vector<warpwise::Step<Matrices>> steps;
    for (const Method& method : runnable(true))
        steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cublasSgeam", vendor, warpwise::StepKind::vendor});
#endif
    tell_what_is_missing(lesson);
    lesson.steps<Matrices>({.gpu = {16384, 16384},
                            .cpu = {256, 320},
                            .awkward = {{0, 0},
                                        {0, 5},
                                        {5, 0},
                                        {1, 1},
                                        {1, 31},
                                        {31, 1},
                                        {31, 33},
                                        {32, 32},
                                        {33, 65},
                                        {64, 64},
                                        {1, 1009},
                                        {1009, 1},
                                        {60, 132},
                                        {129, 67},
                                        {3, 257}}},
                           steps);
    show_conflicts(lesson);
    show_shapes(lesson);
    lesson.conclusion(
        R"(The accelerator takes addresses, edges, and copies off the threads. Its swizzle
moves chunks of 16 bytes, so only loads of 16 bytes are free of conflicts. A block that
waits for each tile has nothing in flight while it stores. With stages it has several tiles
in flight, and one thread asks for all of them.)");

    if (warpwise::has_tensor_memory_accelerator()) {
        lesson.question(
            R"(All blocks need the same table. Each can copy it for itself, from the L2
cache. Or the blocks of a cluster copy a share each, and the accelerator delivers it to all
of them (multicast). What does that save?)");
        lesson.predict(
            {.question = R"(Eight blocks need the same table of 48 KiB, and each has it
copied to its shared memory. In clusters of 4 with multicast, how many sectors of 32 bytes
are read from global memory?)",
             .answer =
                 warpwise::Number{
                     .value = 3072,
                     .unit = "sectors",
                     .shown_by = warpwise::TableCell{"reads", {"4"}, "sectors read"}},
             .because = R"(Each of two clusters reads the table once: 2 x 48 KiB are 98,304
bytes, or 3072 sectors.)"});
        lesson.steps<Distances>({.gpu = {1056, std::size_t{1} << 22},
                                 .cpu = {9, 20'003},
                                 .awkward = {{0, 5},
                                             {1, 0},
                                             {1, 1},
                                             {2, 3},
                                             {5, 31},
                                             {8, 4096},
                                             {3, 4097},
                                             {9, 12'289},
                                             {17, 16'385}}},
                                readings());
        show_table_reads(lesson);
        lesson.conclusion(
            R"(With multicast, a table is read once for each cluster and not once for each
block. The price is that the blocks wait for each other at each part. Only a measurement
tells which of the two weighs more.)");
    }

    lesson.question(
        R"(The driver checks a tensor map when it is made. What does it refuse? And which
mistakes does nobody notice on a GPU, because the result is right most of the time?)");
    show_refusals(lesson);
    show_mistakes(lesson, "kernel", mistakes(), "store_without_fence");
    lesson.conclusion(
        R"(Rows need a pitch of a multiple of 16 bytes, and boxes are at most 256 wide and
high. Count bytes, not elements; wait for the phase, by its parity; fence before a store;
and let the thread that stored wait before its buffer is used again, or the block ends.)");
}

}  // namespace modern_cuda
