// Two kinds of host memory that a device can reach by itself.
//
//     PageLocked pinned(count);  // pinned.data() for the host, pinned.device() for kernels
//     Managed managed(count);    // managed.data() for both
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "common/helpers/check.h"

namespace memory_model {
namespace {

using warpwise::check;

// Pinned (page-locked) memory of the host, mapped into the addresses of the device. The
// system must leave it where it is, so that the copy engine can work on it while the
// processor does something else.
class PageLocked {
public:
    explicit PageLocked(std::size_t count) {
        void* memory = nullptr;
        check(cudaHostAlloc(&memory, std::max<std::size_t>(count, 1) * sizeof(float),
                            cudaHostAllocMapped));
        data_ = static_cast<float*>(memory);
    }
    ~PageLocked() { (void)cudaFreeHost(data_); }
    PageLocked(const PageLocked&) = delete;
    PageLocked& operator=(const PageLocked&) = delete;

    float* data() { return data_; }

    /// The same memory under the address that kernels have to use.
    float* device() {
        void* pointer = nullptr;
        check(cudaHostGetDevicePointer(&pointer, data_, 0));
        return static_cast<float*>(pointer);
    }

private:
    float* data_ = nullptr;
};

// Memory with one address for host and device. Its pages move to the side that touches
// them.
class Managed {
public:
    explicit Managed(std::size_t count) : bytes_(count * sizeof(float)) {
        void* memory = nullptr;
        check(cudaMallocManaged(&memory, std::max<std::size_t>(bytes_, 1)));
        data_ = static_cast<float*>(memory);
    }
    ~Managed() { (void)cudaFree(data_); }
    Managed(const Managed&) = delete;
    Managed& operator=(const Managed&) = delete;

    float* data() { return data_; }

    /// Moves all pages ahead of their use, in the default stream.
    void prefetch(bool to_device) {
        int device = 0;
        check(cudaGetDevice(&device));
#if CUDART_VERSION >= 13000
        cudaMemLocation location = {};
        location.type = to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
        location.id = to_device ? device : 0;
        check(cudaMemPrefetchAsync(data_, bytes_, location, 0));
#else
        check(cudaMemPrefetchAsync(data_, bytes_, to_device ? device : cudaCpuDeviceId));
#endif
    }

    /// Reads from every page on the host.
    void touch() const {
        constexpr std::size_t page = 4096 / sizeof(float);
        volatile float last = 0;
        for (std::size_t i = 0; i < bytes_ / sizeof(float); i += page) last = data_[i];
        (void)last;
    }

private:
    std::size_t bytes_;
    float* data_ = nullptr;
};

}  // namespace
}  // namespace memory_model
