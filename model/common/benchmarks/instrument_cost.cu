// What instrumenting costs: nanoseconds that counting and looking for errors add to each operation (load, store,
// atomic, barrier), against the same kernels built as plain code, all in this process and on one core.
//
//     build/bin/cpu/benchmarks/instrument_cost
//
// Times are the least of several rounds, in which all are taken in turn. Exit status 0 whatever the figures are: a busy
// machine is no mistake.
#include "common/benchmarks/instrument_cost.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"

InstrumentCostMemory instrument_cost_memory;

namespace {

constexpr double kCountingGoal = 15;  // nanoseconds an operation
constexpr double kAllGoal = 60;

struct Way {
    void (*work)();
    cpu_device::InstrumentOptions instrument;
};

/// The least seconds of each way, all of them in turn: on a machine with other work its busy moments are everybody's.
std::vector<double> fastest(const std::vector<Way>& ways) {
    constexpr int rounds = 9;
    std::vector<double> best(ways.size(), 1e30);
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < ways.size(); ++i) {
            cpu_device::instrument(ways[i].instrument);
            const auto start = std::chrono::steady_clock::now();
            ways[i].work();
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
            best[i] = std::min(best[i], seconds.count());
            cpu_device::take_counters(false);
        }
    }
    cpu_device::instrument({});
    return best;
}

/// False without room for it.
bool allocate() {
    constexpr std::size_t bytes = kInstrumentCostElements * sizeof(float);
    constexpr std::size_t bin_bytes = 1024 * sizeof(unsigned);
    InstrumentCostMemory& memory = instrument_cost_memory;
    if (cudaMalloc(&memory.in, bytes) != cudaSuccess || cudaMalloc(&memory.out, bytes) != cudaSuccess ||
        cudaMalloc(&memory.bins, bin_bytes) != cudaSuccess) {
        return false;
    }
    std::vector<float> values(kInstrumentCostElements);
    for (int i = 0; i < kInstrumentCostElements; ++i)
        values[static_cast<std::size_t>(i)] = static_cast<float>(i % 1024);
    // In two parts: of memory that is set by one call, nothing has to be looked up any more.
    cudaMemcpy(memory.in, values.data(), bytes / 2, cudaMemcpyHostToDevice);
    cudaMemcpy(memory.in + kInstrumentCostElements / 2, values.data() + kInstrumentCostElements / 2, bytes / 2,
               cudaMemcpyHostToDevice);
    cudaMemset(memory.bins, 0, bin_bytes / 2);
    cudaMemset(memory.bins + 512, 0, bin_bytes / 2);
    return true;
}

void release() {
    cudaFree(instrument_cost_memory.in);
    cudaFree(instrument_cost_memory.out);
    cudaFree(instrument_cost_memory.bins);
}

}  // namespace

int main() {
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // a minute or two: each line when it is known
    cpu_device::set_cores(1);
    if (!allocate()) {
        std::printf("no memory\n");
        return 1;
    }
    std::printf("%-30s %10s %10s %12s %12s %14s\n", "", "plain", "not asked", "counting", "errors", "both");
    std::printf("%-30s %10s %10s %12s %12s %14s\n", "", "ns/op", "times", "+ns/op", "+ns/op", "+ns/op");
    std::vector<double> plain_times;
    double most_counting = 0;
    double most_all = 0;
    for (int k = 0; k < kInstrumentCostKernels; ++k) {
        const double unit = 1e-9 * plain::kernels[k].operations;
        const std::vector<double> seconds =
            fastest({{plain::kernels[k].run, {}},
                     {instrumented::kernels[k].run, {}},
                     {instrumented::kernels[k].run, {.counters = true, .diagnostics = false, .blocks = 0}},
                     {instrumented::kernels[k].run, {.counters = false, .diagnostics = true, .blocks = 0}},
                     {instrumented::kernels[k].run, {.counters = true, .diagnostics = true, .blocks = 0}}});
        plain_times.push_back(seconds[0] / unit);
        const double plain_time = seconds[0] / unit;
        const double counting = seconds[2] / unit - plain_time;
        const double diagnostics = seconds[3] / unit - plain_time;
        const double all = seconds[4] / unit - plain_time;
        most_counting = std::max(most_counting, counting);
        most_all = std::max(most_all, all);
        std::printf("%-30s %10.2f %10.2f %12.1f %12.1f %14.1f\n", plain::kernels[k].name, plain_time,
                    seconds[1] / seconds[0], counting, diagnostics, all);
    }
    std::printf("counting, at most: %.1f ns an operation, goal %.0f: %s\n", most_counting, kCountingGoal,
                most_counting <= kCountingGoal ? "met" : "MISSED");
    std::printf("counting and diagnostics, at most: %.1f ns an operation, goal %.0f: %s\n", most_all, kAllGoal,
                most_all <= kAllGoal ? "met" : "MISSED");

    // What a large launch costs when a sample of its blocks is instrumented for everything, and the others for all but
    // races.
    const std::vector<double> seconds =
        fastest({{plain::kernels[0].run, {}},
                 {instrumented::kernels[0].run,
                  {.counters = true, .diagnostics = true, .blocks = cpu_device::kSampledBlocks}}});
    std::printf("%d blocks, %d of them instrumented for all: %.1f times the plain run\n", kInstrumentCostElements / 256,
                static_cast<int>(cpu_device::kSampledBlocks), seconds[1] / seconds[0]);

    // Blocks outside of the sample: all but two, in memory of which it is remembered what was written.
    release();
    const cpu_device::InstrumentOptions two_blocks = {.counters = false, .diagnostics = true, .blocks = 2};
    cpu_device::instrument(two_blocks);
    if (!allocate()) return 1;
    std::printf("\n%-30s %14s\n%-30s %14s\n", "", "all but races", "", "+ns/op");
    for (int k = 0; k < kInstrumentCostKernels; ++k) {
        const double time =
            fastest({{instrumented::kernels[k].run, two_blocks}})[0] * 1e9 / plain::kernels[k].operations;
        std::printf("%-30s %14.1f\n", plain::kernels[k].name, time - plain_times[static_cast<std::size_t>(k)]);
    }
    release();
    const std::size_t found = cpu_device::take_diagnostics().size();
    if (found != 0) std::printf("%zu errors found in kernels that have none\n", found);
    return found == 0 ? 0 : 1;
}
