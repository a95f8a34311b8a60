// Two sorted arrays become one.
#pragma once

#include <cstddef>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"
#include "cuda/std/functional"

namespace cub {

struct DeviceMerge {
    template <class KeysA, class KeysB, class KeysOut, class Compare = cuda::std::less<>>
    static cudaError_t MergeKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysA keys_in1,
                                 std::ptrdiff_t num_keys1, KeysB keys_in2, std::ptrdiff_t num_keys2, KeysOut keys_out,
                                 Compare compare_op = {}, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        namespace parts = cpu_device::cub_parts;
        const auto a = static_cast<std::size_t>(num_keys1), b = static_cast<std::size_t>(num_keys2);
        return parts::in_two_phases("cub::DeviceMerge::MergeKeys", site, d_temp_storage, temp_storage_bytes,
                                    parts::storage_of_tiles(a + b, 8), stream,
                                    {parts::operand("keys_in1", keys_in1, a), parts::operand("keys_in2", keys_in2, b),
                                     parts::operand("keys_out", keys_out, a + b)},
                                    [&] {
                                        for (std::size_t i = 0, j = 0; i + j < a + b;) {
                                            const bool second =
                                                i == a || (j < b && compare_op(keys_in2[j], keys_in1[i]));
                                            const std::size_t at = i + j;
                                            if (second) {
                                                keys_out[at] = keys_in2[j++];
                                            } else {
                                                keys_out[at] = keys_in1[i++];
                                            }
                                        }
                                    });
    }
    template <class KeysA, class ValuesA, class KeysB, class ValuesB, class KeysOut, class ValuesOut,
              class Compare = cuda::std::less<>>
    static cudaError_t MergePairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysA keys_in1,
                                  ValuesA values_in1, std::ptrdiff_t num_pairs1, KeysB keys_in2, ValuesB values_in2,
                                  std::ptrdiff_t num_pairs2, KeysOut keys_out, ValuesOut values_out,
                                  Compare compare_op = {}, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        namespace parts = cpu_device::cub_parts;
        const auto a = static_cast<std::size_t>(num_pairs1), b = static_cast<std::size_t>(num_pairs2);
        return parts::in_two_phases(
            "cub::DeviceMerge::MergePairs", site, d_temp_storage, temp_storage_bytes, parts::storage_of_tiles(a + b, 8),
            stream,
            {parts::operand("keys_in1", keys_in1, a), parts::operand("values_in1", values_in1, a),
             parts::operand("keys_in2", keys_in2, b), parts::operand("values_in2", values_in2, b),
             parts::operand("keys_out", keys_out, a + b), parts::operand("values_out", values_out, a + b)},
            [&] {
                for (std::size_t i = 0, j = 0; i + j < a + b;) {
                    const bool second = i == a || (j < b && compare_op(keys_in2[j], keys_in1[i]));
                    const std::size_t at = i + j;
                    if (second) {
                        values_out[at] = values_in2[j];
                        keys_out[at] = keys_in2[j++];
                    } else {
                        values_out[at] = values_in1[i];
                        keys_out[at] = keys_in1[i++];
                    }
                }
            });
    }
};

}  // namespace cub
