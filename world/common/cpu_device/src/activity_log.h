// What the runtime tells the log of activity (cpu_device/activity_log.h). While nothing is logged each of these costs a
// look at a variable.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cpu_device/types.h"

namespace cpu_device {

enum class AccessKind : unsigned char;
class Block;

extern std::atomic<bool> activity_is_logged;

/// Is shown every access of instrumented kernels to global memory while errors are looked for; mostly null.
using AccessWatch = void (*)(const void* memory, std::size_t bytes, AccessKind kind, const void* code);
extern std::atomic<AccessWatch> access_watch;

inline bool logs_activity() { return activity_is_logged.load(std::memory_order_relaxed); }

/// The running thread of a kernel accesses global memory.
void log_access(const Block& block, unsigned thread, const void* memory, std::size_t bytes, AccessKind kind);

/// Memory was copied to `to`, from wherever.
void log_copy(const void* to, const void* from, std::size_t bytes);

/// Memory was filled with a byte.
void log_fill(const void* memory, std::size_t bytes);

void log_launch(cudaStream_t stream, bool in_graph);

/// A function of the runtime API was called; `name` is that of a function of the source. `waits`: for the device.
void log_call(const char* name, bool waits);

/// The call that was logged last works in this stream.
void log_stream(cudaStream_t stream);

/// The call that was logged last copies.
void log_kind(cudaMemcpyKind kind, std::size_t bytes);

}  // namespace cpu_device
