// Problem: a launch starts thousands of threads that all run the same function. Which of
// them does what? Each thread finds out from built-in variables: blockIdx and threadIdx
// (who am I?), gridDim and blockDim (how many are there?).
//
// A grid has up to three dimensions and consists of blocks. A block has up to three
// dimensions and consists of threads. The hardware divides the threads of a block into
// warps of 32, x fastest, then y, then z. The place of a thread in its warp is its lane.
// Every kernel writes down who its threads are, and the host counts through the same grid
// to check them.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "chapters/1_basics_and_pi/hello_threads/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/refusal.h"

namespace basics_and_pi {
namespace {

using warpwise::check;
using warpwise::check_finished;
using warpwise::check_launch;
using warpwise::counted;
using warpwise::DeviceBuffer;

constexpr std::size_t kMostElements = 1 << 22;  // beyond that nobody reads the table

bool same(uint3 a, uint3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
bool same(const Identity& a, const Identity& b) {
    return same(a.block, b.block) && same(a.thread, b.thread) && a.warp == b.warp &&
           a.lane == b.lane;
}

/// Counts through the grid as the language defines it, x fastest, without any of the
/// formulas of the kernels, and compares. `who[i]` must belong to the element i of a volume
/// of layers x rows x cols; elements outside of it have no thread.
bool as_counted(const std::vector<Identity>& who, dim3 grid, dim3 block, unsigned layers,
                unsigned rows, unsigned cols) {
    bool right = who.size() == std::size_t{layers} * rows * cols;
    std::size_t met = 0;
    for (unsigned bz = 0; bz < grid.z; ++bz)
        for (unsigned by = 0; by < grid.y; ++by)
            for (unsigned bx = 0; bx < grid.x; ++bx) {
                unsigned warp = 0, lane = 0;
                for (unsigned tz = 0; tz < block.z; ++tz)
                    for (unsigned ty = 0; ty < block.y; ++ty)
                        for (unsigned tx = 0; tx < block.x; ++tx) {
                            const std::size_t layer = bz * block.z + tz,
                                              row = by * block.y + ty,
                                              col = bx * block.x + tx;
                            if (right && layer < layers && row < rows && col < cols) {
                                const Identity expected = {
                                    {bx, by, bz}, {tx, ty, tz}, warp, lane};
                                right =
                                    same(who[(layer * rows + row) * cols + col], expected);
                                ++met;
                            }
                            if (++lane == 32) ++warp, lane = 0;
                        }
            }
    return right && met == who.size();
}

std::vector<Identity> run_1d(unsigned count, unsigned block) {
    DeviceBuffer<Identity> d_who(count);
    d_who.fill_bytes(0xFF);
    who_am_i_1d<<<warpwise::blocks_for(count, block), block>>>(d_who.data(), count);
    check_launch();
    return d_who.download();  // waits for the kernel
}

void hello(warpwise::Lesson& lesson) {
    lesson.predict(
        {.question = R"(The launch say_hello<<<3, 2>>>() starts three blocks of two
threads, and every thread prints one line. How many lines appear?)",
         .answer = warpwise::Number{.value = 6, .unit = "lines"},
         .because = R"(There is one line for each thread of each block, which are 3
* 2 threads.)"});
    std::cout.flush();
    std::fflush(stdout);
    say_hello<<<3, 2>>>();
    check_launch();
    check_finished();
    std::printf("\n");
    std::fflush(stdout);
    lesson.conclusion(
        R"(There is one line for each thread of each block. In which order they come is
not promised.)");
}

void one_dimension(warpwise::Lesson& lesson, unsigned count) {
    constexpr unsigned kBlock = 48;
    for (unsigned size : {0u, 1u, 31u, 32u, 33u, 48u, 49u, 1009u})
        lesson.expect(as_counted(run_1d(size, kBlock), warpwise::blocks_for(size, kBlock),
                                 kBlock, 1, 1, size),
                      "who_am_i_1d: every element of " + std::to_string(size) +
                          " has its own thread");
    const std::string elements = counted(count, "element");
    const unsigned lanes = warpwise::blocks_for(count, kBlock) * ((kBlock + 31) / 32) * 32;
    lesson.predict(
        {.question = elements + R"(, in blocks of 48 threads. A warp has 32 lanes and
belongs to one block. How many lanes of all these warps have no work?)",
         .answer = warpwise::Number{.value = double(lanes - count), .unit = "lanes"},
         .because = R"(48 threads take two warps, the second one half empty, so all blocks
together have )" + std::to_string(lanes) +
                    " lanes for " + elements + "."});
    const std::vector<Identity> who = run_1d(count, kBlock);
    const unsigned blocks = warpwise::blocks_for(count, kBlock);
    lesson.expect(as_counted(who, blocks, kBlock, 1, 1, count),
                  "who_am_i_1d: every element has its own thread");

    // One row per warp; if there are many warps, only the first and the last few.
    std::vector<std::vector<std::string>> rows;
    const auto warps_per_block = static_cast<unsigned>(warpwise::ceil_div(kBlock, 32));
    const unsigned warps = blocks * warps_per_block;
    for (unsigned w = 0; w < warps; ++w) {
        if (warps > 12 && w == 6) {
            rows.push_back({"...", "", "", "", ""});
            w = warps - 6;
        }
        const unsigned block = w / warps_per_block, warp = w % warps_per_block;
        const unsigned lanes = std::min(32u, kBlock - warp * 32);
        // Which elements did this warp write? The result tells, and no formula is needed.
        const auto mine = [&](const Identity& id) {
            return id.block.x == block && id.warp == warp;
        };
        const auto begin =
            who.begin() + std::min<std::size_t>(std::size_t{block} * kBlock, who.size());
        const auto end = who.begin() + std::min<std::size_t>(
                                           (std::size_t{block} + 1) * kBlock, who.size());
        const auto first = std::find_if(begin, end, mine);
        const auto working = std::count_if(begin, end, mine);
        const auto index = first - who.begin();
        rows.push_back({std::to_string(block), std::to_string(warp),
                        "0 .. " + std::to_string(lanes - 1),
                        working == 0 ? "none"
                                     : std::to_string(index) + " .. " +
                                           std::to_string(index + working - 1),
                        std::to_string(32 - working)});
    }
    lesson.table({"elements", "2. " + elements + " in blocks of " + std::to_string(kBlock) +
                                  " threads"},
                 {"block", "warp", "lanes that exist", "elements they computed",
                  "lanes of 32 without work"},
                 rows);
    lesson.conclusion(
        R"(index = blockIdx.x * blockDim.x + threadIdx.x. A warp always has 32 lanes,
with or without threads and work. With 48 threads per block every second warp is half
empty, so a block size should be a multiple of 32. The guard leaves further lanes of the
last block without work.)");
}

void two_dimensions(warpwise::Lesson& lesson) {
    constexpr unsigned kRows = 6, kCols = 8;
    const dim3 grid(2, 3), block(4, 2);
    DeviceBuffer<Identity> d_who(kRows * kCols);
    d_who.fill_bytes(0xFF);
    who_am_i_2d<<<grid, block>>>(d_who.data(), kRows, kCols);
    check_launch();
    const std::vector<Identity> who = d_who.download();  // waits for the kernel
    lesson.predict({.question = R"(dim3(4, 2) names x first, but a matrix is called rows x
cols, and x runs along a row. How many rows of the matrix does a block of dim3(4, 2)
cover?)",
                    .answer = warpwise::Number{.value = 2, .unit = "rows"},
                    .because = R"(The first number, 4, is the extent in x: four columns. The
second one, 2, is the extent in y: two rows.)"});
    lesson.expect(as_counted(who, grid, block, 1, kRows, kCols),
                  "who_am_i_2d: every element has its own thread");

    std::vector<std::string> header = {""};
    for (unsigned col = 0; col < kCols; ++col)
        header.push_back("col " + std::to_string(col));
    std::vector<std::vector<std::string>> rows;
    for (unsigned row = 0; row < kRows; ++row) {
        rows.push_back({"row " + std::to_string(row)});
        for (unsigned col = 0; col < kCols; ++col) {
            char cell[32];
            const Identity& id = who[row * kCols + col];
            std::snprintf(cell, sizeof cell, "%u,%u:%u,%u", id.block.x, id.block.y,
                          id.thread.x, id.thread.y);
            rows.back().push_back(cell);
        }
    }
    lesson.table(
        {"matrix",
         "3. A matrix of 6 x 8, a grid of 2 x 3 blocks of 4 x 2 threads: blockIdx.x,y : "
         "threadIdx.x,y"},
        header, rows);
    lesson.conclusion(
        R"(A block of dim3(4, 2) covers two rows and four columns. Along a row of the
matrix x changes first: in the thread, and then in the block.)");
}

void three_dimensions(warpwise::Lesson& lesson) {
    // These are not multiples of the block, so all three guards are needed.
    constexpr unsigned kLayers = 3, kRows = 5, kCols = 7;
    const dim3 grid(2, 3, 2), block(4, 2, 2);
    DeviceBuffer<Identity> d_who(kLayers * kRows * kCols);
    d_who.fill_bytes(0xFF);
    who_am_i_3d<<<grid, block>>>(d_who.data(), kLayers, kRows, kCols);
    check_launch();
    const std::vector<Identity> who = d_who.download();  // waits for the kernel
    lesson.expect(as_counted(who, grid, block, kLayers, kRows, kCols),
                  "who_am_i_3d: every element has its own thread");

    const auto triple = [](uint3 v) {
        return std::to_string(v.x) + ", " + std::to_string(v.y) + ", " +
               std::to_string(v.z);
    };
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < who.size(); i += 13) {
        const std::size_t layer = i / (kRows * kCols), row = i / kCols % kRows,
                          col = i % kCols;
        rows.push_back({std::to_string(i),
                        std::to_string(layer) + ", " + std::to_string(row) + ", " +
                            std::to_string(col),
                        triple(who[i].block), triple(who[i].thread),
                        std::to_string(who[i].lane)});
    }
    lesson.table(
        {"volume",
         "4. A volume of 3 x 5 x 7 in a grid of 2 x 3 x 2 blocks of 4 x 2 x 2 threads "
         "(every 13th element)"},
        {"element", "layer, row, col", "blockIdx x, y, z", "threadIdx x, y, z", "lane"},
        rows);
    lesson.conclusion(
        R"(The formulas nest: the element is (layer * rows + row) * cols + col. The
number of a thread in its block, called its rank, has the same form, with threadIdx and
blockDim: (z * blockDim.y + y) * blockDim.x + x. The lane is the rank modulo 32.)");
}

void warps_of_a_block(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Which threads share a warp? Each thread gets the rank of lane 0 of its warp
by an instruction that reaches only lanes of the same warp. So this table does not rely
on a formula.)");
    lesson.predict(
        {.question = R"(A block of dim3(8, 3, 3) has 72 threads. How many warps is
that?)",
         .answer =
             warpwise::Number{
                 .value = 3,
                 .unit = "warps",
                 .shown_by = warpwise::TableCell{"warps", {"8 x 3 x 3"}, "warps"}},
         .because = R"(Two full warps have 64 threads. The last 8 threads need a
third warp, in which 24 lanes do not exist.)"});
    std::vector<std::vector<std::string>> rows;
    for (const dim3 block : {dim3(32, 1, 1), dim3(16, 4, 1), dim3(48, 2, 1), dim3(4, 2, 1),
                             dim3(8, 3, 3), dim3(1, 1, 1)}) {
        const unsigned threads = block.x * block.y * block.z;
        DeviceBuffer<unsigned> d_first(threads);
        d_first.fill_bytes(0xFF);
        first_rank_of_my_warp<<<1, block>>>(d_first.data());
        check_launch();
        const std::vector<unsigned> first = d_first.download();
        bool right = true;
        for (unsigned rank = 0; rank < threads; ++rank)
            right &= first[rank] == rank / 32 * 32;
        char shape[48], second[48] = "-";
        std::snprintf(shape, sizeof shape, "%u x %u x %u", block.x, block.y, block.z);
        lesson.expect(right,
                      "first_rank_of_my_warp: warps are cut as promised in a block of " +
                          std::string(shape));
        const auto next = std::find_if(first.begin(), first.end(),
                                       [&](unsigned f) { return f != first[0]; });
        if (next != first.end()) {
            const auto rank = static_cast<unsigned>(next - first.begin());
            std::snprintf(second, sizeof second, "%u, %u, %u", rank % block.x,
                          rank / block.x % block.y, rank / (block.x * block.y));
        }
        std::vector<unsigned> warps = first;
        warps.erase(std::unique(warps.begin(), warps.end()), warps.end());
        const std::size_t lanes = 32 * warps.size();
        rows.push_back({shape, std::to_string(threads), std::to_string(warps.size()),
                        second, std::to_string(threads) + " of " + std::to_string(lanes)});
    }
    lesson.table({"warps", "5. How blocks are cut into warps"},
                 {"block x, y, z", "threads", "warps",
                  "threadIdx where the second warp starts", "lanes that exist"},
                 rows);
    lesson.conclusion(
        R"(The hardware counts the threads of a block with x fastest, then y, then z,
and divides them after every 32. So a warp may span several rows of a block, and may
begin in the middle of a row. A block of one thread still occupies a whole warp.)");
}

void order(warpwise::Lesson& lesson) {
    constexpr unsigned kBlocks = 5000, kShown = 12;
    lesson.predict(
        {.question = R"(One thread of each of 5000 blocks draws a ticket. Which
blocks draw the first tickets on a GPU?)",
         .answer = warpwise::Choice{{"blocks 0, 1, 2, and so on, in order",
                                     "not in order, but the same ones in every launch",
                                     "other blocks in each launch"},
                                    2},
         .because = R"(A block starts when an SM has room for it, and how soon it
draws depends on everything else that goes on there. No order is promised.)"});
    std::vector<std::vector<std::string>> rows;
    for (int launch = 1; launch <= 3; ++launch) {
        DeviceBuffer<unsigned> d_drawn(std::vector<unsigned>{0}), d_order(kBlocks);
        d_order.fill_bytes(0xFF);
        draw_tickets<<<kBlocks, 64>>>(d_drawn.data(), d_order.data());
        check_launch();
        const std::vector<unsigned> block_of_ticket = d_order.download();
        std::string first;
        for (unsigned ticket = 0; ticket < kShown; ++ticket)
            first += std::to_string(block_of_ticket[ticket]) + " ";
        unsigned overtaken = 0;
        for (unsigned ticket = 1; ticket < kBlocks; ++ticket)
            overtaken += block_of_ticket[ticket] < block_of_ticket[ticket - 1];
        rows.push_back({std::to_string(launch), first, std::to_string(overtaken)});

        std::vector<unsigned> sorted = block_of_ticket, every_block(kBlocks);
        std::sort(sorted.begin(), sorted.end());
        std::iota(every_block.begin(), every_block.end(), 0u);
        lesson.expect(sorted == every_block && d_drawn.download()[0] == kBlocks,
                      "draw_tickets: every block draws once");
    }
    lesson.table({"order", "6. In which order do " + std::to_string(kBlocks) +
                               " blocks come? The same launch, three times"},
                 {"launch", "blocks that drew the first tickets",
                  "times a block came after a later one"},
                 rows);
    // The CPU device runs blocks in order, which a GPU does not.
    if (!warpwise::Lesson::on_gpu()) lesson.show_recorded("order");
}

}  // namespace

void hello_threads(warpwise::Lesson& lesson) {
    const warpwise::Size size = lesson.size({70}, {70});
    if (size[0] > kMostElements)
        throw warpwise::Refusal("hello_threads: size " + size.text() + " is more than " +
                                std::to_string(kMostElements));
    lesson.question(
        R"(A kernel is written for one thread, and all threads run it. Each of them
knows its place from built-in variables. Which element is mine, and which threads share
a warp with me?)");
    hello(lesson);
    one_dimension(lesson, static_cast<unsigned>(size[0]));
    two_dimensions(lesson);
    three_dimensions(lesson);
    warps_of_a_block(lesson);
    order(lesson);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(The order is not promised: a block starts when an SM has room for it. A
program is right only if its result does not depend on the order. Therefore the same
program runs on a chip with 10 SMs and on one with 200.)"
            : R"(Here the first tickets look sorted, unless CPU_DEVICE_SEED sets another
order. That proves nothing: on a GPU a block starts when an SM has room for it, and
the order differs from launch to launch. A program is right only if its result does not
depend on the order. Therefore the same program runs on a chip with 10 SMs and on one
with 200.)");
}

}  // namespace basics_and_pi
