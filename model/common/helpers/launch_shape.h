// How many blocks a launch needs.
//
//     scale<<<blocks_for(n, 256), 256>>>(d_values, n);                        // one thread per element
//     add<<<blocks_for_matrix(rows, cols, block), block>>>(...);              // x along the columns
//     sum<<<blocks_that_fill(sum, 256), 256>>>(d_values, n);                  // grid-stride loop
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "common/helpers/check.h"

namespace warpwise {

/// n / d rounded up, without overflow. d must not be 0.
constexpr std::size_t ceil_div(std::size_t n, std::size_t d) { return n / d + (n % d != 0 ? 1 : 0); }

/// Blocks for `n` elements, one thread each; at least 1, because a grid of 0 blocks is an error.
/// Throws std::length_error above 2^31 - 1 blocks, the largest grid in x.
inline unsigned blocks_for(std::size_t n, unsigned threads_per_block) {
    const std::size_t blocks = std::max<std::size_t>(1, ceil_div(n, threads_per_block));
    if (blocks > 0x7FFFFFFF) throw std::length_error("blocks_for: more than 2^31 - 1 blocks");
    return static_cast<unsigned>(blocks);
}

/// Blocks for a matrix, one thread per element: x covers the columns, y the rows; at least 1 each.
/// Throws std::length_error above 2^31 - 1 blocks in x or 65535 in y.
inline dim3 blocks_for_matrix(std::size_t rows, std::size_t cols, dim3 block) {
    const std::size_t blocks_y = std::max<std::size_t>(1, ceil_div(rows, block.y));
    if (blocks_y > 65535) throw std::length_error("blocks_for_matrix: more than 65535 blocks in y");
    return dim3(blocks_for(cols, block.x), static_cast<unsigned>(blocks_y));
}

/// Multiprocessors of the current device. Throws CudaError.
inline unsigned multiprocessors() {
    int device = 0, count = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(count);
}

/// As many blocks as are resident on the whole device at once, for kernels with a grid-stride loop. At least 1.
/// `shared_bytes`: dynamic shared memory of a block. Throws CudaError.
template <class Kernel>
unsigned blocks_that_fill(Kernel kernel, unsigned threads_per_block, std::size_t shared_bytes = 0) {
    int blocks_per_processor = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_processor, kernel,
                                                        static_cast<int>(threads_per_block), shared_bytes));
    return std::max(1u, multiprocessors() * static_cast<unsigned>(blocks_per_processor));
}

}  // namespace warpwise
