#pragma once

#include "chapters/4_examples/matrix_vector/pieces.cuh"

namespace examples {
namespace {

// Up to four floats, and zeros in the place of those that are not there.
__device__ float4 first_floats(const float* from, unsigned count) {
    if (count == 4) return *reinterpret_cast<const float4*>(from);
    return {count > 0 ? from[0] : 0, count > 1 ? from[1] : 0, count > 2 ? from[2] : 0, 0};
}

// The same for a float4 that was loaded whole.
__device__ float4 first_floats(float4 four, unsigned count) {
    return {count > 0 ? four.x : 0, count > 1 ? four.y : 0, count > 2 ? four.z : 0,
            count > 3 ? four.w : 0};
}

// Step 7, wide loads for short rows: step 5 with float4, for rows of up to 512 floats that
// begin at multiples of 16 bytes. A quarter of the lanes is enough for a row, and longer
// rows have 2 or 4 pieces for each of 32 lanes. As in step 6, 8 loads are in flight, of as
// many rows as that takes. The last piece of a row is loaded whole even if some of it is
// padding, which is left out of the sum later. On an H200 that was 1.6 times as fast with
// 11 columns as separate loads for the columns after the last whole piece (our run, not
// recorded). A lane has the same columns in all rows, so its part of x stays in registers,
// and the warps go on to further rows. The butterfly of shuffles gives the sum of a row to
// all of its lanes. So each lane can store the sum of another row: one store for many rows,
// side by side, where step 5 stores row by row.
// Faster because little is left but loads of the matrix, 16 bytes each. Slow only where
// rows begin anywhere: these are left to step 6, because it can load 4 bytes.
template <unsigned Lanes, unsigned Pieces>
__global__ void __launch_bounds__(kThreads, 2)
    pieces_per_lane(const float* a, std::size_t pitch, std::size_t rows, unsigned cols,
                    const float* x, float* y) {
    constexpr unsigned rows_at_a_time = kTuning.loads / Pieces;  // of a lane
    constexpr unsigned rows_per_load = kLanes / Lanes;           // of a warp
    const unsigned lane = threadIdx.x % Lanes, row_of_load = threadIdx.x % kLanes / Lanes;
    unsigned there[Pieces];  // columns of a piece
    float4 of_x[Pieces];
#pragma unroll
    for (unsigned i = 0; i < Pieces; ++i) {
        const unsigned col = (i * Lanes + lane) * 4;
        there[i] = col < cols ? min(cols - col, 4u) : 0;
        of_x[i] = first_floats(x + col, there[i]);
    }
    const std::size_t warp = std::size_t{blockIdx.x} * kWarps + threadIdx.x / kLanes;
    const std::size_t stride =
        std::size_t{gridDim.x} * kWarps * rows_at_a_time * rows_per_load;
    for (std::size_t first = warp * rows_at_a_time * rows_per_load; first < rows;
         first += stride) {
        float4 of_a[rows_at_a_time][Pieces];
        float sums[rows_at_a_time] = {};
#pragma unroll
        for (unsigned r = 0; r < rows_at_a_time; ++r) {
            const std::size_t row = first + r * rows_per_load + row_of_load;
#pragma unroll
            for (unsigned i = 0; i < Pieces; ++i) {
                const bool any = there[i] > 0 && row < rows;
                of_a[r][i] =
                    any ? piece_at<float4>(a + row * pitch, i * Lanes + lane) : float4{};
            }
        }
#pragma unroll
        for (unsigned r = 0; r < rows_at_a_time; ++r) {
#pragma unroll
            for (unsigned i = 0; i < Pieces; ++i)
                sums[r] += product_of(first_floats(of_a[r][i], there[i]), of_x[i]);
        }
#pragma unroll
        for (unsigned r = 0; r < rows_at_a_time; ++r) {
#pragma unroll
            for (unsigned distance = Lanes / 2; distance > 0; distance /= 2) {
                sums[r] += __shfl_xor_sync(~0u, sums[r], distance);
            }
        }
        // Lane 0 of a row stores sums[0], lane 1 sums[1] ..., and if there are more rows
        // than lanes, once more.
#pragma unroll
        for (unsigned begin = 0; begin < rows_at_a_time; begin += Lanes) {
            float mine = sums[begin];
#pragma unroll
            for (unsigned r = begin + 1; r < rows_at_a_time; ++r)
                mine = begin + lane == r ? sums[r] : mine;
            const std::size_t row = first + (begin + lane) * rows_per_load + row_of_load;
            if (begin + lane < rows_at_a_time && row < rows) y[row] = mine;
        }
    }
}

}  // namespace
}  // namespace examples
