// Atomic functions on global and shared memory, and memory fences.
//
// All are templates restricted to the types that CUDA allows. A program may therefore define the overloads that older
// GPUs lack, such as `double atomicAdd(double*, double)`: a function is preferred over a template.
// All of them are relaxed, as in CUDA. The variants for a block (`_block`) and for the whole system (`_system`) are the
// same operation here; while errors are looked for, their scopes decide what they order.
#pragma once

#include <concepts>
#include <type_traits>

#include "cpu_device/execution.h"
#include "cpu_device/instrumented.h"
#include "cpu_device/vector_types.h"

namespace cpu_device {

template <class T, class... Allowed>
concept OneOf = (std::same_as<T, Allowed> || ...);

template <class T>
concept AtomicAddable = OneOf<T, int, unsigned int, unsigned long long, float, double>;
template <class T>
concept AtomicSubtractable = OneOf<T, int, unsigned int>;
template <class T>
concept AtomicOrdered = OneOf<T, int, unsigned int, long long, unsigned long long>;
template <class T>
concept AtomicBits = OneOf<T, int, unsigned int, long long, unsigned long long>;
template <class T>
concept AtomicExchangeable = OneOf<T, int, unsigned int, unsigned long long, float>;
template <class T>
concept AtomicComparable = OneOf<T, int, unsigned int, unsigned long long, unsigned short>;
template <class T>
concept AtomicVector = OneOf<T, float2, float4>;

/// The thread that last left memory as it was, and how often it did so in a row.
struct Waiting {
    unsigned thread;
    unsigned attempts;
};
inline constinit thread_local Waiting waiting __attribute__((tls_model("initial-exec"))) = {0, 0};

/// To be called after an atomic operation that changed nothing. A thread that goes on like this waits for another one,
/// which may be of its own block: after some attempts it makes room.
CPU_DEVICE_UNSEEN inline void note_unchanged_memory() {
    constexpr unsigned attempts_before_yielding = 16;
    if (!in_kernel()) return;
    if (waiting.thread != current_thread.linear_thread) waiting = {current_thread.linear_thread, 0};
    if (++waiting.attempts < attempts_before_yielding) return;
    waiting.attempts = 0;
    yield_thread();
}

/// Replaces `*address` by `operation(*address)` in one indivisible step; returns the old value.
template <class T, class Operation>
CPU_DEVICE_UNSEEN T atomic_update(T* address, Operation operation) {
    T old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    T updated = operation(old);
    while (!__atomic_compare_exchange(address, &old, &updated, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        updated = operation(old);
    }
    return old;
}

/// atomic_update for an operation that may leave the value as it is: then nothing is written.
template <class T, class Operation>
CPU_DEVICE_UNSEEN T atomic_update_if_changed(T* address, Operation operation) {
    T old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    for (;;) {
        T updated = operation(old);
        if (updated == old) {
            note_unchanged_memory();
            return old;
        }
        if (__atomic_compare_exchange(address, &old, &updated, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
    }
}

}  // namespace cpu_device

// ---- the operations ------------------------------------------------------------------------------------------

namespace cpu_device {

template <class T>
CPU_DEVICE_INLINE T atomic_add(T* address, T value) {
    if constexpr (std::integral<T>) {
        const T old = __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
        if (value == 0) note_unchanged_memory();
        return old;
    } else {
        return atomic_update(address, [value](T old) CPU_DEVICE_UNSEEN { return old + value; });
    }
}

template <class T>
CPU_DEVICE_INLINE T atomic_subtract(T* address, T value) {
    return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}

/// old >= limit ? 0 : old + 1.
template <class T>
CPU_DEVICE_INLINE T atomic_increment(T* address, T limit) {
    return atomic_update(address, [limit](T old) CPU_DEVICE_UNSEEN { return old >= limit ? 0u : old + 1u; });
}

/// old == 0 || old > limit ? limit : old - 1.
template <class T>
CPU_DEVICE_INLINE T atomic_decrement(T* address, T limit) {
    return atomic_update(address,
                         [limit](T old) CPU_DEVICE_UNSEEN { return old == 0u || old > limit ? limit : old - 1u; });
}

template <class T>
CPU_DEVICE_INLINE T atomic_minimum(T* address, T value) {
    return atomic_update_if_changed(address, [value](T old) CPU_DEVICE_UNSEEN { return value < old ? value : old; });
}

template <class T>
CPU_DEVICE_INLINE T atomic_maximum(T* address, T value) {
    return atomic_update_if_changed(address, [value](T old) CPU_DEVICE_UNSEEN { return old < value ? value : old; });
}

template <class T>
CPU_DEVICE_INLINE T atomic_exchange(T* address, T value) {
    T old;
    __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
    if (old == value) note_unchanged_memory();
    return old;
}

template <class T>
CPU_DEVICE_INLINE T atomic_and(T* address, T value) {
    const T old = __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
    if ((old & value) == old) note_unchanged_memory();
    return old;
}

template <class T>
CPU_DEVICE_INLINE T atomic_or(T* address, T value) {
    const T old = __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
    if ((old | value) == old) note_unchanged_memory();
    return old;
}

template <class T>
CPU_DEVICE_INLINE T atomic_exclusive_or(T* address, T value) {
    return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}

/// Whether a compare-and-swap is about to write. While accesses are instrumented, no other thread runs in between.
template <class T>
CPU_DEVICE_UNSEEN AtomicUse use_of_compare_and_swap([[maybe_unused]] T* address, [[maybe_unused]] const T& compare) {
#ifdef __CPU_DEVICE_INSTRUMENTED__
    if (!in_kernel()) return AtomicUse::compare_and_swap;
    T now;
    __atomic_load(address, &now, __ATOMIC_RELAXED);
    if (__builtin_memcmp(&now, &compare, sizeof(T)) != 0) return AtomicUse::failed_compare_and_swap;
#endif
    return AtomicUse::compare_and_swap;
}

template <ThreadScope scope, class T>
CPU_DEVICE_INLINE T atomic_compare_and_swap(T* address, T compare, T value) {
    note_atomic(address, sizeof(T), use_of_compare_and_swap(address, compare), scope);
    T old = compare;
    if (!__atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        note_unchanged_memory();
    }
    return old;
}

}  // namespace cpu_device

// ---- CUDA's functions ----------------------------------------------------------------------------------------

// Each replaces `*address` in one indivisible step and returns the old value.
#define CPU_DEVICE_ATOMIC_OF_SCOPE(name, Allowed, operation, use, scope)                                         \
    template <Allowed T>                                                                                         \
    CPU_DEVICE_INLINE T name(T* address, std::type_identity_t<T> value) {                                        \
        cpu_device::note_atomic(address, sizeof(T), cpu_device::AtomicUse::use, cpu_device::ThreadScope::scope); \
        return cpu_device::operation(address, value);                                                            \
    }
#define CPU_DEVICE_ATOMIC(name, Allowed, operation)                             \
    CPU_DEVICE_ATOMIC_OF_SCOPE(name, Allowed, operation, update, device)        \
    CPU_DEVICE_ATOMIC_OF_SCOPE(name##_block, Allowed, operation, update, block) \
    CPU_DEVICE_ATOMIC_OF_SCOPE(name##_system, Allowed, operation, update, system)

CPU_DEVICE_ATOMIC(atomicSub, cpu_device::AtomicSubtractable, atomic_subtract)
CPU_DEVICE_ATOMIC(atomicInc, std::same_as<unsigned int>, atomic_increment)
CPU_DEVICE_ATOMIC(atomicDec, std::same_as<unsigned int>, atomic_decrement)
CPU_DEVICE_ATOMIC(atomicMin, cpu_device::AtomicOrdered, atomic_minimum)
CPU_DEVICE_ATOMIC(atomicMax, cpu_device::AtomicOrdered, atomic_maximum)
CPU_DEVICE_ATOMIC(atomicExch, cpu_device::AtomicExchangeable, atomic_exchange)
CPU_DEVICE_ATOMIC(atomicAnd, cpu_device::AtomicBits, atomic_and)
CPU_DEVICE_ATOMIC(atomicOr, cpu_device::AtomicBits, atomic_or)
CPU_DEVICE_ATOMIC(atomicXor, cpu_device::AtomicBits, atomic_exclusive_or)

#undef CPU_DEVICE_ATOMIC
#undef CPU_DEVICE_ATOMIC_OF_SCOPE

// A vector is added component by component: each atomically, the vector as a whole is not.
#define CPU_DEVICE_ATOMIC_ADD(name, scope)                                                      \
    template <cpu_device::AtomicAddable T>                                                      \
    CPU_DEVICE_INLINE T name(T* address, std::type_identity_t<T> value) {                       \
        cpu_device::note_atomic(address, sizeof(T),                                             \
                                std::integral<T>&& __builtin_constant_p(value) && value == T{1} \
                                    ? cpu_device::AtomicUse::increment                          \
                                    : cpu_device::AtomicUse::update,                            \
                                cpu_device::ThreadScope::scope);                                \
        return cpu_device::atomic_add(address, value);                                          \
    }                                                                                           \
    template <cpu_device::AtomicVector T>                                                       \
    CPU_DEVICE_INLINE T name(T* address, std::type_identity_t<T> value) {                       \
        T old;                                                                                  \
        old.x = name(&address->x, value.x);                                                     \
        old.y = name(&address->y, value.y);                                                     \
        if constexpr (std::same_as<T, float4>) {                                                \
            old.z = name(&address->z, value.z);                                                 \
            old.w = name(&address->w, value.w);                                                 \
        }                                                                                       \
        return old;                                                                             \
    }

CPU_DEVICE_ATOMIC_ADD(atomicAdd, device)
CPU_DEVICE_ATOMIC_ADD(atomicAdd_block, block)
CPU_DEVICE_ATOMIC_ADD(atomicAdd_system, system)

#undef CPU_DEVICE_ATOMIC_ADD

// Writes `value` if the old value equals `compare`.
#define CPU_DEVICE_COMPARE_AND_SWAP(name, scope)                                                             \
    template <cpu_device::AtomicComparable T>                                                                \
    CPU_DEVICE_INLINE T name(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> value) {   \
        return cpu_device::atomic_compare_and_swap<cpu_device::ThreadScope::scope>(address, compare, value); \
    }

CPU_DEVICE_COMPARE_AND_SWAP(atomicCAS, device)
CPU_DEVICE_COMPARE_AND_SWAP(atomicCAS_block, block)
CPU_DEVICE_COMPARE_AND_SWAP(atomicCAS_system, system)

#undef CPU_DEVICE_COMPARE_AND_SWAP

// ---- fences --------------------------------------------------------------------------------------------------

/// Orders this thread's earlier writes before its later ones, as seen by all threads of the device.
CPU_DEVICE_INLINE void __threadfence() {
    cpu_device::note_fence(cpu_device::ThreadScope::device);
    __sync_synchronize();
}
/// As seen by the host and other devices too.
CPU_DEVICE_INLINE void __threadfence_system() {
    cpu_device::note_fence(cpu_device::ThreadScope::system);
    __sync_synchronize();
}
/// As seen by the threads of the block, which share a host thread: only the compiler must not reorder.
CPU_DEVICE_INLINE void __threadfence_block() {
    cpu_device::note_fence(cpu_device::ThreadScope::block);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
