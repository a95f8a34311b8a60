// The machine code of a kernel as the time model wants it: what its basic blocks do, by source line, and where they
// lead.
//
// From this and from how often the CPU device saw each line follows how often each block runs on a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "common/code/cubin.h"
#include "common/code/operations.h"
#include "common/code/seen_lines.h"

namespace warpwise::code {

/// Instructions of one kind in a basic block.
struct Count {
    unsigned line = 0;  ///< index into KernelCode::lines
    unsigned code = 0;  ///< as operation_of wants it
    unsigned bytes = 0;
    bool indexed = false;
    unsigned times = 0;
};

/// What a warp waits for in a block, if it is alone on the GPU.
enum class Wait : unsigned char {
    issue,  ///< cycles between its instructions, of which results of fixed latency are a part
    // The others: results that take a time of their own, as shares of that time.
    global,
    shared,
    special,  ///< and conversions
    global_atomic,
    shared_atomic,
    shuffle,
    constant,  ///< and special registers
};
inline constexpr std::size_t kWaits = 8;

struct Block {
    std::vector<Count> counts;
    std::vector<unsigned> next;  ///< blocks that may follow
    bool may_end = false;        ///< some or all lanes may be done after it
    /// Calls a subroutine that nvcc added for operands that hardly ever come, as those of a division that underflows.
    bool is_rare = false;
    std::array<double, kWaits> waits{};

    unsigned size() const {
        unsigned sum = 0;
        for (const Count& count : counts) sum += count.times;
        return sum;
    }
};

struct KernelCode {
    std::string name;  ///< with namespaces and parameters, as in C++
    unsigned registers = 0;
    unsigned stack_bytes = 0;
    unsigned shared_bytes = 0;
    std::vector<SourceLine> lines;
    std::vector<Block> blocks;  ///< the first one is the kernel's entry
    /// Where it goes from a switch that jumps through a table, or from functions that it calls, is not known: then the
    /// blocks say too little, and it is not recorded.
    bool is_followed = true;
};

KernelCode code_of(const Kernel& kernel);

/// Waits of all warps, if each block runs so often.
std::array<double, kWaits> waits_of(const KernelCode& kernel, const std::vector<double>& times);

/// How often each block runs, over all warps of a launch.
std::vector<double> times_of_blocks(const KernelCode& kernel, const SeenLines& seen, double warps);

/// Warps' instructions by what they do and by the unit that executes them.
struct Mix {
    std::array<double, kOperations> operations{};
    std::array<double, kUnits> units{};
    double all = 0;
    double local_requests = 0;  ///< to arrays of a thread's own, and registers that had to be kept in memory
    double local_sectors = 0;
};
Mix mix_of(const KernelCode& kernel, const std::vector<double>& times);

}  // namespace warpwise::code
