// What code that is compiled for instrumenting (macro __CPU_DEVICE_INSTRUMENTED__) tells the runtime beside its loads
// and stores, which the compiler announces. In other code all of this is nothing, but for printf, which is another one
// in kernels.
#pragma once

#include <cstddef>

namespace cpu_device {

/// Which threads an atomic operation or a fence takes part in an order with. Each includes those before it.
enum class ThreadScope : unsigned char { thread, block, device, system };

/// How an atomic operation or a fence orders the other accesses of its thread. Sequential consistency adds nothing to
/// acquire_release that could make a race of an order.
enum class MemoryOrder : unsigned char { relaxed, acquire, release, acquire_release };

constexpr bool acquires(MemoryOrder order) {
    return order == MemoryOrder::acquire || order == MemoryOrder::acquire_release;
}
constexpr bool releases(MemoryOrder order) {
    return order == MemoryOrder::release || order == MemoryOrder::acquire_release;
}

/// What an atomic operation is. `increment`: adds the constant 1 to an integer; nvcc has an instruction of its own for
/// that in shared memory when nobody looks at the result. `failed_compare_and_swap`: it will find another value than it
/// wants, so it writes nothing.
enum class AtomicUse : unsigned char { update, increment, compare_and_swap, failed_compare_and_swap, load, store };

void see_atomic(const void* memory, std::size_t bytes, AtomicUse use, MemoryOrder order, ThreadScope scope);
void see_fence(ThreadScope scope, MemoryOrder order);
/// An asynchronous copy of at most 16 bytes begins. Returns where in the code that is.
const void* see_late_copy(const void* to, const void* from, std::size_t bytes);
/// A cuda::barrier is initialized, or used. Nobody counts that: no load or store is needed for it.
void see_barrier(const void* barrier, bool begins);

}  // namespace cpu_device

// Functions of the headers that work on the runtime's own memory, or that announce what they do by themselves.
#if defined(__clang__)
#define CPU_DEVICE_UNSEEN __attribute__((no_sanitize("thread", "coverage")))
#else
#define CPU_DEVICE_UNSEEN __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif
/// Inlined, so that what it does counts for the line that calls it.
#define CPU_DEVICE_INLINE inline __attribute__((always_inline, artificial))

namespace cpu_device {

/// An atomic operation on `bytes` bytes follows. CUDA's atomic functions are relaxed.
CPU_DEVICE_INLINE void note_atomic([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes,
                                   [[maybe_unused]] AtomicUse use, [[maybe_unused]] ThreadScope scope,
                                   [[maybe_unused]] MemoryOrder order = MemoryOrder::relaxed) {
#ifdef __CPU_DEVICE_INSTRUMENTED__
    see_atomic(memory, bytes, use, order, scope);
#endif
}

CPU_DEVICE_INLINE void note_fence([[maybe_unused]] ThreadScope scope,
                                  [[maybe_unused]] MemoryOrder order = MemoryOrder::acquire_release) {
#ifdef __CPU_DEVICE_INSTRUMENTED__
    see_fence(scope, order);
#endif
}

}  // namespace cpu_device

#ifdef __CUDACC__
// In a kernel, printf returns the number of arguments that it printed; in host code what the C library's returns.
extern "C" {
int printf(const char* format, ...) __asm__("cpu_device_printf");
// What glibc makes of it with _FORTIFY_SOURCE, which some distributions always define.
int __printf_chk(int flag, const char* format, ...) __asm__("cpu_device_printf_chk");
// What compilers make of a printf whose result nobody looks at.
int puts(const char* text) __asm__("cpu_device_puts");
int putchar(int character) __asm__("cpu_device_putchar");
}
#endif

#ifdef __CPU_DEVICE_INSTRUMENTED__
// Copies by the C library would go unseen. The names apply to calls that the compiler makes by itself, too.
extern "C" {
void* memcpy(void* to, const void* from, std::size_t bytes) noexcept __asm__("cpu_device_memcpy");
void* memmove(void* to, const void* from, std::size_t bytes) noexcept __asm__("cpu_device_memmove");
void* memset(void* to, int value, std::size_t bytes) noexcept __asm__("cpu_device_memset");
// What a kernel takes from the heap is the device's, not the host's.
void* malloc(std::size_t bytes) noexcept __asm__("cpu_device_malloc");
}
#endif
