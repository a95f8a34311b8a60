// What must not take the process down: illegal addresses, failed asserts and endless loops in kernels.
#pragma once

#include <pthread.h>

#include <vector>

#include "block.h"

namespace cpu_device {

/// Once per host thread that runs blocks: the stack on which signals are handled.
void give_signal_stack();

/// Catches faults while it lives: one for each launch. Whoever caught them before (a test framework, say) does so again
/// afterwards, and gets the host's own faults in the meantime.
class FaultHandlers {
public:
    FaultHandlers();
    ~FaultHandlers();
    FaultHandlers(const FaultHandlers&) = delete;
    FaultHandlers& operator=(const FaultHandlers&) = delete;
};

/// Ends the device threads that run on these host threads, because no block finished for `seconds`. A host thread
/// that happens to be inside a library function is left alone: the caller asks again.
void interrupt_device_threads(double seconds, pthread_t owner, const std::vector<pthread_t>& helpers);

/// Ends the kernel of the running instrumented thread, which stands at `code`, because the watchdog asked for it.
[[noreturn]] void end_instrumented_thread(const void* code);

/// The most dynamic shared memory that `kernel` may have: 48 KB, or what cudaFuncSetAttribute set. Where the kernel is
/// not known (null), the most that any kernel was allowed so far.
std::size_t dynamic_shared_limit(const void* kernel);

}  // namespace cpu_device
