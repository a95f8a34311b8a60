// What a function makes of each element, or of the elements of several arrays.
#pragma once

#include <cstddef>
#include <tuple>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"
#include "cuda/std/tuple"

namespace cub {

struct DeviceTransform {
    template <class... Inputs, class Output, class NumItems, class Op>
    static cudaError_t Transform(cuda::std::tuple<Inputs...> inputs, Output output, NumItems num_items, Op transform_op,
                                 cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        namespace parts = cpu_device::cub_parts;
        const auto count = static_cast<std::size_t>(num_items);
        return [&]<std::size_t... k>(std::index_sequence<k...>) {
            return parts::in_one_phase("cub::DeviceTransform::Transform", site, stream,
                                       {parts::operand("the output", output, count),
                                        parts::operand("an input", cuda::std::get<k>(inputs), count)...},
                                       [&] {
                                           for (std::size_t i = 0; i < count; ++i)
                                               output[i] = transform_op(cuda::std::get<k>(inputs)[i]...);
                                       });
        }
        (std::index_sequence_for<Inputs...>());
    }
    template <class Input, class Output, class NumItems, class Op>
    requires(!std::is_pointer_v<NumItems>) static cudaError_t
        Transform(Input input, Output output, NumItems num_items, Op transform_op, cudaStream_t stream = nullptr,
                  CPU_DEVICE_CALL_SITE) {
        namespace parts = cpu_device::cub_parts;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_one_phase(
            "cub::DeviceTransform::Transform", site, stream,
            {parts::operand("the output", output, count), parts::operand("the input", input, count)}, [&] {
                for (std::size_t i = 0; i < count; ++i) output[i] = transform_op(input[i]);
            });
    }
};

}  // namespace cub
