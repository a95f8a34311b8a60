// An allocator that keeps what was freed, because cudaMalloc takes long.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "cub/util_debug.cuh"
#include "cuda_runtime.h"

namespace cub {

/// Sizes are powers of `bin_growth`. What is larger than the largest is given back to CUDA when it is freed.
struct CachingDeviceAllocator {
    unsigned bin_growth = 8;
    unsigned min_bin = 3;
    unsigned max_bin = 7;
    std::size_t max_cached_bytes = 6 * 1024 * 1024 - 1;
    bool skip_cleanup = false;
    bool debug = false;

    CachingDeviceAllocator(unsigned growth, unsigned least = 1, unsigned most = ~0u,
                           std::size_t most_bytes = ~std::size_t{0}, bool no_cleanup = false)
        : bin_growth(growth), min_bin(least), max_bin(most), max_cached_bytes(most_bytes), skip_cleanup(no_cleanup) {}
    CachingDeviceAllocator(bool no_cleanup = false, bool = false) : skip_cleanup(no_cleanup) {}  // NOLINT
    CachingDeviceAllocator(const CachingDeviceAllocator&) = delete;
    CachingDeviceAllocator& operator=(const CachingDeviceAllocator&) = delete;
    ~CachingDeviceAllocator() {
        if (!skip_cleanup) FreeAllCached();
    }

    cudaError_t DeviceAllocate(void** pointer, std::size_t bytes, cudaStream_t = nullptr) {
        const std::lock_guard lock(mutex_);
        std::size_t size = 1;
        unsigned bin = 0;
        while (bin < min_bin || size < bytes) {
            if (bin >= max_bin || size > ~std::size_t{0} / bin_growth) {
                size = bytes;
                break;
            }
            size *= bin_growth;
            ++bin;
        }
        const auto kept = free_.find(size);
        if (kept != free_.end()) {
            *pointer = kept->second;
            kept_bytes_ -= size;
            free_.erase(kept);
        } else {
            const cudaError_t error = cudaMalloc(pointer, size);
            if (error != cudaSuccess) return error;
        }
        live_[*pointer] = size;
        return cudaSuccess;
    }
    cudaError_t DeviceFree(void* pointer) {
        const std::lock_guard lock(mutex_);
        const auto found = live_.find(pointer);
        if (found == live_.end()) return cudaFree(pointer);
        const std::size_t size = found->second;
        live_.erase(found);
        if (kept_bytes_ + size > max_cached_bytes) return cudaFree(pointer);
        kept_bytes_ += size;
        free_.emplace(size, pointer);
        return cudaSuccess;
    }
    // For one of several devices: there is one.
    cudaError_t DeviceAllocate(int, void** pointer, std::size_t bytes, cudaStream_t stream = nullptr) {
        return DeviceAllocate(pointer, bytes, stream);
    }
    cudaError_t DeviceFree(int, void* pointer) { return DeviceFree(pointer); }
    cudaError_t FreeAllCached() {
        const std::lock_guard lock(mutex_);
        cudaError_t error = cudaSuccess;
        for (const auto& [size, pointer] : free_) {
            const cudaError_t freed = cudaFree(pointer);
            if (error == cudaSuccess) error = freed;
        }
        free_.clear();
        kept_bytes_ = 0;
        return error;
    }

private:
    std::mutex mutex_;
    std::multimap<std::size_t, void*> free_;
    std::map<void*, std::size_t> live_;
    std::size_t kept_bytes_ = 0;
};

}  // namespace cub
