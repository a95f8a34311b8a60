// Elements that are kept first, and the others behind them.
#pragma once

#include <vector>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"

namespace cub {

struct DevicePartition {
    /// The others stand behind the kept ones, in reverse order.
    template <class Input, class Flags, class Output, class NumSelected, class NumItems>
    static cudaError_t Flagged(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Flags d_flags,
                               Output d_out, NumSelected d_num_selected_out, NumItems num_items,
                               cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return partition("cub::DevicePartition::Flagged", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                         d_num_selected_out, num_items, stream,
                         cpu_device::cub_parts::operand("d_flags", d_flags, static_cast<std::size_t>(num_items)),
                         [&](std::size_t i, const auto&) { return static_cast<bool>(d_flags[i]); });
    }
    template <class Input, class Output, class NumSelected, class NumItems, class Op>
    static cudaError_t If(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                          NumSelected d_num_selected_out, NumItems num_items, Op select_op,
                          cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return partition("cub::DevicePartition::If", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                         d_num_selected_out, num_items, stream, {},
                         [&](std::size_t, const auto& value) { return static_cast<bool>(select_op(value)); });
    }
    /// In three arrays, each in the order of the input. `d_num_selected_out` receives the sizes of the first two.
    template <class Input, class FirstOutput, class SecondOutput, class Unselected, class NumSelected, class NumItems,
              class FirstOp, class SecondOp>
    static cudaError_t If(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in,
                          FirstOutput d_first_part_out, SecondOutput d_second_part_out, Unselected d_unselected_out,
                          NumSelected d_num_selected_out, NumItems num_items, FirstOp select_first_part_op,
                          SecondOp select_second_part_op, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        namespace parts = cpu_device::cub_parts;
        using Value = parts::value_of<Input>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            "cub::DevicePartition::If", site, d_temp_storage, temp_storage_bytes, parts::storage_of_tiles(count, 16),
            stream, {parts::operand("d_in", d_in, count), parts::operand("d_num_selected_out", d_num_selected_out, 2)},
            [&](const cpu_device::AlgorithmCall& call) {
                std::vector<Value> first, second, others;
                for (std::size_t i = 0; i < count; ++i) {
                    const Value value = d_in[i];
                    auto& part = select_first_part_op(value) ? first : select_second_part_op(value) ? second : others;
                    part.push_back(value);
                }
                if (!is_usable(call, parts::operand("d_first_part_out", d_first_part_out, first.size())) ||
                    !is_usable(call, parts::operand("d_second_part_out", d_second_part_out, second.size())) ||
                    !is_usable(call, parts::operand("d_unselected_out", d_unselected_out, others.size())))
                    return false;
                for (std::size_t i = 0; i < first.size(); ++i) d_first_part_out[i] = first[i];
                for (std::size_t i = 0; i < second.size(); ++i) d_second_part_out[i] = second[i];
                for (std::size_t i = 0; i < others.size(); ++i) d_unselected_out[i] = others[i];
                d_num_selected_out[0] = first.size();
                d_num_selected_out[1] = second.size();
                return true;
            });
    }

private:
    template <class Input, class Output, class NumSelected, class NumItems, class Keeps>
    static cudaError_t partition(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Input d_in,
                                 Output d_out, NumSelected d_num_selected_out, NumItems num_items, cudaStream_t stream,
                                 const cpu_device::AlgorithmOperand& flags, Keeps keeps) {
        namespace parts = cpu_device::cub_parts;
        using Value = parts::value_of<Input>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(name, site, storage, bytes, parts::storage_of_tiles(count, 8), stream,
                                    {parts::operand("d_in", d_in, count), flags, parts::operand("d_out", d_out, count),
                                     parts::operand("d_num_selected_out", d_num_selected_out, 1)},
                                    [&] {
                                        std::size_t kept = 0, others = 0;
                                        for (std::size_t i = 0; i < count; ++i) {
                                            const Value value = d_in[i];
                                            if (keeps(i, value)) {
                                                d_out[kept++] = value;
                                            } else {
                                                d_out[count - ++others] = value;
                                            }
                                        }
                                        *d_num_selected_out = kept;
                                    });
    }
};

}  // namespace cub
