#include "model_facts.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "block.h"
#include "machine_code.h"
#include "replay.h"
#include "source_lines.h"

/// Every program but the first lesson is linked with this symbol, and so with the time model.
extern "C" const char cpu_device_has_time_model;
const char cpu_device_has_time_model = 1;

namespace cpu_device {
namespace {

using warpwise::code::Counted;
using warpwise::code::SeenLine;
using warpwise::code::SeenLines;
using warpwise::model::Footprint;
using warpwise::model::kLatencies;
using warpwise::model::kPipes;
using warpwise::model::LaunchFacts;
using warpwise::model::Pipe;
using warpwise::model::SeenCode;

double scale_of(const Launch& launch, const Tally& tally) {
    return tally.blocks() == 0 ? 1 : static_cast<double>(launch.blocks) / static_cast<double>(tally.blocks());
}

/// Addresses with many atomics stand out among the sums by hash; what all of them have is that of the others.
double hottest(const ModelTally& model) {
    const double sum = std::accumulate(model.atomics.begin(), model.atomics.end(), 0.0);
    if (sum == 0) return 0;
    const double most = *std::max_element(model.atomics.begin(), model.atomics.end());
    const auto used = std::count_if(model.atomics.begin(), model.atomics.end(), [](double count) { return count > 0; });
    constexpr std::ptrdiff_t few = 100;  // then hardly two of them share a sum
    if (used < few) return most;
    return std::max(most - 1.5 * sum / static_cast<double>(model.atomics.size()), 0.0);
}

/// What a sum of the cache model stands for.
double scale_of_model(const Launch& launch, const Tally& tally) {
    return tally.model().blocks == 0 ? 1 : static_cast<double>(launch.blocks) / tally.model().blocks;
}

std::vector<Footprint> footprints(const Launch& launch, const Tally& tally) {
    const double scale = scale_of_model(launch, tally);
    std::map<int, Footprint> by_array;
    for (const auto& [array, sectors] : tally.model().arrays) {
        Footprint& footprint = by_array[array];
        const ArrayMap::Range& range = launch.arrays->range(array);
        footprint.bytes = static_cast<double>(range.end - range.begin);
        footprint.in_host_memory = range.in_host_memory;
        footprint.load_sectors = sectors.loads * scale;
        footprint.store_sectors = sectors.stores * scale;
    }
    tally.model().distinct.for_each([&](std::uint64_t sector, bool written, double weight) {
        int array = launch.arrays->find(sector * 32);
        if (array < 0) array = launch.arrays->find(sector * 32 + 31);
        const auto found = by_array.find(array);
        if (found == by_array.end()) return;
        found->second.unique_sectors += weight;
        if (written) found->second.written_sectors += weight;
        found->second.unique_pairs += tally.model().distinct.holds(sector ^ 1) ? weight / 2 : weight;
    });
    std::vector<Footprint> arrays;
    for (auto& [array, footprint] : by_array) {
        // Blocks that were not looked at touch other parts, up to all of the array.
        const double most = std::max(footprint.bytes / 32, footprint.unique_sectors);
        footprint.unique_pairs *= std::min(scale, most / std::max(footprint.unique_sectors, 1.0));
        footprint.unique_sectors = std::min(footprint.unique_sectors * scale, most);
        footprint.written_sectors = std::min(footprint.written_sectors * scale, most);
        arrays.push_back(footprint);
    }
    return arrays;
}

/// Whether the signature of the kernel says that no pointers overlap.
bool says_restrict(std::uint32_t first_step) {
    const SourceLine place = source_lines({code_start() + first_step}).front();
    if (place.file.empty()) return false;
    constexpr int lines_of_a_signature = 12;
    for (int line = place.line; line > 0 && line > place.line - lines_of_a_signature; --line) {
        if (source_text(place.file, line).find("__global__") == std::string::npos) continue;
        for (int at = line; at < line + lines_of_a_signature; ++at) {
            const std::string text = source_text(place.file, at);
            if (text.find("restrict") != std::string::npos) return true;
            if (text.find('{') != std::string::npos) return false;
        }
    }
    return false;
}

std::vector<RecordedWarp> in_order(std::vector<RecordedWarp> warps) {
    std::sort(warps.begin(), warps.end(), [](const RecordedWarp& a, const RecordedWarp& b) {
        return std::tie(a.block, a.warp) < std::tie(b.block, b.warp);
    });
    return warps;
}

/// Counts the work of a basic block's operations for their lines.
void see_operations(SeenLines& lines, const BasicBlock& block, double times) {
    using Kind = MicroOperation::Kind;
    std::map<SeenLine*, double> special;
    for (const MicroOperation& operation : block.operations) {
        const SourceLine place = source_lines({code_start() + operation.end}).front();
        if (place.file.empty()) continue;
        SeenLine& line = lines[{place.file, place.line}];
        line.times = std::max(line.times, times);
        const bool is_float = operation.pipe == Pipe::fp32 || operation.pipe == Pipe::fp64;
        if (operation.kind == Kind::product || operation.kind == Kind::sum) {
            line[Counted::flops] += operation.issues * times;
        } else if (operation.kind == Kind::compute && is_float && operation.issues > 1) {
            line.flops_are_known = false;
        }
        special[&line] += operation.special * times;
        if (operation.kind == Kind::compute && operation.pipe == Pipe::shuffle) {
            line[Counted::shuffle] += operation.issues * times;
        }
        // Arrays of a thread's own are not announced; how much of them is accessed is not known. Mostly it is 4 bytes.
        constexpr double bytes = 4;
        if (operation.kind == Kind::move && operation.local) line[Counted::store_local] += bytes * times;
        if (operation.kind == Kind::access && operation.pipe != Pipe::memory)
            line[Counted::load_local] += bytes * times;
    }
    // The host divides by a square root where a GPU approximates both at once, in rsqrtf(): in a block of its own.
    for (const auto& [line, approximations] : special) {
        (*line)[Counted::special] = std::max((*line)[Counted::special], approximations);
    }
}

/// What the warps did in each line, and the functions that the code belongs to.
SeenCode seen_code(const Tally& tally, double scale) {
    SeenCode seen;
    // All addresses at once, because each question to `addr2line` takes a while.
    std::vector<const void*> addresses;
    for (const auto& [code, step] : tally.steps()) {
        addresses.push_back(code_start() + code);
        for (const MicroOperation& operation : basic_block(code).operations) {
            addresses.push_back(code_start() + operation.end);
        }
    }
    for (const auto& [key, request] : tally.requests()) addresses.push_back(code_start() + request.code);
    std::set<std::string> functions;
    for (const SourceLine& place : source_lines(addresses)) {
        functions.insert(place.function);
        for (const SourceLine& caller : place.callers) functions.insert(caller.function);
    }
    seen.functions.assign(functions.begin(), functions.end());
    for (const auto& [code, step] : tally.steps()) {
        const double times = static_cast<double>(step.times) * scale;
        const SourceLine place = source_lines({code_start() + code}).front();
        if (!place.file.empty()) {
            SeenLine& line = seen.lines[{place.file, place.line}];
            line.times = std::max(line.times, times);
        }
        see_operations(seen.lines, basic_block(code), times);
    }
    for (const auto& [key, request] : tally.requests()) {
        const SourceLine place = source_lines({code_start() + request.code}).front();
        if (place.file.empty() || request.counters.lanes == 0) continue;
        const double times = static_cast<double>(request.counters.requests) * scale;
        const double bytes =
            times * static_cast<double>(request.counters.bytes) / static_cast<double>(request.counters.lanes);
        SeenLine& line = seen.lines[{place.file, place.line}];
        switch (request.operation) {
            case MemoryOperation::global_load:
                line[Counted::load_global] += bytes;
                break;
            case MemoryOperation::global_store:
                line[Counted::store_global] += bytes;
                break;
            case MemoryOperation::global_atomic:
                line[Counted::atomic_global] += times;
                break;
            case MemoryOperation::shared_load:
                line[Counted::load_shared] += bytes;
                break;
            case MemoryOperation::shared_store:
                line[Counted::store_shared] += bytes;
                break;
            case MemoryOperation::shared_atomic:
                line[Counted::atomic_shared] += times;
                break;
            case MemoryOperation::constant_load:
                line[Counted::load_constant] += times;
                break;
        }
    }
    return seen;
}

}  // namespace

LaunchFacts memory_facts(const Launch& launch, const Tally& tally, int registers) {
    LaunchFacts facts;
    facts.known = launch.instrument.model && tally.blocks() > 0;
    if (!facts.known) return facts;
    const double scale = scale_of(launch, tally);
    facts.blocks = static_cast<double>(launch.blocks);
    facts.threads = static_cast<int>(launch.threads);
    facts.shared_bytes = static_cast<double>(launch.dynamic_bytes + launch.static_bytes);
    facts.registers = registers;
    facts.registers_are_estimated = registers == 0;
    for (const auto& [key, request] : tally.requests()) {
        const RequestCounters& counters = request.counters;
        facts.instructions[static_cast<std::size_t>(Pipe::memory)] += static_cast<double>(counters.requests) * scale;
        switch (request.operation) {
            case MemoryOperation::global_load:
                facts.load_requests += static_cast<double>(counters.requests) * scale;
                facts.load_bytes += static_cast<double>(counters.bytes) * scale;
                facts.global_requests += static_cast<double>(counters.requests) * scale;
                break;
            case MemoryOperation::global_store:
                facts.global_requests += static_cast<double>(counters.requests) * scale;
                facts.store_sectors += static_cast<double>(counters.sectors) * scale;
                break;
            case MemoryOperation::global_atomic:
                facts.global_atomic_lanes += static_cast<double>(counters.lanes) * scale;
                facts.global_atomic_sectors += static_cast<double>(counters.sectors) * scale;
                break;
            case MemoryOperation::shared_atomic:
                facts.shared_atomic_waits += static_cast<double>(counters.same_address) * scale;
                [[fallthrough]];
            case MemoryOperation::shared_load:
            case MemoryOperation::shared_store:
                facts.shared_wavefronts += static_cast<double>(counters.wavefronts) * scale;
                break;
            case MemoryOperation::constant_load:
                facts.constant_wavefronts += static_cast<double>(counters.wavefronts - counters.requests) * scale;
                break;
        }
    }
    double steps = 0;
    double lanes = 0;
    for (const auto& [code, step] : tally.steps()) {
        steps += static_cast<double>(step.times);
        lanes += static_cast<double>(step.lanes);
    }
    if (steps > 0) facts.lanes = lanes / steps;
    facts.l1_sectors = tally.model().l1_sectors * scale_of_model(launch, tally);
    facts.l1_lines = tally.model().l1_lines * scale_of_model(launch, tally);
    facts.hottest_address = hottest(tally.model()) * scale_of_model(launch, tally);
    facts.arrays = footprints(launch, tally);
    return facts;
}

void add_code_facts(LaunchFacts& facts, const Tally& tally) {
    if (!facts.known) return;
    const double scale = facts.blocks / static_cast<double>(tally.blocks());
    std::vector<std::uint32_t> codes;
    for (const auto& [code, step] : tally.steps()) codes.push_back(code);
    learn_basic_blocks(codes);
    const std::vector<RecordedWarp> warps = in_order(tally.model().warps);
    const std::map<std::uint32_t, int> unrolled = unrolled_loops(warps);
    for (const auto& [code, step] : tally.steps()) {
        const BasicBlock& block = basic_block(code);
        const auto times = static_cast<double>(step.times) * scale;
        int unrolled_by = 1;
        if (block.loops) {
            const auto loop = unrolled.upper_bound(block.jumps_to);
            if (loop != unrolled.end() && loop->first - block.jumps_to <= 16) unrolled_by = loop->second;
        }
        for (const MicroOperation& operation : block.operations) {
            if (operation.local && !(block.loops && block.constant_trips)) facts.local_requests += times;
            if (operation.kind == MicroOperation::Kind::access || operation.kind == MicroOperation::Kind::move)
                continue;
            const double share = operation.overhead ? 1.0 / unrolled_by : 1.0;
            facts.instructions[static_cast<std::size_t>(operation.pipe)] += operation.issues * times * share;
            facts.instructions[static_cast<std::size_t>(Pipe::special)] += operation.special * times * share;
        }
        // A sum of a product and something is one instruction.
        double products = 0;
        double sums = 0;
        double products_fp64 = 0;
        double sums_fp64 = 0;
        for (const MicroOperation& operation : block.operations) {
            const bool doubles = operation.pipe == Pipe::fp64;
            if (operation.kind == MicroOperation::Kind::product) ++(doubles ? products_fp64 : products);
            if (operation.kind == MicroOperation::Kind::sum) ++(doubles ? sums_fp64 : sums);
        }
        facts.instructions[static_cast<std::size_t>(Pipe::fp32)] -= std::min(products, sums) * times;
        facts.instructions[static_cast<std::size_t>(Pipe::fp64)] -= std::min(products_fp64, sums_fp64) * times;
    }
    double barriers = 0;
    for (const auto& [site, times] : tally.barriers()) barriers += static_cast<double>(times) * scale;
    facts.instructions[static_cast<std::size_t>(Pipe::control)] += barriers;
    facts.local_sectors = 4 * facts.local_requests;
    if (facts.registers == 0) facts.registers = estimated_registers(codes);
    facts.seen = seen_code(tally, scale);

    if (warps.empty()) return;
    ReplayOptions options;
    options.no_aliases = !warps.front().events.empty() && says_restrict(warps.front().events.front().code);
    double longest = 0;
    double sum = 0;
    for (const RecordedWarp& warp : warps) {
        const std::array<double, kLatencies> chain = replay(warp, options, unrolled);
        double cycles = 0;
        for (std::size_t i = 0; i < kLatencies; ++i) {
            facts.chain[i] += chain[i] / static_cast<double>(warps.size());
            cycles += chain[i] * (i == 0 ? 560 : 10);
        }
        longest = std::max(longest, cycles);
        sum += cycles;
    }
    if (sum > 0) facts.longest_over_average = longest * static_cast<double>(warps.size()) / sum;
}

}  // namespace cpu_device
