#pragma once

#include "chapters/4_examples/matrix_multiply/step_02_row_in_shared.cuh"

namespace examples {
namespace {

// Step 3, four columns per thread. The rows of B are copied so that each begins at a
// multiple of 128 bytes (`pitch` floats after the one before it). Then a thread can load
// four neighboring elements of B with one load of 16 bytes, however many columns there are,
// and it computes four elements of C.
// Faster because there is a quarter of the loads of B, and a quarter of the loads of A,
// since an element of A serves four multiply-adds. Still slow because every block reads all
// of B, and uses each float of it only once.
__global__ void product_pitched(const float* a, const float* b, float* c, Extents x,
                                std::size_t pitch) {
    __shared__ float piece[kPiece];
    const std::size_t row = blockIdx.x;
    for (std::size_t first_col = 0; first_col < x.n; first_col += 4 * kRowThreads) {
        const std::size_t col = first_col + 4 * threadIdx.x;
        float4 sum = make_float4(0, 0, 0, 0);
        for (std::size_t first = 0; first < x.k; first += kPiece) {
            const unsigned length =
                static_cast<unsigned>(min(std::size_t{kPiece}, x.k - first));
            for (unsigned p = threadIdx.x; p < length; p += kRowThreads)
                piece[p] = a[row * x.k + first + p];
            __syncthreads();
            if (col < x.n) {
                for (unsigned p = 0; p < length; ++p) {
                    const float4 four =
                        *reinterpret_cast<const float4*>(&b[(first + p) * pitch + col]);
                    const float left = piece[p];
                    sum.x += left * four.x;
                    sum.y += left * four.y;
                    sum.z += left * four.z;
                    sum.w += left * four.w;
                }
            }
            __syncthreads();
        }
        if (col < x.n) c[row * x.n + col] = sum.x;
        if (col + 1 < x.n) c[row * x.n + col + 1] = sum.y;
        if (col + 2 < x.n) c[row * x.n + col + 2] = sum.z;
        if (col + 3 < x.n) c[row * x.n + col + 3] = sum.w;
    }
}

}  // namespace
}  // namespace examples
