#include "common/code/kernel_code.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>

namespace warpwise::code {
namespace {

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    return status == 0 && text ? std::string(text.get()) : name;
}

bool ends_block(const Instruction& instruction) {
    const unsigned code = instruction.code;
    if (code == kBranch) return !instruction.is_for_lost_lanes;  // taken for one that never comes
    return code == kExit || code == kReturn || code == kCall || code == kIndexedBranch;
}

/// Whether it goes on at a place that the kernel's own blocks do not show.
bool leaves(const Instruction& instruction, const Kernel& kernel) {
    const std::vector<std::int64_t>& rare = kernel.rare_subroutines;
    return instruction.code == kIndexedBranch || (instruction.code == kBranch && instruction.target < 0) ||
           (instruction.code == kCall && std::find(rare.begin(), rare.end(), instruction.target) == rare.end());
}

/// What the result of an instruction is waited for, if its latency is not fixed.
Wait wait_of(Operation operation) {
    switch (operation) {
        case Operation::load_global:
        case Operation::texture:
            return Wait::global;
        case Operation::load_local:  // L1 mostly holds it
        case Operation::load_shared:
            return Wait::shared;
        case Operation::atomic_global:
            return Wait::global_atomic;
        case Operation::atomic_shared:
            return Wait::shared_atomic;
        case Operation::shuffle:
            return Wait::shuffle;
        case Operation::special:
        case Operation::conversion:
        case Operation::integer:
            return Wait::special;
        default:
            return Wait::constant;
    }
}

/// Goes through the instructions of a kernel as a warp would that is alone: each one waits for the barriers that ptxas
/// named in it, and the next one for as many cycles as it says.
class LoneWarp {
public:
    /// The waits of these instructions, beginning with what is on its way from before.
    std::array<double, kWaits> run(const std::vector<Instruction>& instructions, std::size_t begin, std::size_t end) {
        std::array<double, kWaits> waits{};
        for (std::size_t i = begin; i < end; ++i) {
            const Instruction& instruction = instructions[i];
            for (unsigned barrier = 0; barrier < barriers; ++barrier) {
                if ((instruction.waits >> barrier & 1) == 0 || ready_[barrier].at <= now_) continue;
                const auto kind = static_cast<std::size_t>(ready_[barrier].kind);
                waits[kind] += (ready_[barrier].at - now_) / usual_cycles[kind];
                now_ = ready_[barrier].at;
            }
            if (instruction.sets < barriers) {
                const Wait kind = wait_of(operation_of(instruction.code).operation);
                const double at = now_ + usual_cycles[static_cast<std::size_t>(kind)];
                if (at > ready_[instruction.sets].at) ready_[instruction.sets] = {at, kind};
            }
            const double cycles = std::max(instruction.stall, 1u);
            now_ += cycles;
            waits[static_cast<std::size_t>(Wait::issue)] += cycles;
        }
        return waits;
    }

private:
    static constexpr unsigned barriers = 6;
    /// Of an H200, roughly: they tell only how much of a wait the instructions in between hide.
    static constexpr std::array<double, kWaits> usual_cycles = {1, 500, 30, 24, 600, 60, 25, 25};
    struct Ready {
        double at = 0;
        Wait kind = Wait::issue;
    };
    double now_ = 0;
    std::array<Ready, barriers> ready_{};
};

/// Index of the instruction at an offset; -1 outside of the kernel.
std::int64_t index_of(std::int64_t offset, const Kernel& kernel) {
    if (offset < 0 || offset % kInstructionBytes != 0) return -1;
    const std::int64_t index = offset / kInstructionBytes;
    return index < static_cast<std::int64_t>(kernel.instructions.size()) ? index : -1;
}

}  // namespace

KernelCode code_of(const Kernel& kernel) {
    KernelCode code;
    code.name = demangled(kernel.name);
    code.registers = kernel.registers;
    code.stack_bytes = kernel.stack_bytes;
    code.shared_bytes = kernel.shared_bytes;
    code.lines = kernel.lines;
    const auto& instructions = kernel.instructions;
    if (instructions.empty()) return code;
    std::set<std::size_t> begins = {0};
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        if (!ends_block(instructions[i])) continue;
        begins.insert(i + 1);
        const std::int64_t target = index_of(instructions[i].target, kernel);
        if (target >= 0) begins.insert(static_cast<std::size_t>(target));
    }
    begins.erase(instructions.size());
    std::map<std::size_t, unsigned> block_at;
    for (const std::size_t begin : begins) block_at.emplace(begin, static_cast<unsigned>(block_at.size()));

    std::vector<Block> blocks;
    for (auto at = begins.begin(); at != begins.end(); ++at) {
        const std::size_t end = std::next(at) == begins.end() ? instructions.size() : *std::next(at);
        Block& block = blocks.emplace_back();
        for (std::size_t i = *at; i < end; ++i) {
            const Instruction& instruction = instructions[i];
            const auto same = std::find_if(block.counts.begin(), block.counts.end(), [&](const Count& count) {
                return count.line == instruction.line && count.code == instruction.code &&
                       count.bytes == instruction.bytes && count.indexed == instruction.indexed;
            });
            if (same != block.counts.end()) {
                ++same->times;
            } else {
                block.counts.push_back({instruction.line, instruction.code, instruction.bytes, instruction.indexed, 1});
            }
        }
        const Instruction& last = instructions[end - 1];
        const std::int64_t target = index_of(last.target, kernel);
        if (last.code == kBranch && target >= 0 && !last.is_for_lost_lanes) {
            block.next.push_back(block_at.at(static_cast<std::size_t>(target)));
        }
        block.may_end = last.code == kExit || last.code == kReturn;
        block.is_rare = last.code == kCall && !leaves(last, kernel);
        if (last.may_go_on && end < instructions.size()) {
            const unsigned follower = block_at.at(end);
            if (block.next.empty() || block.next.front() != follower) block.next.push_back(follower);
        }
    }

    // In the order of the blocks. Each way back is taken once, so that a loop begins with what its end has left.
    LoneWarp warp;
    std::set<unsigned> taken;
    std::vector<std::size_t> ends;
    for (auto at = std::next(begins.begin()); at != begins.end(); ++at) ends.push_back(*at);
    ends.push_back(instructions.size());
    for (unsigned block = 0; block < blocks.size();) {
        unsigned following = block + 1;
        if (!blocks[block].is_rare) {
            blocks[block].waits = warp.run(instructions, block == 0 ? 0 : ends[block - 1], ends[block]);
            for (const unsigned next : blocks[block].next) {
                if (next <= block && taken.insert(block).second) following = next;
            }
        }
        block = following;
    }

    // Subroutines, ways of lanes that are apart, and padding are not reached by branches.
    std::vector<unsigned> number(blocks.size(), ~0u);
    std::vector<unsigned> order = {0};
    std::set<unsigned> reached = {0};
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const unsigned next : blocks[order[i]].next) {
            if (reached.insert(next).second) order.push_back(next);
        }
    }
    unsigned kept = 0;
    for (const unsigned block : reached) number[block] = kept++;
    for (const unsigned block : reached) {
        code.is_followed = code.is_followed && !leaves(instructions[ends[block] - 1], kernel);
        for (unsigned& next : blocks[block].next) next = number[next];
        code.blocks.push_back(std::move(blocks[block]));
    }
    return code;
}

std::array<double, kWaits> waits_of(const KernelCode& kernel, const std::vector<double>& times) {
    std::array<double, kWaits> sum{};
    for (std::size_t i = 0; i < kernel.blocks.size(); ++i) {
        for (std::size_t kind = 0; kind < kWaits; ++kind) sum[kind] += times[i] * kernel.blocks[i].waits[kind];
    }
    return sum;
}

Mix mix_of(const KernelCode& kernel, const std::vector<double>& times) {
    Mix mix;
    for (std::size_t i = 0; i < kernel.blocks.size(); ++i) {
        for (const Count& count : kernel.blocks[i].counts) {
            const OperationRow& row = operation_of(count.code);
            const double all = times[i] * count.times;
            mix.operations[static_cast<std::size_t>(row.operation)] += all;
            mix.units[static_cast<std::size_t>(row.unit)] += all;
            mix.all += all;
            if (row.operation == Operation::load_local || row.operation == Operation::store_local) {
                mix.local_requests += all;
                mix.local_sectors += all * count.bytes;  // 32 lanes, 32 bytes
            }
        }
    }
    return mix;
}

}  // namespace warpwise::code
