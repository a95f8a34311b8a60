// Differences of neighboring elements.
#pragma once

#include <vector>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"
#include "cuda/std/functional"

namespace cub {

struct DeviceAdjacentDifference {
    /// op(element, the one before it); the first stays as it is.
    template <class Input, class Output, class NumItems, class Op = cuda::std::minus<>>
    static cudaError_t SubtractLeftCopy(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_input,
                                        Output d_output, NumItems num_items, Op difference_op = {},
                                        cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return subtract<true>("cub::DeviceAdjacentDifference::SubtractLeftCopy", site, d_temp_storage,
                              temp_storage_bytes, d_input, d_output, num_items, difference_op, stream);
    }
    template <class Iterator, class NumItems, class Op = cuda::std::minus<>>
    static cudaError_t SubtractLeft(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_input,
                                    NumItems num_items, Op difference_op = {}, cudaStream_t stream = nullptr,
                                    CPU_DEVICE_CALL_SITE) {
        return subtract<true>("cub::DeviceAdjacentDifference::SubtractLeft", site, d_temp_storage, temp_storage_bytes,
                              d_input, d_input, num_items, difference_op, stream);
    }
    /// op(element, the one after it); the last stays as it is.
    template <class Input, class Output, class NumItems, class Op = cuda::std::minus<>>
    static cudaError_t SubtractRightCopy(void* d_temp_storage, std::size_t& temp_storage_bytes, Input d_input,
                                         Output d_output, NumItems num_items, Op difference_op = {},
                                         cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return subtract<false>("cub::DeviceAdjacentDifference::SubtractRightCopy", site, d_temp_storage,
                               temp_storage_bytes, d_input, d_output, num_items, difference_op, stream);
    }
    template <class Iterator, class NumItems, class Op = cuda::std::minus<>>
    static cudaError_t SubtractRight(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_input,
                                     NumItems num_items, Op difference_op = {}, cudaStream_t stream = nullptr,
                                     CPU_DEVICE_CALL_SITE) {
        return subtract<false>("cub::DeviceAdjacentDifference::SubtractRight", site, d_temp_storage, temp_storage_bytes,
                               d_input, d_input, num_items, difference_op, stream);
    }

private:
    template <bool is_left, class Input, class Output, class NumItems, class Op>
    static cudaError_t subtract(const char* name, cpu_device::Site site, void* storage, std::size_t& bytes, Input input,
                                Output output, NumItems num_items, Op op, cudaStream_t stream) {
        namespace parts = cpu_device::cub_parts;
        using Value = parts::value_of<Input>;
        const auto count = static_cast<std::size_t>(num_items);
        return parts::in_two_phases(
            name, site, storage, bytes, parts::storage_of_tiles(count, sizeof(Value)), stream,
            {parts::operand("d_input", input, count), parts::operand("d_output", output, count)}, [&] {
                std::vector<Value> all;
                all.reserve(count);
                for (std::size_t i = 0; i < count; ++i) all.push_back(input[i]);
                for (std::size_t i = 0; i < count; ++i) {
                    const bool is_alone = is_left ? i == 0 : i + 1 == count;
                    if (is_alone) {
                        output[i] = all[i];
                    } else {
                        output[i] = op(all[i], all[is_left ? i - 1 : i + 1]);
                    }
                }
            });
    }
};

}  // namespace cub
