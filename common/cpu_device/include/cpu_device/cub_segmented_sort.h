// Sorts many parts of an array, each by itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "cpu_device/cub_host.h"
#include "cpu_device/cub_keys.h"
#include "cub/config.cuh"

namespace cub {

/// What DeviceSegmentedSort and DeviceSegmentedRadixSort share.
struct SegmentedSortParts {
    template <class Key, class Value, class Begin, class End>
    static cudaError_t sort(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes,
                            const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out,
                            std::int64_t num_items, std::int64_t num_segments, Begin begins, End ends, int begin_bit,
                            int end_bit, bool descending, cudaStream_t stream) {
        namespace parts = cpu_device::cub_parts;
        constexpr bool has_values = !std::is_same_v<Value, NullType>;
        const auto count = static_cast<std::size_t>(num_items), segments = static_cast<std::size_t>(num_segments);
        const std::size_t values = has_values ? count : 0;
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of(count * (sizeof(Key) + sizeof(Value))), stream,
            {parts::operand("the keys", keys_in, count), parts::operand("the sorted keys", keys_out, count),
             parts::operand("the values", values_in, values), parts::operand("the sorted values", values_out, values),
             parts::operand("d_begin_offsets", begins, segments), parts::operand("d_end_offsets", ends, segments)},
            [&] {
                for (std::size_t s = 0; s < segments; ++s) {
                    const auto begin = static_cast<std::size_t>(begins[s]), end = static_cast<std::size_t>(ends[s]);
                    if (end <= begin) continue;
                    std::vector<std::uint64_t> digits(end - begin);
                    for (std::size_t i = begin; i < end; ++i) {
                        digits[i - begin] =
                            parts::digit_of(parts::bits_of_key(keys_in[i], descending), begin_bit, end_bit);
                    }
                    std::vector<std::size_t> order;
                    cpu_device::order_by_bits(digits, order);
                    move(order, keys_in + begin, keys_out + begin);
                    if constexpr (has_values) move(order, values_in + begin, values_out + begin);
                }
            });
    }

private:
    template <class T>
    static void move(const std::vector<std::size_t>& order, const T* from, T* to) {
        const std::vector<T> all(from, from + order.size());  // both may be the same array
        for (std::size_t i = 0; i < order.size(); ++i) to[i] = all[order[i]];
    }
};

}  // namespace cub
