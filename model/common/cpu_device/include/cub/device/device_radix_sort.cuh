// Sorts keys of built-in types, with or without values that belong to them. The sort is stable.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cpu_device/cub_host.h"
#include "cpu_device/cub_keys.h"
#include "cub/config.cuh"

namespace cub {

struct DeviceRadixSort {
    template <class Key, class Value, class NumItems>
    static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                 Key* d_keys_out, const Value* d_values_in, Value* d_values_out, NumItems num_items,
                                 int begin_bit = 0, int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr,
                                 CPU_DEVICE_CALL_SITE) {
        return sort("cub::DeviceRadixSort::SortPairs", site, d_temp_storage, temp_storage_bytes,
                    static_cast<std::size_t>(num_items) * (sizeof(Key) + sizeof(Value)), d_keys_in, d_keys_out,
                    d_values_in, d_values_out, num_items, begin_bit, end_bit, false, stream);
    }
    template <class Key, class Value, class NumItems>
    static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                           Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                                           NumItems num_items, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                                           cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return sort("cub::DeviceRadixSort::SortPairsDescending", site, d_temp_storage, temp_storage_bytes,
                    static_cast<std::size_t>(num_items) * (sizeof(Key) + sizeof(Value)), d_keys_in, d_keys_out,
                    d_values_in, d_values_out, num_items, begin_bit, end_bit, true, stream);
    }
    template <class Key, class NumItems>
    static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                Key* d_keys_out, NumItems num_items, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                                cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return sort("cub::DeviceRadixSort::SortKeys", site, d_temp_storage, temp_storage_bytes,
                    static_cast<std::size_t>(num_items) * (sizeof(Key)), d_keys_in, d_keys_out,
                    static_cast<const NullType*>(nullptr), static_cast<NullType*>(nullptr), num_items, begin_bit,
                    end_bit, false, stream);
    }
    template <class Key, class NumItems>
    static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                          Key* d_keys_out, NumItems num_items, int begin_bit = 0,
                                          int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr,
                                          CPU_DEVICE_CALL_SITE) {
        return sort("cub::DeviceRadixSort::SortKeysDescending", site, d_temp_storage, temp_storage_bytes,
                    static_cast<std::size_t>(num_items) * (sizeof(Key)), d_keys_in, d_keys_out,
                    static_cast<const NullType*>(nullptr), static_cast<NullType*>(nullptr), num_items, begin_bit,
                    end_bit, true, stream);
    }

    // In two buffers that take turns, which needs less storage. The result is in the other one afterwards, which a GPU
    // does not promise: a program has to ask for Current().
    template <class Key, class Value, class NumItems>
    static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                                 DoubleBuffer<Value>& d_values, NumItems num_items, int begin_bit = 0,
                                 int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        const bool sorts = d_temp_storage != nullptr;
        const cudaError_t error = sort("cub::DeviceRadixSort::SortPairs", site, d_temp_storage, temp_storage_bytes, 1,
                                       d_keys.Current(), d_keys.Alternate(), d_values.Current(), d_values.Alternate(),
                                       num_items, begin_bit, end_bit, false, stream);
        if (!sorts || error != cudaSuccess) return error;
        d_keys.selector ^= 1;
        d_values.selector ^= 1;
        return error;
    }
    template <class Key, class Value, class NumItems>
    static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                           DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values, NumItems num_items,
                                           int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                                           cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        const bool sorts = d_temp_storage != nullptr;
        const cudaError_t error = sort("cub::DeviceRadixSort::SortPairsDescending", site, d_temp_storage,
                                       temp_storage_bytes, 1, d_keys.Current(), d_keys.Alternate(), d_values.Current(),
                                       d_values.Alternate(), num_items, begin_bit, end_bit, true, stream);
        if (!sorts || error != cudaSuccess) return error;
        d_keys.selector ^= 1;
        d_values.selector ^= 1;
        return error;
    }
    template <class Key, class NumItems>
    static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                                NumItems num_items, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                                cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        const bool sorts = d_temp_storage != nullptr;
        const cudaError_t error = sort("cub::DeviceRadixSort::SortKeys", site, d_temp_storage, temp_storage_bytes, 1,
                                       d_keys.Current(), d_keys.Alternate(), static_cast<const NullType*>(nullptr),
                                       static_cast<NullType*>(nullptr), num_items, begin_bit, end_bit, false, stream);
        if (!sorts || error != cudaSuccess) return error;
        d_keys.selector ^= 1;
        return error;
    }
    template <class Key, class NumItems>
    static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                          DoubleBuffer<Key>& d_keys, NumItems num_items, int begin_bit = 0,
                                          int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr,
                                          CPU_DEVICE_CALL_SITE) {
        const bool sorts = d_temp_storage != nullptr;
        const cudaError_t error =
            sort("cub::DeviceRadixSort::SortKeysDescending", site, d_temp_storage, temp_storage_bytes, 1,
                 d_keys.Current(), d_keys.Alternate(), static_cast<const NullType*>(nullptr),
                 static_cast<NullType*>(nullptr), num_items, begin_bit, end_bit, true, stream);
        if (!sorts || error != cudaSuccess) return error;
        d_keys.selector ^= 1;
        return error;
    }

private:
    template <class Key, class Value, class NumItems>
    static cudaError_t sort(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes,
                            std::size_t kept_aside, const Key* keys_in, Key* keys_out, const Value* values_in,
                            Value* values_out, NumItems num_items, int begin_bit, int end_bit, bool descending,
                            cudaStream_t stream) {
        namespace parts = cpu_device::cub_parts;
        constexpr bool has_values = !std::is_same_v<Value, NullType>;
        const auto count = static_cast<std::size_t>(num_items);
        const std::size_t values = has_values ? count : 0;
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of(kept_aside) + parts::storage_of_tiles(count, 1024), stream,
            {parts::operand("the keys", keys_in, count), parts::operand("the sorted keys", keys_out, count),
             parts::operand("the values", values_in, values), parts::operand("the sorted values", values_out, values)},
            [&] {
                parts::sort_range(keys_in, keys_out, values_in, values_out, 0, count, begin_bit, end_bit, descending);
            });
    }
};

}  // namespace cub
