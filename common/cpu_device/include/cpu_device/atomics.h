// Atomic functions on global and shared memory, and memory fences.
//
// All are templates restricted to the types that CUDA allows. A program may therefore define the overloads that older
// GPUs lack, such as `double atomicAdd(double*, double)`: a function is preferred over a template.
// The variants for a block (`_block`) and for the whole system (`_system`) are the same operation here.
#pragma once

#include <concepts>
#include <type_traits>

#include "cpu_device/execution.h"
#include "cpu_device/vector_types.h"
#include "cpu_device/watched.h"

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

// ---- arithmetic ----------------------------------------------------------------------------------------------

/// Adds `value`; returns the old value, as all functions here do.
template <cpu_device::AtomicAddable T>
CPU_DEVICE_INLINE T atomicAdd(T* address, std::type_identity_t<T> value) {
    cpu_device::note_atomic(address, sizeof(T),
                            std::integral<T> && __builtin_constant_p(value) && value == T{1}
                                ? cpu_device::AtomicUse::increment
                                : cpu_device::AtomicUse::update);
    if constexpr (std::integral<T>) {
        const T old = __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
        if (value == 0) cpu_device::note_unchanged_memory();
        return old;
    } else {
        return cpu_device::atomic_update(address, [value](T old) CPU_DEVICE_UNSEEN { return old + value; });
    }
}

/// Adds each component atomically; the vector as a whole is not.
template <cpu_device::AtomicVector T>
CPU_DEVICE_INLINE T atomicAdd(T* address, std::type_identity_t<T> value) {
    T old;
    old.x = atomicAdd(&address->x, value.x);
    old.y = atomicAdd(&address->y, value.y);
    if constexpr (std::same_as<T, float4>) {
        old.z = atomicAdd(&address->z, value.z);
        old.w = atomicAdd(&address->w, value.w);
    }
    return old;
}

template <cpu_device::AtomicSubtractable T>
CPU_DEVICE_INLINE T atomicSub(T* address, std::type_identity_t<T> value) {
    cpu_device::note_atomic(address, sizeof(T));
    return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}

/// old >= limit ? 0 : old + 1.
template <std::same_as<unsigned int> T>
CPU_DEVICE_INLINE T atomicInc(T* address, std::type_identity_t<T> limit) {
    cpu_device::note_atomic(address, sizeof(T));
    return cpu_device::atomic_update(address,
                                     [limit](T old) CPU_DEVICE_UNSEEN { return old >= limit ? 0u : old + 1u; });
}

/// old == 0 || old > limit ? limit : old - 1.
template <std::same_as<unsigned int> T>
CPU_DEVICE_INLINE T atomicDec(T* address, std::type_identity_t<T> limit) {
    cpu_device::note_atomic(address, sizeof(T));
    return cpu_device::atomic_update(
        address, [limit](T old) CPU_DEVICE_UNSEEN { return old == 0u || old > limit ? limit : old - 1u; });
}

template <cpu_device::AtomicOrdered T>
CPU_DEVICE_INLINE T atomicMin(T* address, std::type_identity_t<T> value) {
    cpu_device::note_atomic(address, sizeof(T));
    return cpu_device::atomic_update_if_changed(address,
                                                [value](T old) CPU_DEVICE_UNSEEN { return value < old ? value : old; });
}

template <cpu_device::AtomicOrdered T>
CPU_DEVICE_INLINE T atomicMax(T* address, std::type_identity_t<T> value) {
    cpu_device::note_atomic(address, sizeof(T));
    return cpu_device::atomic_update_if_changed(address,
                                                [value](T old) CPU_DEVICE_UNSEEN { return old < value ? value : old; });
}

// ---- exchange ------------------------------------------------------------------------------------------------

template <cpu_device::AtomicExchangeable T>
CPU_DEVICE_INLINE T atomicExch(T* address, std::type_identity_t<T> value) {
    cpu_device::note_atomic(address, sizeof(T));
    T old;
    __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
    if (old == value) cpu_device::note_unchanged_memory();
    return old;
}

/// Writes `value` if the old value equals `compare`.
template <cpu_device::AtomicComparable T>
CPU_DEVICE_INLINE T atomicCAS(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
    cpu_device::note_atomic(address, sizeof(T), cpu_device::AtomicUse::compare_and_swap);
    T old = compare;
    if (!__atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        cpu_device::note_unchanged_memory();
    }
    return old;
}

// ---- bits ----------------------------------------------------------------------------------------------------

template <cpu_device::AtomicBits T>
CPU_DEVICE_INLINE T atomicAnd(T* address, std::type_identity_t<T> value) {
    cpu_device::note_atomic(address, sizeof(T));
    const T old = __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
    if ((old & value) == old) cpu_device::note_unchanged_memory();
    return old;
}

template <cpu_device::AtomicBits T>
CPU_DEVICE_INLINE T atomicOr(T* address, std::type_identity_t<T> value) {
    cpu_device::note_atomic(address, sizeof(T));
    const T old = __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
    if ((old | value) == old) cpu_device::note_unchanged_memory();
    return old;
}

template <cpu_device::AtomicBits T>
CPU_DEVICE_INLINE T atomicXor(T* address, std::type_identity_t<T> value) {
    cpu_device::note_atomic(address, sizeof(T));
    return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}

// ---- scopes --------------------------------------------------------------------------------------------------

#define CPU_DEVICE_SCOPED_ATOMIC(name)                                                \
    template <class T>                                                                \
    CPU_DEVICE_INLINE auto name##_block(T* address, std::type_identity_t<T> value) {  \
        return name(address, value);                                                  \
    }                                                                                 \
    template <class T>                                                                \
    CPU_DEVICE_INLINE auto name##_system(T* address, std::type_identity_t<T> value) { \
        return name(address, value);                                                  \
    }

CPU_DEVICE_SCOPED_ATOMIC(atomicAdd)
CPU_DEVICE_SCOPED_ATOMIC(atomicSub)
CPU_DEVICE_SCOPED_ATOMIC(atomicInc)
CPU_DEVICE_SCOPED_ATOMIC(atomicDec)
CPU_DEVICE_SCOPED_ATOMIC(atomicMin)
CPU_DEVICE_SCOPED_ATOMIC(atomicMax)
CPU_DEVICE_SCOPED_ATOMIC(atomicExch)
CPU_DEVICE_SCOPED_ATOMIC(atomicAnd)
CPU_DEVICE_SCOPED_ATOMIC(atomicOr)
CPU_DEVICE_SCOPED_ATOMIC(atomicXor)

#undef CPU_DEVICE_SCOPED_ATOMIC

template <cpu_device::AtomicComparable T>
CPU_DEVICE_INLINE T atomicCAS_block(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
    return atomicCAS(address, compare, value);
}
template <cpu_device::AtomicComparable T>
CPU_DEVICE_INLINE T atomicCAS_system(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
    return atomicCAS(address, compare, value);
}

// ---- fences --------------------------------------------------------------------------------------------------

/// Orders this thread's earlier writes before its later ones, as seen by all threads of the device.
CPU_DEVICE_INLINE void __threadfence() {
    cpu_device::note_fence(cpu_device::FenceScope::device);
    __sync_synchronize();
}
/// As seen by the host and other devices too.
CPU_DEVICE_INLINE void __threadfence_system() {
    cpu_device::note_fence(cpu_device::FenceScope::system);
    __sync_synchronize();
}
/// As seen by the threads of the block, which share a host thread: only the compiler must not reorder.
CPU_DEVICE_INLINE void __threadfence_block() {
    cpu_device::note_fence(cpu_device::FenceScope::block);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
