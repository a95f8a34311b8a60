// Elements that are kept, one after the other.
#pragma once

#include <vector>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"
#include "cub/thread/thread_operators.cuh"

namespace cub {

struct DeviceSelect {
    template <class Input, class Flags, class Output, class NumSelected, class NumItems>
    requires std::is_integral_v<NumItems>
    static cudaError_t Flagged(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Flags d_flags,
                               Output d_out, NumSelected d_num_selected_out, NumItems num_items,
                               cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return select("cub::DeviceSelect::Flagged", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                      d_num_selected_out, num_items, stream,
                      cpu_device::cub_parts::operand("d_flags", d_flags, static_cast<std::size_t>(num_items)),
                      [&](std::size_t i, const auto&) { return static_cast<bool>(d_flags[i]); });
    }
    template <class Iterator, class Flags, class NumSelected, class NumItems>
    requires std::is_integral_v<NumItems>
    static cudaError_t Flagged(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data, Flags d_flags,
                               NumSelected d_num_selected_out, NumItems num_items, cudaStream_t stream = nullptr,
                               CPU_DEVICE_CALL_SITE) {
        return Flagged(d_temp_storage, temp_storage_bytes, d_data, d_flags, d_data, d_num_selected_out, num_items,
                       stream, site);
    }
    template <class Input, class Output, class NumSelected, class NumItems, class Op>
    requires std::is_integral_v<NumItems>
    static cudaError_t If(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                          NumSelected d_num_selected_out, NumItems num_items, Op select_op,
                          cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return select("cub::DeviceSelect::If", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                      d_num_selected_out, num_items, stream, {},
                      [&](std::size_t, const auto& value) { return static_cast<bool>(select_op(value)); });
    }
    template <class Iterator, class NumSelected, class NumItems, class Op>
    requires std::is_integral_v<NumItems>
    static cudaError_t If(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data,
                          NumSelected d_num_selected_out, NumItems num_items, Op select_op,
                          cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return If(d_temp_storage, temp_storage_bytes, d_data, d_data, d_num_selected_out, num_items, select_op, stream,
                  site);
    }
    /// Elements whose flags the operator accepts.
    template <class Input, class Flags, class Output, class NumSelected, class NumItems, class Op>
    static cudaError_t FlaggedIf(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Flags d_flags,
                                 Output d_out, NumSelected d_num_selected_out, NumItems num_items, Op select_op,
                                 cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return select("cub::DeviceSelect::FlaggedIf", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                      d_num_selected_out, num_items, stream,
                      cpu_device::cub_parts::operand("d_flags", d_flags, static_cast<std::size_t>(num_items)),
                      [&](std::size_t i, const auto&) { return static_cast<bool>(select_op(d_flags[i])); });
    }
    /// The first of each run of equal elements.
    template <class Input, class Output, class NumSelected, class NumItems>
    static cudaError_t Unique(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                              NumSelected d_num_selected_out, NumItems num_items, cudaStream_t stream = nullptr,
                              CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        Value previous{};
        return select("cub::DeviceSelect::Unique", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                      d_num_selected_out, num_items, stream, {}, [&](std::size_t i, const Value& value) {
                          const bool keeps = i == 0 || !(previous == value);
                          previous = value;
                          return keeps;
                      });
    }
    template <class KeysInput, class ValuesInput, class KeysOutput, class ValuesOutput, class NumSelected,
              class NumItems, class Equal>
    requires(!std::is_convertible_v<Equal, cudaStream_t>) static cudaError_t
        UniqueByKey(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysInput d_keys_in, ValuesInput d_values_in,
                    KeysOutput d_keys_out, ValuesOutput d_values_out, NumSelected d_num_selected_out,
                    NumItems num_items, Equal equality_op, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        namespace parts = cpu_device::cub_parts;
        using Key = parts::value_of<KeysInput>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            "cub::DeviceSelect::UniqueByKey", site, d_temp_storage, temp_storage_bytes,
            parts::storage_of_tiles(count, 8), stream,
            {parts::operand("d_keys_in", d_keys_in, count), parts::operand("d_values_in", d_values_in, count),
             parts::operand("d_num_selected_out", d_num_selected_out, 1)},
            [&](const cpu_device::AlgorithmCall& call) {
                std::vector<std::size_t> kept;
                for (std::size_t i = 0; i < count; ++i) {
                    if (i == 0 || !equality_op(static_cast<Key>(d_keys_in[i - 1]), static_cast<Key>(d_keys_in[i])))
                        kept.push_back(i);
                }
                if (!is_usable(call, parts::operand("d_keys_out", d_keys_out, kept.size())) ||
                    !is_usable(call, parts::operand("d_values_out", d_values_out, kept.size())))
                    return false;
                for (std::size_t k = 0; k < kept.size(); ++k) {
                    d_values_out[k] = d_values_in[kept[k]];
                    d_keys_out[k] = static_cast<Key>(d_keys_in[kept[k]]);
                }
                *d_num_selected_out = kept.size();
                return true;
            });
    }
    template <class KeysInput, class ValuesInput, class KeysOutput, class ValuesOutput, class NumSelected,
              class NumItems>
    static cudaError_t UniqueByKey(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysInput d_keys_in,
                                   ValuesInput d_values_in, KeysOutput d_keys_out, ValuesOutput d_values_out,
                                   NumSelected d_num_selected_out, NumItems num_items, cudaStream_t stream = nullptr,
                                   CPU_DEVICE_CALL_SITE) {
        return UniqueByKey(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_keys_out, d_values_out,
                           d_num_selected_out, num_items, cuda::std::equal_to<>(), stream, site);
    }

private:
    template <class Input, class Output, class NumSelected, class NumItems, class Keeps>
    static cudaError_t select(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Input d_in,
                              Output d_out, NumSelected d_num_selected_out, NumItems num_items, cudaStream_t stream,
                              const cpu_device::AlgorithmOperand& flags, Keeps keeps) {
        namespace parts = cpu_device::cub_parts;
        using Value = parts::value_of<Input>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of_tiles(count, 8), stream,
            {parts::operand("d_in", d_in, count), flags, parts::operand("d_num_selected_out", d_num_selected_out, 1)},
            [&](const cpu_device::AlgorithmCall& call) {
                std::vector<std::size_t> kept;
                for (std::size_t i = 0; i < count; ++i) {
                    const Value value = d_in[i];
                    if (keeps(i, value)) kept.push_back(i);
                }
                if (!is_usable(call, parts::operand("d_out", d_out, kept.size()))) return false;
                // In place, too: an element never moves behind one that is still to be read.
                for (std::size_t k = 0; k < kept.size(); ++k) d_out[k] = static_cast<Value>(d_in[kept[k]]);
                *d_num_selected_out = kept.size();
                return true;
            });
    }
};

}  // namespace cub
