// What code that was compiled for watching calls: the callbacks of `-fsanitize=thread` and
// `-fsanitize-coverage=trace-pc`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "watched_thread.h"

namespace cpu_device {

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
