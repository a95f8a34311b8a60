// A function that is called for every element, or every index.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "cpu_device/cub_host.h"
#include "cub/config.cuh"

namespace cub {

struct DeviceFor {
    /// op(0), op(1) ... op(shape - 1).
    template <class Shape, class Op>
    requires std::is_integral_v<Shape>
    static cudaError_t Bulk(Shape shape, Op op, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return cpu_device::cub_parts::in_one_phase("cub::DeviceFor::Bulk", site, stream,
                                                   {cpu_device::AlgorithmOperand{}}, [&] {
                                                       for (Shape i = 0; i < shape; ++i) op(i);
                                                   });
    }
    template <class Iterator, class NumItems, class Op>
    requires std::is_integral_v<NumItems>
    static cudaError_t ForEachN(Iterator first, NumItems num_items, Op op, cudaStream_t stream = nullptr,
                                CPU_DEVICE_CALL_SITE) {
        return for_each("cub::DeviceFor::ForEachN", site, first, static_cast<std::size_t>(num_items), op, stream);
    }
    template <class Iterator, class Op>
    requires(!std::is_integral_v<Iterator>) static cudaError_t
        ForEach(Iterator first, Iterator last, Op op, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return for_each("cub::DeviceFor::ForEach", site, first, static_cast<std::size_t>(last - first), op, stream);
    }
    /// The same; the operator gets copies, and cannot change the elements.
    template <class Iterator, class NumItems, class Op>
    requires std::is_integral_v<NumItems>
    static cudaError_t ForEachCopyN(Iterator first, NumItems num_items, Op op, cudaStream_t stream = nullptr,
                                    CPU_DEVICE_CALL_SITE) {
        return for_each_copy("cub::DeviceFor::ForEachCopyN", site, first, static_cast<std::size_t>(num_items), op,
                             stream);
    }
    template <class Iterator, class Op>
    static cudaError_t ForEachCopy(Iterator first, Iterator last, Op op, cudaStream_t stream = nullptr,
                                   CPU_DEVICE_CALL_SITE) {
        return for_each_copy("cub::DeviceFor::ForEachCopy", site, first, static_cast<std::size_t>(last - first), op,
                             stream);
    }

    // With storage, of which they need next to none.
    template <class Shape, class Op>
    static cudaError_t Bulk(void* d_temp_storage, std::size_t& temp_storage_bytes, Shape shape, Op op,
                            cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return asks_for_storage(d_temp_storage, temp_storage_bytes) ? cudaSuccess : Bulk(shape, op, stream, site);
    }
    template <class Iterator, class NumItems, class Op>
    static cudaError_t ForEachN(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator first,
                                NumItems num_items, Op op, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return asks_for_storage(d_temp_storage, temp_storage_bytes) ? cudaSuccess
                                                                    : ForEachN(first, num_items, op, stream, site);
    }
    template <class Iterator, class Op>
    static cudaError_t ForEach(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator first, Iterator last,
                               Op op, cudaStream_t stream = nullptr, CPU_DEVICE_CALL_SITE) {
        return asks_for_storage(d_temp_storage, temp_storage_bytes) ? cudaSuccess
                                                                    : ForEach(first, last, op, stream, site);
    }

private:
    static bool asks_for_storage(const void* storage, std::size_t& bytes) {
        if (storage != nullptr) return false;
        bytes = 1;
        return true;
    }
    template <class Iterator, class Op>
    static cudaError_t for_each(const char* name, cpu_device::Site site, Iterator first, std::size_t count, Op op,
                                cudaStream_t stream) {
        return cpu_device::cub_parts::in_one_phase(name, site, stream,
                                                   {cpu_device::cub_parts::operand("the elements", first, count)}, [&] {
                                                       for (std::size_t i = 0; i < count; ++i)
                                                           op(first[static_cast<std::ptrdiff_t>(i)]);
                                                   });
    }
    template <class Iterator, class Op>
    static cudaError_t for_each_copy(const char* name, cpu_device::Site site, Iterator first, std::size_t count, Op op,
                                     cudaStream_t stream) {
        return cpu_device::cub_parts::in_one_phase(
            name, site, stream, {cpu_device::cub_parts::operand("the elements", first, count)}, [&] {
                for (std::size_t i = 0; i < count; ++i) {
                    cpu_device::cub_parts::value_of<Iterator> copy = first[static_cast<std::ptrdiff_t>(i)];
                    op(copy);
                }
            });
    }
};

}  // namespace cub
