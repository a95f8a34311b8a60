// Steps 6 and 7 of the lesson matrix_vector: 16 bytes a load, several loads under way, for long rows and for short
// ones; and `multiply`, which picks the kernel for a shape.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "chapters/4_examples/matrix_vector.h"
#include "common/helpers/check.h"
#include "common/helpers/launch_shape.h"

namespace examples {
namespace {

// A piece is what a load brings: a float4 where rows begin at multiples of 16 bytes, a float where they do not.
__device__ float product_of(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__device__ float product_of(float a, float b) { return a * b; }

template <class Piece>
__device__ Piece piece_at(const float* row, std::size_t piece) {
    return reinterpret_cast<const Piece*>(row)[piece];
}

template <class Piece>
constexpr unsigned kFloats = sizeof(Piece) / sizeof(float);

// Step 6, a block has up to 8 rows, and each thread asks for 8 float4 of them before it needs the first: one of each
// row, or 8 of a single row. A piece of x does for all of the rows. What is behind the last whole piece goes float by
// float. Where there are few rows, several blocks (gridDim.y) share them: block y takes every gridDim.y-th tile of
// columns. Each leaves its sums in `parts`, and the one with the last ticket adds them up (lesson
// fences_and_last_block). Better: 128 bytes under way for each thread, hardly any reads of x, and work for all
// multiprocessors, be it for one row. Slow: short rows, as in step 3.
template <class Piece, unsigned Rows>
__global__ void __launch_bounds__(kThreads, 2)
    rows_a_block(const float* a, std::size_t pitch, std::size_t rows, std::size_t cols, const float* x, float* y,
                 float* parts, unsigned* drawn) {
    constexpr unsigned pieces = kTuning.loads / Rows;
    __shared__ float warp_sums[Rows][kWarps + 1];  // without the 1, rows would share banks
    __shared__ bool is_last;
    const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    const std::size_t first_row = std::size_t{blockIdx.x} * Rows;
    const std::size_t whole = cols / kFloats<Piece>;
    float sums[Rows] = {};
    for (std::size_t tile = blockIdx.y; tile * pieces * kThreads < whole; tile += gridDim.y) {
        Piece of_x[pieces], of_a[Rows][pieces];
#pragma unroll
        for (unsigned i = 0; i < pieces; ++i) {
            const std::size_t piece = (tile * pieces + i) * kThreads + threadIdx.x;
            of_x[i] = piece < whole ? piece_at<Piece>(x, piece) : Piece{};
#pragma unroll
            for (unsigned r = 0; r < Rows; ++r) {
                const bool there = piece < whole && first_row + r < rows;
                of_a[r][i] = there ? piece_at<Piece>(a + (first_row + r) * pitch, piece) : Piece{};
            }
        }
#pragma unroll
        for (unsigned r = 0; r < Rows; ++r) {
#pragma unroll
            for (unsigned i = 0; i < pieces; ++i) sums[r] += product_of(of_a[r][i], of_x[i]);
        }
    }
    const std::size_t rest = whole * kFloats<Piece> + threadIdx.x;  // at most 3 columns
    if (blockIdx.y == 0 && rest < cols) {
        for (unsigned r = 0; r < Rows && first_row + r < rows; ++r) {
            sums[r] += a[(first_row + r) * pitch + rest] * x[rest];
        }
    }
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) {
        for (unsigned distance = 16; distance > 0; distance /= 2) {
            sums[r] += __shfl_down_sync(~0u, sums[r], distance);
        }
        if (lane == 0) warp_sums[r][warp] = sums[r];
    }
    __syncthreads();
    const std::size_t row = first_row + threadIdx.x;  // of the first threads, which have one each
    if (threadIdx.x < Rows && row < rows) {
        float sum = 0;
        for (unsigned w = 0; w < kWarps; ++w) sum += warp_sums[threadIdx.x][w];
        if (gridDim.y == 1) {
            y[row] = sum;
        } else {
            parts[row * gridDim.y + blockIdx.y] = sum;
        }
    }
    if (gridDim.y == 1) return;

    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();  // releases the sums of all threads, which the barrier has ordered before it
        const unsigned ticket = atomicInc(&drawn[blockIdx.x], gridDim.y - 1);
        __threadfence();
        is_last = ticket == gridDim.y - 1;
    }
    __syncthreads();
    if (!is_last) return;  // all threads of the block, or none
    for (std::size_t r = first_row + warp; r < first_row + Rows && r < rows; r += kWarps) {
        float sum = 0;
        for (unsigned part = lane; part < gridDim.y; part += kLanes) sum += parts[r * gridDim.y + part];
        for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
        if (lane == 0) y[r] = sum;
    }
}

template <class Piece, unsigned Rows>
void launch_rows_a_block(Product& p) {
    constexpr unsigned tile = kTuning.loads / Rows * kThreads * kFloats<Piece>;  // columns
    const std::size_t blocks = warpwise::ceil_div(p.rows, Rows);
    const std::size_t wanted = warpwise::ceil_div(kTuning.row_blocks, blocks);
    const unsigned sharing = warpwise::blocks_for(std::min(wanted, warpwise::ceil_div(p.cols, tile)), 1);
    rows_a_block<Piece, Rows><<<dim3(warpwise::blocks_for(blocks, 1), sharing), kThreads>>>(
        p.d_matrix.data(), p.pitch, p.rows, p.cols, p.d_x.data(), p.d_y.data(), p.d_parts.data(), p.d_drawn.data());
    warpwise::check_launch();
    p.rounds_like(kThreads, sharing);
}

template <class Piece>
void launch_rows_a_block(Product& p) {
    if (p.rows == 0) return;
    if (p.rows == 1) return launch_rows_a_block<Piece, 1>(p);
    if (p.rows == 2) return launch_rows_a_block<Piece, 2>(p);
    if (p.rows <= 4) return launch_rows_a_block<Piece, 4>(p);
    return launch_rows_a_block<Piece, kMostRows>(p);
}

// Every row, and x, begins at a multiple of 16 bytes. (With one row the pitch does not matter.)
bool allows_float4(const Product& p) {
    const auto bits = reinterpret_cast<std::uintptr_t>(p.d_matrix.data()) |
                      reinterpret_cast<std::uintptr_t>(p.d_x.data()) | (p.rows > 1 ? p.pitch * sizeof(float) : 0);
    return bits % sizeof(float4) == 0;
}

void run_rows_a_block(Product& p) {
    return allows_float4(p) ? launch_rows_a_block<float4>(p) : launch_rows_a_block<float>(p);
}

// Up to four floats, and zeros in the place of those that are not there.
__device__ float4 first_floats(const float* from, unsigned count) {
    if (count == 4) return *reinterpret_cast<const float4*>(from);
    return {count > 0 ? from[0] : 0, count > 1 ? from[1] : 0, count > 2 ? from[2] : 0, 0};
}

// The same of a float4 that was loaded whole.
__device__ float4 first_floats(float4 four, unsigned count) {
    return {count > 0 ? four.x : 0, count > 1 ? four.y : 0, count > 2 ? four.z : 0, count > 3 ? four.w : 0};
}

// Step 7, step 5 with float4, for rows of up to 512 floats that begin at multiples of 16 bytes. A quarter of the lanes
// does for a row; longer rows have 2 or 4 pieces for each of 32 lanes. As in step 6, 8 loads are under way, of as many
// rows as it takes. The last piece of a row is loaded whole even if some of it is padding, which is put out of the sum
// later: on an H200 that is 1.6 times as fast with 11 columns as loads of its own for what is behind the last whole
// piece. A lane has the same columns in all rows, so that its part of x stays in registers, and the warps go on to
// further rows. The butterfly of shuffles gives all lanes of a row its sum. So they can store the sums of different
// rows: one store for many rows, side by side, where step 5 stores row by row.
// Better: nothing but loads of the matrix, 16 bytes each. What is left to do is to take step 6 where rows are long.
template <unsigned Lanes, unsigned Pieces>
__global__ void __launch_bounds__(kThreads, 2)
    pieces_a_lane(const float* a, std::size_t pitch, std::size_t rows, unsigned cols, const float* x, float* y) {
    constexpr unsigned rows_at_a_time = kTuning.loads / Pieces;  // of a lane
    constexpr unsigned rows_a_load = kLanes / Lanes;             // of a warp
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
    const std::size_t stride = std::size_t{gridDim.x} * kWarps * rows_at_a_time * rows_a_load;
    for (std::size_t first = warp * rows_at_a_time * rows_a_load; first < rows; first += stride) {
        float4 of_a[rows_at_a_time][Pieces];
        float sums[rows_at_a_time] = {};
#pragma unroll
        for (unsigned r = 0; r < rows_at_a_time; ++r) {
            const std::size_t row = first + r * rows_a_load + row_of_load;
#pragma unroll
            for (unsigned i = 0; i < Pieces; ++i) {
                const bool any = there[i] > 0 && row < rows;
                of_a[r][i] = any ? piece_at<float4>(a + row * pitch, i * Lanes + lane) : float4{};
            }
        }
#pragma unroll
        for (unsigned r = 0; r < rows_at_a_time; ++r) {
#pragma unroll
            for (unsigned i = 0; i < Pieces; ++i) sums[r] += product_of(first_floats(of_a[r][i], there[i]), of_x[i]);
        }
#pragma unroll
        for (unsigned r = 0; r < rows_at_a_time; ++r) {
#pragma unroll
            for (unsigned distance = Lanes / 2; distance > 0; distance /= 2) {
                sums[r] += __shfl_xor_sync(~0u, sums[r], distance);
            }
        }
        // Lane 0 of a row stores sums[0], lane 1 sums[1] ..., and if there are more rows than lanes, once more.
#pragma unroll
        for (unsigned begin = 0; begin < rows_at_a_time; begin += Lanes) {
            float mine = sums[begin];
#pragma unroll
            for (unsigned r = begin + 1; r < rows_at_a_time; ++r) mine = begin + lane == r ? sums[r] : mine;
            const std::size_t row = first + (begin + lane) * rows_a_load + row_of_load;
            if (begin + lane < rows_at_a_time && row < rows) y[row] = mine;
        }
    }
}

template <unsigned Lanes, unsigned Pieces>
void launch_pieces_a_lane(Product& p) {
    constexpr unsigned rows_a_block = kTuning.loads / Pieces * kLanes / Lanes * kWarps;
    const unsigned most = warpwise::blocks_that_fill(pieces_a_lane<Lanes, Pieces>, kThreads);
    const unsigned blocks = std::min({warpwise::blocks_for(p.rows, rows_a_block), most, kTuning.lane_blocks});
    pieces_a_lane<Lanes, Pieces><<<blocks, kThreads>>>(p.d_matrix.data(), p.pitch, p.rows,
                                                       static_cast<unsigned>(p.cols), p.d_x.data(), p.d_y.data());
    warpwise::check_launch();
    p.rounds_like(Lanes);
}

// Lanes and pieces for rows of a number of columns, rounded up to a power of two.
void launch_pieces_a_lane(Product& p) {
    switch (std::bit_ceil(warpwise::ceil_div(p.cols, kFloats<float4>))) {
        case 1:
            return launch_pieces_a_lane<1, 1>(p);
        case 2:
            return launch_pieces_a_lane<2, 1>(p);
        case 4:
            return launch_pieces_a_lane<4, 1>(p);
        case 8:
            return launch_pieces_a_lane<8, 1>(p);
        case 16:
            return launch_pieces_a_lane<16, 1>(p);
        case 32:
            return launch_pieces_a_lane<32, 1>(p);
        case 64:
            return launch_pieces_a_lane<32, 2>(p);
        default:
            return launch_pieces_a_lane<32, 4>(p);
    }
}

constexpr unsigned kLongest = 512;  // floats of a row that is short
constexpr unsigned kRange = 4096;   // floats of the matrix that a block has in shared memory

// Step 7 for short rows that begin anywhere. A row is no good for float4 there, but rows that follow each other are one
// range of memory. A block takes a multiple of four rows, which begins at a multiple of 16 bytes whatever their length,
// loads all of it as float4 into shared memory, and a few lanes add up each row there.
// Better: 16 bytes a load, and no padding to be loaded. Slow: each float is stored once more and loaded once more, and
// rows a multiple of 8 floats apart would meet in few banks. So padded rows are for pieces_a_lane.
__global__ void __launch_bounds__(kThreads)
    rows_of_a_range(const float* a, std::size_t pitch, std::size_t rows, unsigned cols, const float* x, float* y,
                    unsigned rows_a_block, unsigned lanes) {
    constexpr unsigned loads = kRange / kFloats<float4> / kThreads;
    __shared__ __align__(16) float range[kRange];
    __shared__ float of_x[kLongest];
    for (unsigned col = threadIdx.x; col < cols; col += kThreads) of_x[col] = x[col];
    const std::size_t first_row = std::size_t{blockIdx.x} * rows_a_block;
    const unsigned own_rows = static_cast<unsigned>(min(rows - first_row, std::size_t{rows_a_block}));
    const unsigned stride = static_cast<unsigned>(pitch);
    const unsigned floats = own_rows * stride, pieces = floats / kFloats<float4>;
    const float* const from = a + first_row * pitch;
    float4 of_a[loads];
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
        const unsigned piece = i * kThreads + threadIdx.x;
        of_a[i] = piece < pieces ? piece_at<float4>(from, piece) : float4{};
    }
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
        const unsigned piece = i * kThreads + threadIdx.x;
        if (piece < pieces) reinterpret_cast<float4*>(range)[piece] = of_a[i];
    }
    const unsigned rest = pieces * kFloats<float4> + threadIdx.x;  // at most 3 floats, of the last rows of all
    if (rest < floats) range[rest] = from[rest];
    __syncthreads();

    const unsigned lane = threadIdx.x % lanes, rows_at_a_time = kThreads / lanes;
    for (unsigned begin = 0; begin < own_rows; begin += rows_at_a_time) {
        const unsigned row = begin + threadIdx.x / lanes;
        float sum = 0;
        if (row < own_rows) {
            for (unsigned col = lane; col < cols; col += lanes) sum += range[row * stride + col] * of_x[col];
        }
        for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(~0u, sum, distance);
        }
        if (lane == 0 && row < own_rows) y[first_row + row] = sum;
    }
}

void launch_rows_of_a_range(Product& p) {
    if (p.rows == 0) return;
    const unsigned rows_a_block = kRange / static_cast<unsigned>(p.pitch) / 4 * 4;
    const unsigned lanes = std::min(kLanes, std::bit_floor(std::max(kThreads / rows_a_block, 1u)));
    rows_of_a_range<<<warpwise::blocks_for(p.rows, rows_a_block), kThreads>>>(
        p.d_matrix.data(), p.pitch, p.rows, static_cast<unsigned>(p.cols), p.d_x.data(), p.d_y.data(), rows_a_block,
        lanes);
    warpwise::check_launch();
    p.rounds_like(lanes);
}

// The function to call for a matrix of any shape: the best kernel for it. Matrix and x begin at multiples of 16 bytes,
// as all that cudaMalloc returns does; whether rows do is a question of the pitch.
void multiply(Product& p) {
    const bool aligned = p.pitch % kFloats<float4> == 0;
    if ((aligned ? p.cols : p.pitch) > kLongest) return run_rows_a_block(p);
    return aligned ? launch_pieces_a_lane(p) : launch_rows_of_a_range(p);
}

}  // namespace
}  // namespace examples
