// What warps did, event by event, in the order in which each of them did it: for graders of tasks that say what has to
// come before what. A warp executes its instructions in the order of the program, so this order tells what it waits
// for.
//
//     for (const WarpTrace& warp : trace_warps([&] { answer(d_in.data(), d_out.data(), n); }, {.blocks = 2})) {
//         for (const WarpEvent& event : warp.events) {
//             if (event.kind == WarpEvent::Kind::global_load && event.array_bytes == d_in_bytes) ...
//
// Only the CPU device keeps traces; elsewhere there are none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace grading {

/// A memory operation that a warp carried out for some of its lanes, or a barrier of its block.
struct WarpEvent {
    enum class Kind {
        global_load,
        global_store,
        global_atomic,
        shared_load,
        shared_store,
        shared_atomic,
        constant_load,
        barrier
    };
    Kind kind = Kind::barrier;
    std::string file;
    int line = 0;
    std::string array;  ///< its name: that of the kernel's parameter, or of the __shared__ variable
    std::size_t array_bytes =
        0;                  ///< of the allocation that the address lies in; tells buffers of different sizes apart
    std::size_t bytes = 0;  ///< of each lane
    /// Lane, and offset in bytes from the begin of the array, for each lane that took part; empty for barriers.
    std::vector<std::pair<unsigned, std::int64_t>> lanes = {};
};

struct WarpTrace {
    std::size_t launch = 0;  ///< from 0
    std::array<unsigned, 3> block = {};
    unsigned warp = 0;     ///< in its block
    unsigned threads = 0;  ///< that it has
    bool cut = false;      ///< it did more than was kept
    std::vector<WarpEvent> events = {};
};

struct TraceSize {
    std::uint64_t blocks = 1;   ///< of each launch: the first so many
    std::size_t events = 4000;  ///< of each warp, at most; the steps between operations count as well
};

/// Runs `body` and returns what the warps of its launches did; nothing where no traces are kept. Not within
/// `instrument`.
std::vector<WarpTrace> trace_warps(const std::function<void()>& body, TraceSize size = {});

/// The traces of one launch, from their JSON (cpu_device/instrument.h tells its form).
std::vector<WarpTrace> warps_of(const std::string& json, std::size_t launch);

/// "my.cu:12: out[i] = in[i];", with the line's text where the file can be read; for messages.
std::string place_text(const WarpEvent& event);

}  // namespace grading
