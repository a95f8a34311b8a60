#pragma once

#include "chapters/4_examples/linear_solver/step_04_rows_stay.cuh"

namespace examples {
namespace {

// Step 5, wide loads: a thread has 4 columns and 8 rows, and loads all of them before it
// needs the first.
// Faster because a thread has 128 bytes in flight instead of 4. Each element right of
// the pivot is read and written once, 8 bytes, which is the least that elimination
// column by column can do. Still slow because that makes 4 n^3 bytes in all, for n^3
// operations.
constexpr unsigned kRowsPerThread = 8;
constexpr unsigned kColsPerBlock = 4 * kLanes;
constexpr unsigned kRowsPerBlock = kWarps * kRowsPerThread;

__global__ void __launch_bounds__(kThreads)
    eliminate_in_place(float* a, std::size_t pitch, unsigned n, unsigned column,
                       PivotKey* keys, unsigned* column_of_row) {
    __shared__ PivotKey warp_keys[kWarps];
    const unsigned col =
        (column + 1) / kLanes * kLanes + blockIdx.x * kColsPerBlock + 4 * threadIdx.x;
    const unsigned first_row = blockIdx.y * kRowsPerBlock + threadIdx.y;
    const unsigned pivot_row = row_of(keys[column]);
    const float4 zeros = make_float4(0, 0, 0, 0);
    PivotKey next = 0;
    if (col + 3 > column && col <= n) {
        float4 values[kRowsPerThread];
        float factors[kRowsPerThread];
#pragma unroll
        for (unsigned k = 0; k < kRowsPerThread; ++k) {
            const unsigned row = first_row + k * kWarps;
            values[k] = row < n ? load4(a + row * pitch + col) : zeros;
            factors[k] = row < n ? a[row * pitch + column] : 0;
        }
        // After the other loads: the addresses of these two are known only once the key has
        // arrived.
        const float pivot = a[pivot_row * pitch + column];
        const float4 above = load4(a + pivot_row * pitch + col);
#pragma unroll
        for (unsigned k = 0; k < kRowsPerThread; ++k) {
            const unsigned row = first_row + k * kWarps;
            if (row >= n || row == pivot_row) continue;
            const float factor = factors[k] / pivot;
            values[k].x -= factor * above.x;
            values[k].y -= factor * above.y;
            values[k].z -= factor * above.z;
            values[k].w -= factor * above.w;
            float* const to = a + row * pitch + col;
            if (col > column) {
                *reinterpret_cast<float4*>(to) = values[k];
            } else {  // the column of the factors is among the four: others read it, and it
                      // has to stay
                if (col + 1 > column) to[1] = values[k].y;
                if (col + 2 > column) to[2] = values[k].z;
                to[3] = values[k].w;
            }
            if (col <= column + 1 &&
                column_of_row[row] == kNone) {  // the next column is among the four
                const unsigned i = column + 1 - col;
                const float value = i == 0   ? values[k].x
                                    : i == 1 ? values[k].y
                                    : i == 2 ? values[k].z
                                             : values[k].w;
                next = max(next, pivot_key(value, row));
            }
        }
    }
    if (blockIdx.x != 0) return;
    if (blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0)
        column_of_row[pivot_row] = column;
    if (column + 1 == n) return;
    if (col <= column + 1 && column + 1 < col + 4) warp_keys[threadIdx.y] = next;
    __syncthreads();
    if (threadIdx.x != 0 || threadIdx.y != 0) return;
    PivotKey largest = 0;
    for (unsigned warp = 0; warp < kWarps; ++warp) largest = max(largest, warp_keys[warp]);
    atomicMax(&keys[column + 1], largest);
}

}  // namespace
}  // namespace examples
