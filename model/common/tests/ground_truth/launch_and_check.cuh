// What every case does around its kernel: inputs that are the same everywhere, one launch, results compared byte by
// byte.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"

namespace ground_truth {

using warpwise::DeviceBuffer;

constexpr unsigned kWarpSize = 32;
constexpr unsigned kThreads = 256;  // in a block, where a case does not say otherwise
constexpr unsigned kWarps = kThreads / kWarpSize;
constexpr unsigned kBlocks = 128;
constexpr unsigned kCount = kBlocks * kThreads;  // threads in the grid
constexpr unsigned char kUnwritten = 0xFF;       // every byte of an output before the launch

struct Shape {
    dim3 grid = dim3(kBlocks);
    dim3 block = dim3(kThreads);
};

/// Rank of the thread in a one-dimensional grid.
inline __device__ unsigned thread_in_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

inline __device__ unsigned lane_in_warp() { return threadIdx.x % 32; }
inline __device__ unsigned warp_in_block() { return threadIdx.x / 32; }

/// Launches the kernel once and waits for it. Throws warpwise::CudaError.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), Shape shape, Arguments... arguments) {
    kernel<<<shape.grid, shape.block>>>(arguments...);
    warpwise::check_launch();
    warpwise::check_finished();
}

/// `count` elements with random bits. The two highest bits of each byte are 0, so that floating-point elements are
/// small and never NaN.
template <class T>
std::vector<T> random_elements(std::size_t count) {
    std::vector<unsigned char> bytes(count * sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = warpwise::random_bits(1, i) & 0x3F;
    std::vector<T> elements(count);
    std::memcpy(static_cast<void*>(elements.data()), bytes.data(), bytes.size());
    return elements;
}

/// 0, 1, ... `count` - 1 in random order (Fisher and Yates).
inline std::vector<unsigned> random_order(unsigned count) {
    std::vector<unsigned> order(count);
    for (unsigned i = 0; i < count; ++i) {
        const unsigned j = static_cast<unsigned>(warpwise::random_bits(2, i) % (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

/// `count` numbers from 0 to `limit` - 1, with repetitions.
inline std::vector<unsigned> random_indices(std::size_t count, unsigned limit) {
    std::vector<unsigned> indices(count);
    for (std::size_t i = 0; i < count; ++i) indices[i] = static_cast<unsigned>(warpwise::random_bits(3, i) % limit);
    return indices;
}

/// `count` elements as the launch finds them in an output that nobody has written.
template <class T>
std::vector<T> unwritten(std::size_t count) {
    std::vector<T> elements(count);
    std::memset(static_cast<void*>(elements.data()), kUnwritten, count * sizeof(T));
    return elements;
}

/// Throws std::runtime_error that names the first element whose bytes differ.
template <class T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::memcmp(&got[i], &expected[i], sizeof(T)) != 0) {
            throw std::runtime_error("element " + std::to_string(i) + " is wrong");
        }
    }
}

/// Runs `kernel(in..., out)` and expects that it leaves `expected` in `out`.
template <class T, class... Parameters, class... Inputs>
void run_and_compare(void (*kernel)(Parameters...), Shape shape, const std::vector<T>& expected, Inputs... inputs) {
    DeviceBuffer<T> d_out(expected.size());
    d_out.fill_bytes(kUnwritten);
    launch(kernel, shape, inputs..., d_out.data());
    expect_equal(d_out.download(), expected);
}

}  // namespace ground_truth
