// Sorts many parts of an array, each by itself, by radix.
#pragma once

#include "cpu_device/cub_segmented_sort.h"

namespace cub {

struct DeviceSegmentedRadixSort {
    template <class Key, class Begin, class End>
    static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                Key* d_keys_out, std::int64_t num_items, std::int64_t num_segments,
                                Begin d_begin_offsets, End d_end_offsets, int begin_bit = 0,
                                int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort(
            "cub::DeviceSegmentedRadixSort::SortKeys", site, d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
            static_cast<const NullType*>(nullptr), static_cast<NullType*>(nullptr), num_items, num_segments,
            d_begin_offsets, d_end_offsets, begin_bit, end_bit, false, stream);
    }
    template <class Key, class Begin, class End>
    static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                          Key* d_keys_out, std::int64_t num_items, std::int64_t num_segments,
                                          Begin d_begin_offsets, End d_end_offsets, int begin_bit = 0,
                                          int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr,
                                          CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort(
            "cub::DeviceSegmentedRadixSort::SortKeysDescending", site, d_temp_storage, temp_storage_bytes, d_keys_in,
            d_keys_out, static_cast<const NullType*>(nullptr), static_cast<NullType*>(nullptr), num_items, num_segments,
            d_begin_offsets, d_end_offsets, begin_bit, end_bit, true, stream);
    }
    template <class Key, class Value, class Begin, class End>
    static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                 Key* d_keys_out, const Value* d_values_in, Value* d_values_out, std::int64_t num_items,
                                 std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets, int begin_bit = 0,
                                 int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort("cub::DeviceSegmentedRadixSort::SortPairs", site, d_temp_storage,
                                        temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out, num_items,
                                        num_segments, d_begin_offsets, d_end_offsets, begin_bit, end_bit, false,
                                        stream);
    }
    template <class Key, class Value, class Begin, class End>
    static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                           Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                                           std::int64_t num_items, std::int64_t num_segments, Begin d_begin_offsets,
                                           End d_end_offsets, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                                           cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort("cub::DeviceSegmentedRadixSort::SortPairsDescending", site, d_temp_storage,
                                        temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out, num_items,
                                        num_segments, d_begin_offsets, d_end_offsets, begin_bit, end_bit, true, stream);
    }
};

}  // namespace cub
