// What the CPU device counts while kernels run. Names and meanings follow Nsight Compute's "Kernel Profiling Guide".
//
//     const Counts total = sum_of(launches);
//     total.global_load.sectors_per_request();    // 4 when the lanes of a warp read neighboring floats
//
// Plain data, the same for every device, so that whoever shows or judges counts needs no CPU device to be compiled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/facts.h"

namespace warpwise {

/// One kind of memory operation. A request is one access instruction carried out for one warp.
struct RequestCounts {
    double requests = 0;
    double lanes = 0;             ///< threads that took part, over all requests
    double bytes = 0;             ///< bytes that the lanes asked for
    double sectors = 0;           ///< global memory: distinct 32-byte sectors, per request
    double needed_sectors = 0;    ///< how many would be enough for as many bytes, if they lay side by side
    double wavefronts = 0;        ///< shared memory: passes; constant memory: distinct addresses
    double least_wavefronts = 0;  ///< what as many lanes and bytes need without bank conflicts, or with one address
    double same_address = 0;      ///< atomics: lanes that have to wait because another lane has the same address
    double remote_lanes = 0;      ///< shared memory: lanes that accessed that of another block of the cluster

    double sectors_per_request() const;     ///< 0 without requests
    double wavefronts_per_request() const;  ///< 0 without requests
    double lanes_per_request() const;       ///< 0 without requests
    double sector_efficiency() const;       ///< sectors needed over sectors touched, 0 to 1; 1 without requests
    double bytes_moved() const;             ///< 32 for each sector
    double conflicts() const;               ///< wavefronts above the least

    RequestCounts& operator+=(const RequestCounts& other);
    RequestCounts& operator*=(double factor);
    bool operator==(const RequestCounts&) const = default;
};

struct Counts {
    RequestCounts global_load, global_store, global_atomic;
    RequestCounts shared_load, shared_store, shared_atomic;
    RequestCounts constant_load;
    double barriers = 0;  ///< __syncthreads() and the like, counted for each warp
    /// Basic blocks carried out by warps, and lanes active in them: stands for instructions, which only nvcc knows.
    double steps = 0;
    double active_lanes = 0;

    double active_lanes_per_step() const;  ///< 1 to 32; 0 when nothing ran
    RequestCounts global() const;          ///< loads, stores and atomics together
    RequestCounts shared() const;          ///< loads, stores and atomics together

    /// One number for all that memory has to do, in bytes: 32 for each sector, 128 (a pass over all banks) for each
    /// wavefront, 32 for each lane that waits at an atomic. To find the line that costs most, not to predict a time.
    double cost() const;

    Counts& operator+=(const Counts& other);
    Counts& operator*=(double factor);
    bool operator==(const Counts&) const = default;
};

/// The seven kinds, with their names in JSON; in the order in which the CPU device numbers them.
struct MemoryOperation {
    using Member = RequestCounts Counts::*;
    const char* name;
    Member counts;
};
inline constexpr std::array<MemoryOperation, 7> memory_operations = {{{"global_load", &Counts::global_load},
                                                                      {"global_store", &Counts::global_store},
                                                                      {"global_atomic", &Counts::global_atomic},
                                                                      {"shared_load", &Counts::shared_load},
                                                                      {"shared_store", &Counts::shared_store},
                                                                      {"shared_atomic", &Counts::shared_atomic},
                                                                      {"constant_load", &Counts::constant_load}}};

/// Counts of one line of source.
struct LineCounts {
    std::string file;
    int line = 0;
    Counts counts;
};

/// Counts of one array: a __shared__ variable, a kernel's parameter, a __constant__ or __device__ variable.
struct ArrayCounts {
    std::string name;
    Counts counts;
};

/// One launch, as counted: of a sample of its blocks, counts are those of the sample.
struct LaunchCounts {
    std::string kernel;  ///< as written left of `<<<`
    std::string file;    ///< of the launch
    int line = 0;
    std::array<unsigned, 3> grid = {1, 1, 1};
    std::array<unsigned, 3> block = {1, 1, 1};
    std::size_t shared_bytes = 0;  ///< of a block, static and dynamic
    std::uint64_t blocks = 0;
    std::uint64_t instrumented_blocks = 0;
    int registers = 0;     ///< per thread, as somebody said; 0: not known
    double occupancy = 0;  ///< theoretical: resident warps of a multiprocessor over its limit, 0 to 1; without
                           ///< registers the most that block and shared memory permit
    Counts total;
    unsigned most_barriers = 0;     ///< that a warp passes, in the block that passes most
    std::vector<LineCounts> lines;  ///< by file and line
    std::vector<ArrayCounts> arrays;
    model::LaunchFacts facts = {};  ///< for the time model: of the whole grid
    std::string trace = {};         ///< of its first blocks, where one was asked for: JSON (see lesson/trace_file.h)

    double scale() const;              ///< what a count of the sample stands for in the whole grid
    double barriers_per_warp() const;  ///< on average; 0 when nothing was instrumented
};

/// All launches together, samples scaled up to their grids.
Counts sum_of(const std::vector<LaunchCounts>& launches);

/// The lines of all launches, by file and line, samples scaled up.
std::vector<LineCounts> lines_of(const std::vector<LaunchCounts>& launches);

/// The counts of the array of this name in all launches, samples scaled up; absent where there is no such array.
std::optional<Counts> array_of(const std::vector<LaunchCounts>& launches, const std::string& name);

/// "8192", "1.05 M", "3.50 G": whole numbers below a million as they are.
std::string count_text(double count);

/// "8.39 MB": decimal units, as profilers have them.
std::string bytes_moved_text(double bytes);

/// "32", "4.5", "31.06": at most two decimals, no zeros behind them.
std::string ratio_text(double ratio);

}  // namespace warpwise
