// What the CPU device knows about one launch that tells how long a GPU would take: the input of the time model.
//
// Plain data that depends on no device. All counts stand for the whole grid, per launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/code/seen_lines.h"

namespace warpwise::model {

/// The pipes of a streaming multiprocessor that execute a warp's instruction.
enum class Pipe : unsigned char {
    fp32,        ///< additions, products, FMAs of floats
    fp64,        ///< the same of doubles
    special,     ///< reciprocals, square roots, exponentials, sines: one instruction of the special-function units
    integer,     ///< addresses, comparisons, logic, shifts
    conversion,  ///< between types
    memory,      ///< loads, stores, atomics
    shuffle,     ///< shuffles, votes
    control,     ///< branches, barriers: they take an issue slot and nothing else
};
inline constexpr std::size_t kPipes = 8;
inline constexpr std::array<const char*, kPipes> pipe_names = {"fp32",       "fp64",   "special", "integer",
                                                               "conversion", "memory", "shuffle", "control"};

/// What a warp waits for, one after the other, when nothing else delays it.
enum class Latency : unsigned char {
    global,         ///< the answer to a global load
    shared,         ///< the answer to a shared load
    arithmetic,     ///< an FP32 or integer result
    fp64,           ///< an FP64 result
    special,        ///< a special function
    global_atomic,  ///< the answer to a global atomic
    shared_atomic,  ///< the same in shared memory
    shuffle,        ///< the answer to a shuffle
    barrier,        ///< the other warps of the block
    issue,          ///< one cycle: an instruction's turn, or one more pass of an access over the banks
};
inline constexpr std::size_t kLatencies = 10;
inline constexpr std::array<const char*, kLatencies> latency_names = {
    "global",        "shared",        "arithmetic", "fp64",    "special",
    "global_atomic", "shared_atomic", "shuffle",    "barrier", "issue"};

/// One array of global memory, in 32-byte sectors.
struct Footprint {
    double bytes = 0;            ///< of the allocation
    double load_sectors = 0;     ///< that loads of all blocks ask of the L2 cache: what L1 did not hold
    double store_sectors = 0;    ///< that stores and atomics of all blocks ask of it
    double unique_sectors = 0;   ///< different ones among them
    double unique_pairs = 0;     ///< the same for the 64 bytes that DRAM delivers
    double written_sectors = 0;  ///< of these: written
    bool in_host_memory = false;
};

/// By what the machine code that nvcc made of the kernel can be found and counted.
struct SeenCode {
    std::vector<std::string> functions;  ///< names, with namespaces and parameters; one of them is the kernel's
    code::SeenLines lines;
};

struct LaunchFacts {
    bool known = false;  ///< false: the launch was not looked at

    double blocks = 0;
    int threads = 0;  ///< of a block
    double shared_bytes = 0;
    int registers = 0;
    bool registers_are_estimated = true;

    /// `instructions` and what belongs to them come from nvcc's code, and not from that of the host's compiler. Then
    /// `fp32` stands for all on its pipe, and `integer` for all on the pipe of comparisons, logic, and shifts; in
    /// `chain`, `issue` holds the cycles between a warp's instructions, results of arithmetic included.
    bool code_is_known = false;
    std::array<double, kPipes> instructions{};  ///< carried out by warps
    double integer_products = 0;                ///< in `fp32`, if the code is known: on one half of its pipe
    double lanes = 32;                          ///< active in a warp's instruction, on average

    double global_requests = 0;    ///< loads and stores
    double load_requests = 0;      ///< loads alone
    double load_bytes = 0;         ///< asked for by the lanes of loads
    double l1_sectors = 0;         ///< asked of L1 by loads
    double l1_lines = 0;           ///< 128-byte lines that loads and stores touch, per request: one per cycle
    double store_sectors = 0;      ///< by stores
    double shared_wavefronts = 0;  ///< of loads, stores, and atomics
    double shared_atomic_waits = 0;
    double constant_wavefronts = 0;  ///< above one per request
    double local_requests = 0;       ///< to arrays of a thread's own that are indexed by a variable
    double local_sectors = 0;        ///< of them
    double global_atomic_lanes = 0;
    double global_atomic_sectors = 0;
    double hottest_address = 0;  ///< atomics to the address that gets the most of them
    std::vector<Footprint> arrays;

    /// The longest chain of waits of a warp from its start to its end, by kind: the average warp, and the longest one.
    std::array<double, kLatencies> chain{};
    double longest_over_average = 1;

    SeenCode seen;  ///< until with_machine_code has used it

    double warps_per_block() const { return (threads + 31) / 32; }  // NOLINT(bugprone-integer-division)
    double warps() const { return blocks * warps_per_block(); }
    double all_instructions() const {
        double sum = 0;
        for (const double count : instructions) sum += count;
        return sum;
    }
    /// Loads that a warp has in flight together, on average over its waits for global memory. 0 without loads.
    double loads_in_flight() const {
        const double round_trips = chain[static_cast<std::size_t>(Latency::global)] * warps();
        return load_requests == 0 ? 0 : round_trips <= 0 ? 1 : load_requests / round_trips;
    }
};

}  // namespace warpwise::model
