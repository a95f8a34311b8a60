// How long a kernel would take on a GPU that is not here, and what limits it.
//
//     const Gpu gpu = load_gpu("H200");
//     const Estimate estimate = warpwise::model::estimate(facts, gpu);
//     estimate.text(gpu);    // "~ 56 us on H200, limited by DRAM bandwidth (91 %); next: L2 bandwidth (48 %)"
//
// Every resource of the GPU gets the time that it would need if it alone limited the kernel. The largest of these times
// is the limiter; a soft maximum of all is the kernel's time. See docs/time_model.md for where this is wrong.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "common/model/facts.h"

namespace warpwise::model {

enum class Limiter : unsigned char {
    dram,
    l2,
    l1,
    shared,
    fp32,
    fp64,
    special,
    integer,
    issue,
    latency,  ///< too few bytes or instructions in flight
    atomics,  ///< on one address
    launch,   ///< overhead of a launch
    tail,     ///< SMs that have nothing to do while others still work
    pcie,
    tensor,  ///< tensor cores, which the CPU device refuses: never the limiter of a kernel that it ran
};
inline constexpr std::size_t kLimiters = 15;

/// As JSON has it: "dram", "shared" ...
const char* identifier_of(Limiter limiter);
/// As text has it: "DRAM bandwidth".
const char* name_of(Limiter limiter);
/// For the cell of a table: "DRAM".
const char* short_name_of(Limiter limiter);

/// A GPU as its data file describes it.
struct Gpu {
    std::string name;  ///< "H200"
    std::string full_name;
    bool measured = false;  ///< times of this GPU were compared with the model
    std::string note;       ///< where its numbers come from
    double multiprocessors = 0;
    double clock_hz = 0;  ///< of the SMs, under load
    double max_threads_per_sm = 2048;
    double max_blocks_per_sm = 32;
    double registers_per_sm = 65536;
    double shared_bytes_per_sm = 0;
    double dram_bytes_per_second = 0;       ///< that a kernel can reach
    double dram_peak_bytes_per_second = 0;  ///< of the datasheet: what Nsight Compute calls 100 %
    double l2_bytes_per_second = 0;         ///< of whole lines that it holds, if it is always busy
    double l2_bytes = 0;
    double pcie_bytes_per_second = 0;
    // Warps' instructions per cycle of an SM.
    double issue_per_cycle = 4;
    std::array<double, kPipes> per_cycle{};
    double l1_lines_per_cycle = 1;
    double l1_sectors_per_cycle = 4;
    double wavefronts_per_cycle = 1;
    double l2_sectors_per_cycle_of_sm = 2;  ///< between one SM and L2
    // Cycles.
    std::array<double, kLatencies> latency{};  ///< that of `global` is L2's
    double dram_latency = 0;                   ///< instead of L2's, where the data is not there
    // Atomics.
    double same_address_atomics_per_second = 0;  ///< lanes of atomics to one address
    double shared_atomic_cycles = 2;             ///< that a lane costs which waits for another one's address
    double launch_seconds = 0;                   ///< of an empty kernel
    double block_seconds = 0;                    ///< to start one block on an SM
};

/// Throws std::runtime_error with a message for the reader when there is no such GPU or the file is wrong.
Gpu load_gpu(const std::string& name);
Gpu read_gpu(const std::filesystem::path& file);
/// Their names, the default first.
std::vector<std::string> known_gpus();
inline constexpr const char* default_gpu = "H200";

/// The GPU of this process's tables and results; null while none was chosen (--gpu-model).
const Gpu* chosen_gpu();
/// Throws like load_gpu.
void choose_gpu(const std::string& name);

struct Estimate {
    double seconds = 0;
    Limiter limiter = Limiter::launch;
    Limiter runner_up = Limiter::launch;
    double share = 0;                       ///< of `seconds` that the limiter alone needs
    double runner_up_share = 0;             ///< the same of the runner-up
    std::array<double, kLimiters> parts{};  ///< seconds that each resource needs

    // What else follows on the way.
    double occupancy = 0;          ///< 0 to 1
    double dram_bytes = 0;         ///< after the caches
    double bytes_in_flight = 0;    ///< per SM: loads that its warps have in flight together
    double waves = 0;              ///< of blocks
    double busy_in_last_wave = 1;  ///< share of the places for blocks that the last wave fills

    /// "~ 56 us on H200, limited by DRAM bandwidth (91 %); next: L2 bandwidth (48 %)"
    std::string text(const Gpu& gpu) const;
};

struct EstimateOptions {
    bool cold_caches = false;  ///< L2 holds nothing of the kernel's data when it begins
};

Estimate estimate(const LaunchFacts& facts, const Gpu& gpu, const EstimateOptions& options = {});

/// The facts with instructions, registers, and waits of the machine code that was recorded for the kernel (see
/// common/code/recorded.h); unchanged where none was.
LaunchFacts with_machine_code(LaunchFacts facts);

/// Blocks that an SM holds at a time.
double resident_blocks(const LaunchFacts& facts, const Gpu& gpu);

/// Adds the launches of a sequence: its seconds, and the limiter with the most of them.
Estimate sum_of(const std::vector<Estimate>& launches);

}  // namespace warpwise::model
