// Problem: n linear equations with n unknowns, A x = b.
//
// Gauss-Jordan elimination takes one column after the other: it subtracts a multiple of one row, the pivot row, from
// every other row, such that the column becomes zero there. After n columns each row holds a single unknown. The
// multiples are a[row][column] / pivot, and a small pivot makes them large, and rounding errors with them. So the
// pivot row is the one with the largest element in the column, among the rows that were not one yet: partial pivoting.
//
// A column is little work for a GPU, n * n operations on n * n elements that are read and written, and no column can
// begin before the one before it is done. So what counts is how many bytes a column moves, and how many launches it
// takes. The last step (linear_solver_blocked.cu) finds a way to read the matrix n / 64 times instead of n times.
#include "chapters/4_examples/linear_solver.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/counts.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/helpers/watch.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::text_of;

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;  // of a block
constexpr unsigned kWarps = kThreads / kLanes;
constexpr unsigned kNone = 0xFFFFFFFF;

// What a GPU measured, shown where there is none.
struct Recorded {
    unsigned n;
    double share_of_copy;  // bytes that one_launch has to move in its time, over what cudaMemcpy moves in it
    double one_launch, blocked, vendor;  // milliseconds
};
constexpr std::initializer_list<Recorded> recorded_h200 = {
    {2048, 0.56, 14.5, 4.414, 5.034},
    {4096, 0.81, 79.64, 10.46, 12.72},
    {8192, 0.86, 600.5, 30.78, 35.69},
};
// What stands beside the figures where they are printed.
constexpr const char* recorded_on = "recorded on one NVIDIA H200 (examples --device cuda, 2026-11-22)";

// ---- steps 1 and 2: four launches a column -----------------------------------------------------------------------

// The pivot search, in two launches. Many blocks look at a part of the column each, and leave the key of the best row
// they found (pivot_key and block_max stand in linear_solver.h): of equal magnitudes the lowest row wins, in whatever
// order the blocks run. The elements of a column are a row apart from each other, so each costs a sector of its own.
__global__ void find_block_maxima(const float* a, std::size_t pitch, unsigned n, unsigned column, PivotKey* maxima) {
    __shared__ PivotKey warp_maxima[kWarps];
    const unsigned row = column + blockIdx.x * kThreads + threadIdx.x;
    const PivotKey key = row < n ? pivot_key(a[row * pitch + column], row) : 0;
    const PivotKey largest = block_max(key, warp_maxima);
    if (threadIdx.x == 0) maxima[blockIdx.x] = largest;
}

// One block finds the best of all.
__global__ void choose_pivot(const PivotKey* maxima, unsigned blocks, unsigned column, PivotKey* keys) {
    __shared__ PivotKey warp_maxima[kWarps];
    PivotKey key = 0;
    for (unsigned block = threadIdx.x; block < blocks; block += kThreads) key = max(key, maxima[block]);
    const PivotKey largest = block_max(key, warp_maxima);
    if (threadIdx.x == 0) keys[column] = largest;
}

// The pivot row changes places with row `column`. What stands left of the column is needed no more.
__global__ void swap_rows(float* a, std::size_t pitch, unsigned n, unsigned column, const PivotKey* keys) {
    const unsigned col = column + blockIdx.x * kThreads + threadIdx.x;
    const unsigned pivot_row = row_of(keys[column]);
    if (col > n || pivot_row == column) return;
    const float kept = a[column * pitch + col];
    a[column * pitch + col] = a[pivot_row * pitch + col];
    a[pivot_row * pitch + col] = kept;
}

// Step 1, tight rows. Blocks of 32 x 8 threads, a warp along a row, from the column behind the pivot to the right-hand
// side, which is column n. The column itself would become zero; nobody will read it, so it stays as it is.
// Slow: rows of n + 1 floats begin anywhere, and so does the first column of the warps. Most requests touch five
// sectors instead of four. And four launches for each column, one waiting for the other.
__global__ void eliminate(float* a, std::size_t pitch, unsigned n, unsigned column) {
    const unsigned col = column + 1 + blockIdx.x * kLanes + threadIdx.x;
    if (col > n) return;
    const float pivot = a[column * pitch + column];
    const float above = a[column * pitch + col];
    for (std::size_t row = blockIdx.y * kWarps + threadIdx.y; row < n; row += std::size_t{gridDim.y} * kWarps) {
        if (row != column) a[row * pitch + col] -= a[row * pitch + column] / pivot * above;
    }
}

// Step 2, aligned rows: a multiple of 32 floats apart, and the warps begin at the last multiple of 32 columns before
// the one behind the pivot. Some lanes of the first warp have nothing to do, but every request is whole sectors. On the
// chips of 2010 this made the elimination about twice as fast; on an H200 it brings 8 %.
__global__ void eliminate_aligned(float* a, std::size_t pitch, unsigned n, unsigned column) {
    const unsigned col = (column + 1) / kLanes * kLanes + blockIdx.x * kLanes + threadIdx.x;
    if (col <= column || col > n) return;
    const float pivot = a[column * pitch + column];
    const float above = a[column * pitch + col];
    for (std::size_t row = blockIdx.y * kWarps + threadIdx.y; row < n; row += std::size_t{gridDim.y} * kWarps) {
        if (row != column) a[row * pitch + col] -= a[row * pitch + column] / pivot * above;
    }
}

// After the last column, row r says: pivot times x[r] is the right-hand side.
__global__ void divide(const float* a, std::size_t pitch, unsigned n, float* x, float* pivots) {
    const unsigned row = blockIdx.x * kThreads + threadIdx.x;
    if (row >= n) return;
    const float pivot = a[row * pitch + row];
    pivots[row] = pivot;
    x[row] = a[row * pitch + n] / pivot;
}

dim3 grid_of_elimination(unsigned n, unsigned first_col, unsigned cols_a_block, unsigned rows_a_block) {
    const std::size_t blocks_y = warpwise::ceil_div(n, rows_a_block);
    return dim3(warpwise::blocks_for(n + 1 - first_col, cols_a_block),
                static_cast<unsigned>(std::min<std::size_t>(blocks_y, 65535)));
}

void divide(LinearSystem& system, std::size_t pitch) {
    divide<<<warpwise::blocks_for(system.n, kThreads), kThreads>>>(system.d_work.data(), pitch, system.n,
                                                                   system.d_x.data(), system.d_pivots.data());
    warpwise::check_launch();
}

void launch_eliminate(LinearSystem& system, unsigned column) {
    const dim3 grid = grid_of_elimination(system.n, column + 1, kLanes, kWarps);
    eliminate<<<grid, dim3(kLanes, kWarps)>>>(system.d_work.data(), system.n + 1, system.n, column);
    warpwise::check_launch();
}

void launch_eliminate_aligned(LinearSystem& system, unsigned column) {
    const dim3 grid = grid_of_elimination(system.n, (column + 1) / kLanes * kLanes, kLanes, kWarps);
    eliminate_aligned<<<grid, dim3(kLanes, kWarps)>>>(system.d_work.data(), system.pitch, system.n, column);
    warpwise::check_launch();
}

void solve_in_four_launches(LinearSystem& system, std::size_t pitch, void (*eliminate)(LinearSystem&, unsigned)) {
    const unsigned n = system.n;
    if (n == 0) return;
    copy_to_work(system, pitch);
    float* const a = system.d_work.data();
    PivotKey *const keys = system.d_keys.data(), *const maxima = system.d_block_maxima.data();
    for (unsigned column = 0; column < n; ++column) {
        const unsigned blocks = warpwise::blocks_for(n - column, kThreads);
        find_block_maxima<<<blocks, kThreads>>>(a, pitch, n, column, maxima);
        warpwise::check_launch();
        choose_pivot<<<1, kThreads>>>(maxima, blocks, column, keys);
        warpwise::check_launch();
        swap_rows<<<warpwise::blocks_for(n + 1 - column, kThreads), kThreads>>>(a, pitch, n, column, keys);
        warpwise::check_launch();
        eliminate(system, column);
    }
    divide(system, pitch);
}

void four_launches(LinearSystem& system) { solve_in_four_launches(system, system.n + 1, launch_eliminate); }
void aligned_rows(LinearSystem& system) { solve_in_four_launches(system, system.pitch, launch_eliminate_aligned); }

// ---- step 3: two launches a column -------------------------------------------------------------------------------

// Step 3, the search goes along with the elimination: whoever computes the elements of the next column has them in a
// register already, and no other sector need be fetched for them. One atomicMax for each block (a maximum does not
// depend on the order) takes the place of the second search launch. keys[column + 1] is 0 until then.
// Slow: the rows still change places in a launch of their own, and each thread has 4 bytes under way.
__global__ void eliminate_and_search(float* a, std::size_t pitch, unsigned n, unsigned column, PivotKey* keys) {
    __shared__ PivotKey warp_keys[kWarps];
    const unsigned col = (column + 1) / kLanes * kLanes + blockIdx.x * kLanes + threadIdx.x;
    PivotKey next = 0;
    if (col > column && col <= n) {
        const float pivot = a[column * pitch + column];
        const float above = a[column * pitch + col];
        for (std::size_t row = blockIdx.y * kWarps + threadIdx.y; row < n; row += std::size_t{gridDim.y} * kWarps) {
            if (row == column) continue;
            const float value = a[row * pitch + col] - a[row * pitch + column] / pivot * above;
            a[row * pitch + col] = value;
            if (row > column && col == column + 1) next = max(next, pivot_key(value, static_cast<unsigned>(row)));
        }
    }
    if (blockIdx.x != 0 || column + 1 == n) return;  // the next column is in the first blocks; n is the right-hand side
    if (col == column + 1) warp_keys[threadIdx.y] = next;
    __syncthreads();
    if (threadIdx.x != 0 || threadIdx.y != 0) return;
    PivotKey largest = 0;
    for (unsigned warp = 0; warp < kWarps; ++warp) largest = max(largest, warp_keys[warp]);
    atomicMax(&keys[column + 1], largest);
}

// Column 0, which no elimination comes before.
__global__ void search_first_column(const float* a, std::size_t pitch, unsigned n, PivotKey* keys) {
    __shared__ PivotKey warp_maxima[kWarps];
    const unsigned row = blockIdx.x * kThreads + threadIdx.x;
    const PivotKey key = row < n ? pivot_key(a[row * pitch], row) : 0;
    const PivotKey largest = block_max(key, warp_maxima);
    if (threadIdx.x == 0) atomicMax(&keys[0], largest);
}

// The copy, cleared keys, and the pivot of the first column.
void begin_with_search(LinearSystem& system) {
    copy_to_work(system, system.pitch);
    warpwise::check(cudaMemsetAsync(system.d_keys.data(), 0, system.d_keys.bytes()));
    search_first_column<<<warpwise::blocks_for(system.n, kThreads), kThreads>>>(system.d_work.data(), system.pitch,
                                                                                system.n, system.d_keys.data());
    warpwise::check_launch();
}

void two_launches(LinearSystem& system) {
    const unsigned n = system.n;
    if (n == 0) return;
    begin_with_search(system);
    float* const a = system.d_work.data();
    PivotKey* const keys = system.d_keys.data();
    for (unsigned column = 0; column < n; ++column) {
        swap_rows<<<warpwise::blocks_for(n + 1 - column, kThreads), kThreads>>>(a, system.pitch, n, column, keys);
        warpwise::check_launch();
        const dim3 grid = grid_of_elimination(n, (column + 1) / kLanes * kLanes, kLanes, kWarps);
        eliminate_and_search<<<grid, dim3(kLanes, kWarps)>>>(a, system.pitch, n, column, keys);
        warpwise::check_launch();
    }
    divide(system, system.pitch);
}

// ---- step 4: one launch a column ---------------------------------------------------------------------------------

// Step 4, no row ever moves. Gauss-Jordan elimination does not mind where the pivot row stands; it is enough to know
// which rows have been one (column_of_row), so that they are not chosen again. And wide loads: a thread has 4 columns
// and 8 rows, so 128 bytes are under way for each. Better: 8 bytes for each element right of the pivot, read and
// written once, which is the least that elimination column by column can do, and one launch.
// Slow: it is 4 n^3 bytes in all, for n^3 operations. (An equal pivot may now be another row than in steps 1 to 3,
// since the lowest row is the lowest of the original order.)
constexpr unsigned kRowsAThread = 8;
constexpr unsigned kColsABlock = 4 * kLanes;
constexpr unsigned kRowsABlock = kWarps * kRowsAThread;

__device__ float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }

__global__ void __launch_bounds__(kThreads) eliminate_in_place(float* a, std::size_t pitch, unsigned n, unsigned column,
                                                               PivotKey* keys, unsigned* column_of_row) {
    __shared__ PivotKey warp_keys[kWarps];
    const unsigned col = (column + 1) / kLanes * kLanes + blockIdx.x * kColsABlock + 4 * threadIdx.x;
    const unsigned first_row = blockIdx.y * kRowsABlock + threadIdx.y;
    const unsigned pivot_row = row_of(keys[column]);
    const float4 zeros = make_float4(0, 0, 0, 0);
    PivotKey next = 0;
    if (col + 3 > column && col <= n) {
        float4 values[kRowsAThread];
        float factors[kRowsAThread];
#pragma unroll
        for (unsigned k = 0; k < kRowsAThread; ++k) {
            const unsigned row = first_row + k * kWarps;
            values[k] = row < n ? load4(a + row * pitch + col) : zeros;
            factors[k] = row < n ? a[row * pitch + column] : 0;
        }
        // Behind the other loads: where these two are from is known only when the key is there.
        const float pivot = a[pivot_row * pitch + column];
        const float4 above = load4(a + pivot_row * pitch + col);
#pragma unroll
        for (unsigned k = 0; k < kRowsAThread; ++k) {
            const unsigned row = first_row + k * kWarps;
            if (row >= n || row == pivot_row) continue;
            const float factor = factors[k] / pivot;
            values[k].x -= factor * above.x;
            values[k].y -= factor * above.y;
            values[k].z -= factor * above.z;
            values[k].w -= factor * above.w;
            float* const to = a + row * pitch + col;
            if (col > column) {
                *reinterpret_cast<float4*>(to) = values[k];
            } else {  // the column of the factors is among the four: others read it, and it has to stay
                if (col + 1 > column) to[1] = values[k].y;
                if (col + 2 > column) to[2] = values[k].z;
                to[3] = values[k].w;
            }
            if (col <= column + 1 && column_of_row[row] == kNone) {  // the next column is among the four
                const unsigned i = column + 1 - col;
                const float value = i == 0 ? values[k].x : i == 1 ? values[k].y : i == 2 ? values[k].z : values[k].w;
                next = max(next, pivot_key(value, row));
            }
        }
    }
    if (blockIdx.x != 0) return;
    if (blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0) column_of_row[pivot_row] = column;
    if (column + 1 == n) return;
    if (col <= column + 1 && column + 1 < col + 4) warp_keys[threadIdx.y] = next;
    __syncthreads();
    if (threadIdx.x != 0 || threadIdx.y != 0) return;
    PivotKey largest = 0;
    for (unsigned warp = 0; warp < kWarps; ++warp) largest = max(largest, warp_keys[warp]);
    atomicMax(&keys[column + 1], largest);
}

// The unknown of a column stands in the column's pivot row.
__global__ void divide_in_place(const float* a, std::size_t pitch, unsigned n, const PivotKey* keys, float* x,
                                float* pivots) {
    const unsigned column = blockIdx.x * kThreads + threadIdx.x;
    if (column >= n) return;
    const unsigned row = row_of(keys[column]);
    const float pivot = a[row * pitch + column];
    pivots[column] = pivot;
    x[column] = a[row * pitch + n] / pivot;
}

void begin_in_place(LinearSystem& system) {
    begin_with_search(system);
    warpwise::check(cudaMemsetAsync(system.d_column_of_row.data(), 0xFF, system.d_column_of_row.bytes()));
}

void launch_eliminate_in_place(LinearSystem& system, unsigned column) {
    const dim3 grid = grid_of_elimination(system.n, (column + 1) / kLanes * kLanes, kColsABlock, kRowsABlock);
    eliminate_in_place<<<grid, dim3(kLanes, kWarps)>>>(system.d_work.data(), system.pitch, system.n, column,
                                                       system.d_keys.data(), system.d_column_of_row.data());
    warpwise::check_launch();
}

void one_launch(LinearSystem& system) {
    const unsigned n = system.n;
    if (n == 0) return;
    begin_in_place(system);
    for (unsigned column = 0; column < n; ++column) launch_eliminate_in_place(system, column);
    divide_in_place<<<warpwise::blocks_for(n, kThreads), kThreads>>>(
        system.d_work.data(), system.pitch, n, system.d_keys.data(), system.d_x.data(), system.d_pivots.data());
    warpwise::check_launch();
}

// ---- tables ------------------------------------------------------------------------------------------------------

const std::vector<Method>& methods() {
    static const std::vector<Method> all = [] {
        std::vector<Method> made = {{"four_launches", four_launches, [](unsigned n) { return 4 * std::size_t{n} + 1; }},
                                    {"aligned_rows", aligned_rows, [](unsigned n) { return 4 * std::size_t{n} + 1; }},
                                    {"two_launches", two_launches, [](unsigned n) { return 2 * std::size_t{n} + 2; }},
                                    {"one_launch", one_launch, [](unsigned n) { return std::size_t{n} + 2; }},
                                    {"blocked", solve_blocked, launches_of_blocked}};
#ifndef __CPU_DEVICE__
        made.push_back({"vendor", solve_by_cusolver, nullptr});
#endif
        return made;
    }();
    return all;
}

// Sectors that a warp's store touches on average when the elements behind `column` are eliminated: warps take 32
// columns each, from `first_col` on, in rows that are `pitch` floats apart.
double predicted_sectors(unsigned n, std::size_t pitch, unsigned column, unsigned first_col) {
    std::size_t sectors = 0, requests = 0;
    for (std::size_t row = 0; row < n; ++row) {
        if (row == column) continue;
        for (unsigned col = first_col; col <= n; col += kLanes) {
            if (col + kLanes <= column + 1) continue;
            const std::size_t first = row * pitch + std::max(col, column + 1);
            const std::size_t last = row * pitch + std::min(col + kLanes - 1, n);
            sectors += last / 8 - first / 8 + 1;  // of 8 floats
            ++requests;
        }
    }
    return static_cast<double>(sectors) / static_cast<double>(requests);
}

void show_sectors(warpwise::Lesson& lesson) {
    constexpr unsigned n = 126;
    LinearSystem system({n});
    std::vector<std::vector<std::string>> rows;
    for (const unsigned column : {0, 7, 30, 31, 60}) {
        rows.push_back({std::to_string(column)});
        const auto add = [&](std::size_t pitch, unsigned first_col, void (*launch)(LinearSystem&, unsigned)) {
            copy_to_work(system, pitch);
            const double predicted = predicted_sectors(n, pitch, column, first_col);
            rows.back().push_back(warpwise::ratio_text(predicted));
            const auto counts = lesson.count([&] { launch(system, column); });
            rows.back().push_back(counts ? warpwise::ratio_text(counts->global_store.sectors_per_request()) : "-");
            lesson.expect(!counts || counts->global_store.sectors_per_request() == predicted,
                          "column " + std::to_string(column) + ": stores touch the predicted number of sectors");
        };
        add(n + 1, column + 1, launch_eliminate);
        add(system.pitch, (column + 1) / kLanes * kLanes, launch_eliminate_aligned);
    }
    lesson.table("Sectors for each store of a warp while one column is eliminated, n = 126",
                 {"column", "tight, predicted", "counted", "aligned, predicted", "counted"}, rows);
}

// 8 bytes for each element that an elimination column by column changes: all rows but one, and all columns behind.
double least_bytes(unsigned n) { return 4.0 * n * (n - 1.0) * (n + 1.0); }

void show_launches_and_bytes(warpwise::Lesson& lesson) {
    constexpr unsigned n = 96;
    LinearSystem system({n});
    const bool counting = lesson.count([] {}).has_value();
    double moved_by_one_launch = 0, moved_by_four = 0;
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods()) {
        if (method.launches == nullptr) continue;
        const std::string name = method.name;
        const std::size_t launches = method.launches(n);
        rows.push_back({name, text_of("%.4g", static_cast<double>(launches) / n), "-", "-"});
        if (!counting) continue;
        const std::vector<warpwise::LaunchCounts> counts =
            warpwise::count_launches([&] { method.solve(system); }, {.lines = false});
        const std::size_t counted = counts.size();
        const double moved = warpwise::sum_of(counts).global().bytes_moved();
        lesson.expect(counted == launches, name + ": as many launches as predicted");
        if (name == "four_launches") moved_by_four = moved;
        if (name == "one_launch") moved_by_one_launch = moved;
        if (name == "blocked") {
            lesson.expect(moved < moved_by_one_launch / 5,
                          "blocked moves less than a fifth of the bytes of one_launch");
        } else {
            lesson.expect(moved >= least_bytes(n), name + " moves no less than 8 bytes for each element it changes");
        }
        rows.back()[2] = text_of("%.4g", static_cast<double>(counted) / n);
        rows.back()[3] = text_of("%.2f", moved / least_bytes(n));
    }
    lesson.expect(moved_by_one_launch <= 0.75 * moved_by_four, "one_launch moves at most 3/4 of the bytes of step 1");

    // A wide matrix, and of that only the first column.
    constexpr unsigned wide = 768;
    LinearSystem wide_system({wide});
    begin_in_place(wide_system);
    if (const auto counts = lesson.count([&] { launch_eliminate_in_place(wide_system, 0); })) {
        const double ratio = counts->global().bytes_moved() / (8.0 * (wide - 1) * wide);
        lesson.expect(ratio < 1.15, "one_launch moves at most 15 % more than each element of a wide matrix");
        rows.push_back({"one_launch, column 0 of n = 768", "1", "1", text_of("%.2f", ratio)});
    }
    lesson.table("For each column, n = 96; bytes over 8 for each element that changes",
                 {"step", "launches, predicted", "counted", "bytes moved, counted"}, rows);
}

const std::vector<std::string> rates_header = {"n",          "one_launch ms", "of copy",
                                               "blocked ms", "vendor ms",     "blocked over vendor"};

std::vector<std::string> rates_row(const Recorded& r) {
    return {std::to_string(r.n),        text_of("%.4g", r.one_launch), text_of("%.2f", r.share_of_copy),
            text_of("%.4g", r.blocked), text_of("%.4g", r.vendor),     text_of("%.2f", r.blocked / r.vendor)};
}

#ifndef __CPU_DEVICE__
std::vector<std::vector<std::string>> measure_rates(warpwise::Lesson& lesson) {
    std::size_t free_bytes = 0, all_bytes = 0;
    warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
    const std::size_t copied = std::min(std::size_t{1} << 28, free_bytes / 64);  // floats, twice
    const warpwise::DeviceBuffer<float> d_from(copied);
    warpwise::DeviceBuffer<float> d_to(copied);
    std::vector<std::vector<std::string>> rows;
    for (const unsigned n : {2048, 4096, 8192}) {
        if (LinearSystem::device_bytes({n}) > free_bytes / 2) break;
        LinearSystem system({n});
        std::vector<warpwise::Candidate> candidates = {{[&] {
            warpwise::check(cudaMemcpyAsync(d_to.data(), d_from.data(), d_to.bytes(), cudaMemcpyDeviceToDevice));
        }}};
        for (const auto solve : {one_launch, solve_blocked, solve_by_cusolver}) {
            system.poison();
            solve(system);
            lesson.expect(system.compare().passed, "n = " + std::to_string(n) + ": the equations hold");
            candidates.push_back({[&system, solve] { solve(system); }});
        }
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(candidates, {.seconds = 0.3});
        const double copy_rate = 2 * static_cast<double>(d_to.bytes()) / timings[0].median;
        const double share = least_bytes(n) / timings[1].median / copy_rate;
        rows.push_back(
            rates_row({n, share, timings[1].median * 1e3, timings[2].median * 1e3, timings[3].median * 1e3}));
    }
    return rows;
}
#endif

void show_rates(warpwise::Lesson& lesson) {
    const std::string title = "Three sizes; of copy: the bytes that one_launch has to move, over cudaMemcpy's rate";
#ifndef __CPU_DEVICE__
    if (lesson.measures()) {
        if (const auto rows = measure_rates(lesson); !rows.empty()) lesson.table(title, rates_header, rows);
        return;
    }
#endif
    std::vector<std::vector<std::string>> rows;
    for (const Recorded& recorded : recorded_h200) rows.push_back(rates_row(recorded));
    lesson.table(title + ", " + recorded_on, rates_header, rows);
}

}  // namespace

void linear_solver(warpwise::Lesson& lesson) {
    lesson.text(
        R"(n equations with n unknowns, solved by elimination with partial pivoting. The work is n passes over a
matrix, and each has to wait for the one before it, since the next pivot is the largest of what this pass leaves. So
there are two prices: bytes, and launches.

What you will see: four launches for each column, rows that begin at whole sectors, the search for the next pivot as a
part of the elimination, rows that never move, and at last elimination by panels of columns, where most of the work is
a matrix product.

Before you look, predict. A warp stores 32 neighboring floats of a row, from the column behind the pivot on. How many
sectors of 32 bytes does it touch if rows of 127 floats stand one behind the other? And how many if all rows begin at
multiples of 128 bytes, and the warps at multiples of 32 columns?)");
    show_sectors(lesson);
    lesson.text(
        R"(Tight rows and a column that begins anywhere: most requests of a full warp touch 5 sectors, and the average
is lower only because the last warp of a row has few columns left. Aligned: never more than 4. On the chips of 2010 that
made the elimination about twice as fast; today a cache catches much of the fifth sector (lesson pitched_memory), and an
H200 gains 8 %. What aligned rows still bring is step 4's 16-byte loads.

Now the launches. Steps 1 and 2 take four for each column. Which of search, choice, swap and elimination can go, and
how few bytes can a column move when each element behind the pivot is read and written once?)");
    show_launches_and_bytes(lesson);
    lesson.text(
        R"(Two searches go because the elimination holds the next column in registers anyway. The swap goes because
Gauss-Jordan elimination does not care where a row stands: it is enough to remember that it was a pivot row. What is
left is one launch, and each element read and written once. On top come the factors, a sector for each row and 128
columns, and the pivot row, asked for again for every 8 rows: 3 % and 6 % where rows are long (the last line, on the CPU
device), much where they are short. Most of that should come out of a cache. To go on, the matrix has to be read less
often than once a column. That is the blocked solver.)");
    std::vector<warpwise::Step<LinearSystem>> steps = {
        {"four_launches", "search, choose, swap, eliminate: each column", four_launches},
        {"aligned_rows", "rows and warps begin at whole sectors", aligned_rows},
        {"two_launches", "the elimination searches for the next pivot", two_launches},
        {"one_launch", "no row moves; float4, 8 rows a thread", one_launch},
        {"blocked", "panels of columns, then a matrix product", solve_blocked}};
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cusolverDnSgetrf and cusolverDnSgetrs", solve_by_cusolver, warpwise::StepKind::vendor});
#endif
    lesson.steps<LinearSystem>({.gpu = {8192}, .cpu = {64}, .awkward = {{0}, {1}, {2}, {31}, {32}, {33}, {65}, {127}}},
                               steps);
    lesson.text(
        R"(The check of a solver is its residual: every equation has to hold up to max |A x - b| <= 4 sqrt(n) epsilon
|A| max |x|, worked out in double; |A| is the largest sum of the magnitudes of a row. The column `backward error` is
max |A x - b| / (|A| max |x|). Such an x is the exact solution of a matrix that differs from A by so little.

With n = 8192 a column moves 268 MB on average, and launches hardly matter: on an H200 two_launches is no faster than
aligned_rows. That one_launch is 2.3 times as fast there is probably due to the bytes under way, 128 a thread instead
of 4. With n = 2048 a column is 17 MB, which the L2 cache holds. Could it be faster than a copy, then? Predict what a
launch costs it.

In `blocked` the pivots are the price. All of its 2/3 n^3 operations take 5.5 ms for n = 8192 at an H200's 66.9
TFLOP/s (datasheet), which is 0.7 us for each column; and in a column nothing can go on before all blocks know the
pivot row. Its kernel factor_panel therefore keeps the panel in registers, moves no rows, and lets blocks tell each
other a number and a tag in one 64-bit word, so that an exchange costs one trip through the L2 cache instead of a
barrier of the whole grid. (On the CPU device blocks take turns, and that barrier has to be there.) What it could still
do: begin the next panel while the product is going on.)");
    show_rates(lesson);
    lesson.text(
        R"(On an H200 a column of one_launch takes 7 us with n = 2048, where its bytes would take 4 at the rate of a copy.
The rest is probably the launch, which waits for the end of the one before it. It costs more than the cache saves. And
the pivots are the price of `blocked`: 2 us for each column and 26 TFLOP/s for the rest describe its three times, to
5 %. By that the columns have half of the time with n = 8192, and nine tenths with n = 2048.

Now matrices of all kinds; all unknowns are 1. Each step says what it thinks of the matrix, by its pivots:
singular if one is 0 or not finite, and then the column is named, because it depends on the columns before it; nearly
singular if no more than n epsilon is left of the column's largest element, which is what rounding leaves of nothing.
Two predictions: is the error of x as small as the backward error? And which of these verdicts is a false alarm?)");
    show_matrices_of_all_kinds(lesson, methods());
    lesson.text(
        R"(The backward error is small throughout, and that is all a solver can do: Hilbert's matrix, 1 / (row + col + 1),
has equations that hold to seven digits, and an x without one right digit, because b knew no more. That is what
`nearly singular` warns of. (One row twice would be singular, but rarely is: rounding leaves something of its pivot, in
one order of the sums and not in another. So a solver that looks for 0 alone is not safe.) The false alarm: rows in other units. Their pivots are small compared with other rows of the
column, but not with their own; divide each row by its largest element first, and the alarm is gone. A sure verdict
takes an estimate of the condition number, as LAPACK's sgecon makes it.

Partial pivoting bounds all multipliers of a panel by 1. Gauss-Jordan elimination has no such bound for the rows above
the pivot, and its residual can be larger where the matrix is bad (Higham, Accuracy and Stability of Numerical
Algorithms, 2nd ed., section 14.4): compare the rows in other units.

Mistakes to avoid: choosing the first element that is not 0 as the pivot (rounding errors then grow without bound);
two rows of equal magnitude chosen by whoever comes first (the result changes from run to run; here the lowest row
wins, by the key); writing the column that other threads still read their factors from; waiting in a kernel for a
block that may not be running (only a cooperative launch promises that all are).

Try next: in eliminate_and_search, let rows that were pivot rows be chosen again (leave out row > column). And make
the blocked solver's panel 8 columns wide in linear_solver.h: what do you expect of its bytes?

    examples linear_solver --lines --step one_launch
    examples linear_solver --size 127 --check)");
}

}  // namespace examples
