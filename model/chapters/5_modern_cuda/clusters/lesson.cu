// Problem: how often does each of very many values occur?
//
// With 256 bins (chapter 2), each block has a histogram of its own in shared memory. With
// 65,536 bins the counters take 256 KiB, more than a block can have. So they are in global
// memory, or the keys are read several times, or counters get smaller, or the blocks of a
// cluster share them: each has a part of the counters in its shared memory, and all of them
// can reach it.
//
// Keys have 32 bits, so that the memory is the limit and not the counting: an SM of an H200
// can do about five random increments of shared memory per clock (lesson histogram), and
// the memory delivers about as many keys of 4 bytes. With keys of one byte it would deliver
// four times as many, and the same steps would tell how fast shared memory counts.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cub/device/device_histogram.cuh>
#endif

#include "chapters/2_memory_model/provoked.h"
#include "chapters/5_modern_cuda/clusters/kernels.cuh"
#include "chapters/5_modern_cuda/clusters/wrong.cuh"
#include "chapters/5_modern_cuda/mistakes.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/helpers/this_cluster.cuh"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"

namespace modern_cuda {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

// ---- keys -------------------------------------------------------------------------------

enum class Input { uniform, skewed, constant };
constexpr std::array<Input, 3> kInputs = {Input::uniform, Input::skewed, Input::constant};
constexpr std::array<const char*, 3> kInputNames = {"uniform", "skewed", "one bin"};

unsigned key_of(Input input, std::size_t i, std::size_t bins) {
    const std::uint64_t bits = warpwise::random_bits(31, i);
    switch (input) {
        case Input::uniform:
            return static_cast<unsigned>((bits >> 32) * bins >> 32);
        case Input::skewed: {
            // The eighth power of a random number in [0, 1).
            double share = static_cast<double>(bits >> 11) /
                           static_cast<double>(std::uint64_t{1} << 53);
            for (int k = 0; k < 3; ++k) share *= share;
            return static_cast<unsigned>(share * static_cast<double>(bins));
        }
        case Input::constant:
            return static_cast<unsigned>(bins / 2);
    }
    return 0;
}

// The keys on the host and on the device, how often each occurs, and room for the answer.
struct Keys {
    std::size_t count;
    unsigned bins;
    std::vector<unsigned> keys;
    std::vector<double> expected;
    std::vector<unsigned> counts;
    DeviceBuffer<unsigned> d_keys, d_counts;
    DeviceBuffer<unsigned char> d_vendor_storage;
    unsigned most_blocks = 0;  // that a launch may have; 0: as many as are resident
    bool counts_are_on_host = false;

    explicit Keys(const warpwise::Size& size, Input input = Input::uniform)
        : count(size[0]),
          bins(static_cast<unsigned>(size[1])),
          keys(count),
          expected(bins),
          counts(bins),
          d_counts(bins) {
        warpwise::parallel_for(count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) keys[i] = key_of(input, i, bins);
        });
        for (const unsigned key : keys) ++expected[key];
        d_keys = DeviceBuffer<unsigned>(keys);
    }

    void poison() {
        std::fill(counts.begin(), counts.end(), std::numeric_limits<unsigned>::max());
        d_counts.fill_bytes(0xFF);
        counts_are_on_host = false;
    }
    // Counts are whole numbers, which doubles hold exactly, so the answer has to be exact.
    warpwise::Comparison compare() {
        if (!counts_are_on_host) counts = d_counts.download();
        return warpwise::compare(counts, expected);
    }
    warpwise::Work work() const {
        return {.bytes = sizeof(unsigned) * (static_cast<double>(count) + bins),
                .operations = static_cast<double>(count)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return (size[0] + size[1]) * sizeof(unsigned) + 4096;
    }
};

// ---- launches ---------------------------------------------------------------------------

void serial(Keys& problem) {
    std::fill(problem.counts.begin(), problem.counts.end(), 0u);
    for (const unsigned key : problem.keys) ++problem.counts[key];
    problem.counts_are_on_host = true;
}

void clear(Keys& problem) {
    warpwise::check(cudaMemsetAsync(problem.d_counts.data(), 0, problem.d_counts.bytes()));
}

// As many blocks as there is work for, at most `resident`.
unsigned blocks_of(const Keys& problem, unsigned threads, unsigned resident) {
    const unsigned most = problem.most_blocks > 0 ? problem.most_blocks : resident;
    return std::min(most, warpwise::blocks_for(problem.count, threads * 4 * kDeep));
}

void global_atomics(Keys& problem) {
    clear(problem);
    constexpr unsigned threads = 256;
    const unsigned blocks =
        blocks_of(problem, threads, warpwise::blocks_that_fill(count_global, threads));
    count_global<<<blocks, threads>>>(problem.d_keys.data(), problem.count,
                                      problem.d_counts.data());
    warpwise::check_launch();
}

using Kernel = void (*)(const unsigned*, std::size_t, Slice, unsigned*);

// Bytes of shared memory that a block can have after cudaFuncSetAttribute.
std::size_t most_shared_bytes() {
    static const int most = [] {
        int device = 0, bytes = 0;
        warpwise::check(cudaGetDevice(&device));
        warpwise::check(cudaDeviceGetAttribute(
            &bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
        return bytes;
    }();
    return static_cast<std::size_t>(most);
}

void allow_shared_bytes(Kernel kernel, std::size_t bytes) {
    static std::map<Kernel, std::size_t> allowed;
    if (allowed[kernel] >= bytes) return;
    warpwise::check(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    allowed[kernel] = bytes;
}

// Calls `launch` for each slice of at most `most` bins.
void for_each_slice(const Keys& problem, std::size_t most,
                    const std::function<void(Slice)>& launch) {
    for (std::size_t first = 0; first < problem.bins; first += most)
        launch({static_cast<unsigned>(first),
                static_cast<unsigned>(std::min(most, problem.bins - first))});
}

// Each block has counters of `bits` bits for a whole slice, in at most `most_bytes`.
void launch_blocks(Kernel kernel, Keys& problem, unsigned threads, std::size_t most_bytes,
                   std::size_t bits = 32) {
    clear(problem);
    for_each_slice(problem, most_bytes * 8 / bits, [&](Slice slice) {
        const std::size_t bytes = warpwise::ceil_div(slice.bins * bits, 32) * 4;
        allow_shared_bytes(kernel, bytes);
        static std::map<std::tuple<Kernel, unsigned, std::size_t>, unsigned> known;
        unsigned& resident = known[{kernel, threads, bytes}];
        if (resident == 0) resident = warpwise::blocks_that_fill(kernel, threads, bytes);
        kernel<<<blocks_of(problem, threads, resident), threads, bytes>>>(
            problem.d_keys.data(), problem.count, slice, problem.d_counts.data());
        warpwise::check_launch();
    });
}

constexpr std::size_t kUnasked = 48 * 1024;

void passes(Keys& problem) { launch_blocks(count_slice, problem, 512, kUnasked); }
void opt_in(Keys& problem) {
    launch_blocks(count_slice, problem, kThreads, most_shared_bytes());
}
void wide(Keys& problem) {
    launch_blocks(count_slice_wide, problem, kThreads, most_shared_bytes());
}
void packed(Keys& problem) {
    launch_blocks(count_packed, problem, kThreads, most_shared_bytes(), 16);
}

// How many clusters the device holds at a time; 0: none.
unsigned active_clusters(Kernel kernel, unsigned blocks, std::size_t bytes) {
    static std::map<std::tuple<Kernel, unsigned, std::size_t>, unsigned> known;
    const auto [found, is_new] = known.try_emplace({kernel, blocks, bytes}, 0u);
    if (!is_new) return found->second;
    allow_shared_bytes(kernel, bytes);
    // More than 8 blocks per cluster are not portable: not every GPU with clusters has
    // them.
    warpwise::check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchAttribute attributes[1] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = blocks;
    attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(kThreads);
    config.dynamicSmemBytes = bytes;
    config.attrs = attributes;
    config.numAttrs = 1;
    int active = 0;
    if (cudaOccupancyMaxActiveClusters(&active, kernel, &config) != cudaSuccess) {
        (void)cudaGetLastError();
        active = 0;
    }
    return found->second = static_cast<unsigned>(active);
}

// Launches a kernel with clusters of `blocks` blocks. A block has `fixed_bytes` of shared
// memory and counters: of all bins of a slice, or, where the cluster `shares` them, of its
// part.
void launch_clusters(Kernel kernel, Keys& problem, unsigned blocks, bool shares,
                     std::size_t fixed_bytes = 0) {
    clear(problem);
    const std::size_t counters = (most_shared_bytes() - fixed_bytes) / sizeof(unsigned);
    for_each_slice(problem, shares ? counters * blocks : counters, [&](Slice slice) {
        const std::size_t own =
            shares ? warpwise::ceil_div(slice.bins, blocks) : slice.bins;
        const std::size_t bytes = fixed_bytes + own * sizeof(unsigned);
        const unsigned resident = blocks * active_clusters(kernel, blocks, bytes);
        const unsigned wanted = blocks_of(problem, kThreads, std::max(resident, blocks));
        const std::size_t clusters = warpwise::ceil_div(wanted, blocks);
        warpwise::check(warpwise::launch_in_clusters(
            kernel,
            {.blocks = static_cast<unsigned>(clusters) * blocks,
             .cluster = blocks,
             .threads = kThreads,
             .shared_bytes = bytes},
            problem.d_keys.data(), problem.count, slice, problem.d_counts.data()));
    });
}

template <unsigned Blocks>
void shared_counters(Keys& problem) {
    launch_clusters(count_in_cluster, problem, Blocks, true);
}
template <unsigned Blocks>
void summed_copies(Keys& problem) {
    launch_clusters(sum_in_cluster, problem, Blocks, false);
}
template <unsigned Blocks, unsigned Quads>
void sent_keys(Keys& problem) {
    launch_clusters(send_to_owners<Blocks, Quads>, problem, Blocks, true,
                    2 * sizeof(Inbox<Blocks, Quads>));
}

#ifndef __CPU_DEVICE__
// What a user would call instead. Called without storage it only says how much it needs.
void vendor(Keys& problem) {
    const auto call = [&](void* storage, std::size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(
            storage, bytes, reinterpret_cast<const int*>(problem.d_keys.data()),
            problem.d_counts.data(), static_cast<int>(problem.bins) + 1, 0,
            static_cast<int>(problem.bins), static_cast<long long>(problem.count));
    };
    std::size_t needed = 0;
    warpwise::check(call(nullptr, needed));
    if (problem.d_vendor_storage.size() < needed)
        problem.d_vendor_storage = DeviceBuffer<unsigned char>(needed);
    warpwise::check(call(problem.d_vendor_storage.data(), needed));
}
#endif

// ---- the steps --------------------------------------------------------------------------

struct Method {
    const char* name;
    const char* change;
    void (*run)(Keys&);
    unsigned cluster = 1;  // blocks
    bool is_step = true;   // else only a row of the tables
    bool is_vendor = false;
};

const std::vector<Method>& methods() {
    static const std::vector<Method> all = {
        {"count_global", "counters in global memory", global_atomics},
        {"count_slice", "48 KiB of counters, several passes", passes},
        {"count_slice_opt_in", "all of the shared memory", opt_in},
        {"count_slice_wide", "64 bytes in flight per thread", wide},
        {"count_packed", "counters of 16 bits", packed},
        {"count_in_cluster_2", "2 blocks share the counters", shared_counters<2>, 2},
        {"count_in_cluster_4", "4 blocks", shared_counters<4>, 4, false},
        {"count_in_cluster_8", "8 blocks", shared_counters<8>, 8, false},
        {"count_in_cluster_16", "16 blocks", shared_counters<16>, 16},
        {"sum_in_cluster_2", "2 blocks add up", summed_copies<2>, 2, false},
        {"sum_in_cluster_4", "4 blocks", summed_copies<4>, 4, false},
        {"sum_in_cluster_8", "blocks count alone, 8 add up", summed_copies<8>, 8},
        {"sum_in_cluster_16", "16 blocks", summed_copies<16>, 16, false},
        {"send_to_owners_2", "keys travel, not increments", sent_keys<2, 2>, 2},
        {"send_to_owners_4", "4 blocks", sent_keys<4, 1>, 4, false},
        {"send_to_owners_8", "8 blocks", sent_keys<8, 1>, 8, false},
        {"  2 blocks, 1 load", "half as many keys per round", sent_keys<2, 1>, 2, false},
        {"  4 blocks, 2 loads", "twice as many", sent_keys<4, 2>, 4, false},
#ifndef __CPU_DEVICE__
        {"vendor", "cub::DeviceHistogram::HistogramEven", vendor, 1, true, true},
#endif
    };
    return all;
}

// The largest cluster that this device has; 1 for one without clusters.
unsigned largest_cluster() {
    static const unsigned largest = [] {
        if (!warpwise::has_clusters()) return 1u;
        for (const unsigned blocks : {16u, 8u, 4u, 2u})
            if (active_clusters(count_in_cluster, blocks, most_shared_bytes()) > 0)
                return blocks;
        return 1u;
    }();
    return largest;
}

// The methods that this device can run.
std::vector<Method> runnable(bool steps_only) {
    std::vector<Method> all = methods();
    std::erase_if(all, [&](const Method& method) {
        return method.cluster > largest_cluster() || (steps_only && !method.is_step);
    });
    return all;
}

void tell_what_is_missing(warpwise::Lesson& lesson) {
    std::string names;
    for (const Method& method : methods())
        if (method.cluster > largest_cluster())
            names += (names.empty() ? "" : ", ") + std::string(method.name);
    if (names.empty()) return;
    lesson.text(
        largest_cluster() == 1
            ? "This GPU has no clusters (they begin with compute capability 9.0), so "
              "these are left out: " +
                  names
            : "Clusters of this GPU have at most " + std::to_string(largest_cluster()) +
                  " blocks, so these are left out: " + names);
}

void expect_right(warpwise::Lesson& lesson, const std::string& what, Keys& problem,
                  const Method& method) {
    problem.poison();
    method.run(problem);
    const warpwise::Comparison comparison = problem.compare();
    lesson.expect(comparison.passed,
                  std::string(method.name) + ", " + what + ": " + comparison.summary());
}

// ---- where the increments go ------------------------------------------------------------

// 16,384 keys: each of 4096 bins four times.
void show_remote_increments(warpwise::Lesson& lesson) {
    constexpr std::size_t count = std::size_t{1} << 14;
    constexpr unsigned bins = 4096;
    Keys problem(warpwise::Size{count, bins});
    for (std::size_t i = 0; i < count; ++i) problem.keys[i] = i % bins;
    std::fill(problem.expected.begin(), problem.expected.end(), double{count / bins});
    problem.d_keys.upload(problem.keys);
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods()) {
        if (method.run != shared_counters<2> && method.run != shared_counters<4> &&
            method.run != shared_counters<8> && method.run != shared_counters<16>)
            continue;
        if (method.cluster > largest_cluster()) continue;
        const std::size_t remote = count / method.cluster * (method.cluster - 1);
        rows.push_back({std::to_string(method.cluster), std::to_string(count - remote),
                        std::to_string(remote)});
        problem.poison();
        const auto counted = lesson.count([&] { method.run(problem); });
        if (!counted) continue;
        lesson.expect(problem.compare().passed,
                      std::string(method.name) + ": right when counted");
        lesson.expect(
            counted->shared_atomic.lanes == double{count} &&
                counted->shared_atomic.remote_lanes == static_cast<double>(remote),
            std::string(method.name) + ": increments go where they should");
    }
    if (!rows.empty())
        lesson.table({"remote", "16384 increments of count_in_cluster, 4096 bins"},
                     {"blocks per cluster", "in the own block", "in another block"}, rows);
}

// How many blocks it takes until all counters fit, by the number of bins.
void show_room(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t bins : {4096, 16384, 32768, 65536, 262144, 524288}) {
        const std::size_t bytes = bins * sizeof(unsigned);
        std::size_t blocks = 1;
        while (blocks < 16 && bytes / blocks > most_shared_bytes()) blocks *= 2;
        rows.push_back(
            {std::to_string(bins), std::to_string(bytes / 1024),
             std::to_string(warpwise::ceil_div(bytes, kUnasked)),
             std::to_string(warpwise::ceil_div(bytes, most_shared_bytes())),
             bytes / blocks > most_shared_bytes() ? "-" : std::to_string(blocks)});
    }
    lesson.table({"room", "Counters of 4 bytes, and what has room for them"},
                 {"bins", "KiB", "passes, 48 KiB", "passes, all shared memory",
                  "blocks for one pass"},
                 rows);
}

// ---- launches that are refused, and mistakes
// ----------------------------------------------

__global__ void does_nothing() {}

cudaError_t launch_empty(unsigned blocks, unsigned cluster, bool not_portable) {
    warpwise::check(cudaFuncSetAttribute(
        does_nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, not_portable));
    const cudaError_t error = warpwise::launch_in_clusters(
        does_nothing, {.blocks = blocks, .cluster = cluster, .threads = 32});
    if (error != cudaSuccess) (void)cudaGetLastError();
    warpwise::check(cudaDeviceSynchronize());
    return error;
}

void show_refusals(warpwise::Lesson& lesson) {
    if (largest_cluster() < 16) return;
    struct Launch {
        const char* what;
        unsigned blocks, cluster;
        bool not_portable, is_right;
    };
    constexpr std::array<Launch, 5> launches = {{
        {"8 blocks per cluster", 16, 8, false, true},
        {"16 blocks", 16, 16, false, false},
        {"16 blocks, allowed by cudaFuncSetAttribute", 16, 16, true, true},
        {"32 blocks, the same", 32, 32, true, false},
        {"4 blocks, in a grid of 6", 6, 4, false, false},
    }};
    std::vector<std::vector<std::string>> rows;
    [[maybe_unused]] const ::memory_model::DiagnosticsAside aside;
    for (const Launch& launch : launches) {
        const cudaError_t error =
            launch_empty(launch.blocks, launch.cluster, launch.not_portable);
        lesson.expect((error == cudaSuccess) == launch.is_right,
                      std::string(launch.what) + ": launched or refused as it should be");
        rows.push_back({launch.what, cudaGetErrorName(error)});
    }
    lesson.table({"refusals", "What cudaLaunchKernelEx returns"}, {"launch", "error"},
                 rows);
}

// A cluster of two blocks runs the kernel.
Mistake in_kernel(const char* name, const char* what,
                  void (*kernel)(const unsigned*, unsigned*), const char* kind) {
    const auto run = [kernel] {
        DeviceBuffer<unsigned> d_keys(std::vector<unsigned>(128, 2)), d_counts(1);
        d_counts.fill_bytes(0);
        (void)warpwise::launch_in_clusters(kernel,
                                           {.blocks = 2, .cluster = 2, .threads = 64},
                                           d_keys.data(), d_counts.data());
        (void)cudaDeviceSynchronize();
    };
    return {name, what, run, kind};
}

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        in_kernel("ends_too_early", "no cluster.sync() at the end", ends_too_early,
                  "use_after_free"),
        in_kernel("counts_before_the_start", "no cluster.sync() at the start",
                  counts_before_the_start, "illegal_access"),
        in_kernel("clears_too_late", "cluster.sync() before the clearing", clears_too_late,
                  "data_race"),
        in_kernel("barrier_of_the_block", "__syncthreads() instead", barrier_of_the_block,
                  "data_race"),
        in_kernel("barrier_in_a_branch", "half of the threads come", barrier_in_a_branch,
                  "divergent_barrier"),
        in_kernel("rank_past_the_last", "rank 2 of 2 blocks", rank_past_the_last,
                  "illegal_access"),
        in_kernel("past_the_other_array", "index 64 of 64", past_the_other_array,
                  "out_of_bounds"),
    };
    return all;
}

// ---- times on a GPU ---------------------------------------------------------------------

// GB/s of the keys, of each method on each problem; "-" in place of wrong ones.
std::vector<std::vector<double>> measured(
    warpwise::Lesson& lesson, const std::vector<Method>& all,
    const std::vector<std::pair<std::string, warpwise::Size>>& sizes, Input input) {
    std::vector<std::vector<double>> rates(all.size());
    for (const auto& [name, size] : sizes) {
        Keys problem(size, input);
        std::vector<warpwise::Candidate> candidates;
        for (const Method& method : all) {
            expect_right(lesson, name + " " + kInputNames[static_cast<std::size_t>(input)],
                         problem, method);
            candidates.push_back({[&method, &problem] { method.run(problem); }});
        }
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
            candidates, {.samples = 10, .seconds = 0.1, .longest = 1});
        for (std::size_t i = 0; i < all.size(); ++i)
            rates[i].push_back(sizeof(unsigned) * static_cast<double>(problem.count) /
                               timings[i].median * 1e-9);
    }
    return rates;
}

// The best of the methods without clusters, the best of those with clusters, and how they
// compare.
void add_best(const std::vector<Method>& all, const std::vector<std::vector<double>>& rates,
              std::vector<std::vector<std::string>>& rows) {
    if (largest_cluster() == 1) return;
    std::vector<std::string> alone = {"best without clusters"};
    std::vector<std::string> together = {"best with clusters"};
    std::vector<std::string> ratio = {"with over without"};
    for (std::size_t column = 0; column < rates.front().size(); ++column) {
        double best[2] = {0, 0};
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].is_vendor) continue;
            double& of = best[all[i].cluster > 1 ? 1 : 0];
            of = std::max(of, rates[i][column]);
        }
        alone.push_back(text_of("%.4g", best[0]));
        together.push_back(text_of("%.4g", best[1]));
        ratio.push_back(text_of("%.2f", best[1] / best[0]));
    }
    rows.insert(rows.end(), {alone, together, ratio});
}

void show_rates(warpwise::Lesson& lesson, const warpwise::TableTitle& title,
                const std::vector<std::pair<std::string, warpwise::Size>>& sizes) {
    const std::vector<Method> all = runnable(false);
    const auto rates = measured(lesson, all, sizes, Input::uniform);
    std::vector<std::string> header = {"step"};
    for (const auto& [name, size] : sizes) header.push_back(name);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
        rows.push_back({all[i].name});
        for (const double rate : rates[i]) rows.back().push_back(text_of("%.4g", rate));
    }
    add_best(all, rates, rows);
    lesson.table(title, header, rows);
}

constexpr std::size_t kLarge = std::size_t{1} << 28;

// kLarge, or as many as the free memory has room for.
std::size_t large_count() {
    return warpwise::halve_to_fit(kLarge, 4096, [](std::size_t count) {
        return Keys::device_bytes({count, std::size_t{1} << 18});
    });
}

void show_bins(warpwise::Lesson& lesson) {
    if (!lesson.measures()) return lesson.show_recorded("bins");
    const std::size_t count = large_count();
    std::vector<std::pair<std::string, warpwise::Size>> sizes;
    for (const std::size_t bins : {4096, 8192, 16384, 32768, 65536, 131072, 262144})
        sizes.emplace_back(std::to_string(bins), warpwise::Size{count, bins});
    show_rates(lesson,
               {"bins", "GB/s of " + std::to_string(count) + " uniform keys, by bins"},
               sizes);
}

void show_counts(warpwise::Lesson& lesson) {
    if (!lesson.measures()) return lesson.show_recorded("counts");
    std::vector<std::pair<std::string, warpwise::Size>> sizes;
    for (unsigned bits = 18; bits <= 26; bits += 2)
        sizes.emplace_back("2^" + std::to_string(bits),
                           warpwise::Size{std::size_t{1} << bits, 32768});
    show_rates(lesson, {"counts", "GB/s of uniform keys, 32768 bins, by number of keys"},
               sizes);
}

void show_inputs(warpwise::Lesson& lesson) {
    const std::vector<Method> all = runnable(false);
    if (!lesson.measures()) {
        for (const Input input : kInputs) {
            // Of one bin, in one block, counters of 16 bits pass 65535 twice: those of odd
            // bins, and those of even ones.
            for (const std::size_t bins : {5003, 5004}) {
                Keys problem(
                    warpwise::Size{input == Input::constant ? 150'001u : 20'011u, bins},
                    input);
                if (input == Input::constant) problem.most_blocks = 1;
                for (const Method& method : all)
                    expect_right(lesson, kInputNames[static_cast<std::size_t>(input)],
                                 problem, method);
            }
        }
        return lesson.show_recorded("inputs");
    }
    const std::size_t count = large_count();
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : all) rows.push_back({method.name});
    for (const Input input : kInputs) {
        const auto rates =
            measured(lesson, all, {{"65536 bins", warpwise::Size{count, 65536}}}, input);
        for (std::size_t i = 0; i < all.size(); ++i)
            rows[i].push_back(text_of("%.4g", rates[i][0]));
    }
    lesson.table({"inputs", "GB/s of " + std::to_string(count) + " keys, 65536 bins"},
                 {"step", kInputNames[0], kInputNames[1], kInputNames[2]}, rows);
}

}  // namespace

void clusters(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Count how often each of 65,536 values occurs. Counters in shared memory are fast,
but these take 256 KiB, and a block can have 227 KiB on an H200, or 48 KiB if it does not
ask. From compute capability 9.0 on, the blocks of a cluster can use each other's shared
memory. Is that better than to read the keys twice?)");
    lesson.predict(
        {.question = R"(Four blocks of a cluster share the counters of 4096 bins, a quarter
each. Each block counts keys that are evenly distributed. Of 16,384 increments, how many go
to the shared memory of another block?)",
         .answer =
             warpwise::Number{
                 .value = 12288,
                 .unit = "increments",
                 .shown_by = warpwise::TableCell{"remote", {"4"}, "in another block"}},
         .because = "Three quarters of the bins belong to the other three blocks."});
    lesson.predict(
        {.question = R"(A block can have 227 KiB of shared memory. How many blocks does a
cluster need at least for 262,144 counters of 4 bytes, if their number is a power of two?)",
         .answer = warpwise::Number{.value = 8,
                                    .unit = "blocks",
                                    .shown_by =
                                        warpwise::TableCell{
                                            "room", {"262144"}, "blocks for one pass"}},
         .because = R"(The counters take 1024 KiB. Four blocks have 908 KiB together, and
eight have 1816 KiB.)"});
    lesson.predict(
        {.question = R"(All keys are counted, and each block goes on to add its own counters
to global memory. Then it ends. Why must the barrier before that be one of the whole
cluster?)",
         .answer =
             warpwise::Choice{
                 .choices = {"because others may still count in its shared memory",
                             "because global atomics need it",
                             "because a cluster ends as a whole"},
                 .right = 0},
         .because = R"(Without it, a block could add up counters that are not final, and
its shared memory would be gone while others still use it.)"});
    lesson.predict(
        {.question = R"(Which of these steps is the fastest on a GPU, for 2^28 keys and
65,536 bins?)",
         .answer =
             warpwise::Fastest{{"count_slice_wide", "count_packed", "count_in_cluster_2",
                                "count_in_cluster_16", "send_to_owners_2"}},
         .because = R"(Counters of 16 bits need one pass, and no increment leaves the SM.
What a second pass and the way to another SM cost, only a measurement tells.)"});

    std::vector<warpwise::Step<Keys>> steps = {
        {"serial", "a loop on one core of the host", serial, warpwise::StepKind::host}};
    for (const Method& method : runnable(true))
        steps.push_back(
            {method.name, method.change, method.run,
             method.is_vendor ? warpwise::StepKind::vendor : warpwise::StepKind::device});
    tell_what_is_missing(lesson);
    lesson.steps<Keys>({.gpu = {kLarge, 65536},
                        .cpu = {std::size_t{1} << 16, 65536},
                        .awkward = {{0, 4096},
                                    {1, 1},
                                    {3, 2},
                                    {31, 7},
                                    {32, 33},
                                    {33, 4097},
                                    {1009, 5000},
                                    {4099, 12289},
                                    {16387, 15},
                                    {20011, 58113},
                                    {40001, 100003}}},
                       steps);
    show_remote_increments(lesson);
    show_room(lesson);
    lesson.conclusion(
        R"(A cluster multiplies the shared memory that its blocks can reach, so more bins
fit into one pass. The price is the way to another SM: of 16 blocks, 15 of 16 increments
take it. The last step sends keys in packets instead, side by side, and counts them where
the counters are. On an H200, smaller counters and a second pass cost less than both.)");

    lesson.question(
        R"(When is a cluster worth it? On a GPU, these tables compare all steps for more and
more bins, for fewer keys, and for keys that are not evenly distributed.)");
    show_bins(lesson);
    show_counts(lesson);
    show_inputs(lesson);
    lesson.conclusion(
        R"(Compare the best step without clusters with the best one that has them. Where all
counters fit into one block, there is nothing that a cluster could add but a shorter way to
add up the copies. On an H200 it pays only where the adding up takes a large part of the
time. Where the bins take several passes, the passes still cost less than increments or
keys that travel to another SM.)");

    lesson.question(
        R"(A block of a cluster depends on others: they must have started, and they must not
have ended. Which launches are refused, and which mistakes does nobody notice on a GPU?)");
    show_refusals(lesson);
    show_mistakes(lesson, "kernel", mistakes(), "ends_too_early");
    lesson.conclusion(
        warpwise::can_instrument()
            ? R"(A cluster has at most 8 blocks, or 16 where the program asks for them. The
grid has to consist of whole clusters. The search for errors follows the barriers of the
cluster: it reports what nothing orders, and accesses that may come before a block has
started or after it has ended.)"
            : R"(A cluster has at most 8 blocks, or 16 where the program asks for them. The
grid has to consist of whole clusters. The other mistakes are found by the search for errors
of the CPU device, which this program does not have.)");
}

}  // namespace modern_cuda
