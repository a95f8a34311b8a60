// What a GPU would do for the machine code of an instrumented kernel.
//
// The time model needs the mix of a kernel's instructions and how they depend on each other. nvcc is not here, but the
// host's compiler has translated the same source: `objdump` shows its instructions, and each of them is taken for what
// a GPU would issue in its place. An estimate: nvcc unrolls, fuses, and moves more than g++ -O1 does.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/model/facts.h"

namespace cpu_device {

/// One thing that a warp does in a basic block. Values are registers and stack slots of the host, by numbers.
struct MicroOperation {
    enum class Kind : unsigned char {
        move,     ///< costs nothing: a copy, a constant
        compute,  ///< on `pipe`
        product,  ///< of floats: free when the only use is a sum, which is then an FMA
        sum,
        access,  ///< an access that was announced; the value it loads is named by `to`
        call,    ///< of an instrumented or unknown function
        barrier,
        jump,  ///< backwards, if `target` is not after it
    };
    static constexpr std::int16_t kNone = -1;

    Kind kind = Kind::move;
    warpwise::model::Pipe pipe = warpwise::model::Pipe::integer;
    warpwise::model::Latency wait = warpwise::model::Latency::arithmetic;
    float issues = 0;      ///< instructions on `pipe`
    float special = 0;     ///< besides: instructions of the special-function units
    float wait_times = 1;  ///< so many latencies one after the other
    std::int16_t to = kNone;
    std::int16_t from[3] = {kNone, kNone, kNone};
    std::uint32_t code = 0;   ///< access: offset of its return address in the program
    bool overhead = false;    ///< of a loop: gone where it is unrolled
    bool local = false;       ///< access: to an array of the thread's own, at a variable index
    std::uint16_t place = 0;  ///< access, or store by a move: which operand of the host names the memory; 0: none
    std::uint32_t end = 0;    ///< offset of the end of the host's instruction in the program, as of a return address
};

struct BasicBlock {
    std::vector<MicroOperation> operations;
    bool loops = false;           ///< ends with a jump back to its own start or before it
    bool constant_trips = false;  ///< that jump compares with a constant
    std::uint32_t jumps_to = 0;   ///< where
};

/// The blocks that begin at these offsets (return addresses of step callbacks). Kept: only new ones are disassembled.
/// Empty blocks where there is no `objdump`.
const BasicBlock& basic_block(std::uint32_t code);
void learn_basic_blocks(const std::vector<std::uint32_t>& codes);

/// Values are numbered below this.
constexpr std::int16_t kValues = 512;

/// Registers per thread that nvcc might give to code that uses so much of the host's.
int estimated_registers(const std::vector<std::uint32_t>& codes);

}  // namespace cpu_device
