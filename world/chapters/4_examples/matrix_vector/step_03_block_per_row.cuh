#pragma once

#include "chapters/4_examples/matrix_vector/product.h"

namespace examples {
namespace {

// Step 3, one block per row: neighboring threads take neighboring columns, and add up their
// sums by shuffles (lesson dot_product).
// Faster because whole sectors are read, and used completely. Still slow because for each
// element of the matrix an element of x is read, too. And with 16 columns 240 of 256
// threads multiply nothing, but take part in the addition: a barrier, and five shuffles in
// each of eight warps, for 16 products.
__global__ void block_per_row(const float* a, std::size_t pitch, std::size_t cols,
                              const float* x, float* y) {
    __shared__ float warp_sums[kWarps];
    const std::size_t row = blockIdx.x;
    float sum = 0;
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads)
        sum += a[row * pitch + col] * x[col];
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(~0u, sum, distance);
    if (threadIdx.x % kLanes == 0) warp_sums[threadIdx.x / kLanes] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (unsigned warp = 1; warp < kWarps; ++warp) sum += warp_sums[warp];
    y[row] = sum;
}

}  // namespace
}  // namespace examples
