// Copies made by all threads of a group together. Those to shared memory land when the group waits, and nobody may
// touch their destination before. Each call makes a stage of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu_device/async_copies.h"
#include "cpu_device/cooperative_groups.h"

namespace cooperative_groups {

/// Copies `bytes` bytes; every thread of the group copies some.
template <class Group, class T, class Size>
CPU_DEVICE_INLINE void memcpy_async(const Group& group, T* destination, const T* source, const Size& bytes,
                                    CPU_DEVICE_CALL_SITE) {
    cpu_device::check_aligned_size(bytes, cpu_device::alignment_of_size<Size>());
    const std::uintptr_t bits =
        reinterpret_cast<std::uintptr_t>(destination) | reinterpret_cast<std::uintptr_t>(source) | 16u;
    const std::size_t piece = bits & -bits;
    if (piece >= 4) {
        cpu_device::copy_in_pieces(piece, group.thread_rank(), group.num_threads(), destination, source, bytes, nullptr,
                                   site);
    } else {  // what a GPU copies through registers
        auto* to = reinterpret_cast<unsigned char*>(destination);
        const auto* from = reinterpret_cast<const unsigned char*>(source);
        constexpr std::size_t part = 16;
        for (std::size_t start = group.thread_rank() * part; start < bytes; start += group.num_threads() * part) {
            std::memcpy(to + start, from + start, bytes - start < part ? bytes - start : part);
        }
    }
    cpu_device::commit_copies();
}

/// Copies as many elements as both sides have.
template <class Group, class T, class DestinationLayout, class SourceLayout>
CPU_DEVICE_INLINE void memcpy_async(const Group& group, T* destination, const DestinationLayout& destination_elements,
                                    const T* source, const SourceLayout& source_elements, CPU_DEVICE_CALL_SITE) {
    const std::size_t to = destination_elements;
    const std::size_t from = source_elements;
    memcpy_async(group, destination, source, (to < from ? to : from) * sizeof(T), site);
}

/// Waits for all copies of the group.
template <class Group>
void wait(const Group& group, CPU_DEVICE_CALL_SITE) {
    cpu_device::wait_for_copies(0);
    group.sync(site);
}

/// Waits for all copies of the group but the last `Stages`.
template <unsigned Stages, class Group>
void wait_prior(const Group& group, CPU_DEVICE_CALL_SITE) {
    cpu_device::wait_for_copies(Stages);
    group.sync(site);
}

}  // namespace cooperative_groups
