// Asynchronous copies of single threads, as functions of C: "Pipeline Primitives Interface" of the CUDA C++ Programming
// Guide. A copy to shared memory lands when its thread has waited for the group of the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu_device/async_copies.h"

/// Copies 4, 8, or 16 bytes; the last `zeros` of them are not read, but set to zero.
CPU_DEVICE_INLINE void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0,
                                               CPU_DEVICE_CALL_SITE) {
    if (bytes != 4 && bytes != 8 && bytes != 16) {
        cpu_device::abort_kernel(cudaErrorInvalidValue,
                                 "__pipeline_memcpy_async() of %zu bytes: it copies 4, 8, or 16 bytes", bytes);
    }
    if (zeros > bytes) {
        cpu_device::abort_kernel(cudaErrorInvalidValue,
                                 "__pipeline_memcpy_async() of %zu bytes, of which %zu are to be zeros", bytes, zeros);
    }
    if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % bytes != 0) {
        cpu_device::abort_kernel(cudaErrorMisalignedAddress,
                                 "__pipeline_memcpy_async() of %zu bytes: both addresses have to be multiples of that",
                                 bytes);
    }
    unsigned char values[16] = {};
    if (zeros > 0) std::memcpy(values, from, bytes - zeros);
    cpu_device::copy_in_pieces(bytes, 0, 1, to, zeros > 0 ? values : from, bytes, nullptr, site);
}

/// What the thread has begun to copy since the last call is a group.
inline void __pipeline_commit() { cpu_device::commit_copies(); }

/// Waits for all groups of the thread but the last `prior`.
inline void __pipeline_wait_prior(std::size_t prior) { cpu_device::wait_for_copies(static_cast<unsigned>(prior)); }
