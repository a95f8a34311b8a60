// What watching costs: nanoseconds that counting and looking for mistakes add to each operation (load, store, atomic,
// barrier), against the same kernels built as plain code, all in this process and on one core.
//
//     build/bin/cpu/benchmarks/watch_cost
//
// Times are the least of several rounds. Exit status 0 whatever the figures are: a busy machine is no mistake.
#include "common/benchmarks/watch_cost.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "cpu_device/findings.h"
#include "cpu_device/watch.h"

WatchCostMemory watch_cost_memory;

namespace {

constexpr double kCountingGoal = 15;  // nanoseconds an operation
constexpr double kAllGoal = 60;

double fastest(int rounds, void (*work)()) {
    double best = 1e30;
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        cpu_device::take_counters(false);
    }
    return best;
}

}  // namespace

int main() {
    cpu_device::set_cores(1);
    constexpr std::size_t bytes = kWatchCostElements * sizeof(float);
    if (cudaMalloc(&watch_cost_memory.in, bytes) != cudaSuccess ||
        cudaMalloc(&watch_cost_memory.out, bytes) != cudaSuccess ||
        cudaMalloc(&watch_cost_memory.bins, 1024 * sizeof(unsigned)) != cudaSuccess) {
        std::printf("no memory\n");
        return 1;
    }
    std::vector<float> values(kWatchCostElements);
    for (int i = 0; i < kWatchCostElements; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i % 1024);
    cudaMemcpy(watch_cost_memory.in, values.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemset(watch_cost_memory.out, 0, bytes);
    cudaMemset(watch_cost_memory.bins, 0, 1024 * sizeof(unsigned));

    std::printf("%-30s %10s %10s %12s %12s %14s\n", "", "plain", "not asked", "counting", "mistakes", "both");
    std::printf("%-30s %10s %10s %12s %12s %14s\n", "", "ns/op", "times", "+ns/op", "+ns/op", "+ns/op");
    double most_counting = 0;
    double most_all = 0;
    for (int k = 0; k < kWatchCostKernels; ++k) {
        const double unit = 1e-9 * plain::kernels[k].operations;
        cpu_device::watch({});
        const double plain_time = fastest(9, plain::kernels[k].run) / unit;
        const double unasked = fastest(9, watched::kernels[k].run) / unit;
        cpu_device::watch({.counters = true, .mistakes = false, .blocks = 0});
        const double counting = fastest(5, watched::kernels[k].run) / unit - plain_time;
        cpu_device::watch({.counters = false, .mistakes = true, .blocks = 0});
        const double mistakes = fastest(5, watched::kernels[k].run) / unit - plain_time;
        cpu_device::watch({.counters = true, .mistakes = true, .blocks = 0});
        const double all = fastest(5, watched::kernels[k].run) / unit - plain_time;
        cpu_device::watch({});
        most_counting = std::max(most_counting, counting);
        most_all = std::max(most_all, all);
        std::printf("%-30s %10.2f %10.2f %12.1f %12.1f %14.1f\n", plain::kernels[k].name, plain_time,
                    unasked / plain_time, counting, mistakes, all);
    }
    std::printf("counting, at most: %.1f ns an operation, goal %.0f: %s\n", most_counting, kCountingGoal,
                most_counting <= kCountingGoal ? "met" : "MISSED");
    std::printf("counting and mistakes, at most: %.1f ns an operation, goal %.0f: %s\n", most_all, kAllGoal,
                most_all <= kAllGoal ? "met" : "MISSED");

    // What a large launch costs when a sample of its blocks is watched.
    cpu_device::watch({});
    const double plain_time = fastest(5, plain::kernels[0].run);
    cpu_device::watch({.counters = true, .mistakes = true, .blocks = cpu_device::kSampledBlocks});
    const double sampled = fastest(5, watched::kernels[0].run);
    std::printf("%d blocks, %d of them watched for all: %.1f times the plain run\n", kWatchCostElements / 256,
                static_cast<int>(cpu_device::kSampledBlocks), sampled / plain_time);
    cudaFree(watch_cost_memory.in);
    cudaFree(watch_cost_memory.out);
    cudaFree(watch_cost_memory.bins);
    const std::size_t found = cpu_device::take_findings().size();
    if (found != 0) std::printf("%zu mistakes found in kernels that have none\n", found);
    return found == 0 ? 0 : 1;
}
