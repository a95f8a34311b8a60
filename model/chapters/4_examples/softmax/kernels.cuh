// The kernels of the lesson softmax, in the order of its steps. Each row of a matrix of
// rows x cols floats becomes exp(x - largest) / sum. The rows follow each other without
// padding. lesson.cu launches the kernels.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>

#include "chapters/4_examples/softmax/normalizer.cuh"

namespace examples {
namespace {

// Step 1, one thread per row, in three passes: the largest element, the sum, the quotients.
// Subtracting the largest element changes nothing, because it multiplies numerator and
// denominator by the same factor. It keeps exp from overflowing: exp(89) is no float.
// Slow because the lanes of a warp are a whole row apart. Each of them needs a sector of
// its own for 4 bytes, in each pass. And a matrix with few rows has work for few threads.
__global__ void thread_per_row(const float* in, std::size_t rows, std::size_t cols,
                               float* out) {
    const std::size_t row = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    const float* const from = in + row * cols;
    float* const to = out + row * cols;
    float largest = kLowest;
    for (std::size_t col = 0; col < cols; ++col) largest = fmaxf(largest, from[col]);
    float sum = 0;
    for (std::size_t col = 0; col < cols; ++col) sum += expf(from[col] - largest);
    const float factor = 1 / sum;
    for (std::size_t col = 0; col < cols; ++col)
        to[col] = expf(from[col] - largest) * factor;
}

// Step 2, one block per row: neighboring threads take neighboring columns, and a tree in
// shared memory finds the maximum and the sum (lesson dot_product).
// Faster because whole sectors are read and used. Still slow because of 19 barriers per
// row, at which the block waits, and because the row is read three times.
__global__ void block_per_row(const float* in, std::size_t cols, float* out) {
    __shared__ float tile[kThreads];
    const float* const from = in + std::size_t{blockIdx.x} * cols;
    float* const to = out + std::size_t{blockIdx.x} * cols;
    float largest = kLowest;
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads)
        largest = fmaxf(largest, from[col]);
    tile[threadIdx.x] = largest;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            tile[threadIdx.x] = fmaxf(tile[threadIdx.x], tile[threadIdx.x + half]);
    }
    __syncthreads();
    largest = tile[0];
    float sum = 0;
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads)
        sum += expf(from[col] - largest);
    __syncthreads();  // all threads have read tile[0]
    tile[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    }
    __syncthreads();
    const float factor = 1 / tile[0];
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads)
        to[col] = expf(from[col] - largest) * factor;
}

// Step 3, shuffles in place of the tree: a warp finds its maximum and its sum without
// shared memory, and the block needs one barrier for each of the two.
// Faster because 2 barriers are left of 19. Still slow because the row is read three times.
__global__ void block_shuffles(const float* in, std::size_t cols, float* out) {
    __shared__ float largest_of_warps[kWarps], sums_of_warps[kWarps];
    const float* const from = in + std::size_t{blockIdx.x} * cols;
    float* const to = out + std::size_t{blockIdx.x} * cols;
    float largest = kLowest;
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads)
        largest = fmaxf(largest, from[col]);
    for (unsigned distance = kLanes / 2; distance > 0; distance /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, distance));
    if (threadIdx.x % kLanes == 0) largest_of_warps[threadIdx.x / kLanes] = largest;
    __syncthreads();
    for (unsigned warp = 0; warp < kWarps; ++warp)
        largest = fmaxf(largest, largest_of_warps[warp]);
    float sum = 0;
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads)
        sum += expf(from[col] - largest);
    for (unsigned distance = kLanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x % kLanes == 0) sums_of_warps[threadIdx.x / kLanes] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned warp = 0; warp < kWarps; ++warp) sum += sums_of_warps[warp];
    const float factor = 1 / sum;
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads)
        to[col] = expf(from[col] - largest) * factor;
}

// Step 4, the online normalizer: maximum and sum in one pass. A thread adds with the
// largest element that it has seen so far. When a larger one comes, the sum is multiplied
// by exp(old - new), as if it had been taken with the new one from the beginning. Threads,
// and then warps, combine their pairs in the same way.
// The row is read twice instead of three times, and there is one barrier. But on an H200 it
// takes longer than step 3: a load still brings 4 bytes, and each element takes two
// exponentials in the first pass.
__global__ void online(const float* in, std::size_t cols, float* out) {
    __shared__ Normalizer of_warps[kWarps];
    const float* const from = in + std::size_t{blockIdx.x} * cols;
    float* const to = out + std::size_t{blockIdx.x} * cols;
    Normalizer own = {kLowest, 0};
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads) {
        const float x = from[col], larger = fmaxf(own.largest, x);
        own.sum = own.sum * expf(own.largest - larger) + expf(x - larger);
        own.largest = larger;
    }
    own = combined_over_lanes<kLanes>(own);
    if (threadIdx.x % kLanes == 0) of_warps[threadIdx.x / kLanes] = own;
    __syncthreads();
    own = combined_over_lanes<kWarps>(of_warps[threadIdx.x % kWarps]);
    const float factor = 1 / own.sum;
    for (std::size_t col = threadIdx.x; col < cols; col += kThreads)
        to[col] = expf(from[col] - own.largest) * factor;
}

// Step 5, 16 bytes per load and per store, for rows of a multiple of four floats.
// Faster because a quarter of the requests is left, each with four times the bytes, and
// because four elements share one comparison with the maximum: five exponentials instead of
// eight. Still slow because the row is read twice, and because the second load of the loop
// waits for the first maximum.
__global__ void online_float4(const float* in, std::size_t cols, float* out) {
    __shared__ Normalizer of_warps[kWarps];
    const std::size_t first = std::size_t{blockIdx.x} * cols, fours = cols / 4;
    const float4* const from = reinterpret_cast<const float4*>(in + first);
    float4* const to = reinterpret_cast<float4*>(out + first);
    Normalizer own = {kLowest, 0};
    for (std::size_t i = threadIdx.x; i < fours; i += kThreads) {
        const float4 x = from[i];
        const float larger = fmaxf(own.largest, largest_of(x));
        own.sum = own.sum * expf(own.largest - larger) + sum_of(exp_of(x, larger));
        own.largest = larger;
    }
    own = combined_over_lanes<kLanes>(own);
    if (threadIdx.x % kLanes == 0) of_warps[threadIdx.x / kLanes] = own;
    __syncthreads();
    own = combined_over_lanes<kWarps>(of_warps[threadIdx.x % kWarps]);
    const float factor = 1 / own.sum;
    for (std::size_t i = threadIdx.x; i < fours; i += kThreads)
        to[i] = scaled(exp_of(from[i], own.largest), factor);
}

// Step 6, the row stays in registers: a thread keeps its `Floats` elements, so the row is
// read once and written once. All loads of a thread are issued before the first value is
// used. The exponentials are taken once, with the thread's own maximum, and corrected in
// the end by the factor that also divides by the sum. Places past the end of the row hold
// -infinity, whose exponential is 0.
// Faster because 8 bytes per element are left, the least there is, and because up to 128
// bytes per thread are in flight. Still slow for short rows: a row of 100 floats has work
// for 25 of 256 threads. And rows that are longer than the registers of a block hold are
// left to step 5.
template <class Piece, unsigned Threads, unsigned Floats>
__global__ void __launch_bounds__(Threads)
    row_in_registers(const float* in, std::size_t cols, float* out) {
    constexpr unsigned pieces = Floats / kFloats<Piece>, warps = Threads / kLanes;
    __shared__ Normalizer of_warps[warps];
    const std::size_t first = std::size_t{blockIdx.x} * cols;
    const Piece* const from = reinterpret_cast<const Piece*>(in + first);
    Piece* const to = reinterpret_cast<Piece*>(out + first);
    const unsigned there = static_cast<unsigned>(cols) / kFloats<Piece>;
    Piece x[pieces];
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        const unsigned i = k * Threads + threadIdx.x;
        x[k] = i < there ? from[i] : piece_of<Piece>(-INFINITY);
    }
    Normalizer own = {kLowest, 0};
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k)
        own.largest = fmaxf(own.largest, largest_of(x[k]));
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        x[k] = exp_of(x[k], own.largest);
        own.sum += sum_of(x[k]);
    }
    Normalizer row = combined_over_lanes<kLanes>(own);
    if (threadIdx.x % kLanes == 0) of_warps[threadIdx.x / kLanes] = row;
    __syncthreads();
    row = combined_over_lanes<warps>(of_warps[threadIdx.x % warps]);
    const float factor = expf(own.largest - row.largest) / row.sum;
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        const unsigned i = k * Threads + threadIdx.x;
        if (i < there) to[i] = scaled(x[k], factor);
    }
}

// Step 7, short rows: `Lanes` lanes of a warp share a row, 32 for up to 1024 floats, and as
// many as have a piece for rows of fewer than 128.
// Faster because shuffles are enough, without shared memory and barrier, and because all
// lanes have elements even if a row has only 16. Longer rows are left to step 6.
template <class Piece, unsigned Lanes, unsigned Floats>
__global__ void __launch_bounds__(kThreads)
    row_in_lanes(const float* in, std::size_t rows, std::size_t cols, float* out) {
    constexpr unsigned pieces = Floats / kFloats<Piece>;
    const std::size_t row = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) / Lanes;
    const bool has_row = row < rows;  // lanes without one stay: others shuffle with them
    const std::size_t first = has_row ? row * cols : 0;
    const Piece* const from = reinterpret_cast<const Piece*>(in + first);
    Piece* const to = reinterpret_cast<Piece*>(out + first);
    const unsigned there = has_row ? static_cast<unsigned>(cols) / kFloats<Piece> : 0;
    Piece x[pieces];
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        const unsigned i = k * Lanes + threadIdx.x % Lanes;
        x[k] = i < there ? from[i] : piece_of<Piece>(-INFINITY);
    }
    Normalizer own = {kLowest, 0};
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k)
        own.largest = fmaxf(own.largest, largest_of(x[k]));
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        x[k] = exp_of(x[k], own.largest);
        own.sum += sum_of(x[k]);
    }
    const Normalizer of_row = combined_over_lanes<Lanes>(own);
    const float factor = expf(own.largest - of_row.largest) / of_row.sum;
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        const unsigned i = k * Lanes + threadIdx.x % Lanes;
        if (i < there) to[i] = scaled(x[k], factor);
    }
}

constexpr unsigned kFloatsOfPart = 32;                // of a thread
constexpr unsigned kPart = kThreads * kFloatsOfPart;  // floats of a row, of a block

// Step 8, long rows: several blocks per row, in two kernels. In the first one each block
// finds the pair of its part of the row. Nothing has to stay, so a row may have any length.
template <class Piece>
__global__ void __launch_bounds__(kThreads)
    normalizers_of_parts(const float* in, std::size_t cols, unsigned parts,
                         Normalizer* of_parts) {
    constexpr unsigned pieces = kFloatsOfPart / kFloats<Piece>;
    __shared__ Normalizer of_warps[kWarps];
    const std::size_t row = blockIdx.x / parts;
    const std::size_t begin = std::size_t{blockIdx.x % parts} * kPart;
    const Piece* const from = reinterpret_cast<const Piece*>(in + row * cols + begin);
    const unsigned there =
        static_cast<unsigned>(min(cols - begin, std::size_t{kPart})) / kFloats<Piece>;
    Piece x[pieces];
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        const unsigned i = k * kThreads + threadIdx.x;
        x[k] = i < there ? from[i] : piece_of<Piece>(-INFINITY);
    }
    Normalizer own = {kLowest, 0};
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k)
        own.largest = fmaxf(own.largest, largest_of(x[k]));
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) own.sum += sum_of(exp_of(x[k], own.largest));
    own = combined_over_lanes<kLanes>(own);
    if (threadIdx.x % kLanes == 0) of_warps[threadIdx.x / kLanes] = own;
    __syncthreads();
    own = combined_over_lanes<kWarps>(of_warps[threadIdx.x % kWarps]);
    if (threadIdx.x == 0) of_parts[blockIdx.x] = own;
}

// In the second one each block combines the pairs of all parts of its row, and writes its
// part.
// Faster than step 5 because a few long rows fill the device, and because up to 128 bytes
// per thread are in flight. Still slow because the row is read twice: 12 bytes per element
// where step 6 moves 8.
template <class Piece>
__global__ void __launch_bounds__(kThreads)
    write_parts(const float* in, std::size_t cols, unsigned parts,
                const Normalizer* of_parts, float* out) {
    constexpr unsigned pieces = kFloatsOfPart / kFloats<Piece>;
    __shared__ Normalizer of_warps[kWarps];
    const std::size_t row = blockIdx.x / parts;
    const std::size_t begin = std::size_t{blockIdx.x % parts} * kPart;
    const Piece* const from = reinterpret_cast<const Piece*>(in + row * cols + begin);
    Piece* const to = reinterpret_cast<Piece*>(out + row * cols + begin);
    const unsigned there =
        static_cast<unsigned>(min(cols - begin, std::size_t{kPart})) / kFloats<Piece>;
    Piece x[pieces];
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        const unsigned i = k * kThreads + threadIdx.x;
        x[k] = i < there ? from[i] : piece_of<Piece>(-INFINITY);
    }
    Normalizer own = {kLowest, 0};
    for (unsigned part = threadIdx.x; part < parts; part += kThreads)
        own = combined(own, of_parts[row * parts + part]);
    own = combined_over_lanes<kLanes>(own);
    if (threadIdx.x % kLanes == 0) of_warps[threadIdx.x / kLanes] = own;
    __syncthreads();
    own = combined_over_lanes<kWarps>(of_warps[threadIdx.x % kWarps]);
    const float factor = 1 / own.sum;
#pragma unroll
    for (unsigned k = 0; k < pieces; ++k) {
        const unsigned i = k * kThreads + threadIdx.x;
        if (i < there) to[i] = scaled(exp_of(x[k], own.largest), factor);
    }
}

}  // namespace
}  // namespace examples
