// Prefixes of arrays, and of runs of equal keys.
#pragma once

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"
#include "cub/thread/thread_operators.cuh"

namespace cub {

struct DeviceScan {
    template <class Input, class Output, class NumItems>
    static cudaError_t ExclusiveSum(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                                    NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        return scan<true>("cub::DeviceScan::ExclusiveSum", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                          cuda::std::plus<>(), Value{}, true, num_items, stream);
    }
    template <class Iterator, class NumItems>
    static cudaError_t ExclusiveSum(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data,
                                    NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return ExclusiveSum(d_temp_storage, temp_storage_bytes, d_data, d_data, num_items, stream, site);
    }
    template <class Input, class Output, class Op, class T, class NumItems>
    static cudaError_t ExclusiveScan(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                                     Op scan_op, T init_value, NumItems num_items, cudaStream_t stream = nullptr,
                                     CPU_DEVICE_CALL_SITE) {
        return scan<true>("cub::DeviceScan::ExclusiveScan", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                          scan_op, init_value, true, num_items, stream);
    }
    template <class Iterator, class Op, class T, class NumItems>
    requires std::is_integral_v<NumItems>
    static cudaError_t ExclusiveScan(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data, Op scan_op,
                                     T init_value, NumItems num_items, cudaStream_t stream = nullptr,
                                     CPU_DEVICE_CALL_SITE) {
        return ExclusiveScan(d_temp_storage, temp_storage_bytes, d_data, d_data, scan_op, init_value, num_items, stream,
                             site);
    }
    template <class Input, class Output, class NumItems>
    static cudaError_t InclusiveSum(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                                    NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        return scan<false>("cub::DeviceScan::InclusiveSum", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                           cuda::std::plus<>(), Value{}, false, num_items, stream);
    }
    template <class Iterator, class NumItems>
    static cudaError_t InclusiveSum(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data,
                                    NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return InclusiveSum(d_temp_storage, temp_storage_bytes, d_data, d_data, num_items, stream, site);
    }
    template <class Input, class Output, class Op, class NumItems>
    requires std::is_integral_v<NumItems>
    static cudaError_t InclusiveScan(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                                     Op scan_op, NumItems num_items, cudaStream_t stream = nullptr,
                                     CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        return scan<false>("cub::DeviceScan::InclusiveScan", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                           scan_op, Value{}, false, num_items, stream);
    }
    template <class Iterator, class Op, class NumItems>
    requires std::is_integral_v<NumItems>
    static cudaError_t InclusiveScan(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data, Op scan_op,
                                     NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return InclusiveScan(d_temp_storage, temp_storage_bytes, d_data, d_data, scan_op, num_items, stream, site);
    }
    template <class Input, class Output, class Op, class T, class NumItems>
    static cudaError_t InclusiveScanInit(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in,
                                         Output d_out, Op scan_op, T init_value, NumItems num_items,
                                         cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return scan<false>("cub::DeviceScan::InclusiveScanInit", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                           scan_op, init_value, true, num_items, stream);
    }

    // Each run of equal keys by itself.
    template <class Keys, class Values, class Output, class Equal = cuda::std::equal_to<>, class NumItems = unsigned>
    static cudaError_t ExclusiveSumByKey(void* d_temp_storage, std::size_t& temp_storage_bytes, Keys d_keys_in,
                                         Values d_values_in, Output d_values_out, NumItems num_items,
                                         Equal equality_op = Equal(), cudaStream_t stream = nullptr,
                                         CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Values>;
        return scan_by_key<true>("cub::DeviceScan::ExclusiveSumByKey", site, d_temp_storage, temp_storage_bytes,
                                 d_keys_in, d_values_in, d_values_out, cuda::std::plus<>(), Value{}, true, num_items,
                                 equality_op, stream);
    }
    template <class Keys, class Values, class Output, class Op, class T, class Equal = cuda::std::equal_to<>,
              class NumItems = unsigned>
    static cudaError_t ExclusiveScanByKey(void* d_temp_storage, std::size_t& temp_storage_bytes, Keys d_keys_in,
                                          Values d_values_in, Output d_values_out, Op scan_op, T init_value,
                                          NumItems num_items, Equal equality_op = Equal(),
                                          cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return scan_by_key<true>("cub::DeviceScan::ExclusiveScanByKey", site, d_temp_storage, temp_storage_bytes,
                                 d_keys_in, d_values_in, d_values_out, scan_op, init_value, true, num_items,
                                 equality_op, stream);
    }
    template <class Keys, class Values, class Output, class Equal = cuda::std::equal_to<>, class NumItems = unsigned>
    static cudaError_t InclusiveSumByKey(void* d_temp_storage, std::size_t& temp_storage_bytes, Keys d_keys_in,
                                         Values d_values_in, Output d_values_out, NumItems num_items,
                                         Equal equality_op = Equal(), cudaStream_t stream = nullptr,
                                         CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Values>;
        return scan_by_key<false>("cub::DeviceScan::InclusiveSumByKey", site, d_temp_storage, temp_storage_bytes,
                                  d_keys_in, d_values_in, d_values_out, cuda::std::plus<>(), Value{}, false, num_items,
                                  equality_op, stream);
    }
    template <class Keys, class Values, class Output, class Op, class Equal = cuda::std::equal_to<>,
              class NumItems = unsigned>
    static cudaError_t InclusiveScanByKey(void* d_temp_storage, std::size_t& temp_storage_bytes, Keys d_keys_in,
                                          Values d_values_in, Output d_values_out, Op scan_op, NumItems num_items,
                                          Equal equality_op = Equal(), cudaStream_t stream = nullptr,
                                          CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Values>;
        return scan_by_key<false>("cub::DeviceScan::InclusiveScanByKey", site, d_temp_storage, temp_storage_bytes,
                                  d_keys_in, d_values_in, d_values_out, scan_op, Value{}, false, num_items, equality_op,
                                  stream);
    }

private:
    template <bool is_exclusive, class Total, class Input, class Output, class Op>
    static void scan_run(Input d_in, Output d_out, Op& op, const Total* init, std::size_t begin, std::size_t end) {
        cpu_device::cub_parts::scan_run<Total>(
            begin, end, init, [&](std::size_t i) { return d_in[i]; }, op,
            [&](std::size_t i, [[maybe_unused]] const Total* before, [[maybe_unused]] const Total& up_to) {
                if constexpr (is_exclusive) {
                    d_out[i] = *before;
                } else {
                    d_out[i] = up_to;
                }
            });
    }

    template <bool is_exclusive, class Input, class Output, class Op, class T, class NumItems>
    static cudaError_t scan(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Input d_in,
                            Output d_out, Op op, T init_value, bool has_init, NumItems num_items, cudaStream_t stream) {
        namespace parts = cpu_device::cub_parts;
        using Total = parts::sum_of<Op, T, parts::value_of<Input>>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(name, site, storage, bytes, parts::storage_of_tiles(count, sizeof(Total)), stream,
                                    {parts::operand("d_in", d_in, count), parts::operand("d_out", d_out, count)}, [&] {
                                        const Total init = static_cast<Total>(init_value);
                                        if (count > 0)
                                            scan_run<is_exclusive>(d_in, d_out, op, has_init ? &init : nullptr, 0,
                                                                   count);
                                    });
    }

    template <bool is_exclusive, class Keys, class Values, class Output, class Op, class T, class NumItems, class Equal>
    static cudaError_t scan_by_key(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes,
                                   Keys d_keys_in, Values d_values_in, Output d_values_out, Op op, T init_value,
                                   bool has_init, NumItems num_items, Equal equal, cudaStream_t stream) {
        namespace parts = cpu_device::cub_parts;
        using Total = parts::sum_of<Op, T, parts::value_of<Values>>;
        using Key = parts::value_of<Keys>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of_tiles(count, sizeof(Total) + sizeof(Key)), stream,
            {parts::operand("d_keys_in", d_keys_in, count), parts::operand("d_values_in", d_values_in, count),
             parts::operand("d_values_out", d_values_out, count)},
            [&] {
                const Total init = static_cast<Total>(init_value);
                for (std::size_t begin = 0, end; begin < count; begin = end) {
                    const Key key = d_keys_in[begin];
                    for (end = begin + 1; end < count && equal(key, static_cast<Key>(d_keys_in[end]));) ++end;
                    scan_run<is_exclusive>(d_values_in, d_values_out, op, has_init ? &init : nullptr, begin, end);
                }
            });
    }
};

}  // namespace cub
