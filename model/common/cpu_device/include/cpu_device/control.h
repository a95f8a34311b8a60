// Device functions that steer the running thread: clocks, sleeping, traps and promises to the compiler.
#pragma once

#include <time.h>  // clock(), too

#include "cpu_device/execution.h"
#include "cpu_device/instrumented.h"

/// A counter that runs on while a kernel runs, in nanoseconds (a GPU counts cycles).
inline long long clock64() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// Lets the other threads of the block run. The sleep itself takes no time here.
inline void __nanosleep(unsigned int /*nanoseconds*/) {
    if (cpu_device::in_kernel()) cpu_device::yield_thread();
}

/// Ends the kernel with an error.
[[noreturn]] CPU_DEVICE_INLINE void __trap() {
    if (cpu_device::in_kernel()) cpu_device::abort_kernel(cudaErrorLaunchFailure, "the kernel called __trap()");
    __builtin_trap();
}

/// Marks a moment for a GPU's profiler; nothing here.
inline void __prof_trigger(int /*counter*/) {}

/// Promises to the compiler that `condition` holds.
inline void __assume(bool condition) {
    if (!condition) __builtin_unreachable();
}
#if !defined(__clang__)
inline void __builtin_assume(bool condition) {
    if (!condition) __builtin_unreachable();
}
#endif
