// The running device thread, as the code that is instrumented knows it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace_event.h"

namespace cpu_device {

class BlockDiagnoser;

/// Where a thread has been of late: return addresses of its steps, each an offset into the program.
struct RecentSteps {
    static constexpr std::uint32_t kKept = 16;

    std::uint32_t count = 0;
    std::uint32_t code[kKept];

    void add(std::uint32_t step) { code[count++ % kKept] = step; }
};

/// What the callbacks need of the running device thread, in one place. All zero while nothing is instrumented.
struct InstrumentedThread {
    bool active = false;
    volatile unsigned char stop = 0;  ///< counted up by the watchdog: not 0, and the next callback ends the kernel
    bool holds_lock = false;          ///< a RuntimeLock: host code that runs now is the runtime's own
    bool awaits_step = false;         ///< after a shuffle: the block wants to know where it goes on
    RecentSteps* steps = nullptr;     ///< null while no errors are looked for
    TraceEvent* next = nullptr;       ///< where its next event goes; null while no counters are taken
    TraceEvent* end = nullptr;
    BlockDiagnoser* diagnoser = nullptr;  ///< null while no errors are looked for
    unsigned thread = 0;                  ///< linear rank in the block
    std::uintptr_t arena = 0;             ///< of the block: its shared memory, and behind it memory of the runtime
    std::size_t arena_bytes = 0;          ///< of the shared memory
    std::size_t block_bytes = 0;          ///< of both
    std::uintptr_t stack = 0;             ///< of the running fiber
    std::size_t stack_bytes = 0;
    std::uintptr_t lowest_height = 0;  ///< of its stack, see TraceEvent
    std::uintptr_t own_variables = 0;  ///< thread-local variables of the host thread, such as threadIdx
    std::size_t own_variable_bytes = 0;
};
extern constinit thread_local InstrumentedThread instrumented_thread __attribute__((tls_model("initial-exec")));

}  // namespace cpu_device
