// An array in device memory that frees itself.
//
//     DeviceBuffer<float> d_in(host_values), d_out(n);
//     scale<<<blocks, threads>>>(d_in.data(), d_out.data(), n);
//     check_launch();
//     std::vector<float> result = d_out.download();
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/helpers/check.h"

namespace warpwise {

/// `size()` elements of T in device memory; can be moved, not copied. What a new buffer holds is undefined.
template <class T>
class DeviceBuffer {
    static_assert(std::is_trivially_copyable_v<T>, "device memory is copied byte by byte");

public:
    /// Allocates `count` elements; none are allowed, and data() is then null. Throws CudaError.
    explicit DeviceBuffer(std::size_t count = 0, SourceLocation where = SourceLocation::current()) : size_(count) {
        if (count == 0) return;
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) check(cudaErrorMemoryAllocation, where);
        void* memory = nullptr;
        check(cudaMalloc(&memory, bytes()), where);
        data_ = static_cast<T*>(memory);
    }

    /// Allocates as many elements as `values` has and copies them. Throws CudaError.
    explicit DeviceBuffer(const std::vector<T>& values, SourceLocation where = SourceLocation::current())
        : DeviceBuffer(values.size(), where) {
        upload(values, where);
    }

    DeviceBuffer(DeviceBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    /// An error that cudaFree reports belongs to work done before; it is left to the next check.
    ~DeviceBuffer() {
        if (data_ != nullptr) (void)cudaFree(data_);
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }

    /// Copies `values` to the device. Throws std::invalid_argument unless there are size() of them, and CudaError.
    void upload(const std::vector<T>& values, SourceLocation where = SourceLocation::current()) {
        if (values.size() != size_) throw std::invalid_argument("DeviceBuffer::upload: sizes differ");
        if (size_ != 0) check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), where);
    }

    /// Copies all elements to the host, after waiting for the work given to the default stream. Throws CudaError.
    std::vector<T> download(SourceLocation where = SourceLocation::current()) const {
        std::vector<T> values(size_);
        if (size_ != 0) check(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), where);
        return values;
    }

    /// Sets every byte; 0xFF makes floating-point elements NaN and signed integers -1. Throws CudaError.
    void fill_bytes(unsigned char byte, SourceLocation where = SourceLocation::current()) {
        if (size_ != 0) check(cudaMemset(data_, byte, bytes()), where);
    }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace warpwise
