// What every case does around its kernel: inputs that are the same everywhere, the launch, and the check of the output.
//
//     const Array<float> in = input<float>(n);
//     const Array<float> out = output<float>(n);
//     return prepared(copy, {n / 256, 256}, out, [](std::size_t i) { return element<float>(i); }, 0, in, out);
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/parallel_for.h"
#include "common/tests/model/cases.h"

namespace model_kernels {

/// Elements in device memory. Copies of an Array share the memory, which is freed with the last of them.
template <class T>
struct Array {
    std::shared_ptr<void> owner;
    T* data = nullptr;
    std::size_t size = 0;

    /// The same memory as elements of another type.
    template <class U>
    Array<U> as() const {
        return {owner, reinterpret_cast<U*>(data), size * sizeof(T) / sizeof(U)};
    }
};

/// 32 bits that look random and depend on `i` only (the finalizer of MurmurHash3).
inline std::uint32_t hash(std::size_t i) {
    std::uint32_t bits = static_cast<std::uint32_t>(i) * 0x9E3779B9u + 0x7F4A7C15u;
    bits = (bits ^ bits >> 16) * 0x85EBCA6Bu;
    bits = (bits ^ bits >> 13) * 0xC2B2AE35u;
    return bits ^ bits >> 16;
}

/// Element `i` of every input. Floating-point elements are odd multiples of 1/16 in [-1, 1], so that sums of them, and
/// sums of a few thousand products, are exact in any order. Integers are in [0, 65535], bytes in [0, 255].
template <class T>
T element(std::size_t i) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(static_cast<int>(hash(i) & 15) * 2 - 15) / 16;
    } else if constexpr (sizeof(T) == 1) {
        return static_cast<T>(hash(i) & 0xFF);
    } else {
        return static_cast<T>(hash(i) & 0xFFFF);
    }
}

template <class T>
Array<T> upload(const std::vector<T>& values) {
    auto buffer = std::make_shared<warpwise::DeviceBuffer<T>>(values);
    T* const data = buffer->data();
    return {std::move(buffer), data, values.size()};
}

/// `size` elements, the one at `i` computed by `function(i)`.
template <class T, class Function>
Array<T> input_of(std::size_t size, Function function) {
    std::vector<T> values(size);
    warpwise::parallel_for(size, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) values[i] = function(i);
    });
    return upload(values);
}

template <class T>
Array<T> input(std::size_t size) {
    return input_of<T>(size, element<T>);
}

/// `size` elements with `byte` in every byte. 0xFF makes floating-point elements NaN.
template <class T>
Array<T> output(std::size_t size, unsigned char byte = 0xFF) {
    auto buffer = std::make_shared<warpwise::DeviceBuffer<T>>(size);
    buffer->fill_bytes(byte);
    T* const data = buffer->data();
    return {std::move(buffer), data, size};
}

template <class T>
T* argument_of(const Array<T>& array) {
    return array.data;
}

template <class T>
const T& argument_of(const T& value) {
    return value;
}

/// Whether `got` is within `tolerance * max(1, |expected|)` of `expected`. NaN is right only where NaN is expected.
template <class T>
bool is_right(T got, T expected, double tolerance) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(expected)) return std::isnan(got);
        const double largest = tolerance * std::fmax(1.0, std::fabs(static_cast<double>(expected)));
        return std::fabs(static_cast<double>(got) - static_cast<double>(expected)) <= largest;
    } else {
        return got == expected;
    }
}

/// A check that compares element `i` of `out` with `expected(i)`.
template <class T, class Expected>
std::function<void()> expect(const Array<T>& out, Expected expected, double tolerance = 0) {
    return [out, expected, tolerance] {
        std::vector<T> got(out.size);
        warpwise::check(cudaMemcpy(got.data(), out.data, out.size * sizeof(T), cudaMemcpyDeviceToHost));
        warpwise::parallel_for(got.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const T right = static_cast<T>(expected(i));
                if (!is_right(got[i], right, tolerance)) {
                    throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(got[i]) +
                                             " instead of " + std::to_string(right));
                }
            }
        });
    };
}

/// The launch of `kernel` with these arguments. An Array is passed as the pointer to its first element.
template <class... Parameters, class... Arguments>
std::function<void()> launch_of(void (*kernel)(Parameters...), const Shape& shape, const Arguments&... arguments) {
    constexpr unsigned without_request = 48 * 1024;
    if (shape.shared_bytes > without_request) {
        warpwise::check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(shape.shared_bytes)));
    }
    return [kernel, shape, arguments...] {
        kernel<<<shape.grid, shape.block, shape.shared_bytes>>>(argument_of(arguments)...);
        warpwise::check_launch();
    };
}

template <class T, class Expected, class... Parameters, class... Arguments>
Prepared prepared(void (*kernel)(Parameters...), const Shape& shape, const Array<T>& out, Expected expected,
                  double tolerance, const Arguments&... arguments) {
    return {shape, launch_of(kernel, shape, arguments...), expect(out, expected, tolerance)};
}

/// Rank of the thread in a one-dimensional grid.
inline __device__ unsigned thread_in_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

constexpr unsigned kMi = 1u << 20;
constexpr unsigned kKi = 1u << 10;
/// Dynamic shared memory with which only one, two, or four blocks are resident on an H100 or H200 SM (227 KiB).
constexpr unsigned kOneBlockPerSm = 120 * kKi;
constexpr unsigned kTwoBlocksPerSm = 100 * kKi;
constexpr unsigned kFourBlocksPerSm = 50 * kKi;
/// SMs of an H100 SXM and of an H200.
constexpr unsigned kSms = 132;

}  // namespace model_kernels
