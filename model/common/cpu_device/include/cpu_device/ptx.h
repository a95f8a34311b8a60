// What the rewriter makes of inline PTX: see rewriter/ptx_code.h. Programs name only the __cvta functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu_device/instrumented.h"
#include "cpu_device/vector_types.h"

namespace cpu_device::ptx {

/// The shared memory of the running block.
std::byte* start_of_shared_memory();

/// A register of one size as a value of type T: the same bits, or the low ones, or more of them.
template <class T, class Value>
CPU_DEVICE_INLINE T bits_as(const Value& value) {
    if constexpr (std::is_same_v<T, bool>) {
        return static_cast<bool>(value);
    } else if constexpr (std::is_pointer_v<std::decay_t<Value>>) {
        const std::decay_t<Value> pointer = value;
        return static_cast<T>(reinterpret_cast<std::uintptr_t>(pointer));
    } else if constexpr (sizeof(T) == sizeof(Value) && std::is_trivially_copyable_v<Value>) {
        return __builtin_bit_cast(T, value);
    } else {
        return static_cast<T>(value);
    }
}

/// Gives a variable the bits of a result.
template <class T, class Variable>
CPU_DEVICE_INLINE void set(Variable& variable, std::type_identity_t<T> value) {
    if constexpr (std::is_pointer_v<Variable>) {
        variable = reinterpret_cast<Variable>(static_cast<std::uintptr_t>(value));
    } else if constexpr (sizeof(T) == sizeof(Variable) && std::is_trivially_copyable_v<Variable> &&
                         !std::is_same_v<Variable, bool>) {
        variable = __builtin_bit_cast(Variable, value);
    } else {
        variable = static_cast<Variable>(value);
    }
}

/// What one load or store of a vector moves.
template <class T, int count>
struct alignas(sizeof(T) * count) Elements {
    T of[count];
};

CPU_DEVICE_INLINE void* memory(unsigned long long address) { return reinterpret_cast<void*>(address); }
/// The shared window begins at 0.
CPU_DEVICE_INLINE void* shared_memory(unsigned long long address) { return start_of_shared_memory() + address; }

/// cp.async: copies at once, which a GPU may do until the thread waits. Of `bytes` bytes, `read` are read, and the
/// others become 0.
CPU_DEVICE_INLINE void copy_async(void* to, const void* from, int bytes, int read) {
    if (read == bytes && bytes == 16) {
        *static_cast<Elements<unsigned int, 4>*>(to) = *static_cast<const Elements<unsigned int, 4>*>(from);
    } else if (read == bytes && bytes == 8) {
        *static_cast<Elements<unsigned int, 2>*>(to) = *static_cast<const Elements<unsigned int, 2>*>(from);
    } else if (read == bytes && bytes == 4) {
        *static_cast<unsigned int*>(to) = *static_cast<const unsigned int*>(from);
    } else {
        for (int i = 0; i < bytes; ++i) {
            static_cast<unsigned char*>(to)[i] = i < read ? static_cast<const unsigned char*>(from)[i] : 0;
        }
    }
}

template <class T>
CPU_DEVICE_INLINE T least(T a, T b) {
    return a != a ? b : b < a ? b : a;  // the number, where one is NaN
}
template <class T>
CPU_DEVICE_INLINE T greatest(T a, T b) {
    return a != a ? b : a < b ? b : a;
}
template <class T>
CPU_DEVICE_INLINE T shifted_left(T value, unsigned int count) {
    return count >= 8 * sizeof(T) ? T(0) : static_cast<T>(value << count);
}
template <class T>
CPU_DEVICE_INLINE T shifted_right(T value, unsigned int count) {
    constexpr unsigned int most = 8 * sizeof(T) - 1;
    if (count > most) return std::is_signed_v<T> ? static_cast<T>(value >> most) : T(0);
    return static_cast<T>(value >> count);
}
CPU_DEVICE_INLINE unsigned int bits_at(unsigned int value, unsigned int first, unsigned int count) {
    first &= 255u;
    count &= 255u;
    return first > 31 ? 0 : (value >> first) & (count > 31 ? ~0u : (1u << count) - 1u);
}
CPU_DEVICE_INLINE unsigned int with_bits_at(unsigned int bits, unsigned int value, unsigned int first,
                                            unsigned int count) {
    first &= 255u;
    count &= 255u;
    if (first > 31) return value;
    const unsigned int mask = (count > 31 ? ~0u : (1u << count) - 1u) << first;
    return (value & ~mask) | (bits << first & mask);
}
/// Bit 4a + 2b + c of `table` for each place.
CPU_DEVICE_INLINE unsigned int logic_of_three(unsigned int a, unsigned int b, unsigned int c, unsigned int table) {
    unsigned int result = 0;
    for (unsigned int i = 0; i < 8; ++i) {
        if ((table >> i & 1u) == 0) continue;
        result |= ((i & 4u) != 0 ? a : ~a) & ((i & 2u) != 0 ? b : ~b) & ((i & 1u) != 0 ? c : ~c);
    }
    return result;
}

}  // namespace cpu_device::ptx

/// Addresses in the shared window: what cp.async and ld.shared take.
inline std::size_t __cvta_generic_to_shared(const void* address) {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - cpu_device::ptx::start_of_shared_memory());
}
inline void* __cvta_shared_to_generic(std::size_t address) { return cpu_device::ptx::shared_memory(address); }
inline std::size_t __cvta_generic_to_global(const void* address) { return reinterpret_cast<std::size_t>(address); }
inline void* __cvta_global_to_generic(std::size_t address) { return reinterpret_cast<void*>(address); }
