// A model of an all-reduce with two parameters per link, and a simulation of it for up to
// 1,024 ranks: what a ring and a tree take, message by message.
//
//     const Fabric fabric{.ranks_per_node = 8, .inside = {5e-6, 3e11}, .between = {1e-5,
//     2e10}}; const double seconds = simulate_ring(1024, bytes, 8, fabric);
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace several_gpus {
namespace {

// A message of b bytes takes latency + b / bandwidth, and a link carries one at a time.
struct Link {
    double latency;    // seconds
    double bandwidth;  // bytes per second
    double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

// Machines with some GPUs each: one kind of link inside, and another between them.
struct Fabric {
    int ranks_per_node;
    Link inside, between;
    const Link& link(int from, int to) const {
        return from / ranks_per_node == to / ranks_per_node ? inside : between;
    }
};

// Every rank sends its part, in `chunks` messages, to the next one, and passes on what it
// receives. A message leaves when it has arrived and when the link has sent the one before;
// the next one may leave before it has arrived.
inline double simulate_ring(int ranks, double bytes, int chunks, const Fabric& fabric) {
    if (ranks == 1) return 0;
    const double message = bytes / ranks / chunks;
    const std::size_t all = std::size_t(ranks);
    // When chunk c has arrived at rank r, after the sends so far; and when its link is
    // free.
    std::vector<std::vector<double>> arrived(std::size_t(chunks),
                                             std::vector<double>(all, 0));
    std::vector<double> link_free(all, 0);
    for (int send = 0; send < 2 * (ranks - 1); ++send) {
        for (std::vector<double>& at : arrived) {
            std::vector<double> next(all);
            for (int rank = 0; rank < ranks; ++rank) {
                const Link& link = fabric.link(rank, (rank + 1) % ranks);
                const double leaves =
                    std::max(at[std::size_t(rank)], link_free[std::size_t(rank)]);
                link_free[std::size_t(rank)] = leaves + message / link.bandwidth;
                next[std::size_t((rank + 1) % ranks)] = leaves + link.seconds(message);
            }
            at = next;
        }
    }
    double end = 0;
    for (const std::vector<double>& at : arrived)
        end = std::max(end, *std::max_element(at.begin(), at.end()));
    return end;
}

// The sums go up a binary tree whose root is rank 0, and the total comes down again, in
// `chunks` messages of the whole array. Rank r has the children 2 r + 1 and 2 r + 2. Each
// rank sends one message at a time, and up and down have links of their own.
inline double simulate_tree(int ranks, double bytes, int chunks, const Fabric& fabric) {
    const double message = bytes / chunks;
    const std::size_t all = std::size_t(ranks);
    std::vector<double> up_free(all, 0), down_free(all, 0);
    double end = 0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        std::vector<double> at(all, 0);
        for (int rank = ranks - 1; rank > 0; --rank) {  // children before their parents
            const int parent = (rank - 1) / 2;
            const Link& link = fabric.link(rank, parent);
            const double leaves =
                std::max(at[std::size_t(rank)], up_free[std::size_t(rank)]);
            up_free[std::size_t(rank)] = leaves + message / link.bandwidth;
            at[std::size_t(parent)] =
                std::max(at[std::size_t(parent)], leaves + link.seconds(message));
        }
        for (int rank = 1; rank < ranks; ++rank) {  // parents before their children
            const int parent = (rank - 1) / 2;
            const Link& link = fabric.link(parent, rank);
            const double leaves =
                std::max(at[std::size_t(parent)], down_free[std::size_t(parent)]);
            down_free[std::size_t(parent)] = leaves + message / link.bandwidth;
            at[std::size_t(rank)] = leaves + link.seconds(message);
            end = std::max(end, at[std::size_t(rank)]);
        }
    }
    return end;
}

// The number of chunks that is best, of 1, 2, 4 ... 256.
template <class Simulate>
double best_of_chunks(const Simulate& simulate, int ranks, double bytes, int most,
                      const Fabric& fabric) {
    double best = simulate(ranks, bytes, 1, fabric);
    for (int chunks = 2; chunks <= most; chunks *= 2)
        best = std::min(best, simulate(ranks, bytes, chunks, fabric));
    return best;
}

// What the pictures of the page show: a machine that is assumed, and no measurement.
constexpr Fabric kAssumed{
    .ranks_per_node = 8, .inside = {4e-6, 3.2e11}, .between = {1e-5, 4e10}};

inline std::string time_of(double seconds) {
    if (seconds < 1e-3) return warpwise::text_of("%.1f us", 1e6 * seconds);
    return warpwise::text_of("%.2f ms", 1e3 * seconds);
}

inline void show_model(warpwise::Lesson& lesson) {
    // A ring and a tree of which the time is known without a simulation: a slip in the
    // simulation would show here.
    const Fabric plain{
        .ranks_per_node = 4096, .inside = {1e-6, 1e9}, .between = {1e-6, 1e9}};
    const double ring_of_8 = 14 * (1e-6 + 1000 / 1e9);
    lesson.expect(std::abs(simulate_ring(8, 8000, 1, plain) / ring_of_8 - 1) < 1e-9,
                  "the simulated ring of 8 takes 14 messages");
    lesson.expect(std::abs(simulate_tree(2, 1000, 1, plain) / 4e-6 - 1) < 1e-9,
                  "the simulated tree of 2 takes 2 messages");
    std::vector<std::vector<std::string>> rows;
    for (const int ranks : {2, 4, 8, 16, 64, 256, 1024}) {
        std::vector<std::string> row = {std::to_string(ranks)};
        for (const double bytes : {8.0 * (1 << 10), double(1 << 20), double(1 << 28)}) {
            const double ring =
                best_of_chunks(simulate_ring, ranks, bytes, ranks > 64 ? 4 : 16, kAssumed);
            const double tree = best_of_chunks(simulate_tree, ranks, bytes, 256, kAssumed);
            row.push_back(time_of(ring));
            row.push_back(time_of(tree));
        }
        rows.push_back(row);
    }
    lesson.table({"simulated",
                  "All-reduce, simulated for an assumed machine: 8 GPUs per node, 4 us and "
                  "320 GB/s inside, 10 us and 40 GB/s between nodes"},
                 {"ranks", "ring 8 KiB", "tree 8 KiB", "ring 1 MiB", "tree 1 MiB",
                  "ring 256 MiB", "tree 256 MiB"},
                 rows);
}

}  // namespace
}  // namespace several_gpus
