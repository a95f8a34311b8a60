// How many blocks an SM holds at a time, calculated by hand.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

namespace optimization {
namespace {

// What an SM has, and the units in which it is allocated. Sources: cudaDeviceProp, and for
// what that does not tell NVIDIA's CUDA C++ Programming Guide, "Compute Capabilities", and
// the toolkit's calculator, cuda_occupancy.h.
struct Multiprocessor {
    int warps, blocks, registers;
    std::size_t shared_bytes;               // of the SM
    int threads_of_a_block;                 // the most
    std::size_t shared_bytes_of_a_block;    // the most, on request
    std::size_t reserved_bytes_of_a_block;  // the system's own, 1 KiB since 8.0
    std::size_t shared_unit;          // shared memory is allocated in multiples of this
    int register_unit = 256;          // and the registers of a warp in multiples of this
    int quarters = 4;                 // of the register file: a warp's are all in one
    int registers_of_a_thread = 255;  // the most
};

Multiprocessor multiprocessor_of(const cudaDeviceProp& device) {
    return {.warps = device.maxThreadsPerMultiProcessor / device.warpSize,
            .blocks = device.maxBlocksPerMultiProcessor,
            .registers = device.regsPerMultiprocessor,
            .shared_bytes = device.sharedMemPerMultiprocessor,
            .threads_of_a_block = device.maxThreadsPerBlock,
            .shared_bytes_of_a_block = device.sharedMemPerBlockOptin,
            .reserved_bytes_of_a_block = device.reservedSharedMemPerBlock,
            .shared_unit = device.major >= 8 ? std::size_t{128} : std::size_t{256}};
}

// What a block of a kernel needs. The registers are the compiler's choice:
// cudaFuncGetAttributes or -Xptxas -v tells.
struct Needs {
    int threads;
    int registers_of_a_thread;
    std::size_t shared_bytes;  // static and dynamic
};

struct Resident {
    int blocks;
    const char* limit;  // what keeps another block away; the first one where several do
};

constexpr int warps_of(int threads) { return (threads + 31) / 32; }

template <class Integer>
constexpr Integer round_up(Integer value, Integer unit) {
    return (value + unit - 1) / unit * unit;
}

// How many blocks an SM holds at a time: four quotients, and the least of them.
Resident resident_blocks(const Multiprocessor& sm, const Needs& block) {
    if (block.threads > sm.threads_of_a_block) return {0, "threads of a block"};
    if (block.registers_of_a_thread > sm.registers_of_a_thread)
        return {0, "registers of a thread"};
    if (block.shared_bytes > sm.shared_bytes_of_a_block)
        return {0, "shared memory of a block"};

    const int warps = warps_of(block.threads);  // half a warp takes the place of one
    const int by_warps = sm.warps / warps;

    // A warp's registers are rounded up, and all of them have to be in one quarter of the
    // register file.
    const int registers_of_a_warp =
        round_up(std::max(1, block.registers_of_a_thread) * 32, sm.register_unit);
    const int warps_in_a_quarter = sm.registers / sm.quarters / registers_of_a_warp;
    const int by_registers = sm.quarters * warps_in_a_quarter / warps;

    const std::size_t shared_of_a_block =
        round_up(block.shared_bytes + sm.reserved_bytes_of_a_block, sm.shared_unit);
    const int by_shared_memory =
        shared_of_a_block == 0 ? sm.blocks
                               : static_cast<int>(sm.shared_bytes / shared_of_a_block);

    Resident least = {sm.blocks, "blocks"};
    if (by_warps < least.blocks) least = {by_warps, "threads"};
    if (by_registers < least.blocks) least = {by_registers, "registers"};
    if (by_shared_memory < least.blocks) least = {by_shared_memory, "shared memory"};
    return least;
}

double occupancy_of(const Multiprocessor& sm, int blocks, int threads) {
    return static_cast<double>(blocks * warps_of(threads)) / sm.warps;
}

}  // namespace
}  // namespace optimization
