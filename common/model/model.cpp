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
constexpr double sharpness = 4.29;
/// Of L2: other data, its two halves, and the order of replacement leave less to a kernel.
constexpr double usable_l2 = 0.671;
/// An array of which L1 has to hold no more than this share of its bytes stays there: all blocks of an SM find it.
constexpr double usable_l1 = 0.5;
/// nvcc gives more than half of the integer arithmetic to the FP32 pipe, which multiplies and adds integers as well.
/// Only for kernels whose machine code is not known.
constexpr double integers_on_fp32 = 0.621;
/// Cycles of a pass over constant memory beyond the first of a request.
constexpr double constant_cycles = 2.59;
/// DRAM delivers pairs of sectors. Where only one of the two is wanted, the pairs are scattered, and cost so much more.
constexpr double scattered_pairs = 0.413;

// What keeps L2 busy, in units of a sector of a whole line that it holds.
constexpr double l2_request = 0.852;  ///< each line of a load, and for each of its sectors:
constexpr double l2_sector = 0.74;
constexpr double l2_missing_sector = 1.625;  ///< besides: comes from DRAM
constexpr double l2_store_request = 2.876;   ///< the same of stores
constexpr double l2_stored_sector = 2.01;
constexpr double l2_atomic_sector = 6.01;
/// Local memory is L1's. How much of it comes to L2 depends on the order of accesses, which is not known.
constexpr double l2_local_sector = 2.64;

/// An instruction of a warp mostly needs the result of the one before (`issue` in latency_cycles). Floating-point
/// instructions, whose chain is known, take so many cycles besides.
constexpr double cycles_of_a_float_instruction = 0.361;
/// From an approximation, a conversion, or a constant until its result is there, in nvcc's code.
constexpr double special_result = 11.5;
/// A request of 32 lines waits for the last of them: so many cycles longer than a request of one line.
constexpr double scattered_l2 = 75.4;
constexpr double scattered_dram = 321;
/// Atomics to different lines are carried out at the same time: to n lines so many times as fast as to one, up to the
/// most that L2 can do.
constexpr double atomics_of_few_lines = 1.38;
constexpr double atomics_by_lines = 0.434;  ///< the power of n
constexpr double most_atomics = 70;
/// Cycles from the end of a block until its successor on the SM has begun.
constexpr double next_block_cycles = 448;
/// Where few blocks share an SM, they do little else while they wait: of the time that resources need for the work of
/// one block, so much comes on top of its waits. More where barriers keep its warps together.
constexpr double serial = 0.475;
constexpr double serial_with_barriers = 0.792;

double at(const std::array<double, kPipes>& values, Pipe pipe) { return values[static_cast<std::size_t>(pipe)]; }

double round_up(double value, double unit) { return std::ceil(value / unit) * unit; }

/// A part of the parts.
double& part(Estimate& estimate, Limiter limiter) { return estimate.parts[static_cast<std::size_t>(limiter)]; }

/// Sums over the arrays of a launch.
struct Memory {
    double dram_bytes = 0;
    double dram_cost = 0;  ///< the same, scattered pairs counted for more
    double host_bytes = 0;
    double load_sectors = 0;  ///< that loads ask of L2
    double store_sectors = 0;
    double missing_sectors = 0;  ///< of the loads: L2 fetches them from DRAM, in pairs
    double dram_share = 0;       ///< of what loads ask of L2: comes from DRAM
    double l2_share = 1;         ///< of the loads that a block alone would not find in L1: L1 does not hold them
};

/// How much faster atomics are than all of them to one address.
double atomics_at_once(const LaunchFacts& facts) {
    constexpr double sectors_of_a_line = 4;
    double lines = 1;
    for (const Footprint& array : facts.arrays) {
        if (!array.in_host_memory) lines = std::max(lines, array.written_sectors / sectors_of_a_line);
    }
    return std::clamp(atomics_of_few_lines * std::pow(lines, atomics_by_lines), 1.0, most_atomics);
}

Memory memory_of(const LaunchFacts& facts, const Gpu& gpu, double l1_bytes, double used_sms, bool cold) {
    Memory memory;
    double footprint = 0;
    for (const Footprint& array : facts.arrays) {
        if (!array.in_host_memory) footprint += array.unique_sectors * sector;
    }
    const double l2 = gpu.l2_bytes * usable_l2;
    // Who runs through more than L2 holds, finds nothing of the time before.
    const double kept = footprint <= 0 ? 1 : std::clamp(2.0 * (1.5 - footprint / l2), 0.0, 1.0);
    const double far = footprint <= l2 ? 0 : 1 - l2 / footprint;
    double all_loads = 0;
    double missed = 0;
    for (const Footprint& array : facts.arrays) {
        double loads = array.load_sectors;
        if (array.in_host_memory) {
            memory.host_bytes += (loads + array.store_sectors) * sector;
            continue;
        }
        all_loads += loads;
        // What L1 holds, each SM fetches once.
        if (array.unique_sectors * sector <= usable_l1 * l1_bytes) {
            loads = std::min(loads, std::max(array.unique_sectors, 1.0) * used_sms);
        }
        memory.load_sectors += loads;
        memory.store_sectors += array.store_sectors;
        // DRAM delivers 64 bytes at a time.
        const double waste = array.unique_sectors <= 0 ? 1 : 2 * array.unique_pairs / array.unique_sectors;
        const double read_once = std::min(loads, array.unique_sectors);
        const double read_again = loads - read_once;
        const double reads = read_once * (cold ? 1 : 1 - kept) + read_again * far;
        missed += reads;
        memory.missing_sectors += reads * waste;
        const double written = std::min(array.written_sectors, array.store_sectors);
        const double left_behind = footprint <= 0 ? 1 : std::min(1.0, l2 / footprint);
        const double writes = written * (cold ? 1 - left_behind : 1 - kept);
        const double bytes = (reads + writes) * sector * waste;
        memory.dram_bytes += bytes;
        memory.dram_cost += bytes * (1 + scattered_pairs * (waste - 1));
    }
    if (memory.load_sectors > 0) memory.dram_share = std::min(missed / memory.load_sectors, 1.0);
    if (all_loads > 0) memory.l2_share = memory.load_sectors / all_loads;
    return memory;
}

/// Cycles that a warp waits from its start to its end if it is alone.
double chain_cycles(const LaunchFacts& facts, const Gpu& gpu, const Memory& memory) {
    const auto chain = [&](Latency kind) { return facts.chain[static_cast<std::size_t>(kind)]; };
    const auto latency = [&](Latency kind) { return gpu.latency[static_cast<std::size_t>(kind)]; };
    const auto cycles = [&](Latency kind) { return chain(kind) * latency(kind); };
    const double lines = facts.global_requests <= 0 ? 1 : facts.l1_lines / facts.global_requests;
    const double spread = std::clamp((lines - 1) / 31, 0.0, 1.0);
    const double l2 = latency(Latency::global) + spread * scattered_l2 + std::max(lines - 1, 0.0);
    const double dram = gpu.dram_latency - latency(Latency::global) + spread * scattered_dram;
    const double global = chain(Latency::global) * memory.l2_share;
    const double waits = global * (l2 + dram * memory.dram_share) +
                         (chain(Latency::global) - global) * latency(Latency::shared) + cycles(Latency::shared) +
                         cycles(Latency::global_atomic) + cycles(Latency::shared_atomic) + cycles(Latency::shuffle) +
                         cycles(Latency::barrier);
    if (facts.code_is_known) return waits + chain(Latency::special) * special_result + chain(Latency::issue);
    const double results = cycles(Latency::arithmetic) + cycles(Latency::fp64) + cycles(Latency::special);
    const double floats = at(facts.instructions, Pipe::fp32) + at(facts.instructions, Pipe::fp64);
    const double others = facts.all_instructions() + facts.local_requests - floats;
    const double in_order = (others * latency(Latency::issue) + floats * cycles_of_a_float_instruction) / facts.warps();
    return waits + std::max(results, in_order);
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

namespace {

/// The limiter, as Nsight Compute's figures would tell it (common/tests/model/to_json.py): the unit that is busy for
/// most of the time, if that is more than about 60 % of its peak; and else what the warps wait for. `busy`: seconds at
/// the peak of each unit.
Limiter limiter_of(double hottest_address_seconds, const std::array<double, kLimiters>& busy, double kernel_seconds,
                   double launch_seconds, bool mostly_atomics, double warps_of_an_sm) {
    constexpr double is_busy = 0.6;
    constexpr double next_to_nothing = 0.3;
    const auto most = static_cast<std::size_t>(std::max_element(busy.begin(), busy.end()) - busy.begin());
    const auto unit = static_cast<Limiter>(most);
    const double working = kernel_seconds - launch_seconds;
    if (busy[most] < next_to_nothing * kernel_seconds && working < launch_seconds) return Limiter::launch;
    if (busy[most] >= is_busy * kernel_seconds) {
        return unit == Limiter::l2 && mostly_atomics ? Limiter::atomics : unit;
    }
    // Nsight Compute would name the warps' waits where one address makes all of them wait.
    constexpr double takes_all = 0.8;
    if (mostly_atomics || hottest_address_seconds > takes_all * working) return Limiter::atomics;
    // With many warps, an instruction may be ready without being the one that is chosen.
    constexpr double issues_often = 0.5;
    constexpr double many_warps = 48;
    if (unit == Limiter::issue && busy[most] >= issues_often * working && warps_of_an_sm >= many_warps) return unit;
    return Limiter::latency;
}

}  // namespace

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
    const double blocks_of_an_sm = facts.blocks / sms;
    const double blocks_together = std::min(per_sm, std::ceil(blocks_of_an_sm));
    const double resident_warps = blocks_together * facts.warps_per_block();
    result.occupancy = per_sm * facts.warps_per_block() * 32 / gpu.max_threads_per_sm;

    // What each unit needs at its peak. Within an SM: as if all of them had the same to do.
    std::array<double, kLimiters> busy{};
    const auto unit = [&](Limiter limiter) -> double& { return busy[static_cast<std::size_t>(limiter)]; };
    const auto on_sms = [&](double cycles_of_all) { return cycles_of_all / sms / clock; };
    const auto pipe = [&](Pipe which) {
        const double rate = at(gpu.per_cycle, which);
        return rate <= 0 ? 0 : on_sms(at(facts.instructions, which) / rate);
    };
    const bool known = facts.code_is_known;
    const double on_other_pipe = known ? 0 : integers_on_fp32;
    unit(Limiter::fp32) = std::max(pipe(Pipe::fp32) + on_sms(on_other_pipe * at(facts.instructions, Pipe::integer) /
                                                             at(gpu.per_cycle, Pipe::fp32)),
                                   on_sms(facts.integer_products / at(gpu.per_cycle, Pipe::integer)));
    unit(Limiter::fp64) = pipe(Pipe::fp64);
    unit(Limiter::special) = pipe(Pipe::special) + pipe(Pipe::conversion);
    unit(Limiter::integer) = pipe(Pipe::integer) * (1 - on_other_pipe);
    const double uncounted = known ? 0 : facts.local_requests;
    unit(Limiter::issue) = on_sms((facts.all_instructions() + uncounted) / gpu.issue_per_cycle);
    unit(Limiter::l1) =
        on_sms(facts.constant_wavefronts * constant_cycles +
               std::max({(facts.l1_lines + facts.local_requests) / gpu.l1_lines_per_cycle,
                         (facts.l1_sectors + facts.local_sectors + facts.store_sectors) / gpu.l1_sectors_per_cycle,
                         (at(facts.instructions, Pipe::memory) + uncounted) / at(gpu.per_cycle, Pipe::memory)}));
    unit(Limiter::shared) = on_sms(
        facts.shared_wavefronts / gpu.wavefronts_per_cycle + facts.shared_atomic_waits * gpu.shared_atomic_cycles +
        at(facts.instructions, Pipe::shuffle) / std::max(at(gpu.per_cycle, Pipe::shuffle), 1e-9));

    const double l1_bytes = std::max(gpu.shared_bytes_per_sm - per_sm * facts.shared_bytes, 0.0);
    const Memory memory = memory_of(facts, gpu, l1_bytes, used_sms, options.cold_caches);
    result.dram_bytes = memory.dram_bytes;
    unit(Limiter::dram) = memory.dram_bytes / gpu.dram_peak_bytes_per_second;
    const double requested = facts.l1_sectors + facts.store_sectors + facts.global_atomic_sectors;
    const double sectors_per_line = facts.l1_lines <= 0 ? 4 : std::clamp(requested / facts.l1_lines, 1.0, 4.0);
    const double stores = std::max(memory.store_sectors - facts.global_atomic_sectors, 0.0);
    unit(Limiter::l2) =
        (facts.local_sectors * l2_local_sector + memory.load_sectors * (l2_request / sectors_per_line + l2_sector) +
         memory.missing_sectors * l2_missing_sector +
         stores * (l2_store_request / sectors_per_line + l2_stored_sector) +
         facts.global_atomic_sectors * l2_atomic_sector) *
        sector / gpu.l2_bytes_per_second;
    unit(Limiter::pcie) = memory.host_bytes / gpu.pcie_bytes_per_second;

    // The SM with the most blocks ends last, and a warp uses one of its four schedulers only.
    const double uneven = std::ceil(blocks_of_an_sm) / blocks_of_an_sm;
    const double schedulers = 4;
    const double uneven_schedulers = schedulers * std::ceil(resident_warps / schedulers) / resident_warps;
    constexpr std::array of_schedulers = {Limiter::fp32, Limiter::fp64, Limiter::special, Limiter::integer,
                                          Limiter::issue};
    result.parts = busy;
    double arithmetic = 0;
    for (const Limiter limiter : of_schedulers) {
        part(result, limiter) *= uneven * uneven_schedulers;
        arithmetic = std::max(arithmetic, part(result, limiter));
    }
    part(result, Limiter::l1) *= uneven;
    part(result, Limiter::shared) *= uneven;
    const double in_l1 = std::max(part(result, Limiter::l1), part(result, Limiter::shared));
    part(result, Limiter::dram) = memory.dram_cost / gpu.dram_bytes_per_second;
    part(result, Limiter::l2) = std::max(unit(Limiter::l2), (memory.load_sectors + memory.store_sectors) / used_sms /
                                                                gpu.l2_sectors_per_cycle_of_sm / clock);
    const double hottest_address = facts.hottest_address / gpu.same_address_atomics_per_second;
    part(result, Limiter::atomics) = std::max(
        hottest_address, facts.global_atomic_sectors / atomics_at_once(facts) / gpu.same_address_atomics_per_second);

    // Little's law: what a warp waits for, one thing after the other, once for each wave.
    const double chain = chain_cycles(facts, gpu, memory) / clock;
    const double waves = result.waves <= 1  ? facts.longest_over_average
                         : result.waves < 3 ? 0.5 * (whole_waves + result.waves)
                                            : result.waves + 0.3;
    const double beyond_l1 = std::max(part(result, Limiter::l2), part(result, Limiter::dram));
    const bool has_barriers = facts.chain[static_cast<std::size_t>(Latency::barrier)] > 0;
    part(result, Limiter::latency) =
        chain * waves + next_block_cycles / clock * std::max(result.waves - 1, 0.0) +
        (has_barriers ? serial_with_barriers : serial) * (arithmetic + in_l1 + beyond_l1) / blocks_together;
    const double lanes_bytes = facts.load_requests <= 0 ? 0 : facts.load_bytes / facts.load_requests;
    result.bytes_in_flight = resident_warps * facts.loads_in_flight() * lanes_bytes;

    part(result, Limiter::launch) = gpu.launch_seconds + blocks_of_an_sm * gpu.block_seconds;
    part(result, Limiter::tail) = blocks_of_an_sm > 1 ? std::max(arithmetic, in_l1) * (uneven - 1) / uneven : 0;

    double sum = 0;
    for (std::size_t i = 0; i < kLimiters; ++i) {
        const auto limiter = static_cast<Limiter>(i);
        if (limiter == Limiter::launch || limiter == Limiter::tail) continue;
        sum += std::pow(result.parts[i], sharpness);
    }
    sum = std::pow(sum + std::pow(blocks_of_an_sm * gpu.block_seconds, sharpness), 1 / sharpness);
    result.seconds = gpu.launch_seconds + sum;

    // Shared memory and L1 are one unit, named after what uses it more.
    const bool mostly_shared = unit(Limiter::shared) >= 0.5 * unit(Limiter::l1);
    const double l1_unit = std::max(unit(Limiter::l1), unit(Limiter::shared));
    unit(Limiter::shared) = mostly_shared ? l1_unit : 0;
    unit(Limiter::l1) = mostly_shared ? 0 : l1_unit;
    // Events around the launch take their time as well; the rest of the overhead is within the kernel's own time.
    constexpr double events = 1.35e-6;
    const double mostly_atomics = facts.global_atomic_sectors > 0.5 * (memory.load_sectors + memory.store_sectors);
    const Limiter limiter =
        limiter_of(hottest_address, busy, std::max(result.seconds - events, 0.5e-6),
                   std::max(gpu.launch_seconds - events, 0.0) * 0.8, mostly_atomics, resident_warps);
    std::array<std::size_t, kLimiters> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return result.parts[a] > result.parts[b]; });
    result.limiter = limiter;
    const auto first = static_cast<std::size_t>(limiter);
    const std::size_t second = order[0] == first ? order[1] : order[0];
    result.runner_up = static_cast<Limiter>(second);
    result.share = std::min(result.parts[first] / result.seconds, 1.0);
    result.runner_up_share = std::min(result.parts[second] / result.seconds, 1.0);
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
