// Sorts many parts of an array, each by itself.
#pragma once

#include "cpu_device/cub_segmented_sort.h"

namespace cub {

struct DeviceSegmentedSort {
    template <class Key, class Begin, class End>
    static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                Key* d_keys_out, std::int64_t num_items, std::int64_t num_segments,
                                Begin d_begin_offsets, End d_end_offsets, cudaStream_t stream = nullptr,
                                CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort("cub::DeviceSegmentedSort::SortKeys", site, d_temp_storage, temp_storage_bytes,
                                        d_keys_in, d_keys_out, static_cast<const NullType*>(nullptr),
                                        static_cast<NullType*>(nullptr), num_items, num_segments, d_begin_offsets,
                                        d_end_offsets, 0, 8 * sizeof(Key), false, stream);
    }
    template <class Key, class Begin, class End>
    static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                          Key* d_keys_out, std::int64_t num_items, std::int64_t num_segments,
                                          Begin d_begin_offsets, End d_end_offsets, cudaStream_t stream = nullptr,
                                          CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort(
            "cub::DeviceSegmentedSort::SortKeysDescending", site, d_temp_storage, temp_storage_bytes, d_keys_in,
            d_keys_out, static_cast<const NullType*>(nullptr), static_cast<NullType*>(nullptr), num_items, num_segments,
            d_begin_offsets, d_end_offsets, 0, 8 * sizeof(Key), true, stream);
    }
    template <class Key, class Value, class Begin, class End>
    static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                 Key* d_keys_out, const Value* d_values_in, Value* d_values_out, std::int64_t num_items,
                                 std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                                 cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort("cub::DeviceSegmentedSort::SortPairs", site, d_temp_storage, temp_storage_bytes,
                                        d_keys_in, d_keys_out, d_values_in, d_values_out, num_items, num_segments,
                                        d_begin_offsets, d_end_offsets, 0, 8 * sizeof(Key), false, stream);
    }
    template <class Key, class Value, class Begin, class End>
    static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                           Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                                           std::int64_t num_items, std::int64_t num_segments, Begin d_begin_offsets,
                                           End d_end_offsets, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort("cub::DeviceSegmentedSort::SortPairsDescending", site, d_temp_storage,
                                        temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out, num_items,
                                        num_segments, d_begin_offsets, d_end_offsets, 0, 8 * sizeof(Key), true, stream);
    }
    template <class Key, class Begin, class End>
    static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                      Key* d_keys_out, std::int64_t num_items, std::int64_t num_segments,
                                      Begin d_begin_offsets, End d_end_offsets, cudaStream_t stream = nullptr,
                                      CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort(
            "cub::DeviceSegmentedSort::StableSortKeys", site, d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
            static_cast<const NullType*>(nullptr), static_cast<NullType*>(nullptr), num_items, num_segments,
            d_begin_offsets, d_end_offsets, 0, 8 * sizeof(Key), false, stream);
    }
    template <class Key, class Begin, class End>
    static cudaError_t StableSortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                const Key* d_keys_in, Key* d_keys_out, std::int64_t num_items,
                                                std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                                                cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort(
            "cub::DeviceSegmentedSort::StableSortKeysDescending", site, d_temp_storage, temp_storage_bytes, d_keys_in,
            d_keys_out, static_cast<const NullType*>(nullptr), static_cast<NullType*>(nullptr), num_items, num_segments,
            d_begin_offsets, d_end_offsets, 0, 8 * sizeof(Key), true, stream);
    }
    template <class Key, class Value, class Begin, class End>
    static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                       Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                                       std::int64_t num_items, std::int64_t num_segments, Begin d_begin_offsets,
                                       End d_end_offsets, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort("cub::DeviceSegmentedSort::StableSortPairs", site, d_temp_storage,
                                        temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out, num_items,
                                        num_segments, d_begin_offsets, d_end_offsets, 0, 8 * sizeof(Key), false,
                                        stream);
    }
    template <class Key, class Value, class Begin, class End>
    static cudaError_t StableSortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                 const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                                                 Value* d_values_out, std::int64_t num_items, std::int64_t num_segments,
                                                 Begin d_begin_offsets, End d_end_offsets,
                                                 cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return SegmentedSortParts::sort("cub::DeviceSegmentedSort::StableSortPairsDescending", site, d_temp_storage,
                                        temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out, num_items,
                                        num_segments, d_begin_offsets, d_end_offsets, 0, 8 * sizeof(Key), true, stream);
    }
};

}  // namespace cub
