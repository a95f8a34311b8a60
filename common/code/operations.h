// The instructions of NVIDIA GPUs from compute capability 7.0 on, as far as they are needed to count them.
//
// NVIDIA does not document the encoding, but the manual of the CUDA Binary Utilities lists the names, and research has
// published many codes (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018; the
// assemblers turingas and CuAssembler). An instruction has 128 bits. The lowest nine say what it does, the next three
// where its operands come from (registers, constant memory, a number), and four more which predicate guards it.
//
// How to check a row: common/tests/code/cubin_test.cpp compiles one PTX instruction at a time and looks at what is new
// in the machine code. The units were found by comparison with Nsight Compute's sm__inst_executed_pipe_* of kernels
// without branches, on an H200.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpwise::code {

/// What an instruction does.
enum class Operation : unsigned char {
    fp32,
    fp64,
    fp16,
    integer,
    conversion,
    special,  ///< an approximation by the special-function units
    tensor,
    load_global,
    store_global,
    atomic_global,
    load_shared,
    store_shared,
    atomic_shared,
    load_local,
    store_local,
    load_constant,
    texture,
    shuffle,  ///< shuffles, votes, matches
    barrier,
    branch,   ///< all that moves the program counter or says where lanes meet again
    uniform,  ///< once for a warp, on registers that all lanes share
    other,    ///< special registers, moves, fences
};
inline constexpr std::size_t kOperations = 22;
inline constexpr std::array<const char*, kOperations> operation_names = {
    "fp32",          "fp64",        "fp16",         "integer",       "conversion",  "special",
    "tensor",        "load_global", "store_global", "atomic_global", "load_shared", "store_shared",
    "atomic_shared", "load_local",  "store_local",  "load_constant", "texture",     "shuffle",
    "barrier",       "branch",      "uniform",      "other"};

/// The unit that executes it, as Nsight Compute names them (sm__inst_executed_pipe_...).
enum class Unit : unsigned char {
    fma,        ///< FP32, and products and some sums of integers
    fma_heavy,  ///< the half of it that multiplies integers
    alu,
    xu,  ///< special functions, conversions, population count
    fp64,
    fp16,
    tensor,
    lsu,
    tex,
    none,  ///< takes an issue slot, and nothing that ever limited a kernel
};
inline constexpr std::size_t kUnits = 10;
inline constexpr std::array<const char*, kUnits> unit_names = {"fma",  "fma_heavy", "alu", "xu",  "fp64",
                                                               "fp16", "tensor",    "lsu", "tex", "none"};

struct OperationRow {
    std::uint16_t code;  ///< the lowest nine bits
    const char* name;
    Operation operation;
    Unit unit;
    unsigned char flops;  ///< of a lane: 2 for a multiply-add
};

/// The row of an instruction; one with the name "?" for a code that is not in the table.
const OperationRow& operation_of(unsigned code);

// Codes that decide where a warp goes on.
inline constexpr unsigned kBranch = 0x147;
inline constexpr unsigned kIndexedBranch = 0x149;  ///< through a table, as of a switch
inline constexpr unsigned kExit = 0x14d;
inline constexpr unsigned kCall = 0x144;
inline constexpr unsigned kReturn = 0x150;
inline constexpr unsigned kNothing = 0x118;  ///< fills the space after the last instruction
inline constexpr unsigned kLoadConstant = 0x182;
inline constexpr unsigned kShuffle = 0x189;

}  // namespace warpwise::code
