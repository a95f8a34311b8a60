// Copies made by all threads of a group together. Here they are finished when the call returns; a GPU only promises
// that after `wait`, so the rules are the same: nobody may read the destination before `wait`.
#pragma once

#include <cstddef>
#include <cstring>

#include "cpu_device/cooperative_groups.h"

namespace cuda {

/// A number of bytes that is promised to be a multiple of `Alignment`, as are both addresses.
template <std::size_t Alignment>
struct aligned_size_t {
    static constexpr std::size_t align = Alignment;
    std::size_t value;

    explicit constexpr aligned_size_t(std::size_t bytes) : value(bytes) {}
    constexpr operator std::size_t() const { return value; }  // NOLINT: implicit in CUDA too
};

}  // namespace cuda

namespace cooperative_groups {

/// Copies `bytes` bytes; every thread of the group copies some.
template <class Group, class T>
void memcpy_async(const Group& group, T* destination, const T* source, std::size_t bytes) {
    constexpr std::size_t piece = 16;
    auto* to = reinterpret_cast<unsigned char*>(destination);
    const auto* from = reinterpret_cast<const unsigned char*>(source);
    for (std::size_t start = group.thread_rank() * piece; start < bytes; start += group.num_threads() * piece) {
        std::memcpy(to + start, from + start, bytes - start < piece ? bytes - start : piece);
    }
}

/// Copies as many elements as both sides have.
template <class Group, class T, class DestinationLayout, class SourceLayout>
void memcpy_async(const Group& group, T* destination, const DestinationLayout& destination_elements, const T* source,
                  const SourceLayout& source_elements) {
    const std::size_t to = destination_elements;
    const std::size_t from = source_elements;
    memcpy_async(group, destination, source, (to < from ? to : from) * sizeof(T));
}

/// Waits for all copies of the group.
template <class Group>
void wait(const Group& group, CPU_DEVICE_CALL_SITE) {
    group.sync(site);
}

/// Waits for all copies of the group but the last `Stages`.
template <unsigned Stages, class Group>
void wait_prior(const Group& group, CPU_DEVICE_CALL_SITE) {
    group.sync(site);
}

}  // namespace cooperative_groups
