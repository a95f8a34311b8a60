// Sorts many parts of an array, each by itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

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
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of(count * (sizeof(Key) + sizeof(Value))), stream,
            {parts::operand("d_begin_offsets", begins, segments), parts::operand("d_end_offsets", ends, segments)},
            [&](const cpu_device::AlgorithmCall& call) {
                std::size_t last = count;
                for (std::size_t s = 0; s < segments; ++s)
                    last = std::max(last, begins[s] < ends[s] ? static_cast<std::size_t>(ends[s]) : 0);
                if (!is_usable(call, parts::operand("the keys", keys_in, last)) ||
                    !is_usable(call, parts::operand("the sorted keys", keys_out, last)) ||
                    !is_usable(call, parts::operand("the values", values_in, has_values ? last : 0)) ||
                    !is_usable(call, parts::operand("the sorted values", values_out, has_values ? last : 0)))
                    return false;
                for (std::size_t s = 0; s < segments; ++s) {
                    const auto begin = static_cast<std::size_t>(begins[s]), end = static_cast<std::size_t>(ends[s]);
                    if (end <= begin) continue;
                    parts::sort_range(keys_in, keys_out, values_in, values_out, begin, end, begin_bit, end_bit,
                                      descending);
                }
                return true;
            });
    }
};

}  // namespace cub
