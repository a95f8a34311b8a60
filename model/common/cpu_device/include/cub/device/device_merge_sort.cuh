// Sorts by an operator of the program's.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"

namespace cub {

struct DeviceMergeSort {
    template <class Keys, class Items, class NumItems, class Compare>
    static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, Keys d_keys, Items d_items,
                                 NumItems num_items, Compare compare_op, cudaStream_t stream = nullptr,
                                 CPU_DEVICE_CALL_SITE) {
        return sort_pairs("cub::DeviceMergeSort::SortPairs", site, d_temp_storage, temp_storage_bytes, d_keys, d_items,
                          d_keys, d_items, num_items, compare_op, stream);
    }
    template <class Keys, class Items, class NumItems, class Compare>
    static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, Keys d_keys,
                                       Items d_items, NumItems num_items, Compare compare_op,
                                       cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return sort_pairs("cub::DeviceMergeSort::StableSortPairs", site, d_temp_storage, temp_storage_bytes, d_keys,
                          d_items, d_keys, d_items, num_items, compare_op, stream);
    }
    template <class KeysInput, class ItemsInput, class Keys, class Items, class NumItems, class Compare>
    static cudaError_t SortPairsCopy(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysInput d_input_keys,
                                     ItemsInput d_input_items, Keys d_output_keys, Items d_output_items,
                                     NumItems num_items, Compare compare_op, cudaStream_t stream = nullptr,
                                     CPU_DEVICE_CALL_SITE) {
        return sort_pairs("cub::DeviceMergeSort::SortPairsCopy", site, d_temp_storage, temp_storage_bytes, d_input_keys,
                          d_input_items, d_output_keys, d_output_items, num_items, compare_op, stream);
    }
    template <class Keys, class NumItems, class Compare>
    static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, Keys d_keys, NumItems num_items,
                                Compare compare_op, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return sort_keys("cub::DeviceMergeSort::SortKeys", site, d_temp_storage, temp_storage_bytes, d_keys, d_keys,
                         num_items, compare_op, stream);
    }
    template <class Keys, class NumItems, class Compare>
    static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, Keys d_keys,
                                      NumItems num_items, Compare compare_op, cudaStream_t stream = nullptr,
                                      CPU_DEVICE_CALL_SITE) {
        return sort_keys("cub::DeviceMergeSort::StableSortKeys", site, d_temp_storage, temp_storage_bytes, d_keys,
                         d_keys, num_items, compare_op, stream);
    }
    template <class Input, class Output, class NumItems, class Compare>
    static cudaError_t SortKeysCopy(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_input_keys,
                                    Output d_output_keys, NumItems num_items, Compare compare_op,
                                    cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return sort_keys("cub::DeviceMergeSort::SortKeysCopy", site, d_temp_storage, temp_storage_bytes, d_input_keys,
                         d_output_keys, num_items, compare_op, stream);
    }
    template <class Input, class Output, class NumItems, class Compare>
    static cudaError_t StableSortKeysCopy(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_input_keys,
                                          Output d_output_keys, NumItems num_items, Compare compare_op,
                                          cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return sort_keys("cub::DeviceMergeSort::StableSortKeysCopy", site, d_temp_storage, temp_storage_bytes,
                         d_input_keys, d_output_keys, num_items, compare_op, stream);
    }

private:
    template <class Input, class Output, class NumItems, class Compare>
    static cudaError_t sort_keys(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Input in,
                                 Output out, NumItems num_items, Compare compare, cudaStream_t stream) {
        namespace parts = cpu_device::cub_parts;
        using Key = parts::value_of<Input>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of(count * sizeof(Key)), stream,
            {parts::operand("the keys", in, count), parts::operand("the sorted keys", out, count)}, [&] {
                std::vector<Key> keys;
                keys.reserve(count);
                for (std::size_t i = 0; i < count; ++i) keys.push_back(in[i]);
                std::stable_sort(keys.begin(), keys.end(), compare);
                for (std::size_t i = 0; i < count; ++i) out[i] = keys[i];
            });
    }

    template <class KeysInput, class ItemsInput, class Keys, class Items, class NumItems, class Compare>
    static cudaError_t sort_pairs(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes,
                                  KeysInput keys_in, ItemsInput items_in, Keys keys_out, Items items_out,
                                  NumItems num_items, Compare compare, cudaStream_t stream) {
        namespace parts = cpu_device::cub_parts;
        using Pair = std::pair<parts::value_of<KeysInput>, parts::value_of<ItemsInput>>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of(count * sizeof(Pair)), stream,
            {parts::operand("the keys", keys_in, count), parts::operand("the items", items_in, count),
             parts::operand("the sorted keys", keys_out, count), parts::operand("the sorted items", items_out, count)},
            [&] {
                std::vector<Pair> pairs;
                pairs.reserve(count);
                for (std::size_t i = 0; i < count; ++i) pairs.emplace_back(keys_in[i], items_in[i]);
                std::stable_sort(pairs.begin(), pairs.end(),
                                 [&](const Pair& a, const Pair& b) { return compare(a.first, b.first); });
                for (std::size_t i = 0; i < count; ++i) {
                    keys_out[i] = pairs[i].first;
                    items_out[i] = pairs[i].second;
                }
            });
    }
};

}  // namespace cub
