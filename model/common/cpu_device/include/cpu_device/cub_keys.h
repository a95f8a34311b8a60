// Keys of a radix sort as unsigned numbers of the same order, and the sort of the device-wide algorithms.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "cpu_device/cub_host.h"
#include "cpu_device/warp.h"
#include "cub/config.cuh"

namespace cpu_device::cub_parts {

template <class Key>
constexpr bool is_floating_key = std::is_floating_point_v<Key> || HalfType<Key>;

template <class Key>
CPU_DEVICE_UNSEEN std::uint64_t bits_of_key(const Key& key, bool descending) {
    static_assert(sizeof(Key) <= 8 && (std::is_arithmetic_v<Key> || HalfType<Key>),
                  "The CPU device sorts keys of built-in types, of at most 8 bytes, by radix: build this program with "
                  "nvcc, or use a merge sort");
    constexpr int size = 8 * static_cast<int>(sizeof(Key));
    constexpr std::uint64_t all = ~std::uint64_t{0} >> (64 - size), sign = std::uint64_t{1} << (size - 1);
    std::uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const void*>(&key), sizeof(Key));
    if constexpr (is_floating_key<Key>) {
        if (bits == sign) bits = 0;  // -0 and 0 are the same key
        bits = (bits & sign) != 0 ? ~bits & all : bits | sign;
    } else if constexpr (std::is_signed_v<Key>) {
        bits ^= sign;
    }
    return descending ? ~bits & all : bits;
}

/// The bits of a key from `begin` to `end` - 1.
CPU_DEVICE_UNSEEN inline std::uint64_t digit_of(std::uint64_t bits, int begin, int end) {
    const int count = end - begin;
    return bits >> begin & (count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
}

template <class T>
void move_in_order(const std::vector<std::size_t>& order, const T* from, T* to) {
    const std::vector<T> all(from, from + order.size());  // both may be the same array
    for (std::size_t i = 0; i < order.size(); ++i) to[i] = all[order[i]];
}

/// Elements `begin` to `end` - 1, stable, by the bits of their keys from `begin_bit` to `end_bit` - 1.
template <class Key, class Value>
void sort_range(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out, std::size_t begin,
                std::size_t end, int begin_bit, int end_bit, bool descending) {
    std::vector<std::uint64_t> digits(end - begin);
    for (std::size_t i = begin; i < end; ++i)
        digits[i - begin] = digit_of(bits_of_key(keys_in[i], descending), begin_bit, end_bit);
    std::vector<std::size_t> order;
    order_by_bits(digits, order);
    move_in_order(order, keys_in + begin, keys_out + begin);
    if constexpr (!std::is_same_v<Value, cub::NullType>) move_in_order(order, values_in + begin, values_out + begin);
}

}  // namespace cpu_device::cub_parts
