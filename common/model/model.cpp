#include "common/model/model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

namespace warpwise::model {
namespace {

constexpr double sector = 32;  // bytes

// What follows was fitted to the training part of common/tests/model, measured on one H200.

/// How sharply the time follows its largest part: two equal parts take 2^(1/sharpness) as long as one.
constexpr double sharpness = 4.15;
/// Of L2: other data, its two halves, and the order of replacement leave less to a kernel.
constexpr double usable_l2 = 0.444;
/// Of the sectors that are read again and for which L2 has no room: so many come from DRAM.
constexpr double reread_far = 0.99;
/// Of the integer instructions of the host's code: nvcc needs no more.
constexpr double kept_integers = 0.606;
/// A sector that is written in part costs L2 so many times as much.
constexpr double partly_written = 3.15;
/// Cycles of a pass over constant memory beyond the first of a request.
constexpr double constant_cycles = 2.13;

double at(const std::array<double, kPipes>& values, Pipe pipe) { return values[static_cast<std::size_t>(pipe)]; }

double round_up(double value, double unit) { return std::ceil(value / unit) * unit; }

/// A part of the parts.
double& part(Estimate& estimate, Limiter limiter) { return estimate.parts[static_cast<std::size_t>(limiter)]; }

struct Memory {
    double dram_bytes = 0;
    double l2_sectors = 0;
    double host_bytes = 0;
    double dram_share = 0;  ///< of what loads ask of L2: comes from DRAM
};

Memory memory_of(const LaunchFacts& facts, const Gpu& gpu, bool cold) {
    Memory memory;
    double footprint = 0;
    for (const Footprint& array : facts.arrays) {
        if (!array.in_host_memory) footprint += array.unique_sectors * sector;
    }
    const double l2 = gpu.l2_bytes * usable_l2;
    // Who runs through more than L2 holds, finds nothing of the time before.
    const double kept = footprint <= 0 ? 1 : std::clamp(2.0 * (1.5 - footprint / l2), 0.0, 1.0);
    const double far = footprint <= l2 ? 0 : (1 - l2 / footprint) * reread_far;
    double loads = 0;
    double missed = 0;
    for (const Footprint& array : facts.arrays) {
        const double sectors = array.load_sectors + array.store_sectors;
        if (array.in_host_memory) {
            memory.host_bytes += sectors * sector;
            continue;
        }
        memory.l2_sectors += sectors;
        loads += array.load_sectors;
        // DRAM delivers 64 bytes at a time.
        const double waste = array.unique_sectors <= 0 ? 1 : 2 * array.unique_pairs / array.unique_sectors;
        const double read_once = std::min(array.load_sectors, array.unique_sectors);
        const double read_again = array.load_sectors - read_once;
        const double first_missed = read_once * (cold ? 1 : 1 - kept);
        const double reads = first_missed + read_again * far;
        missed += reads;
        const double written = std::min(array.written_sectors, array.store_sectors);
        const double left_behind = footprint <= 0 ? 1 : std::min(1.0, l2 / footprint);
        const double writes = written * (cold ? 1 - left_behind : 1 - kept);
        memory.dram_bytes += (reads + writes) * sector * waste;
    }
    memory.dram_share = loads <= 0 ? 0 : std::min(missed / loads, 1.0);
    return memory;
}

double chain_cycles(const LaunchFacts& facts, const Gpu& gpu, double dram_share) {
    double cycles = 0;
    for (std::size_t i = 0; i < kLatencies; ++i) {
        double latency = gpu.latency[i];
        if (i == static_cast<std::size_t>(Latency::global)) {
            latency += (gpu.dram_latency - latency) * dram_share;
        }
        cycles += facts.chain[i] * latency;
    }
    return cycles;
}

std::string time_text(double seconds) {
    constexpr std::array<std::pair<double, const char*>, 4> units = {
        {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
    for (const auto& [unit, name] : units) {
        if (seconds < unit && unit > 1e-9) continue;
        const double value = seconds / unit;
        char text[32];
        std::snprintf(text, sizeof text, "%.*f %s", value < 9.95 ? 1 : 0, value, name);
        return text;
    }
    return "0 s";
}

}  // namespace

const char* identifier_of(Limiter limiter) {
    constexpr std::array<const char*, kLimiters> names = {"dram",    "l2",      "l1",      "shared", "fp32",
                                                          "fp64",    "special", "integer", "issue",  "latency",
                                                          "atomics", "launch",  "tail",    "pcie",   "tensor"};
    return names[static_cast<std::size_t>(limiter)];
}

const char* name_of(Limiter limiter) {
    constexpr std::array<const char*, kLimiters> names = {"DRAM bandwidth",
                                                          "L2 bandwidth",
                                                          "L1 throughput",
                                                          "shared memory",
                                                          "FP32 throughput",
                                                          "FP64 throughput",
                                                          "special functions",
                                                          "integer throughput",
                                                          "issue slots",
                                                          "latency",
                                                          "atomics on one address",
                                                          "launch overhead",
                                                          "tail",
                                                          "PCIe",
                                                          "tensor cores"};
    return names[static_cast<std::size_t>(limiter)];
}

const char* short_name_of(Limiter limiter) {
    constexpr std::array<const char*, kLimiters> names = {"DRAM",    "L2",      "L1",      "shared", "FP32",
                                                          "FP64",    "special", "integer", "issue",  "latency",
                                                          "atomics", "launch",  "tail",    "PCIe",   "tensor"};
    return names[static_cast<std::size_t>(limiter)];
}

double resident_blocks(const LaunchFacts& facts, const Gpu& gpu) {
    const double warps = facts.warps_per_block();
    const double by_threads = std::floor(gpu.max_threads_per_sm / 32 / std::max(warps, 1.0));
    double by_registers = gpu.max_blocks_per_sm;
    if (facts.registers > 0) {
        const double of_a_warp = round_up(facts.registers * 32.0, 256);
        const double warps_of_a_scheduler = std::floor(gpu.registers_per_sm / 4 / of_a_warp);
        by_registers = std::floor(warps_of_a_scheduler * 4 / std::max(warps, 1.0));
    }
    const double by_shared = std::floor(gpu.shared_bytes_per_sm / round_up(facts.shared_bytes + 1024, 128));
    return std::max(1.0, std::min({gpu.max_blocks_per_sm, by_threads, by_registers, by_shared}));
}

Estimate estimate(const LaunchFacts& facts, const Gpu& gpu, const EstimateOptions& options) {
    Estimate result;
    if (!facts.known || facts.blocks <= 0) return result;
    const double clock = gpu.clock_hz;
    const double sms = gpu.multiprocessors;
    const double per_sm = resident_blocks(facts, gpu);
    const double used_sms = std::min(sms, facts.blocks);
    result.waves = facts.blocks / (sms * per_sm);
    const double whole_waves = std::ceil(result.waves);
    result.busy_in_last_wave = result.waves - (whole_waves - 1);
    const double resident_warps = std::min(per_sm, std::ceil(facts.blocks / sms)) * facts.warps_per_block();
    result.occupancy = per_sm * facts.warps_per_block() * 32 / gpu.max_threads_per_sm;

    // What one SM does, if all of them have the same to do.
    const auto on_sms = [&](double cycles_of_all) { return cycles_of_all / sms / clock; };
    const auto pipe = [&](Pipe which) {
        const double rate = at(gpu.per_cycle, which);
        return rate <= 0 ? 0 : on_sms(at(facts.instructions, which) / rate);
    };
    part(result, Limiter::fp32) = pipe(Pipe::fp32);
    part(result, Limiter::fp64) = pipe(Pipe::fp64);
    part(result, Limiter::special) = pipe(Pipe::special) + pipe(Pipe::conversion);
    part(result, Limiter::integer) = pipe(Pipe::integer) * kept_integers;
    const double dropped = at(facts.instructions, Pipe::integer) * (1 - kept_integers);
    part(result, Limiter::issue) = on_sms((facts.all_instructions() - dropped) / gpu.issue_per_cycle);
    const double store_lines = facts.store_sectors / gpu.l1_sectors_per_cycle;
    part(result, Limiter::l1) =
        on_sms(facts.constant_wavefronts * constant_cycles +
               std::max({(facts.l1_lines + facts.local_requests) / gpu.l1_lines_per_cycle,
                         (facts.l1_sectors + 4 * facts.local_requests) / gpu.l1_sectors_per_cycle + store_lines,
                         at(facts.instructions, Pipe::memory) / at(gpu.per_cycle, Pipe::memory)}));
    part(result, Limiter::shared) = on_sms(
        facts.shared_wavefronts / gpu.wavefronts_per_cycle + facts.shared_atomic_waits * gpu.shared_atomic_cycles +
        at(facts.instructions, Pipe::shuffle) / std::max(at(gpu.per_cycle, Pipe::shuffle), 1e-9));

    Memory memory = memory_of(facts, gpu, options.cold_caches);
    if (facts.l1_lines > 0) {
        // Few sectors per line: scattered stores, each of which fills a part of its sector.
        const double sectors_per_line = (facts.l1_sectors + facts.store_sectors) / facts.l1_lines;
        const double scattered = std::clamp((4 - sectors_per_line) / 3, 0.0, 1.0);
        memory.l2_sectors += (partly_written - 1) * scattered * facts.store_sectors;
    }
    result.dram_bytes = memory.dram_bytes;
    part(result, Limiter::dram) = memory.dram_bytes / gpu.dram_bytes_per_second;
    part(result, Limiter::l2) = std::max(
        memory.l2_sectors * sector / gpu.l2_bytes_per_second + facts.global_atomic_sectors / gpu.atomics_per_second,
        memory.l2_sectors / used_sms / gpu.l2_sectors_per_cycle_of_sm / clock);
    part(result, Limiter::pcie) = memory.host_bytes / gpu.pcie_bytes_per_second;
    part(result, Limiter::atomics) = facts.hottest_address / gpu.same_address_atomics_per_second;

    // The SM with the most blocks ends last.
    const double blocks_of_an_sm = facts.blocks / sms;
    const double uneven = std::ceil(blocks_of_an_sm) / blocks_of_an_sm;

    // Little's law: what a warp waits for, one thing after the other, once for each wave.
    const double chain = chain_cycles(facts, gpu, memory.dram_share) / clock;
    const double waves = result.waves <= 1  ? facts.longest_over_average
                         : result.waves < 3 ? 0.5 * (whole_waves + result.waves)
                                            : result.waves + 0.3;
    part(result, Limiter::latency) = chain * waves;
    const double lanes_bytes = facts.load_requests <= 0 ? 0 : facts.load_bytes / facts.load_requests;
    result.bytes_in_flight = resident_warps * facts.loads_in_flight() * lanes_bytes;

    part(result, Limiter::launch) = gpu.launch_seconds + blocks_of_an_sm * gpu.block_seconds;

    constexpr std::array within_an_sm = {Limiter::l1,      Limiter::shared,  Limiter::fp32, Limiter::fp64,
                                         Limiter::special, Limiter::integer, Limiter::issue};
    double sm_time = 0;
    for (const Limiter limiter : within_an_sm) sm_time = std::max(sm_time, part(result, limiter));
    for (const Limiter limiter : within_an_sm) part(result, limiter) *= uneven;
    part(result, Limiter::tail) = blocks_of_an_sm > 1 ? sm_time * (uneven - 1) : 0;

    double sum = 0;
    for (std::size_t i = 0; i < kLimiters; ++i) {
        const auto limiter = static_cast<Limiter>(i);
        if (limiter == Limiter::launch || limiter == Limiter::tail) continue;
        sum += std::pow(result.parts[i], sharpness);
    }
    sum = std::pow(sum + std::pow(blocks_of_an_sm * gpu.block_seconds, sharpness), 1 / sharpness);
    result.seconds = gpu.launch_seconds + sum;

    // Launches that do next to nothing aside, a limiter is looked for in what the kernel does. The L2 cache has to take
    // in what comes from DRAM as well. Both weights were chosen with the training part.
    constexpr double weight_of_launch = 0.25;
    constexpr double weight_of_l2 = 1.4;
    std::array<double, kLimiters> weighted = result.parts;
    weighted[static_cast<std::size_t>(Limiter::launch)] *= weight_of_launch;
    weighted[static_cast<std::size_t>(Limiter::l2)] *= weight_of_l2;
    std::array<std::size_t, kLimiters> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return weighted[a] > weighted[b]; });
    result.limiter = static_cast<Limiter>(order[0]);
    result.runner_up = static_cast<Limiter>(order[1]);
    result.share = result.parts[order[0]] / result.seconds;
    result.runner_up_share = result.parts[order[1]] / result.seconds;
    return result;
}

Estimate sum_of(const std::vector<Estimate>& launches) {
    Estimate sum;
    std::array<double, kLimiters> limited{};
    for (const Estimate& launch : launches) {
        sum.seconds += launch.seconds;
        sum.dram_bytes += launch.dram_bytes;
        for (std::size_t i = 0; i < kLimiters; ++i) sum.parts[i] += launch.parts[i];
        limited[static_cast<std::size_t>(launch.limiter)] += launch.seconds;
    }
    if (sum.seconds <= 0) return sum;
    const auto most = static_cast<std::size_t>(std::max_element(limited.begin(), limited.end()) - limited.begin());
    sum.limiter = static_cast<Limiter>(most);
    std::size_t next = most == 0 ? 1 : 0;
    for (std::size_t i = 0; i < kLimiters; ++i) {
        if (i != most && sum.parts[i] > sum.parts[next]) next = i;
    }
    sum.runner_up = static_cast<Limiter>(next);
    sum.share = sum.parts[most] / sum.seconds;
    sum.runner_up_share = sum.parts[next] / sum.seconds;
    const auto longest = std::max_element(launches.begin(), launches.end(),
                                          [](const Estimate& a, const Estimate& b) { return a.seconds < b.seconds; });
    sum.occupancy = longest->occupancy;
    sum.bytes_in_flight = longest->bytes_in_flight;
    sum.waves = longest->waves;
    sum.busy_in_last_wave = longest->busy_in_last_wave;
    return sum;
}

std::string Estimate::text(const Gpu& gpu) const {
    char text[200];
    std::snprintf(text, sizeof text, "~ %s on %s, limited by %s (%.0f %%); next: %s (%.0f %%)",
                  time_text(seconds).c_str(), gpu.name.c_str(), name_of(limiter), share * 100, name_of(runner_up),
                  runner_up_share * 100);
    return text;
}

}  // namespace warpwise::model
