// What code that is compiled for watching (macro __CPU_DEVICE_WATCHED__) tells the runtime beside its loads and stores,
// which the compiler announces. In other code all of this is nothing, but for printf, which is another one in kernels.
#pragma once

#include <cstddef>

namespace cpu_device {

enum class FenceScope : unsigned char { block, device, system };

/// What an atomic operation is. `increment`: adds the constant 1 to an integer; nvcc has an instruction of its own for
/// that in shared memory when nobody looks at the result.
enum class AtomicUse : unsigned char { update, increment, compare_and_swap, load, store };

void see_atomic(const void* memory, std::size_t bytes, AtomicUse use);
void see_fence(FenceScope scope);

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

/// An atomic operation on `bytes` bytes follows.
CPU_DEVICE_INLINE void note_atomic([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes,
                                   [[maybe_unused]] AtomicUse use = AtomicUse::update) {
#ifdef __CPU_DEVICE_WATCHED__
    see_atomic(memory, bytes, use);
#endif
}

CPU_DEVICE_INLINE void note_fence([[maybe_unused]] FenceScope scope) {
#ifdef __CPU_DEVICE_WATCHED__
    see_fence(scope);
#endif
}

}  // namespace cpu_device

#ifdef __CUDACC__
// In a kernel, printf returns the number of arguments that it printed; in host code what the C library's returns.
extern "C" {
int printf(const char* format, ...) __asm__("cpu_device_printf");
// What glibc makes of it with _FORTIFY_SOURCE, which some distributions always define.
int __printf_chk(int flag, const char* format, ...) __asm__("cpu_device_printf_chk");
}
#endif

#ifdef __CPU_DEVICE_WATCHED__
// Copies by the C library would go unseen. The names apply to calls that the compiler makes by itself, too.
extern "C" {
void* memcpy(void* to, const void* from, std::size_t bytes) noexcept __asm__("cpu_device_memcpy");
void* memmove(void* to, const void* from, std::size_t bytes) noexcept __asm__("cpu_device_memmove");
void* memset(void* to, int value, std::size_t bytes) noexcept __asm__("cpu_device_memset");
// What a kernel takes from the heap is the device's, not the host's.
void* malloc(std::size_t bytes) noexcept __asm__("cpu_device_malloc");
}
#endif
