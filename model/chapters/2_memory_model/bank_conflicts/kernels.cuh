// The kernels of the lesson bank_conflicts: reads of chosen places, the steps with a tile
// in their order, and histograms, in which the data choose the bank.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace memory_model {
namespace {

constexpr unsigned kLanes = 32;

__device__ void set(float& element, float value) { element = value; }
__device__ void set(float2& element, float value) { element = make_float2(value, value); }
__device__ void set(float4& element, float value) {
    element = make_float4(value, value, value, value);
}
__device__ float sum_of(float element) { return element; }
__device__ float sum_of(float2 element) { return element.x + element.y; }
__device__ float sum_of(float4 element) {
    return (element.x + element.y) + (element.z + element.w);
}

// Elements of the array: a multiple of 32, so that going round keeps the banks.
constexpr unsigned kElements = 1024;

// Every warp reads the places `repeats` times, each time one element further. That shifts
// all lanes by one bank and leaves unchanged which lanes meet in one. The sum of a lane is
// a whole number below 2^24, so that it is exact.
template <class T>
__global__ void read_places(const unsigned* places, float* sums, unsigned repeats) {
    __shared__ T array[kElements];
    for (unsigned i = threadIdx.x; i < kElements; i += blockDim.x)
        set(array[i], static_cast<float>(i));
    __syncthreads();
    const unsigned place = places[threadIdx.x % kLanes];
    float sum = 0;
    for (unsigned k = 0; k < repeats; ++k) sum += sum_of(array[(place + k) % kElements]);
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ---- the tile ---------------------------------------------------------------------------

constexpr unsigned kSide = 32;                  // floats of a row, and rows of a tile
constexpr unsigned kWarps = 4;                  // of a block; each has a tile for itself
constexpr unsigned kThreads = kWarps * kLanes;  // one for each row

// Step 1, without shared memory: each thread walks along its row.
// Slow because neighboring lanes are one row apart, 128 bytes. Every load and every store
// touches 32 sectors and uses 4 bytes of each, unless a cache still has the sector from the
// column before.
__global__ void sums_in_global(const float* in, float* out, std::size_t rows) {
    const std::size_t row = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
#pragma unroll 1
    for (unsigned col = 0; col < kSide; ++col) {
        sum += in[row * kSide + col];
        out[row * kSide + col] = sum;
    }
}

// Step 2, a tile of 32 x 32 floats per warp. The warp fills and empties it row by row, with
// 4 sectors per request. In between, each lane walks along its row in shared memory, where
// neighboring lanes need not read neighboring words.
// Faster because requests to global memory are coalesced. Still slow because lane k reads
// word 32 * k + col, and 32 * k is a multiple of the number of banks: all lanes are in bank
// `col`, which takes 32 wavefronts for every load, and for every store.
// (The loop over the columns is kept from unrolling. Otherwise nvcc may join four
// neighboring loads into one of 16 bytes, and the steps would differ in more than their
// addresses.)
__global__ void sums_in_tile(const float* in, float* out, std::size_t rows) {
    __shared__ float tiles[kWarps][kSide][kSide];
    auto& tile = tiles[threadIdx.x / kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    const std::size_t first =
        std::size_t{blockIdx.x} * kThreads + threadIdx.x - lane;  // row of the tile
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) tile[row][lane] = in[(first + row) * kSide + lane];
    }
    __syncwarp();  // nobody but this warp uses the tile
    if (first + lane < rows) {
        float sum = 0;
#pragma unroll 1
        for (unsigned col = 0; col < kSide; ++col) {
            sum += tile[lane][col];
            tile[lane][col] = sum;
        }
    }
    __syncwarp();
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) out[(first + row) * kSide + lane] = tile[row][lane];
    }
}

// Step 3, one more column, which nobody uses. Lane k now reads word 33 * k + col: bank (k +
// col) % 32, a different one for each lane.
// Faster because all bank conflicts are gone, for two characters of source. The price is
// that 128 bytes of every tile stay unused, and that rows of 33 floats do not begin at
// multiples of 16 bytes, which rules out wider accesses.
__global__ void sums_in_padded_tile(const float* in, float* out, std::size_t rows) {
    __shared__ float tiles[kWarps][kSide][kSide + 1];
    auto& tile = tiles[threadIdx.x / kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    const std::size_t first = std::size_t{blockIdx.x} * kThreads + threadIdx.x - lane;
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) tile[row][lane] = in[(first + row) * kSide + lane];
    }
    __syncwarp();
    if (first + lane < rows) {
        float sum = 0;
#pragma unroll 1
        for (unsigned col = 0; col < kSide; ++col) {
            sum += tile[lane][col];
            tile[lane][col] = sum;
        }
    }
    __syncwarp();
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) out[(first + row) * kSide + lane] = tile[row][lane];
    }
}

// Step 4, a swizzle: element (row, col) is kept at column col ^ row of its row. Within one
// row that is a permutation of the columns, and within one column a permutation over the
// rows: both ways, 32 lanes are in 32 banks.
// This is better than padding because no byte is lost and rows stay aligned. The price is
// an exclusive-or per access (with padding, the next column is simply the next word), and
// every access has to apply it.
__global__ void sums_in_swizzled_tile(const float* in, float* out, std::size_t rows) {
    __shared__ float tiles[kWarps][kSide][kSide];
    auto& tile = tiles[threadIdx.x / kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    const std::size_t first = std::size_t{blockIdx.x} * kThreads + threadIdx.x - lane;
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) tile[row][lane ^ row] = in[(first + row) * kSide + lane];
    }
    __syncwarp();
    if (first + lane < rows) {
        float sum = 0;
#pragma unroll 1
        for (unsigned col = 0; col < kSide; ++col) {
            sum += tile[lane][col ^ lane];
            tile[lane][col ^ lane] = sum;
        }
    }
    __syncwarp();
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) out[(first + row) * kSide + lane] = tile[row][lane ^ row];
    }
}

// Step 5, the swizzle with float4s, which aligned rows allow. A row has eight of them, and
// eight lanes are served at a time: they must be in eight different groups of four banks.
// So float4 number `four` of a row is kept at four ^ (row % 8). Eight neighboring lanes
// fill one row, and later walk along eight rows: no conflict either way.
// There is a quarter of the requests, but on an H200 this step is only as fast as step 3.
constexpr unsigned kFours = kSide / 4;  // float4s of a row

__global__ void sums_in_float4_tile(const float* in, float* out, std::size_t rows) {
    __shared__ float4 tiles[kWarps][kSide][kFours];
    auto& tile = tiles[threadIdx.x / kLanes];
    const auto* in4 = reinterpret_cast<const float4*>(in);
    auto* out4 = reinterpret_cast<float4*>(out);
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned my_four =
        lane % kFours;  // while the tile is filled and emptied, four rows at a time
    const std::size_t first = std::size_t{blockIdx.x} * kThreads + threadIdx.x - lane;
#pragma unroll
    for (unsigned row = lane / kFours; row < kSide; row += kLanes / kFours) {
        if (first + row < rows)
            tile[row][my_four ^ (row % kFours)] = in4[(first + row) * kFours + my_four];
    }
    __syncwarp();
    if (first + lane < rows) {
        float sum = 0;
#pragma unroll
        for (unsigned four = 0; four < kFours; ++four) {
            float4 values = tile[lane][four ^ (lane % kFours)];
            values.x = sum += values.x;
            values.y = sum += values.y;
            values.z = sum += values.z;
            values.w = sum += values.w;
            tile[lane][four ^ (lane % kFours)] = values;
        }
    }
    __syncwarp();
#pragma unroll
    for (unsigned row = lane / kFours; row < kSide; row += kLanes / kFours) {
        if (first + row < rows)
            out4[(first + row) * kFours + my_four] = tile[row][my_four ^ (row % kFours)];
    }
}

// ---- chance: a histogram ----------------------------------------------------------------

constexpr unsigned kBins = 256;
constexpr unsigned kCounters = 256;  // threads of a block in the kernels below

// One histogram per block in shared memory. Bins lie in the banks in turn, eight in each;
// the key of a lane decides which one it uses. Adding 1 is a special case: lanes with the
// same key are counted together.
__global__ void count_keys(const unsigned char* keys, const unsigned*, unsigned* totals,
                           std::size_t count) {
    __shared__ unsigned bins[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kCounters) bins[bin] = 0;
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * kCounters;
    for (std::size_t i = std::size_t{blockIdx.x} * kCounters + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&bins[keys[i]], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kCounters)
        atomicAdd(&totals[bin], bins[bin]);
}

// The same with a weight for each key. Lanes with the same key add different numbers, so
// each needs its own wavefront.
__global__ void weigh_keys(const unsigned char* keys, const unsigned* weights,
                           unsigned* totals, std::size_t count) {
    __shared__ unsigned bins[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kCounters) bins[bin] = 0;
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * kCounters;
    for (std::size_t i = std::size_t{blockIdx.x} * kCounters + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&bins[keys[i]], weights[i]);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kCounters)
        atomicAdd(&totals[bin], bins[bin]);
}

// One copy of the histogram per lane, 32 KiB. Copy k lies in bank k: whatever the keys are,
// no two lanes meet. When the copies are added up, each thread begins with a different one;
// if all began with copy 0, 32 lanes would be in bank 0.
__global__ void weigh_keys_by_lane(const unsigned char* keys, const unsigned* weights,
                                   unsigned* totals, std::size_t count) {
    __shared__ unsigned copies[kBins][kLanes];
    for (unsigned i = threadIdx.x; i < kBins * kLanes; i += kCounters)
        copies[i / kLanes][i % kLanes] = 0;
    __syncthreads();
    const unsigned lane = threadIdx.x % kLanes;
    const std::size_t stride = std::size_t{gridDim.x} * kCounters;
    for (std::size_t i = std::size_t{blockIdx.x} * kCounters + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&copies[keys[i]][lane],
                  weights[i]);  // lanes of the same number in other warps come here too
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kCounters) {
        unsigned sum = 0;
        for (unsigned k = 0; k < kLanes; ++k) sum += copies[bin][(k + lane) % kLanes];
        atomicAdd(&totals[bin], sum);
    }
}

}  // namespace
}  // namespace memory_model
