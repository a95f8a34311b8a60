// What code that was compiled for watching calls: the callbacks of `-fsanitize=thread` and
// `-fsanitize-coverage=trace-pc`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "checker.h"
#include "recorder.h"

namespace cpu_device {

/// What the callbacks need of the running device thread, in one place. All zero while nothing is watched.
struct WatchedThread {
    bool active = false;
    volatile bool stop = false;  ///< set by the watchdog: the next callback ends the kernel
    TraceEvent* next = nullptr;  ///< where its next event goes; null while no counters are taken
    TraceEvent* end = nullptr;
    BlockChecker* checker = nullptr;  ///< null while no mistakes are looked for
    unsigned thread = 0;              ///< linear rank in the block
    std::uintptr_t arena = 0;         ///< of the block: its shared memory, and behind it memory of the runtime
    std::size_t arena_bytes = 0;
    std::size_t runtime_bytes = 0;
    std::uintptr_t stack = 0;  ///< of the running fiber
    std::size_t stack_bytes = 0;
    std::uintptr_t own_variables = 0;  ///< thread-local variables of the host thread, such as threadIdx
    std::size_t own_variable_bytes = 0;
};
extern constinit thread_local WatchedThread watched_thread __attribute__((tls_model("initial-exec")));

/// While it lives, the running thread's accesses are the runtime's own. Watched code and the runtime share functions of
/// the standard library's templates, and the linker keeps the ones that were compiled for watching.
class Unwatched {
public:
    Unwatched() : was_active_(watched_thread.active) { watched_thread.active = false; }
    ~Unwatched() { watched_thread.active = was_active_; }
    Unwatched(const Unwatched&) = delete;
    Unwatched& operator=(const Unwatched&) = delete;

private:
    bool was_active_;
};

/// Device memory, which host code must not touch, lies in between; noted while mistakes are looked for.
void note_device_memory(const void* begin, std::size_t bytes);

/// True when some code of this program was compiled for watching.
bool has_watched_code();

/// Fills in `own_variables`, once for each host thread.
void find_own_variables();

}  // namespace cpu_device
