// Reads the machine code that nvcc or ptxas left in a cubin: "nvcc -cubin -arch=sm_90 -lineinfo x.cu".
//
//     for (const Kernel& kernel : read_cubin("x.cubin"))
//         for (const Instruction& instruction : kernel.instructions) operation_of(instruction.code).name ...
//
// Needs no tool of the CUDA Toolkit. A cubin is an ELF file; see the System V ABI. What is special in it was found by
// comparing cubins of kernels that differ in one thing; .nv.info and the calls in the line table are described with
// LLVM ("User Guide for NVPTX Back-end", DW_LNE extensions) and in research on these files (CuAssembler, maxas,
// turingas).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace warpwise::code {

struct SourceLine {
    std::string file;
    int line = 0;
    bool operator==(const SourceLine&) const = default;
};

struct Instruction {
    static constexpr unsigned kNoLine = ~0u;
    static constexpr unsigned kAlways = 7;

    unsigned code = 0;         ///< as operation_of wants it
    unsigned guard = kAlways;  ///< the predicate that decides which lanes take part, and 8 for its opposite
    unsigned bytes = 0;        ///< that a lane loads or stores; 0 where that is not meant
    bool indexed = false;      ///< of a load from constant memory: the address is in a register
    std::int64_t target = -1;  ///< of a branch or call: offset in the kernel; -1: not in the instruction
    bool may_go_on = true;     ///< to the instruction after it, as far as its own predicates say
    /// BRA.DIV: a branch for warps whose lanes are apart where nvcc expects them together.
    bool is_for_lost_lanes = false;
    unsigned line = kNoLine;  ///< index into Kernel::lines
    // What ptxas tells the scheduler, in the highest bits.
    static constexpr unsigned kNoBarrier = 7;
    unsigned stall = 1;          ///< cycles until the warp's next instruction
    unsigned sets = kNoBarrier;  ///< the one of six barriers that its result sets
    unsigned waits = 0;          ///< a bit for each barrier that has to be set before
};

struct Kernel {
    std::string name;       ///< as the linker knows it
    bool is_entry = false;  ///< a kernel, and not a function that kernels call
    unsigned registers = 0;
    unsigned stack_bytes = 0;   ///< of a thread, in local memory
    unsigned shared_bytes = 0;  ///< of a block, without what is asked for at the launch
    /// Where a function was compiled into another one: the innermost line that is not of the CUDA Toolkit.
    std::vector<SourceLine> lines;
    std::vector<Instruction> instructions;  ///< 16 bytes each
    /// Where subroutines begin that nvcc added for operands that hardly ever come, as those of a division that
    /// underflows.
    std::vector<std::int64_t> rare_subroutines;
};

inline constexpr unsigned kInstructionBytes = 16;

/// Throws std::runtime_error where that is no cubin of compute capability 7.0 or later.
std::vector<Kernel> read_cubin(std::string_view bytes);
std::vector<Kernel> read_cubin(const std::filesystem::path& file);

/// Headers of the toolkit, whose code counts for the line that calls it.
bool is_in_toolkit(const std::string& file);

/// One instruction from its two words; the branch stands at `offset`.
Instruction decode(std::uint64_t low, std::uint64_t high, std::int64_t offset);

}  // namespace warpwise::code
