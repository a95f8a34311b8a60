// Reductions of many parts of an array, each on its own.
#pragma once

#include <cstdint>
#include <limits>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"
#include "cub/thread/thread_operators.cuh"

namespace cub {

struct DeviceSegmentedReduce {
    /// Segment s is what lies from begin_offsets[s] to end_offsets[s] - 1.
    template <class Input, class Output, class Begin, class End, class Op, class T>
    static cudaError_t Reduce(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                              std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets, Op reduction_op,
                              T initial_value, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Total = cpu_device::cub_parts::sum_of<Op, T, cpu_device::cub_parts::value_of<Input>>;
        return reduce<Total>("cub::DeviceSegmentedReduce::Reduce", site, d_temp_storage, temp_storage_bytes, d_in,
                             d_out, num_segments, d_begin_offsets, d_end_offsets, reduction_op,
                             static_cast<Total>(initial_value), stream);
    }
    template <class Input, class Output, class Begin, class End>
    static cudaError_t Sum(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                           std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                           cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        using Init = typename cpu_device::cub_parts::WrittenTo<Output, Value>::type;
        using Total = cpu_device::cub_parts::sum_of<cuda::std::plus<>, Init, Value>;
        return reduce<Total>("cub::DeviceSegmentedReduce::Sum", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                             num_segments, d_begin_offsets, d_end_offsets, cuda::std::plus<>(), Total{}, stream);
    }
    template <class Input, class Output, class Begin, class End>
    static cudaError_t Min(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                           std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                           cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        return reduce<Value>("cub::DeviceSegmentedReduce::Min", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                             num_segments, d_begin_offsets, d_end_offsets, cuda::minimum<>(),
                             std::numeric_limits<Value>::max(), stream);
    }
    template <class Input, class Output, class Begin, class End>
    static cudaError_t Max(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                           std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                           cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        using Value = cpu_device::cub_parts::value_of<Input>;
        return reduce<Value>("cub::DeviceSegmentedReduce::Max", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                             num_segments, d_begin_offsets, d_end_offsets, cuda::maximum<>(),
                             std::numeric_limits<Value>::lowest(), stream);
    }
    /// A KeyValuePair<int, value> for each segment, with places that count from its begin.
    template <class Input, class Output, class Begin, class End>
    static cudaError_t ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                              std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                              cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return find("cub::DeviceSegmentedReduce::ArgMin", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                    num_segments, d_begin_offsets, d_end_offsets, cub::ArgMin(),
                    std::numeric_limits<cpu_device::cub_parts::value_of<Input>>::max(), stream);
    }
    template <class Input, class Output, class Begin, class End>
    static cudaError_t ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_in, Output d_out,
                              std::int64_t num_segments, Begin d_begin_offsets, End d_end_offsets,
                              cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return find("cub::DeviceSegmentedReduce::ArgMax", site, d_temp_storage, temp_storage_bytes, d_in, d_out,
                    num_segments, d_begin_offsets, d_end_offsets, cub::ArgMax(),
                    std::numeric_limits<cpu_device::cub_parts::value_of<Input>>::lowest(), stream);
    }

private:
    template <class Input, class Output, class Begin, class End, class Visit>
    static cudaError_t for_segments(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes,
                                    Input d_in, Output d_out, std::int64_t num_segments, Begin begins, End ends,
                                    cudaStream_t stream, Visit visit) {
        namespace parts = cpu_device::cub_parts;
        const auto count = static_cast<std::size_t>(num_segments);
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of(1), stream,
            {parts::operand("d_out", d_out, count), parts::operand("d_begin_offsets", begins, count),
             parts::operand("d_end_offsets", ends, count)},
            [&](const cpu_device::AlgorithmCall& call) {
                std::size_t last = 0;
                for (std::size_t s = 0; s < count; ++s) {
                    const auto begin = static_cast<std::int64_t>(begins[s]), end = static_cast<std::int64_t>(ends[s]);
                    if (begin < end && last < static_cast<std::size_t>(end)) last = static_cast<std::size_t>(end);
                }
                if (!is_usable(call, parts::operand("d_in", d_in, last))) return false;
                for (std::size_t s = 0; s < count; ++s) {
                    const auto begin = static_cast<std::int64_t>(begins[s]), end = static_cast<std::int64_t>(ends[s]);
                    d_out[s] =
                        visit(static_cast<std::size_t>(begin), static_cast<std::size_t>(end < begin ? begin : end));
                }
                return true;
            });
    }

    template <class Total, class Input, class Output, class Begin, class End, class Op>
    static cudaError_t reduce(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Input d_in,
                              Output d_out, std::int64_t num_segments, Begin begins, End ends, Op op, Total init,
                              cudaStream_t stream) {
        return for_segments(name, site, storage, bytes, d_in, d_out, num_segments, begins, ends, stream,
                            [&](std::size_t begin, std::size_t end) -> Total {
                                if (begin == end) return init;
                                auto get = [&](std::size_t i) { return d_in[i]; };
                                return op(init, cpu_device::cub_parts::fold<Total>(begin, end, get, op));
                            });
    }

    template <class Input, class Output, class Begin, class End, class Op, class Value>
    static cudaError_t find(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Input d_in,
                            Output d_out, std::int64_t num_segments, Begin begins, End ends, Op op, Value none,
                            cudaStream_t stream) {
        using Pair = KeyValuePair<int, Value>;
        return for_segments(name, site, storage, bytes, d_in, d_out, num_segments, begins, ends, stream,
                            [&](std::size_t begin, std::size_t end) -> Pair {
                                if (begin == end) return Pair(1, none);
                                auto get = [&](std::size_t i) { return Pair(static_cast<int>(i - begin), d_in[i]); };
                                return cpu_device::cub_parts::fold<Pair>(begin, end, get, op);
                            });
    }
};

}  // namespace cub
