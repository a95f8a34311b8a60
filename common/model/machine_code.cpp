// What the time model takes from nvcc's code.
#include <algorithm>

#include "common/code/kernel_code.h"
#include "common/code/recorded.h"
#include "common/model/model.h"

namespace warpwise::model {
namespace {

/// Instructions by the pipes of the model: they are named after what limits a kernel.
void count(LaunchFacts& facts, const code::Mix& mix) {
    using code::Operation;
    using code::Unit;
    const auto operations = [&](Operation operation) { return mix.operations[static_cast<std::size_t>(operation)]; };
    const auto unit = [&](Unit unit) { return mix.units[static_cast<std::size_t>(unit)]; };
    facts.instructions = {};
    const auto set = [&](Pipe pipe, double times) { facts.instructions[static_cast<std::size_t>(pipe)] = times; };
    set(Pipe::fp32, unit(Unit::fma) + unit(Unit::fma_heavy));
    set(Pipe::fp64, unit(Unit::fp64));
    set(Pipe::special, operations(Operation::special));
    set(Pipe::conversion, unit(Unit::xu) - operations(Operation::special));
    set(Pipe::integer, unit(Unit::alu));
    double memory = 0;
    for (const Operation each :
         {Operation::load_global, Operation::store_global, Operation::atomic_global, Operation::load_shared,
          Operation::store_shared, Operation::atomic_shared, Operation::load_local, Operation::store_local}) {
        memory += operations(each);
    }
    set(Pipe::memory, memory);
    set(Pipe::shuffle, operations(Operation::shuffle));
    double others = mix.all;
    for (const double times : facts.instructions) others -= times;
    set(Pipe::control, others);
    facts.integer_products = unit(Unit::fma_heavy);
    facts.local_requests = mix.local_requests;
    facts.local_sectors = mix.local_sectors;
}

/// The waits of an average warp. Barriers stay as the CPU device saw them.
void count_waits(LaunchFacts& facts, const std::array<double, code::kWaits>& waits) {
    using code::Wait;
    const auto per_warp = [&](Wait wait) { return waits[static_cast<std::size_t>(wait)] / facts.warps(); };
    const double barriers = facts.chain[static_cast<std::size_t>(Latency::barrier)];
    facts.chain = {};
    const auto set = [&](Latency kind, double times) { facts.chain[static_cast<std::size_t>(kind)] = times; };
    // What L1 holds is there as soon as what shared memory holds.
    double asked_of_l2 = 0;
    for (const Footprint& array : facts.arrays) asked_of_l2 += array.load_sectors;
    const double misses = facts.l1_sectors > 0 ? std::min(asked_of_l2 / facts.l1_sectors, 1.0) : 1;
    set(Latency::global, per_warp(Wait::global) * misses);
    set(Latency::shared, per_warp(Wait::global) * (1 - misses) + per_warp(Wait::shared));
    set(Latency::special, per_warp(Wait::special) + per_warp(Wait::constant));
    set(Latency::global_atomic, per_warp(Wait::global_atomic));
    set(Latency::shared_atomic, per_warp(Wait::shared_atomic));
    set(Latency::shuffle, per_warp(Wait::shuffle));
    set(Latency::barrier, barriers);
    set(Latency::issue, per_warp(Wait::issue));
}

/// Whether the program has lines of the kernel's files: another file's kernel may have the same name.
bool ran(const code::KernelCode& kernel, const code::SeenLines& seen) {
    return std::any_of(kernel.lines.begin(), kernel.lines.end(), [&](const code::SourceLine& line) {
        return std::any_of(seen.begin(), seen.end(), [&, end = "/" + line.file](const auto& each) {
            const std::string& file = each.first.first;
            return file == line.file || file.ends_with(end);
        });
    });
}

}  // namespace

LaunchFacts with_machine_code(LaunchFacts facts) {
    const code::KernelCode* kernel = facts.known ? code::recorded_kernel(facts.seen.functions) : nullptr;
    if (kernel != nullptr && ran(*kernel, facts.seen.lines)) {
        const std::vector<double> times = code::times_of_blocks(*kernel, facts.seen.lines, facts.warps());
        count(facts, code::mix_of(*kernel, times));
        count_waits(facts, code::waits_of(*kernel, times));
        facts.code_is_known = true;
        if (facts.registers_are_estimated) facts.registers = static_cast<int>(kernel->registers);  // else somebody said
        facts.registers_are_estimated = false;
    }
    facts.seen = {};
    return facts;
}

}  // namespace warpwise::model
