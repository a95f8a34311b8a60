// Problem: n linear equations with n unknowns, A x = b.
//
// Gauss-Jordan elimination takes one column after the other: it subtracts a multiple of one
// row, the pivot row, from every other row, such that the column becomes zero there. After
// n columns each row holds a single unknown. The multiples are a[row][column] / pivot. A
// small pivot makes them large, and rounding errors with them. So the pivot row is the one
// with the largest element in the column, among the rows that have not been pivot rows yet:
// partial pivoting.
//
// A column is little work for a GPU, n * n operations on n * n elements that are read and
// written, and no column can begin before the one before it is done. So what counts is how
// many bytes a column moves, and how many launches it takes. Steps 1 to 5 go through the
// matrix column by column. Steps 6 to 10 (panels.cu) read it n / 64 times instead of n
// times.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "chapters/4_examples/linear_solver/step_01_four_launches.cuh"
#include "chapters/4_examples/linear_solver/step_02_aligned_rows.cuh"
#include "chapters/4_examples/linear_solver/step_03_two_launches.cuh"
#include "chapters/4_examples/linear_solver/step_04_rows_stay.cuh"
#include "chapters/4_examples/linear_solver/step_05_wide_loads.cuh"
#include "chapters/4_examples/linear_solver/system.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/counts.h"
#include "common/helpers/instrument.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::text_of;

// ---- launches of steps 1 to 5 -----------------------------------------------------------

dim3 grid_of_elimination(unsigned n, unsigned first_col, unsigned cols_per_block,
                         unsigned rows_per_block) {
    const std::size_t blocks_y = warpwise::ceil_div(n, rows_per_block);
    return dim3(warpwise::blocks_for(n + 1 - first_col, cols_per_block),
                static_cast<unsigned>(std::min<std::size_t>(blocks_y, 65535)));
}

void divide(LinearSystem& system, std::size_t pitch) {
    divide<<<warpwise::blocks_for(system.n, kThreads), kThreads>>>(
        system.d_work.data(), pitch, system.n, system.d_x.data(), system.d_pivots.data());
    warpwise::check_launch();
}

void launch_eliminate(LinearSystem& system, unsigned column) {
    const dim3 grid = grid_of_elimination(system.n, column + 1, kLanes, kWarps);
    eliminate<<<grid, dim3(kLanes, kWarps)>>>(system.d_work.data(), system.n + 1, system.n,
                                              column);
    warpwise::check_launch();
}

void launch_eliminate_aligned(LinearSystem& system, unsigned column) {
    const dim3 grid =
        grid_of_elimination(system.n, (column + 1) / kLanes * kLanes, kLanes, kWarps);
    eliminate_aligned<<<grid, dim3(kLanes, kWarps)>>>(system.d_work.data(), system.pitch,
                                                      system.n, column);
    warpwise::check_launch();
}

void solve_in_four_launches(LinearSystem& system, std::size_t pitch,
                            void (*eliminate)(LinearSystem&, unsigned)) {
    const unsigned n = system.n;
    if (n == 0) return;
    copy_to_work(system, pitch);
    float* const a = system.d_work.data();
    PivotKey *const keys = system.d_keys.data(), *const maxima =
                                                     system.d_block_maxima.data();
    for (unsigned column = 0; column < n; ++column) {
        const unsigned blocks = warpwise::blocks_for(n - column, kThreads);
        find_block_maxima<<<blocks, kThreads>>>(a, pitch, n, column, maxima);
        warpwise::check_launch();
        choose_pivot<<<1, kThreads>>>(maxima, blocks, column, keys);
        warpwise::check_launch();
        swap_rows<<<warpwise::blocks_for(n + 1 - column, kThreads), kThreads>>>(
            a, pitch, n, column, keys);
        warpwise::check_launch();
        eliminate(system, column);
    }
    divide(system, pitch);
}

void four_launches(LinearSystem& system) {
    solve_in_four_launches(system, system.n + 1, launch_eliminate);
}
void aligned_rows(LinearSystem& system) {
    solve_in_four_launches(system, system.pitch, launch_eliminate_aligned);
}

// The copy, cleared keys, and the pivot of the first column.
void begin_with_search(LinearSystem& system) {
    copy_to_work(system, system.pitch);
    warpwise::check(cudaMemsetAsync(system.d_keys.data(), 0, system.d_keys.bytes()));
    search_first_column<<<warpwise::blocks_for(system.n, kThreads), kThreads>>>(
        system.d_work.data(), system.pitch, system.n, system.d_keys.data());
    warpwise::check_launch();
}

void two_launches(LinearSystem& system) {
    const unsigned n = system.n;
    if (n == 0) return;
    begin_with_search(system);
    float* const a = system.d_work.data();
    PivotKey* const keys = system.d_keys.data();
    for (unsigned column = 0; column < n; ++column) {
        swap_rows<<<warpwise::blocks_for(n + 1 - column, kThreads), kThreads>>>(
            a, system.pitch, n, column, keys);
        warpwise::check_launch();
        const dim3 grid =
            grid_of_elimination(n, (column + 1) / kLanes * kLanes, kLanes, kWarps);
        eliminate_and_search<<<grid, dim3(kLanes, kWarps)>>>(a, system.pitch, n, column,
                                                             keys);
        warpwise::check_launch();
    }
    divide(system, system.pitch);
}

void begin_in_place(LinearSystem& system) {
    begin_with_search(system);
    warpwise::check(cudaMemsetAsync(system.d_column_of_row.data(), 0xFF,
                                    system.d_column_of_row.bytes()));
}

void launch_eliminate_and_remember(LinearSystem& system, unsigned column) {
    const dim3 grid =
        grid_of_elimination(system.n, (column + 1) / kLanes * kLanes, kLanes, kWarps);
    eliminate_and_remember<<<grid, dim3(kLanes, kWarps)>>>(
        system.d_work.data(), system.pitch, system.n, column, system.d_keys.data(),
        system.d_column_of_row.data());
    warpwise::check_launch();
}

void launch_eliminate_in_place(LinearSystem& system, unsigned column) {
    const dim3 grid = grid_of_elimination(system.n, (column + 1) / kLanes * kLanes,
                                          kColsPerBlock, kRowsPerBlock);
    eliminate_in_place<<<grid, dim3(kLanes, kWarps)>>>(
        system.d_work.data(), system.pitch, system.n, column, system.d_keys.data(),
        system.d_column_of_row.data());
    warpwise::check_launch();
}

void solve_in_place(LinearSystem& system, void (*eliminate)(LinearSystem&, unsigned)) {
    const unsigned n = system.n;
    if (n == 0) return;
    begin_in_place(system);
    for (unsigned column = 0; column < n; ++column) eliminate(system, column);
    divide_in_place<<<warpwise::blocks_for(n, kThreads), kThreads>>>(
        system.d_work.data(), system.pitch, n, system.d_keys.data(), system.d_x.data(),
        system.d_pivots.data());
    warpwise::check_launch();
}

void rows_stay(LinearSystem& system) {
    solve_in_place(system, launch_eliminate_and_remember);
}
void wide_loads(LinearSystem& system) { solve_in_place(system, launch_eliminate_in_place); }

// ---- tables -----------------------------------------------------------------------------

const std::vector<Method>& methods() {
    static const std::vector<Method> all = [] {
        std::vector<Method> made = {
            {"four_launches", four_launches,
             [](unsigned n) { return 4 * std::size_t{n} + 1; }},
            {"aligned_rows", aligned_rows,
             [](unsigned n) { return 4 * std::size_t{n} + 1; }},
            {"two_launches", two_launches,
             [](unsigned n) { return 2 * std::size_t{n} + 2; }},
            {"rows_stay", rows_stay, [](unsigned n) { return std::size_t{n} + 2; }},
            {"wide_loads", wide_loads, [](unsigned n) { return std::size_t{n} + 2; }},
            {"one_block", solve_with_one_block,
             [](unsigned n) { return launches_by_panels(n, 3); }},
            {"triangle_in_registers", solve_with_registers,
             [](unsigned n) { return launches_by_panels(n, 4); }},
            {"matrix_product", solve_with_product,
             [](unsigned n) { return launches_by_panels(n, 4); }},
            {"grid_barrier", solve_with_grid_barrier,
             [](unsigned n) { return launches_by_panels(n, 3); }},
            {"blocked", solve_blocked,
             [](unsigned n) { return launches_by_panels(n, 3); }}};
#ifndef __CPU_DEVICE__
        made.push_back({"vendor", solve_by_cusolver, nullptr});
#endif
        return made;
    }();
    return all;
}

// Sectors that a warp's store touches on average when the elements after `column` are
// eliminated: warps take 32 columns each, from `first_col` on, in rows that are `pitch`
// floats apart.
double predicted_sectors(unsigned n, std::size_t pitch, unsigned column,
                         unsigned first_col) {
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
        const auto add = [&](std::size_t pitch, unsigned first_col,
                             void (*launch)(LinearSystem&, unsigned)) {
            copy_to_work(system, pitch);
            const double predicted = predicted_sectors(n, pitch, column, first_col);
            rows.back().push_back(warpwise::ratio_text(predicted));
            const auto counts = lesson.count([&] { launch(system, column); });
            rows.back().push_back(
                counts ? warpwise::ratio_text(counts->global_store.sectors_per_request())
                       : "-");
            lesson.expect(
                !counts || counts->global_store.sectors_per_request() == predicted,
                "column " + std::to_string(column) +
                    ": stores touch the predicted number of sectors");
        };
        add(n + 1, column + 1, launch_eliminate);
        add(system.pitch, (column + 1) / kLanes * kLanes, launch_eliminate_aligned);
    }
    lesson.table(
        {"sectors",
         "Sectors for each store of a warp while one column is eliminated, n = 126"},
        {"column", "tight, predicted", "counted", "aligned, predicted", "counted"}, rows);
}

// 8 bytes for each element that an elimination column by column changes: all rows but one,
// and all columns after it.
double least_bytes(unsigned n) { return 4.0 * n * (n - 1.0) * (n + 1.0); }

void show_launches_and_bytes(warpwise::Lesson& lesson) {
    constexpr unsigned n = 96;
    LinearSystem system({n});
    const bool counting = lesson.count([] {}).has_value();
    double moved_before = 0, moved_by_wide_loads = 0, moved_by_four = 0;
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods()) {
        if (method.launches == nullptr) continue;
        const std::string name = method.name;
        const std::size_t launches = method.launches(n);
        rows.push_back(
            {name, text_of("%.4g", static_cast<double>(launches) / n), "-", "-"});
        if (!counting) continue;
        const std::vector<warpwise::LaunchCounts> counts =
            warpwise::count_launches([&] { method.solve(system); }, {.lines = false});
        const std::size_t counted = counts.size();
        const double moved = warpwise::sum_of(counts).global().bytes_moved();
        lesson.expect(counted == launches, name + ": as many launches as predicted");
        if (name == "four_launches") moved_by_four = moved;
        if (name == "wide_loads") moved_by_wide_loads = moved;
        if (moved_by_wide_loads == 0 || name == "wide_loads") {
            lesson.expect(moved >= least_bytes(n),
                          name + " moves no less than 8 bytes for each element it changes");
        } else if (name != "blocked") {  // whose messages carry tags
            lesson.expect(moved <= moved_before,
                          name + " moves no more than the step before it");
        }
        if (name == "grid_barrier" || name == "blocked") {
            lesson.expect(moved < moved_by_wide_loads / 5,
                          name + " moves less than a fifth of the bytes of wide_loads");
        }
        moved_before = moved;
        rows.back()[2] = text_of("%.4g", static_cast<double>(counted) / n);
        rows.back()[3] = text_of("%.2f", moved / least_bytes(n));
    }
    lesson.expect(moved_by_wide_loads <= 0.75 * moved_by_four,
                  "wide_loads moves at most 3/4 of the bytes of step 1");

    // A wide matrix, and of that only the first column.
    constexpr unsigned wide = 768;
    LinearSystem wide_system({wide});
    begin_in_place(wide_system);
    if (const auto counts =
            lesson.count([&] { launch_eliminate_in_place(wide_system, 0); })) {
        const double ratio = counts->global().bytes_moved() / (8.0 * (wide - 1) * wide);
        lesson.expect(
            ratio < 1.15,
            "wide_loads moves at most 15 % more than each element of a wide matrix");
        rows.push_back(
            {"wide_loads, column 0 of n = 768", "1", "1", text_of("%.2f", ratio)});
    }
    lesson.table(
        {"columns", "For each column, n = 96; bytes over 8 for each element that changes"},
        {"step", "launches, predicted", "counted", "bytes moved, counted"}, rows);
}

#ifndef __CPU_DEVICE__
std::vector<std::vector<std::string>> measure_rates(warpwise::Lesson& lesson) {
    std::size_t free_bytes = 0, all_bytes = 0;
    warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
    // Floats, twice.
    const std::size_t copied = std::min(std::size_t{1} << 28, free_bytes / 64);
    const warpwise::DeviceBuffer<float> d_from(copied);
    warpwise::DeviceBuffer<float> d_to(copied);
    std::vector<std::vector<std::string>> rows;
    for (const unsigned n : {2048, 4096, 8192}) {
        if (LinearSystem::device_bytes({n}) > free_bytes / 2) break;
        LinearSystem system({n});
        std::vector<warpwise::Candidate> candidates = {{[&] {
            warpwise::check(cudaMemcpyAsync(d_to.data(), d_from.data(), d_to.bytes(),
                                            cudaMemcpyDeviceToDevice));
        }}};
        for (const auto solve : {wide_loads, solve_blocked, solve_by_cusolver}) {
            system.poison();
            solve(system);
            lesson.expect(system.compare().passed,
                          "n = " + std::to_string(n) + ": the equations hold");
            candidates.push_back({[&system, solve] { solve(system); }});
        }
        const std::vector<warpwise::Timing> timings =
            warpwise::measure_in_turn(candidates, {.seconds = 0.3});
        const double copy_rate = 2 * static_cast<double>(d_to.bytes()) / timings[0].median;
        const double share = least_bytes(n) / timings[1].median / copy_rate;
        const auto milliseconds = [&](std::size_t i) {
            return text_of("%.4g", timings[i].median * 1e3);
        };
        rows.push_back({std::to_string(n), milliseconds(1), text_of("%.2f", share),
                        milliseconds(2), milliseconds(3),
                        text_of("%.2f", timings[2].median / timings[3].median)});
    }
    return rows;
}
#endif

void show_rates(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("sizes");
        return;
    }
#ifndef __CPU_DEVICE__
    const std::vector<std::string> header = {
        "n", "wide_loads ms", "of copy", "blocked ms", "vendor ms", "blocked over vendor"};
    if (const auto rows = measure_rates(lesson); !rows.empty()) {
        lesson.table({"sizes",
                      "Three sizes; of copy: the bytes that wide_loads has to move, over "
                      "cudaMemcpy's rate"},
                     header, rows);
    }
#endif
}

}  // namespace

void linear_solver(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Elimination with partial pivoting solves n equations in n passes over a matrix.
Each pass waits for the one before it, because the next pivot is the largest of what that
pass leaves. How few launches and how few bytes does this chain take?)");
    lesson.predict(
        {.question = R"(A full warp stores 32 neighboring floats of a row. Rows of
127 floats follow each other without gaps, so most of them begin within a sector. How
many sectors does such a store touch?)",
         .answer = warpwise::Number{.value = 5, .unit = "sectors"},
         .because = R"(128 bytes that begin within a sector end within another one:
5 sectors instead of 4. Aligned rows never need more than 4.)"});
    show_sectors(lesson);
    lesson.conclusion(
        R"(Without gaps between rows, most full warps touch 5 sectors; the average is
lower because the last warp of a row has few columns left. Aligned rows never need more
than 4. Step 5 depends on this alignment for its loads of 16 bytes.)");
    lesson.question(
        R"(What must a column cost at least? Steps 1 and 2 take four launches per column:
search, choose, swap, eliminate.)");
    lesson.predict(
        {.question = R"(While the elimination of one column runs, it holds the elements of
the next column in registers. A row that is remembered as a pivot row need not be swapped.
How many of the four launches per column remain necessary?)",
         .answer = warpwise::Number{.value = 1, .unit = "launches"},
         .because = R"(Only the elimination remains: it also searches the next pivot, and
nothing is swapped.)"});
    show_launches_and_bytes(lesson);
    lesson.conclusion(
        R"(Only the elimination has to stay: it holds the next column in registers, so it
can search, and a row that is remembered as a pivot row need not be swapped. Each element
is then read and written once, and factors and pivot rows add little in long rows. Panels
of columns read the matrix less often than that.)");
    lesson.question(
        R"(Which of the steps save time: fewer launches, wider loads, or panels that read
the matrix n / 64 times instead of n times?)");
    lesson.predict(
        {.question = R"(One block eliminates a panel of columns alone (`one_block`),
while all other SMs idle. wide_loads takes one launch per column and uses all SMs. Which
is faster on a GPU?)",
         .answer = warpwise::Fastest{{"wide_loads", "one_block"}},
         .because = R"(A launch takes microseconds, but the elimination by a single
SM takes far longer than by all of them.)"});
    std::vector<warpwise::Step<LinearSystem>> steps = {
        {"four_launches", "search, choose, swap, eliminate: each column", four_launches},
        {"aligned_rows", "rows and warps begin at whole sectors", aligned_rows},
        {"two_launches", "the elimination searches for the next pivot", two_launches},
        {"rows_stay", "no row moves: one launch per column", rows_stay},
        {"wide_loads", "float4, 8 rows per thread", wide_loads},
        {"one_block", "LU by panels of columns, each in one block", solve_with_one_block},
        {"triangle_in_registers", "the triangular solve in registers",
         solve_with_registers},
        {"matrix_product", "the update as a matrix product", solve_with_product},
        {"grid_barrier", "the panel in all blocks, with a grid barrier",
         solve_with_grid_barrier},
        {"blocked", "messages between blocks instead of the barrier", solve_blocked}};
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cusolverDnSgetrf and cusolverDnSgetrs", solve_by_cusolver,
                     warpwise::StepKind::vendor});
#endif
    lesson.steps<LinearSystem>({.gpu = {8192},
                                .cpu = {64},
                                .awkward = {{0}, {1}, {2}, {31}, {32}, {33}, {65}, {127}}},
                               steps);
    lesson.conclusion(
        R"(`backward error` is max |A x - b| / (|A| max |x|): such an x solves a matrix
that differs from A by so little exactly. A panel in one block keeps the other SMs
waiting. In grid_barrier all blocks take part, and in `blocked` they exchange messages
instead (on the CPU device the barrier remains).)");
    lesson.question(
        R"(How do time and size relate? With n = 8192 a column is 268 MB on average, with
n = 2048 it is 17 MB and fits in the L2 cache of an H200.)");
    lesson.predict(
        {.question = R"(With n = 2048 the matrix fits in the L2 cache, and a cache is faster
than a copy through device memory. What fraction of a copy's rate does wide_loads reach
with n = 2048?)",
         .answer =
             warpwise::Measured{.by = warpwise::TableCell{"sizes", {"2048"}, "of copy"},
                                .factor = 1.3},
         .because = R"(Its launches, one per column, probably cost more than the cache
saves: each of them waits for the one before it.)"});
    show_rates(lesson);
    lesson.conclusion(
        R"(On an H200, wide_loads stays below the rate of a copy at n = 2048: probably its
launches, each of which waits for the one before it, cost more than the cache saves. In
`blocked` the pivots cost a fixed time per column, so their share shrinks as n grows.)");
    lesson.question(
        R"(Is the solution right? All unknowns are 1, and each step judges the matrix by
its pivots: `singular` if one is 0 or not finite, `nearly singular` if no more than n
epsilon is left of a column's largest element.)");
    lesson.predict({.question = R"(A solver's backward error is small for matrices of all
kinds. Is the error of x as small?)",
                    .answer = warpwise::Choice{{"yes, it is of the same size",
                                                "no, it also depends on the matrix",
                                                "no, it is larger by a factor of n"},
                                               1},
                    .because = R"(The condition of the matrix comes on top. With Hilbert's
matrix no digit of x is right, although the backward error is small.)"});
    show_matrices_of_all_kinds(lesson, methods());
    lesson.conclusion(
        R"(No: the backward error is small throughout, but with Hilbert's matrix no digit
of x is right, which is what `nearly singular` warns of. The false alarm is the matrix
with rows in other units, whose pivots are small only beside other rows. Divide each row
by its largest element first, and the alarm is gone.)");
}

}  // namespace examples
