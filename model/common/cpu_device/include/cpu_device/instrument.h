// Instrumentation of kernels: counters as a GPU's profiler gives them, and errors that a GPU hides.
//
// Only code compiled for it can be instrumented (CMake: WARPWISE_INSTRUMENT_OPTIONS); in other code nothing is slower
// and nothing is seen. Names and meanings of the counters follow NVIDIA Nsight Compute's "Kernel Profiling Guide".
//
//     cpu_device::instrument({.counters = true});
//     kernel<<<grid, block>>>(...);
//     for (const cpu_device::LaunchCounters& launch : cpu_device::take_counters()) ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/model/facts.h"
#include "cpu_device/execution.h"

namespace cpu_device {

/// So many events of a warp are kept, unless another number is set.
constexpr std::size_t kTracedEvents = 400;

struct InstrumentOptions {
    bool counters = false;
    bool diagnostics = false;  ///< races, bounds, uninitialized reads ... (divergent barriers are always found)
    bool leaks = false;  ///< with `diagnostics`: what is never freed or destroyed is an error, too, and not only a note
    /// Of a launch with more blocks than this, a sample of this many is instrumented, spread evenly over the grid, the
    /// first and the last among them. 0: every block.
    std::uint64_t blocks = 0;
    int registers = 0;  ///< per thread, for theoretical occupancy: what nvcc's resource report says; 0: not known
    bool model = true;  ///< with `counters`: gather what the time model needs, LaunchCounters::model
    /// The first so many blocks of each launch leave a trace, if counters are taken: LaunchCounters::trace.
    std::uint64_t traced_blocks = 0;
    std::size_t traced_events = kTracedEvents;  ///< of each warp that leaves a trace, at most
};

/// Enough for every exercise; keeps a launch of a million blocks bearable.
constexpr std::uint64_t kSampledBlocks = 256;

/// Sets what launches from now on are instrumented for; returns what was set before. At the start of a program the
/// environment decides: CPU_DEVICE_INSTRUMENT=counters,diagnostics,leaks (`leaks` looks for errors as well) and
/// CPU_DEVICE_INSTRUMENT_BLOCKS=N (default 256; 0 or "all").
InstrumentOptions instrument(const InstrumentOptions& options);

/// What is set now.
InstrumentOptions instrumenting();

/// True when some code of this program was compiled for instrumenting.
bool can_instrument();

enum class MemoryOperation : unsigned char {
    global_load,
    global_store,
    global_atomic,
    shared_load,
    shared_store,
    shared_atomic,
    constant_load,
};
constexpr std::size_t kMemoryOperations = 7;

/// "global load" ...
const char* name_of(MemoryOperation operation);

/// One kind of memory operation. A request is one access instruction carried out for one warp.
struct RequestCounters {
    std::uint64_t requests = 0;
    std::uint64_t lanes = 0;           ///< threads that took part, over all requests
    std::uint64_t bytes = 0;           ///< bytes that the lanes asked for
    std::uint64_t sectors = 0;         ///< global memory: distinct 32-byte sectors, per request
    std::uint64_t needed_sectors = 0;  ///< how many would be enough for as many bytes, if they lay side by side
    std::uint64_t wavefronts = 0;      ///< shared memory: passes; constant memory: distinct addresses
    std::uint64_t least_wavefronts =
        0;                           ///< what as many lanes and bytes need without bank conflicts, or with one address
    std::uint64_t same_address = 0;  ///< atomics: lanes that have to wait because another lane has the same address
    /// Shared memory: lanes that accessed that of another block of the cluster. No wavefronts are counted for them.
    std::uint64_t remote_lanes = 0;

    double sectors_per_request() const;     ///< 0 without requests
    double lanes_per_request() const;       ///< 0 without requests
    std::uint64_t bytes_moved() const;      ///< 32 for each sector
    std::uint64_t conflicts() const;        ///< wavefronts above the least
    double wavefronts_per_request() const;  ///< 0 without requests
    RequestCounters& operator+=(const RequestCounters& other) {
        requests += other.requests;
        lanes += other.lanes;
        bytes += other.bytes;
        sectors += other.sectors;
        needed_sectors += other.needed_sectors;
        wavefronts += other.wavefronts;
        least_wavefronts += other.least_wavefronts;
        same_address += other.same_address;
        remote_lanes += other.remote_lanes;
        return *this;
    }
};

struct Counters {
    std::array<RequestCounters, kMemoryOperations> memory;
    std::uint64_t barriers = 0;  ///< __syncthreads() and block-wide sync(), counted for each warp
    /// Basic blocks carried out by warps, and lanes active in them: stands for instructions, which only nvcc knows.
    std::uint64_t steps = 0;
    std::uint64_t active_lanes = 0;

    RequestCounters& operator[](MemoryOperation operation) { return memory[static_cast<std::size_t>(operation)]; }
    const RequestCounters& operator[](MemoryOperation operation) const {
        return memory[static_cast<std::size_t>(operation)];
    }
    double active_lanes_per_step() const;  ///< 1 to 32; 0 when nothing ran
    Counters& operator+=(const Counters& other);
};

/// Counters of one source line, the line of the program itself where an inlined function of the CPU device did the
/// access.
struct LineCounters {
    std::string file;
    int line = 0;
    Counters counters;
};

/// Counters of one array: a __shared__ variable, a kernel's parameter, a __constant__ or __device__ variable.
struct ArrayCounters {
    std::string name;
    Counters counters;
};

/// Something that a warp of a traced block did: entered a basic block, accessed memory, passed a barrier.
struct TracedEvent {
    enum class Kind : unsigned char { step, access, barrier };
    Kind kind = Kind::step;
    Site site = {};           ///< its line; no file where that is unknown
    std::uint32_t lanes = 0;  ///< that took part, lane 0 in the lowest bit
    // Of an access:
    MemoryOperation operation = {};
    int array = 0;                           ///< index into LaunchTrace::arrays
    std::uint32_t bytes = 0;                 ///< of each lane
    std::vector<std::int64_t> offsets = {};  ///< in bytes from the begin of the array, for each lane that took part
    RequestCounters counters = {};
    const void* code = nullptr;  ///< return address; null for barriers
};

struct TracedWarp {
    uint3 block = {};
    unsigned warp = 0;     ///< in its block
    unsigned threads = 0;  ///< that it has: 32, or fewer in the last warp of a block
    bool cut = false;      ///< it did more than was kept
    std::vector<TracedEvent> events = {};
};

struct TracedArray {
    std::string name;
    MemoryOperation operation = {};  ///< one by which it was accessed: tells the kind of memory
    std::size_t bytes = 0;
    std::size_t begin = 0;  ///< address modulo 128; shared memory: where in that of the block
};

/// What the warps of the traced blocks did, in the order in which each of them did it.
struct LaunchTrace {
    std::vector<TracedArray> arrays;
    std::vector<TracedWarp> warps;  ///< by block and warp
};

/// {"arrays": [{"name", "space": "global" | "shared" | "constant", "bytes", "begin"}], "files": [...],
///  "warps": [{"block": [x, y, z], "warp", "threads", "cut", "events": [...]}]}, where an event is one of
///     {"kind": "step", "file": index, "line", "lanes": "ffffffff"}
///     {"kind": "barrier", "file", "line", "lanes"}
///     {"kind": "global_load" .., "file", "line", "lanes", "array": index, "bytes", "sectors" or "wavefronts" and
///      "least_wavefronts", "same_address" of atomics, "first" and "stride" where offsets are evenly spaced, else "at":
///      [...]}
std::string json_of(const LaunchTrace& trace);

struct LaunchCounters {
    std::string kernel;  ///< as written left of `<<<`; what a variable there stands for, where that can be told
    Site site;           ///< of the launch
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes = 0;  ///< of a block, static and dynamic
    std::uint64_t blocks = 0;
    std::uint64_t instrumented_blocks = 0;  ///< fewer than `blocks`: a sample; all counts are those of the sample
    int registers = 0;                      ///< InstrumentOptions::registers
    double occupancy = 0;  ///< theoretical: resident warps of a multiprocessor over its limit; without registers the
                           ///< most that block and shared memory permit
    Counters total;
    unsigned most_barriers = 0;       ///< that a warp passes, in the block that passes most
    std::vector<LineCounters> lines;  ///< by file and line
    std::vector<ArrayCounters> arrays;
    LaunchTrace trace;
    warpwise::model::LaunchFacts model;  ///< of the whole grid

    /// What a count of the sample stands for in the whole grid.
    double scale() const { return instrumented_blocks == 0 ? 1 : static_cast<double>(blocks) / instrumented_blocks; }
};

/// Hands over the counters of the launches since the last call, in the order of the launches. Looking up the source
/// lines takes some tens of milliseconds in each process: `with_lines` false leaves `LaunchCounters::lines` empty.
std::vector<LaunchCounters> take_counters(bool with_lines = true);

/// How much of the program was searched for errors, over all of its launches so far.
struct Coverage {
    std::uint64_t launches = 0;             ///< that ran while errors were looked for
    std::uint64_t blocks = 0;               ///< of these launches, as far as they ran
    std::uint64_t instrumented_blocks = 0;  ///< of `blocks`: looked at for data races as well
    std::uint64_t accesses = 0;             ///< to global and shared memory
    std::uint64_t aborted_launches = 0;     ///< of `launches`: ended before all of their blocks had run
    std::uint64_t skipped_launches = 0;     ///< that did not run because an earlier kernel had failed
    std::string failed_kernel = {};         ///< the kernel that failed
};
Coverage coverage();

/// "Examined all 4,096 blocks of 3 launches, 1.2 M accesses.", or what share of them; and whether launches were
/// skipped. `how_to_examine_all` names what makes every block instrumented ("--all-blocks"). Without a newline at the
/// end; empty when nothing was launched.
std::string text_of(const Coverage& coverage, const std::string& how_to_examine_all);

/// Reports memory that was never freed, and streams, events, arrays, texture and surface objects that were never
/// destroyed: as notes, or as errors with InstrumentOptions::leaks. The end of the process does it by itself while
/// errors are looked for.
void report_leaks();

}  // namespace cpu_device
