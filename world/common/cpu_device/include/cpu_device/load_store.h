// Loads and stores that carry a hint for a GPU's caches. Here all of them are plain accesses.
#pragma once

#include <type_traits>

#include "cpu_device/instrumented.h"

#define CPU_DEVICE_LOAD(name)                                  \
    template <class T>                                         \
    [[nodiscard]] CPU_DEVICE_INLINE T name(const T* address) { \
        return *address;                                       \
    }
#define CPU_DEVICE_STORE(name)                                               \
    template <class T>                                                       \
    CPU_DEVICE_INLINE void name(T* address, std::type_identity_t<T> value) { \
        *address = value;                                                    \
    }

CPU_DEVICE_LOAD(__ldg)    // read-only data cache
CPU_DEVICE_LOAD(__ldca)   // cached at all levels
CPU_DEVICE_LOAD(__ldcg)   // cached in L2 only
CPU_DEVICE_LOAD(__ldcs)   // read once: evicted first
CPU_DEVICE_LOAD(__ldlu)   // last use
CPU_DEVICE_STORE(__stwb)  // write back at all levels
CPU_DEVICE_STORE(__stcg)  // cached in L2 only
CPU_DEVICE_STORE(__stcs)  // written once: evicted first
CPU_DEVICE_STORE(__stwt)  // written through the L2 cache

#undef CPU_DEVICE_LOAD
#undef CPU_DEVICE_STORE

/// Not cached: reads memory anew every time, also in a loop.
template <class T>
[[nodiscard]] CPU_DEVICE_INLINE T __ldcv(const T* address) {
    asm volatile("" : : : "memory");
    return *address;
}
