// What code that was compiled for instrumenting calls: the callbacks of `-fsanitize=thread` and
// `-fsanitize-coverage=trace-pc`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "instrumented_thread.h"

namespace cpu_device {

/// While it lives, the running thread's accesses are the runtime's own. Instrumented code and the runtime share
/// functions of the standard library's templates, and the linker keeps the ones that were compiled for instrumenting.
class Uninstrumented {
public:
    Uninstrumented() : was_active_(instrumented_thread.active) { instrumented_thread.active = false; }
    ~Uninstrumented() { instrumented_thread.active = was_active_; }
    Uninstrumented(const Uninstrumented&) = delete;
    Uninstrumented& operator=(const Uninstrumented&) = delete;

private:
    bool was_active_;
};

/// Holds a mutex that a callback for host code takes, too. The same functions of the standard library, called by the
/// runtime meanwhile, would wait for it forever.
class RuntimeLock {
public:
    explicit RuntimeLock(std::mutex& mutex) : held_before_(instrumented_thread.holds_lock), lock_(mutex) {
        instrumented_thread.holds_lock = true;
    }
    ~RuntimeLock() { instrumented_thread.holds_lock = held_before_; }
    RuntimeLock(const RuntimeLock&) = delete;
    RuntimeLock& operator=(const RuntimeLock&) = delete;

private:
    bool held_before_;
    std::lock_guard<std::mutex> lock_;
};

/// Device memory, which host code must not touch, and managed memory, which it must not touch too early, lie in
/// between; noted while errors are looked for.
void note_device_memory(const void* begin, std::size_t bytes);

/// The running thread gets what lies in memory there, by an instruction that another thread's access counts for.
/// `code`: where that is.
void see_read_of_lane(const void* memory, std::size_t bytes, const void* code);

/// True when some code of this program was compiled for instrumenting.
bool has_instrumented_code();

/// Fills in `own_variables`, once for each host thread.
void find_own_variables();

}  // namespace cpu_device
