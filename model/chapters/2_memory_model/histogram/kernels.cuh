// The kernels of the lesson histogram, in the order of the steps.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace memory_model {
namespace {

constexpr unsigned kBins = 256;
constexpr unsigned kLanes = 32;

constexpr unsigned kThreads = 256;                // per block, unless a step says otherwise
constexpr unsigned kVectorBytes = sizeof(uint4);  // bytes of a 16-byte load

// Step 2, one thread per byte, and the counters in global memory. A plain `++` would lose
// counts: two threads read 7 and both write 8. atomicAdd reads, adds, and writes without
// another thread in between.
// Slow because atomics on global memory are carried out in the L2 cache, and all threads of
// the chip want the same 32 sectors of it. Each byte costs one trip to that cache, where
// atomics to the same address are serialized.
__global__ void count_global(const unsigned char* bytes, unsigned* counts,
                             std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < count) atomicAdd(&counts[bytes[i]], 1u);
}

// Step 3, a private histogram per block, in shared memory (privatization). To make blocks
// few, the grid just fills the device and threads stride on.
// Faster because increments stay on the SM, and only the sums of a block go to
// global memory, with 256 atomics per block. Still slow because a load of a warp
// fetches a single sector, 32 bytes, and each thread has one byte in flight at a
// time.
__global__ void count_shared(const unsigned char* bytes, unsigned* counts,
                             std::size_t count) {
    __shared__ unsigned bins[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) bins[bin] = 0;
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride) {
        atomicAdd(&bins[bytes[i]], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads)
        atomicAdd(&counts[bin], bins[bin]);
}

// Step 4, 16 bytes per load. The up to 15 bytes after the last vector go to the first
// threads of block 0.
// Faster because a warp fetches 512 bytes with one request, and a thread counts
// 16 of them before it needs the next. Still slow because of the shared atomics:
// 32 lanes with random values go to 32 banks by chance, and the busiest bank
// gets three or four of them, so the increment of each warp takes so many
// wavefronts.
__device__ void count_word(unsigned* bins, unsigned word) {
    for (unsigned shift = 0; shift < 32; shift += 8)
        atomicAdd(&bins[word >> shift & 0xFF], 1u);
}

__global__ void count_shared_uint4(const unsigned char* bytes, unsigned* counts,
                                   std::size_t count) {
    __shared__ unsigned bins[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) bins[bin] = 0;
    __syncthreads();
    const auto* vectors = reinterpret_cast<const uint4*>(bytes);
    const std::size_t vector_count = count / kVectorBytes;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < vector_count;
         i += stride) {
        const uint4 vector = vectors[i];
        count_word(bins, vector.x);
        count_word(bins, vector.y);
        count_word(bins, vector.z);
        count_word(bins, vector.w);
    }
    const std::size_t rest = vector_count * kVectorBytes + threadIdx.x;
    if (blockIdx.x == 0 && rest < count) atomicAdd(&bins[bytes[rest]], 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads)
        atomicAdd(&counts[bin], bins[bin]);
}

// Step 5, one copy of the histogram per warp, so that warps no longer share counters. This
// was the classic cure on chips where the SM made a lock out of each shared atomic, and
// warps that wanted the same counter took turns at it.
// Still slow because today's SM has a unit for shared atomics, which works on the increment
// of one warp at a time anyway. Lanes of one warp still collide, so there are as many
// wavefronts as before.
constexpr unsigned kWarps = kThreads / kLanes;

__global__ void count_warp_copies(const unsigned char* bytes, unsigned* counts,
                                  std::size_t count) {
    __shared__ unsigned copies[kWarps][kBins];
    for (unsigned i = threadIdx.x; i < kWarps * kBins; i += kThreads)
        copies[i / kBins][i % kBins] = 0;
    __syncthreads();
    unsigned* const bins = copies[threadIdx.x / kLanes];
    const auto* vectors = reinterpret_cast<const uint4*>(bytes);
    const std::size_t vector_count = count / kVectorBytes;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < vector_count;
         i += stride) {
        const uint4 vector = vectors[i];
        count_word(bins, vector.x);
        count_word(bins, vector.y);
        count_word(bins, vector.z);
        count_word(bins, vector.w);
    }
    const std::size_t rest = vector_count * kVectorBytes + threadIdx.x;
    if (blockIdx.x == 0 && rest < count) atomicAdd(&bins[bytes[rest]], 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) {
        unsigned sum = 0;
        for (unsigned warp = 0; warp < kWarps; ++warp) sum += copies[warp][bin];
        atomicAdd(&counts[bin], sum);
    }
}

// Step 6, counters for each lane, which no two threads share: no atomics at all. To fit, a
// counter is one byte: 256 for each of 32 lanes are 8 KiB per warp. Four counters of a lane
// make a word, and the words of lane k all lie in bank k, so that no two lanes ever
// collide, whatever the bytes are. A byte counts up to 255. Before one can overflow, after
// 15 vectors of 16 bytes, the warp adds up its 32 copies in registers and starts over. Each
// lane has eight bins there.
// This could be faster because an increment takes two wavefronts, one to load
// and one to store, instead of three or four. Still slow because emptying 8 KiB
// after every 7680 bytes costs another 128 wavefronts. And 24 warps fill the
// SM, probably too few to hide that the increments of a lane wait for each
// other.
constexpr unsigned kByteWarps = 4;  // of a block: 32 KiB
constexpr unsigned kByteThreads = kByteWarps * kLanes;
constexpr unsigned kRows = kBins / 4;  // words of a lane
// Vectors until a byte might overflow, with one more byte.
constexpr unsigned kRounds = (255 - 1) / kVectorBytes;

// Row r holds the counters of bins r, r + 64, r + 128, and r + 192 in a word.
using WarpTallies = unsigned[kRows][kLanes];

__device__ void count_in_byte(WarpTallies& tallies, unsigned lane, unsigned bin) {
    ++reinterpret_cast<unsigned char*>(&tallies[bin % kRows][lane])[bin / kRows];
}

__device__ void count_word_in_bytes(WarpTallies& tallies, unsigned lane, unsigned word) {
    for (unsigned shift = 0; shift < 32; shift += 8)
        count_in_byte(tallies, lane, word >> shift & 0xFF);
}

// Adds the tallies of all lanes to `totals` and sets them back to 0. Lane k adds up rows k
// and k + 32, each time beginning with a word of another bank. With even and odd bytes
// apart, four sums of at most 32 * 255 fit in two words.
__device__ void empty_tallies(WarpTallies& tallies, unsigned lane,
                              unsigned (&totals)[2][4]) {
    __syncwarp();  // the others have counted
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        unsigned even = 0, odd = 0;
        for (unsigned k = 0; k < kLanes; ++k) {
            const unsigned four = tallies[half * kLanes + lane][(lane + k) % kLanes];
            even += four & 0x00FF00FF;
            odd += four >> 8 & 0x00FF00FF;
        }
        totals[half][0] += even & 0xFFFF;
        totals[half][1] += odd & 0xFFFF;
        totals[half][2] += even >> 16;
        totals[half][3] += odd >> 16;
    }
    __syncwarp();  // the others have read
    for (unsigned row = 0; row < kRows; ++row) tallies[row][lane] = 0;
}

__global__ void count_lane_bytes(const unsigned char* bytes, unsigned* counts,
                                 std::size_t count) {
    __shared__ unsigned tallies[kByteWarps][kRows][kLanes];
    __shared__ unsigned bins[kBins];
    const unsigned lane = threadIdx.x % kLanes;
    WarpTallies& own = tallies[threadIdx.x / kLanes];
    for (unsigned row = 0; row < kRows; ++row) own[row][lane] = 0;
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kByteThreads) bins[bin] = 0;
    unsigned totals[2][4] = {};

    const auto* vectors = reinterpret_cast<const uint4*>(bytes);
    const std::size_t vector_count = count / kVectorBytes;
    const std::size_t rest = vector_count * kVectorBytes + threadIdx.x;
    if (blockIdx.x == 0 && rest < count) count_in_byte(own, lane, bytes[rest]);
    const std::size_t stride = std::size_t{gridDim.x} * kByteThreads;
    unsigned rounds = 0;
    // All lanes of a warp make the same number of rounds, so that they meet in
    // empty_tallies.
    for (std::size_t first = std::size_t{blockIdx.x} * kByteThreads + threadIdx.x - lane;
         first < vector_count; first += stride) {
        if (first + lane < vector_count) {
            const uint4 vector = vectors[first + lane];
            count_word_in_bytes(own, lane, vector.x);
            count_word_in_bytes(own, lane, vector.y);
            count_word_in_bytes(own, lane, vector.z);
            count_word_in_bytes(own, lane, vector.w);
        }
        if (++rounds == kRounds) {
            empty_tallies(own, lane, totals);
            rounds = 0;
        }
    }
    empty_tallies(own, lane, totals);

    __syncthreads();  // bins are 0
    for (unsigned half = 0; half < 2; ++half) {
        for (unsigned k = 0; k < 4; ++k)
            atomicAdd(&bins[k * kRows + half * kLanes + lane], totals[half][k]);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kByteThreads)
        atomicAdd(&counts[bin], bins[bin]);
}

// Step 7, atomics again, and one copy of the histogram per lane: the counter of lane k for
// a bin is word 32 * bin + k, in bank k. 32 KiB serve all warps of the block, because
// atomics let lanes k of different warps share a copy. A counter has 32 bits, so nothing
// has to be emptied on the way.
// Faster because an increment takes one wavefront, whatever the bytes are. Still slow
// because 32 KiB have to be filled with zeros, and added up at the end, which small inputs
// notice. And a thread has 16 bytes in flight, then none while it counts them.
__device__ void count_word_in_lane(unsigned (&copies)[kBins][kLanes], unsigned lane,
                                   unsigned word) {
    for (unsigned shift = 0; shift < 32; shift += 8)
        atomicAdd(&copies[word >> shift & 0xFF][lane], 1u);
}

__global__ void count_lane_copies(const unsigned char* bytes, unsigned* counts,
                                  std::size_t count) {
    __shared__ unsigned copies[kBins][kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    for (unsigned bin = threadIdx.x / kLanes; bin < kBins; bin += kThreads / kLanes)
        copies[bin][lane] = 0;
    __syncthreads();
    const auto* vectors = reinterpret_cast<const uint4*>(bytes);
    const std::size_t vector_count = count / kVectorBytes;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < vector_count;
         i += stride) {
        const uint4 vector = vectors[i];
        count_word_in_lane(copies, lane, vector.x);
        count_word_in_lane(copies, lane, vector.y);
        count_word_in_lane(copies, lane, vector.z);
        count_word_in_lane(copies, lane, vector.w);
    }
    const std::size_t rest = vector_count * kVectorBytes + threadIdx.x;
    if (blockIdx.x == 0 && rest < count) atomicAdd(&copies[bytes[rest]][lane], 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) {
        // Each thread begins with another copy: in one column all would be in the same
        // bank.
        unsigned sum = 0;
#pragma unroll 4
        for (unsigned k = 0; k < kLanes; ++k) sum += copies[bin][(lane + k) % kLanes];
        atomicAdd(&counts[bin], sum);
    }
}

// Step 8, the same with more bytes in flight: each thread loads kDeep vectors before it
// counts the first, the length of the grid apart. Blocks of 512 threads fill the SM's 2048
// threads with four copies of 32 KiB; with blocks of 256, a quarter would be empty. That
// holds as long as a thread has no more than 32 registers: if the loop of 32 loads at the
// end were unrolled completely, it would take twice as many, and only half of the threads
// would fit. What is left after whole rounds is taken one vector at a time.
// Faster because more bytes are in flight. With one wavefront for 32 bytes, shared memory
// can count 32 bytes per cycle and SM, so the memory is the limit again.
constexpr unsigned kDeepThreads = 512;
constexpr unsigned kDeep = 2;

__global__ void __launch_bounds__(kDeepThreads)
    count_lane_copies_deep(const unsigned char* bytes, unsigned* counts,
                           std::size_t count) {
    __shared__ unsigned copies[kBins][kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    for (unsigned bin = threadIdx.x / kLanes; bin < kBins; bin += kDeepThreads / kLanes)
        copies[bin][lane] = 0;
    __syncthreads();
    const auto* vectors = reinterpret_cast<const uint4*>(bytes);
    const std::size_t vector_count = count / kVectorBytes;
    const std::size_t stride = std::size_t{gridDim.x} * kDeepThreads;
    std::size_t i = std::size_t{blockIdx.x} * kDeepThreads + threadIdx.x;
    for (; i + (kDeep - 1) * stride < vector_count; i += kDeep * stride) {
        uint4 loaded[kDeep];
#pragma unroll
        for (unsigned k = 0; k < kDeep; ++k) loaded[k] = vectors[i + k * stride];
#pragma unroll
        for (unsigned k = 0; k < kDeep; ++k) {
            count_word_in_lane(copies, lane, loaded[k].x);
            count_word_in_lane(copies, lane, loaded[k].y);
            count_word_in_lane(copies, lane, loaded[k].z);
            count_word_in_lane(copies, lane, loaded[k].w);
        }
    }
    for (; i < vector_count; i += stride) {
        const uint4 vector = vectors[i];
        count_word_in_lane(copies, lane, vector.x);
        count_word_in_lane(copies, lane, vector.y);
        count_word_in_lane(copies, lane, vector.z);
        count_word_in_lane(copies, lane, vector.w);
    }
    const std::size_t rest = vector_count * kVectorBytes + threadIdx.x;
    if (blockIdx.x == 0 && rest < count) atomicAdd(&copies[bytes[rest]][lane], 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kDeepThreads) {
        unsigned sum = 0;
#pragma unroll 4
        for (unsigned k = 0; k < kLanes; ++k) sum += copies[bin][(lane + k) % kLanes];
        atomicAdd(&counts[bin], sum);
    }
}

}  // namespace
}  // namespace memory_model
