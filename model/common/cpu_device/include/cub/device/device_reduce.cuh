// Reductions of arrays, and of runs of equal keys.
#pragma once

#include <cstdint>
#include <limits>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"
#include "cub/iterator/arg_index_input_iterator.cuh"
#include "cub/thread/thread_operators.cuh"

namespace cub {

struct DeviceReduce {
    template <class Input, class Output, class Op, class T, class NumItems>
    static cudaError_t Reduce(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                              NumItems num_items, Op reduction_op, T init, cudaStream_t stream = nullptr,
                              CPU_DEVICE_CALL_SITE) {
        using Total = cpu_device::cub_parts::sum_of<Op, T, cpu_device::cub_parts::value_of<Input>>;
        return reduce<Total>("cub::DeviceReduce::Reduce", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                             num_items, reduction_op, static_cast<Total>(init), stream);
    }
    template <class Input, class Output, class NumItems>
    static cudaError_t Sum(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                           NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        using Init = typename cpu_device::cub_parts::WrittenTo<Output, Value>::type;
        using Total = cpu_device::cub_parts::sum_of<cuda::std::plus<>, Init, Value>;
        return reduce<Total>("cub::DeviceReduce::Sum", site, d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                             cuda::std::plus<>(), Total{}, stream);
    }
    template <class Input, class Output, class NumItems>
    static cudaError_t Min(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                           NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        return reduce<Value>("cub::DeviceReduce::Min", site, d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                             cuda::minimum<>(), std::numeric_limits<Value>::max(), stream);
    }
    template <class Input, class Output, class NumItems>
    static cudaError_t Max(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                           NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        return reduce<Value>("cub::DeviceReduce::Max", site, d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                             cuda::maximum<>(), std::numeric_limits<Value>::lowest(), stream);
    }

    /// The value and its place, in two arrays.
    template <class Input, class Extremum, class Index>
    static cudaError_t ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Extremum d_min_out,
                              Index d_index_out, std::int64_t num_items, cudaStream_t stream = nullptr,
                              CPU_DEVICE_CALL_SITE) {
        return find("cub::DeviceReduce::ArgMin", site, d_temp_storage, temp_storage_bytes, d_in, d_min_out, d_index_out,
                    num_items, ArgMin_(), std::numeric_limits<cpu_device::cub_parts::value_of<Input>>::max(), stream);
    }
    template <class Input, class Extremum, class Index>
    static cudaError_t ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Extremum d_max_out,
                              Index d_index_out, std::int64_t num_items, cudaStream_t stream = nullptr,
                              CPU_DEVICE_CALL_SITE) {
        return find("cub::DeviceReduce::ArgMax", site, d_temp_storage, temp_storage_bytes, d_in, d_max_out, d_index_out,
                    num_items, ArgMax_(), std::numeric_limits<cpu_device::cub_parts::value_of<Input>>::lowest(),
                    stream);
    }
    /// Both in a KeyValuePair<int, value>; of nothing the pair {1, the greatest value}.
    template <class Input, class Output>
    static cudaError_t ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                              int num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        using Pair = KeyValuePair<int, Value>;
        return reduce<Pair>("cub::DeviceReduce::ArgMin", site, d_temp_storage, temp_storage_bytes,
                            ArgIndexInputIterator<Input, int, Value>(d_in), d_out, num_items, ArgMin_(),
                            Pair(1, std::numeric_limits<Value>::max()), stream, input_of(d_in, num_items));
    }
    template <class Input, class Output>
    static cudaError_t ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                              int num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        using Pair = KeyValuePair<int, Value>;
        return reduce<Pair>("cub::DeviceReduce::ArgMax", site, d_temp_storage, temp_storage_bytes,
                            ArgIndexInputIterator<Input, int, Value>(d_in), d_out, num_items, ArgMax_(),
                            Pair(1, std::numeric_limits<Value>::lowest()), stream, input_of(d_in, num_items));
    }

    template <class Input, class Output, class Op, class Transform, class T, class NumItems>
    static cudaError_t TransformReduce(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                                       NumItems num_items, Op reduction_op, Transform transform_op, T init,
                                       cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        namespace parts = cpu_device::cub_parts;
        using Value = std::decay_t<std::invoke_result_t<Transform&, parts::value_of<Input>>>;
        using Total = parts::sum_of<Op, T, Value>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases("cub::DeviceReduce::TransformReduce", site, d_temp_storage, temp_storage_bytes,
                                    parts::storage_of_tiles(0, sizeof(Total)), stream,
                                    {input_of(d_in, count), parts::operand("d_out", d_out, 1)}, [&] {
                                        auto get = [&](std::size_t i) { return transform_op(d_in[i]); };
                                        Total result = static_cast<Total>(init);
                                        if (count > 0)
                                            result =
                                                reduction_op(result, parts::fold<Total>(0, count, get, reduction_op));
                                        *d_out = result;
                                    });
    }

    /// One key and one sum for each run of equal keys that follow each other.
    template <class KeysInput, class UniqueOutput, class ValuesInput, class AggregatesOutput, class NumRuns, class Op,
              class NumItems>
    static cudaError_t ReduceByKey(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysInput d_keys_in,
                                   UniqueOutput d_unique_out, ValuesInput d_values_in,
                                   AggregatesOutput d_aggregates_out, NumRuns d_num_runs_out, Op reduction_op,
                                   NumItems num_items, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        namespace parts = cpu_device::cub_parts;
        using Key = parts::value_of<KeysInput>;
        using Value = parts::value_of<ValuesInput>;
        using Total = parts::sum_of<Op, Value, Value>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            "cub::DeviceReduce::ReduceByKey", site, d_temp_storage, temp_storage_bytes,
            parts::storage_of_tiles(count, sizeof(Total) + sizeof(Key)), stream,
            {parts::operand("d_keys_in", d_keys_in, count), parts::operand("d_values_in", d_values_in, count),
             parts::operand("d_num_runs_out", d_num_runs_out, 1)},
            [&](const cpu_device::AlgorithmCall& call) {
                const std::vector<std::size_t> begins = parts::begins_of_runs<Key>(d_keys_in, count);
                const std::size_t runs = begins.size() - 1;
                if (!is_usable(call, parts::operand("d_unique_out", d_unique_out, runs)) ||
                    !is_usable(call, parts::operand("d_aggregates_out", d_aggregates_out, runs)))
                    return false;
                auto get = [&](std::size_t i) { return d_values_in[i]; };
                for (std::size_t run = 0; run < runs; ++run) {
                    d_unique_out[run] = static_cast<Key>(d_keys_in[begins[run]]);
                    d_aggregates_out[run] = parts::fold<Total>(begins[run], begins[run + 1], get, reduction_op);
                }
                *d_num_runs_out = runs;
                return true;
            });
    }

private:
    using ArgMin_ = cub::ArgMin;
    using ArgMax_ = cub::ArgMax;

    template <class Input, class NumItems>
    static cpu_device::AlgorithmOperand input_of(const Input& d_in, NumItems num_items) {
        return cpu_device::cub_parts::operand("d_in", d_in, static_cast<std::size_t>(num_items));
    }

    template <class Total, class Input, class Output, class NumItems, class Op>
    static cudaError_t reduce(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Input d_in,
                              Output d_out, NumItems num_items, Op op, Total init, cudaStream_t stream,
                              const cpu_device::AlgorithmOperand& input) {
        namespace parts = cpu_device::cub_parts;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(name, site, storage, bytes, parts::storage_of_tiles(0, sizeof(Total)), stream,
                                    {input, parts::operand("d_out", d_out, 1)}, [&] {
                                        auto get = [&](std::size_t i) { return d_in[i]; };
                                        if (count > 0) init = op(init, parts::fold<Total>(0, count, get, op));
                                        *d_out = init;
                                    });
    }
    template <class Total, class Input, class Output, class NumItems, class Op>
    static cudaError_t reduce(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Input d_in,
                              Output d_out, NumItems num_items, Op op, Total init, cudaStream_t stream) {
        return reduce<Total>(name, site, storage, bytes, d_in, d_out, num_items, op, init, stream,
                             input_of(d_in, num_items));
    }

    template <class Input, class Extremum, class Index, class Op, class Value>
    static cudaError_t find(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Input d_in,
                            Extremum d_extremum_out, Index d_index_out, std::int64_t num_items, Op op, Value none,
                            cudaStream_t stream) {
        namespace parts = cpu_device::cub_parts;
        using Pair = KeyValuePair<std::int64_t, Value>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of_tiles(0, sizeof(Pair)), stream,
            {input_of(d_in, count), parts::operand("the place of the value", d_extremum_out, 1),
             parts::operand("d_index_out", d_index_out, 1)},
            [&] {
                auto get = [&](std::size_t i) { return Pair(static_cast<std::int64_t>(i), d_in[i]); };
                const Pair found = count > 0 ? parts::fold<Pair>(0, count, get, op) : Pair(1, none);
                *d_extremum_out = found.value;
                *d_index_out = found.key;
            });
    }
};

}  // namespace cub
