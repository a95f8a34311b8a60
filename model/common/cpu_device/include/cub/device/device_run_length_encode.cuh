// Runs of equal elements, and how long they are.
#pragma once

#include <vector>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"

namespace cub {

struct DeviceRunLengthEncode {
    template <class Input, class UniqueOutput, class Lengths, class NumRuns, class NumItems>
    static cudaError_t Encode(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in,
                              UniqueOutput d_unique_out, Lengths d_counts_out, NumRuns d_num_runs_out,
                              NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        namespace parts = cpu_device::cub_parts;
        using Value = parts::value_of<Input>;
        using Length = typename parts::WrittenTo<Lengths, int>::type;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            "cub::DeviceRunLengthEncode::Encode", site, d_temp_storage, temp_storage_bytes,
            parts::storage_of_tiles(count, sizeof(Value) + 8), stream,
            {parts::operand("d_in", d_in, count), parts::operand("d_num_runs_out", d_num_runs_out, 1)},
            [&](const cpu_device::AlgorithmCall& call) {
                const std::vector<std::size_t> begins = parts::begins_of_runs<Value>(d_in, count);
                const std::size_t runs = begins.size() - 1;
                if (!is_usable(call, parts::operand("d_unique_out", d_unique_out, runs)) ||
                    !is_usable(call, parts::operand("d_counts_out", d_counts_out, runs)))
                    return false;
                for (std::size_t run = 0; run < runs; ++run) {
                    d_unique_out[run] = static_cast<Value>(d_in[begins[run]]);
                    d_counts_out[run] = static_cast<Length>(begins[run + 1] - begins[run]);
                }
                *d_num_runs_out = runs;
                return true;
            });
    }
    /// Only runs of more than one element: where they begin.
    template <class Input, class Offsets, class Lengths, class NumRuns, class NumItems>
    static cudaError_t NonTrivialRuns(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in,
                                      Offsets d_offsets_out, Lengths d_lengths_out, NumRuns d_num_runs_out,
                                      NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        namespace parts = cpu_device::cub_parts;
        using Value = parts::value_of<Input>;
        using Offset = typename parts::WrittenTo<Offsets, int>::type;
        using Length = typename parts::WrittenTo<Lengths, int>::type;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            "cub::DeviceRunLengthEncode::NonTrivialRuns", site, d_temp_storage, temp_storage_bytes,
            parts::storage_of_tiles(count, sizeof(Value) + 8), stream,
            {parts::operand("d_in", d_in, count), parts::operand("d_num_runs_out", d_num_runs_out, 1)},
            [&](const cpu_device::AlgorithmCall& call) {
                const std::vector<std::size_t> begins = parts::begins_of_runs<Value>(d_in, count);
                std::vector<std::size_t> longer;
                for (std::size_t run = 0; run + 1 < begins.size(); ++run) {
                    if (begins[run + 1] - begins[run] > 1) longer.push_back(run);
                }
                if (!is_usable(call, parts::operand("d_offsets_out", d_offsets_out, longer.size())) ||
                    !is_usable(call, parts::operand("d_lengths_out", d_lengths_out, longer.size())))
                    return false;
                for (std::size_t k = 0; k < longer.size(); ++k) {
                    const std::size_t run = longer[k];
                    d_offsets_out[k] = static_cast<Offset>(begins[run]);
                    d_lengths_out[k] = static_cast<Length>(begins[run + 1] - begins[run]);
                }
                *d_num_runs_out = longer.size();
                return true;
            });
    }
};

}  // namespace cub
