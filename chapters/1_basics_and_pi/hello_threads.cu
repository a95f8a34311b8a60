// Problem: a launch starts thousands of threads that all run the same function. Which of them does what? Each finds out
// from built-in variables: blockIdx and threadIdx (who am I), gridDim and blockDim (how many are there).
//
// A grid is up to three-dimensional and made of blocks; a block is up to three-dimensional and made of threads. The
// hardware cuts the threads of a block into warps of 32, x fastest, then y, then z; a thread's place in its warp is
// its lane. Every kernel writes down who its threads are, and the host counts through the same grid to check them.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"
#include "common/lesson/lesson.h"
#include "common/lesson/refusal.h"

namespace basics_and_pi {
namespace {

using warpwise::check;
using warpwise::check_finished;
using warpwise::check_launch;
using warpwise::DeviceBuffer;

constexpr std::size_t kMostElements = 1 << 22;  // beyond that nobody reads the table

/// Who computed an element.
struct Identity {
    uint3 block;    ///< place of the block in the grid
    uint3 thread;   ///< place of the thread in its block
    unsigned warp;  ///< of the block
    unsigned lane;  ///< of the warp, 0 to 31
};

bool same(uint3 a, uint3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
bool same(const Identity& a, const Identity& b) {
    return same(a.block, b.block) && same(a.thread, b.thread) && a.warp == b.warp && a.lane == b.lane;
}

// 1. Hello. Every thread prints a line. Notice on a GPU: the lines of different blocks come in any order, and not until
//    the host waits for the device: printf fills a buffer on the device that the host empties when it synchronizes.
__global__ void say_hello() {
    printf("    hello from thread %u of %u in block %u of %u\n", threadIdx.x, blockDim.x, blockIdx.x, gridDim.x);
}

// 2. One dimension. The global index counts the threads of all blocks: those of the blocks before mine, and then my
//    place in my own. The number of elements is seldom a multiple of the block, so the last block has threads too
//    many: the guard sends them home. Notice: without the guard they would write behind the end of the array.
__global__ void who_am_i_1d(Identity* who, unsigned count) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= count) return;
    const unsigned rank = threadIdx.x;  // among the threads of the block
    who[index] = {{blockIdx.x, blockIdx.y, blockIdx.z},
                  {threadIdx.x, threadIdx.y, threadIdx.z},
                  rank / warpSize,
                  rank % warpSize};
}

// 3. Two dimensions. What changed: one index for each direction, x along the columns because neighboring threads in x
//    sit in the same warp and neighboring columns sit side by side in memory. Both directions need their guard, and
//    the thread's rank in its block counts whole rows of the block first.
__global__ void who_am_i_2d(Identity* who, unsigned rows, unsigned cols) {
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) return;
    const unsigned rank = threadIdx.y * blockDim.x + threadIdx.x;
    who[row * cols + col] = {{blockIdx.x, blockIdx.y, blockIdx.z},
                             {threadIdx.x, threadIdx.y, threadIdx.z},
                             rank / warpSize,
                             rank % warpSize};
}

// 4. Three dimensions. What changed: the layer, on z. The formulas nest: (layer * rows + row) * cols + col for the
//    element, and the same with the block's extents for the rank of the thread.
__global__ void who_am_i_3d(Identity* who, unsigned layers, unsigned rows, unsigned cols) {
    const unsigned layer = blockIdx.z * blockDim.z + threadIdx.z;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (layer >= layers || row >= rows || col >= cols) return;
    const unsigned rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    who[(layer * rows + row) * cols + col] = {{blockIdx.x, blockIdx.y, blockIdx.z},
                                              {threadIdx.x, threadIdx.y, threadIdx.z},
                                              rank / warpSize,
                                              rank % warpSize};
}

// 5. Is that what the hardware does? Here no formula says who shares a warp: each thread gets the rank of its warp's
//    lane 0 by a shuffle, which only reaches lanes of the same warp. The mask must name the lanes that exist and no
//    others: when the block is no multiple of 32, its last warp is a partial one.
__global__ void first_rank_of_my_warp(unsigned* first) {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    const unsigned rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned lanes = min(threads - rank / warpSize * warpSize, static_cast<unsigned>(warpSize));
    const unsigned mask = lanes == 32 ? 0xFFFFFFFFu : (1u << lanes) - 1;
    first[rank] = __shfl_sync(mask, rank, 0);
}

// 6. Order. One thread of each block draws a ticket; atomicAdd gives every caller a different one. Nothing in the
//    language says which block comes first, so nothing in a program may depend on it.
__global__ void draw_tickets(unsigned* tickets_drawn, unsigned* block_of_ticket) {
    if (threadIdx.x == 0) block_of_ticket[atomicAdd(tickets_drawn, 1u)] = blockIdx.x;
}

/// Counts through the grid as the language defines it, x fastest, without any of the formulas above, and compares.
/// `who[i]` must belong to the element i of a volume of layers x rows x cols; elements outside of it have no thread.
bool as_counted(const std::vector<Identity>& who, dim3 grid, dim3 block, unsigned layers, unsigned rows,
                unsigned cols) {
    bool right = who.size() == std::size_t{layers} * rows * cols;
    std::size_t met = 0;
    for (unsigned bz = 0; bz < grid.z; ++bz)
        for (unsigned by = 0; by < grid.y; ++by)
            for (unsigned bx = 0; bx < grid.x; ++bx) {
                unsigned warp = 0, lane = 0;
                for (unsigned tz = 0; tz < block.z; ++tz)
                    for (unsigned ty = 0; ty < block.y; ++ty)
                        for (unsigned tx = 0; tx < block.x; ++tx) {
                            const std::size_t layer = bz * block.z + tz, row = by * block.y + ty,
                                              col = bx * block.x + tx;
                            if (right && layer < layers && row < rows && col < cols) {
                                const Identity expected = {{bx, by, bz}, {tx, ty, tz}, warp, lane};
                                right = same(who[(layer * rows + row) * cols + col], expected);
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
    lesson.text("1. Six threads in three blocks of two say hello:");
    std::cout.flush();
    std::fflush(stdout);
    say_hello<<<3, 2>>>();
    check_launch();
    check_finished();
    std::printf("\n");
    std::fflush(stdout);
}

void one_dimension(warpwise::Lesson& lesson, unsigned count) {
    constexpr unsigned kBlock = 48;
    for (unsigned size : {0u, 1u, 31u, 32u, 33u, 48u, 49u, 1009u})
        lesson.expect(as_counted(run_1d(size, kBlock), warpwise::blocks_for(size, kBlock), kBlock, 1, 1, size),
                      "who_am_i_1d: every element of " + std::to_string(size) + " has its own thread");
    const std::vector<Identity> who = run_1d(count, kBlock);
    const unsigned blocks = warpwise::blocks_for(count, kBlock);
    lesson.expect(as_counted(who, blocks, kBlock, 1, 1, count), "who_am_i_1d: every element has its own thread");

    std::vector<std::vector<std::string>> rows;  // a row a warp; of many warps the first and the last few
    const unsigned warps_a_block = static_cast<unsigned>(warpwise::ceil_div(kBlock, 32)),
                   warps = blocks * warps_a_block;
    for (unsigned w = 0; w < warps; ++w) {
        if (warps > 12 && w == 6) {
            rows.push_back({"...", "", "", "", ""});
            w = warps - 6;
        }
        const unsigned block = w / warps_a_block, warp = w % warps_a_block;
        const unsigned lanes = std::min(32u, kBlock - warp * 32);
        // Which elements did this warp write? Ask the result, not the formula.
        const auto mine = [&](const Identity& id) { return id.block.x == block && id.warp == warp; };
        const auto begin = who.begin() + std::min<std::size_t>(std::size_t{block} * kBlock, who.size());
        const auto end = who.begin() + std::min<std::size_t>((std::size_t{block} + 1) * kBlock, who.size());
        const auto first = std::find_if(begin, end, mine);
        const auto working = std::count_if(begin, end, mine);
        const auto index = first - who.begin();
        rows.push_back({std::to_string(block), std::to_string(warp), "0 .. " + std::to_string(lanes - 1),
                        working == 0 ? "none" : std::to_string(index) + " .. " + std::to_string(index + working - 1),
                        std::to_string(32 - working)});
    }
    lesson.table("2. " + std::to_string(count) + " elements in blocks of " + std::to_string(kBlock) + " threads",
                 {"block", "warp", "lanes that exist", "elements they computed", "lanes of 32 without work"}, rows);
    lesson.text(
        R"(index = blockIdx.x * blockDim.x + threadIdx.x. A warp always occupies 32 lanes, whether they exist
and have work or not: 48 is a poor size for a block because every second warp is half empty, and the guard empties
lanes of the last block.)");
}

void two_dimensions(warpwise::Lesson& lesson) {
    constexpr unsigned kRows = 6, kCols = 8;
    const dim3 grid(2, 3), block(4, 2);
    DeviceBuffer<Identity> d_who(kRows * kCols);
    d_who.fill_bytes(0xFF);
    who_am_i_2d<<<grid, block>>>(d_who.data(), kRows, kCols);
    check_launch();
    const std::vector<Identity> who = d_who.download();  // waits for the kernel
    lesson.expect(as_counted(who, grid, block, 1, kRows, kCols), "who_am_i_2d: every element has its own thread");

    std::vector<std::string> header = {""};
    for (unsigned col = 0; col < kCols; ++col) header.push_back("col " + std::to_string(col));
    std::vector<std::vector<std::string>> rows;
    for (unsigned row = 0; row < kRows; ++row) {
        rows.push_back({"row " + std::to_string(row)});
        for (unsigned col = 0; col < kCols; ++col) {
            char cell[32];
            const Identity& id = who[row * kCols + col];
            std::snprintf(cell, sizeof cell, "%u,%u:%u,%u", id.block.x, id.block.y, id.thread.x, id.thread.y);
            rows.back().push_back(cell);
        }
    }
    lesson.table("3. A matrix of 6 x 8, a grid of 2 x 3 blocks of 4 x 2 threads: blockIdx.x,y : threadIdx.x,y", header,
                 rows);
    lesson.text(
        R"(dim3 names x first: dim3(4, 2) is four columns wide and two rows high, whereas a matrix is called
rows x cols. Go along a row: x changes first, in the thread and then in the block.)");
}

void three_dimensions(warpwise::Lesson& lesson) {
    constexpr unsigned kLayers = 3, kRows = 5, kCols = 7;  // multiples of nothing: all three guards are needed
    const dim3 grid(2, 3, 2), block(4, 2, 2);
    DeviceBuffer<Identity> d_who(kLayers * kRows * kCols);
    d_who.fill_bytes(0xFF);
    who_am_i_3d<<<grid, block>>>(d_who.data(), kLayers, kRows, kCols);
    check_launch();
    const std::vector<Identity> who = d_who.download();  // waits for the kernel
    lesson.expect(as_counted(who, grid, block, kLayers, kRows, kCols), "who_am_i_3d: every element has its own thread");

    const auto triple = [](uint3 v) {
        return std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z);
    };
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < who.size(); i += 13) {
        const std::size_t layer = i / (kRows * kCols), row = i / kCols % kRows, col = i % kCols;
        rows.push_back({std::to_string(i),
                        std::to_string(layer) + ", " + std::to_string(row) + ", " + std::to_string(col),
                        triple(who[i].block), triple(who[i].thread), std::to_string(who[i].lane)});
    }
    lesson.table("4. A volume of 3 x 5 x 7 in a grid of 2 x 3 x 2 blocks of 4 x 2 x 2 threads (every 13th element)",
                 {"element", "layer, row, col", "blockIdx x, y, z", "threadIdx x, y, z", "lane"}, rows);
}

void warps_of_a_block(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const dim3 block :
         {dim3(32, 1, 1), dim3(16, 4, 1), dim3(48, 2, 1), dim3(4, 2, 1), dim3(8, 3, 3), dim3(1, 1, 1)}) {
        const unsigned threads = block.x * block.y * block.z;
        DeviceBuffer<unsigned> d_first(threads);
        d_first.fill_bytes(0xFF);
        first_rank_of_my_warp<<<1, block>>>(d_first.data());
        check_launch();
        const std::vector<unsigned> first = d_first.download();
        bool right = true;
        for (unsigned rank = 0; rank < threads; ++rank) right &= first[rank] == rank / 32 * 32;
        char shape[48], second[48] = "-";
        std::snprintf(shape, sizeof shape, "%u x %u x %u", block.x, block.y, block.z);
        lesson.expect(right, "first_rank_of_my_warp: warps are cut as promised in a block of " + std::string(shape));
        const auto next = std::find_if(first.begin(), first.end(), [&](unsigned f) { return f != first[0]; });
        if (next != first.end()) {
            const auto rank = static_cast<unsigned>(next - first.begin());
            std::snprintf(second, sizeof second, "%u, %u, %u", rank % block.x, rank / block.x % block.y,
                          rank / (block.x * block.y));
        }
        std::vector<unsigned> warps = first;
        warps.erase(std::unique(warps.begin(), warps.end()), warps.end());
        const std::size_t lanes = 32 * warps.size();
        rows.push_back({shape, std::to_string(threads), std::to_string(warps.size()), second,
                        std::to_string(threads) + " of " + std::to_string(lanes)});
    }
    lesson.table("5. How blocks are cut into warps",
                 {"block x, y, z", "threads", "warps", "threadIdx where the second warp starts", "lanes that exist"},
                 rows);
    lesson.text(
        R"(A warp may span several rows of a block, and start in the middle of one. A block of one thread
costs as much as one of 32: lanes that do not exist stay empty until the block ends.)");
}

void order(warpwise::Lesson& lesson) {
    constexpr unsigned kBlocks = 5000, kShown = 12;
    std::vector<std::vector<std::string>> rows;
    for (int launch = 1; launch <= 3; ++launch) {
        DeviceBuffer<unsigned> d_drawn(std::vector<unsigned>{0}), d_order(kBlocks);
        d_order.fill_bytes(0xFF);
        draw_tickets<<<kBlocks, 64>>>(d_drawn.data(), d_order.data());
        check_launch();
        const std::vector<unsigned> block_of_ticket = d_order.download();
        std::string first;
        for (unsigned ticket = 0; ticket < kShown; ++ticket) first += std::to_string(block_of_ticket[ticket]) + " ";
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
    lesson.table("6. In which order do " + std::to_string(kBlocks) + " blocks come? The same launch, three times",
                 {"launch", "blocks that drew the first tickets", "times a block came after a later one"}, rows);
}

}  // namespace

void hello_threads(warpwise::Lesson& lesson) {
    const warpwise::Size size = lesson.size({70}, {70});
    if (size[0] > kMostElements)
        throw warpwise::Refusal("hello_threads: size " + size.text() + " is more than " +
                                std::to_string(kMostElements));
    lesson.text(
        R"(A kernel is written for one thread and run by all of them. Each thread knows its place from
built-in variables, and turns it into the index of the element that it works on.)");
    hello(lesson);
    one_dimension(lesson, static_cast<unsigned>(size[0]));
    two_dimensions(lesson);
    three_dimensions(lesson);
    warps_of_a_block(lesson);
    order(lesson);
    lesson.text(
        R"(Order is not promised. Blocks start when an SM has room and end when they are done; a row that
looks sorted proves nothing about the next launch or the next device. A program is right only if it gives the same
result whatever the order, and that is what lets the same program run on a chip with 10 SMs or with 200.

Mistakes to avoid: `blockIdx.x + threadIdx.x` without `blockDim.x` (blocks overlap, most elements have no thread);
no guard for the last block; rows on x (right, but slow: see matrix_add); waiting in one block for another that may
not have started.

Try next: sizes around a multiple of the block, and none at all.

    basics_and_pi hello_threads --size 96
    basics_and_pi hello_threads --size 97
    basics_and_pi hello_threads --size 0)");
    if (!warpwise::Lesson::on_gpu())
        lesson.text(
            R"(On the CPU device a seed shuffles the order of blocks and threads: code that leans on order fails.

    CPU_DEVICE_SEED=7 basics_and_pi hello_threads)");
}

}  // namespace basics_and_pi
