// Problem: how often does each of the 256 values occur among n bytes?
//
// One byte is read and one of 256 counters goes up by one. Reading is easy: n bytes at the memory's full speed.
// Counting is not: thousands of threads share 256 counters, two of them may want the same one at the same time, and so
// each increment has to be atomic. Where the counters stand decides how many threads wait for each other, and the
// values of the bytes decide how often. So all steps run on four inputs: random bytes, one byte over and over, skewed,
// and sorted.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cub/device/device_histogram.cuh>
#endif

#include "chapters/2_memory_model/lessons.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"

namespace memory_model {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kBins = 256;
constexpr unsigned kLanes = 32;
constexpr unsigned kBanks = 32;
constexpr unsigned kThreads = 256;                // of a block, unless a step says otherwise
constexpr unsigned kVectorBytes = sizeof(uint4);  // bytes of a 16-byte load

// ---- four inputs --------------------------------------------------------------------------------------------------

enum class Input { uniform, constant, skewed, sorted };
constexpr std::array<Input, 4> inputs = {Input::uniform, Input::constant, Input::skewed, Input::sorted};
constexpr std::array<const char*, 4> input_names = {"uniform", "constant", "skewed", "sorted"};

unsigned char byte_of(Input input, std::size_t i, std::size_t count) {
    const std::uint64_t bits = warpwise::random_bits(21, i);
    switch (input) {
        case Input::uniform:
            return static_cast<unsigned char>(bits >> 56);
        case Input::constant:
            return 'x';
        case Input::skewed: {  // the fourth power of a random number in [0, 1): a quarter of all bytes are 0
            const double root = static_cast<double>(bits >> 11) / static_cast<double>(std::uint64_t{1} << 53);
            return static_cast<unsigned char>(root * root * root * root * kBins);
        }
        case Input::sorted:  // each value equally often, in ascending order
            return static_cast<unsigned char>(i * kBins / count);
    }
    return 0;
}

std::vector<unsigned char> bytes_of(Input input, std::size_t count) {
    std::vector<unsigned char> bytes(count);
    warpwise::parallel_for(count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) bytes[i] = byte_of(input, i, count);
    });
    return bytes;
}

// The bytes on the host and on the device, how often each value occurs, and room for the answer on both sides.
struct Histogram {
    std::size_t count;
    std::vector<unsigned char> bytes;
    std::vector<double> expected;
    std::vector<unsigned> counts;
    DeviceBuffer<unsigned char> d_bytes;
    DeviceBuffer<unsigned> d_counts;
    DeviceBuffer<unsigned char> d_vendor_storage;
    bool counts_are_on_host = false;  // set by the step that leaves its result in `counts`

    explicit Histogram(const warpwise::Size& size, Input input = Input::uniform)
        : count(countable(size[0])),
          bytes(bytes_of(input, count)),
          expected(reference()),
          counts(kBins),
          d_bytes(bytes),
          d_counts(kBins) {}

    void poison() {
        std::fill(counts.begin(), counts.end(), std::numeric_limits<unsigned>::max());
        d_counts.fill_bytes(0xFF);
        counts_are_on_host = false;
    }

    // Counts are whole numbers below 2^53, which doubles hold exactly: the answer has to be exact, too.
    warpwise::Comparison compare() {
        if (!counts_are_on_host) counts = d_counts.download();
        return warpwise::compare(counts, expected);
    }

    // Each byte is read once; the 256 counters do not weigh. One increment a byte.
    warpwise::Work work() const {
        return {.bytes = static_cast<double>(count), .operations = static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) { return size[0] + kBins * sizeof(unsigned); }

private:
    // Counters have 32 bits, and all bytes may have the same value.
    static std::size_t countable(std::size_t count) {
        if (count > std::numeric_limits<unsigned>::max()) {
            throw warpwise::Refusal("histogram counts in 32 bits: at most 4294967295 bytes");
        }
        return count;
    }

    // Each part of the bytes has counters of its own, so that the threads of the host need not wait for each other.
    std::vector<double> reference() const {
        const std::size_t parts = warpwise::parallel_parts(bytes.size());
        std::vector<std::array<double, kBins>> counters(parts);
        warpwise::parallel_for_parts(bytes.size(), parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
            std::array<double, kBins> own{};
            for (std::size_t i = begin; i < end; ++i) ++own[bytes[i]];
            counters[part] = own;
        });
        std::vector<double> sums(kBins);
        for (const std::array<double, kBins>& own : counters) {
            for (std::size_t bin = 0; bin < kBins; ++bin) sums[bin] += own[bin];
        }
        return sums;
    }
};

// ---- steps --------------------------------------------------------------------------------------------------------

// Step 1, one core of the host. 256 counters fit in its first cache, and nobody else wants them. Slow: one byte after
// the other, and with bytes that repeat each increment waits for the one before it.
void serial(Histogram& problem) {
    std::fill(problem.counts.begin(), problem.counts.end(), 0u);
    for (const unsigned char byte : problem.bytes) ++problem.counts[byte];
    problem.counts_are_on_host = true;
}

// Step 2, a thread for each byte, and the counters in global memory. A plain `++` would lose counts: two threads read 7
// and both write 8. atomicAdd makes reading, adding and writing one step that nobody comes between.
// Slow: atomics on global memory are carried out in the L2 cache, and all of the chip's threads want the same 32
// sectors of it. One byte read costs one trip to the cache and a place in a queue.
__global__ void count_global(const unsigned char* bytes, unsigned* counts, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < count) atomicAdd(&counts[bytes[i]], 1u);
}

void global_atomics(Histogram& problem) {
    warpwise::check(cudaMemsetAsync(problem.d_counts.data(), 0, problem.d_counts.bytes()));
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    count_global<<<blocks, kThreads>>>(problem.d_bytes.data(), problem.d_counts.data(), problem.count);
    warpwise::check_launch();
}

// Step 3, a private histogram for each block, in shared memory: increments stay on the SM, and only the sums of a block
// go to global memory, 256 atomics a block. To make blocks few, the grid just fills the device and threads stride on.
// Slow: a warp's load fetches a single sector, 32 bytes, and each thread has one byte under way at a time.
__global__ void count_shared(const unsigned char* bytes, unsigned* counts, std::size_t count) {
    __shared__ unsigned bins[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) bins[bin] = 0;
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) {
        atomicAdd(&bins[bytes[i]], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) atomicAdd(&counts[bin], bins[bin]);
}

// Zeroes the counters and launches a kernel with as many blocks as fit on the device, or as few as the bytes need when
// each thread takes `bytes_a_thread` of them.
template <class Kernel>
void launch(Kernel kernel, Histogram& problem, unsigned threads, unsigned bytes_a_thread) {
    warpwise::check(cudaMemsetAsync(problem.d_counts.data(), 0, problem.d_counts.bytes()));
    const unsigned blocks = std::min(warpwise::blocks_for(problem.count, threads * bytes_a_thread),
                                     warpwise::blocks_that_fill(kernel, threads));
    kernel<<<blocks, threads>>>(problem.d_bytes.data(), problem.d_counts.data(), problem.count);
    warpwise::check_launch();
}

void shared_atomics(Histogram& problem) { launch(count_shared, problem, kThreads, 1); }

// Step 4, 16 bytes a load: a warp fetches 512 bytes with one request, and a thread counts 16 of them before it needs
// the next. The up to 15 bytes behind the last vector go to the first threads of block 0.
// Slow: the shared atomics. 32 lanes with random values go to 32 banks by chance, and the busiest bank gets three or
// four of them: so many passes takes each warp's increment.
__device__ void count_word(unsigned* bins, unsigned word) {
    for (unsigned shift = 0; shift < 32; shift += 8) atomicAdd(&bins[word >> shift & 0xFF], 1u);
}

__global__ void count_shared_uint4(const unsigned char* bytes, unsigned* counts, std::size_t count) {
    __shared__ unsigned bins[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) bins[bin] = 0;
    __syncthreads();
    const auto* vectors = reinterpret_cast<const uint4*>(bytes);
    const std::size_t vector_count = count / kVectorBytes;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < vector_count; i += stride) {
        const uint4 vector = vectors[i];
        count_word(bins, vector.x);
        count_word(bins, vector.y);
        count_word(bins, vector.z);
        count_word(bins, vector.w);
    }
    const std::size_t rest = vector_count * kVectorBytes + threadIdx.x;
    if (blockIdx.x == 0 && rest < count) atomicAdd(&bins[bytes[rest]], 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kThreads) atomicAdd(&counts[bin], bins[bin]);
}

void shared_atomics_uint4(Histogram& problem) { launch(count_shared_uint4, problem, kThreads, kVectorBytes); }

// Step 5, a copy of the histogram for each warp, so that warps no longer share counters. It was the classic cure where
// the SM made a lock out of each shared atomic, and warps that wanted the same counter took turns at it.
// Slow: today's SM has a unit for it, and works on one warp's increment at a time anyway. Lanes of one warp still
// collide: passes are what they were.
constexpr unsigned kWarps = kThreads / kLanes;

__global__ void count_warp_copies(const unsigned char* bytes, unsigned* counts, std::size_t count) {
    __shared__ unsigned copies[kWarps][kBins];
    for (unsigned i = threadIdx.x; i < kWarps * kBins; i += kThreads) copies[i / kBins][i % kBins] = 0;
    __syncthreads();
    unsigned* const bins = copies[threadIdx.x / kLanes];
    const auto* vectors = reinterpret_cast<const uint4*>(bytes);
    const std::size_t vector_count = count / kVectorBytes;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < vector_count; i += stride) {
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

void warp_copies(Histogram& problem) { launch(count_warp_copies, problem, kThreads, kVectorBytes); }

// Step 6, counters for each lane, and so none that two threads share: no atomics at all. To fit, a counter is one byte:
// 256 for each of 32 lanes are 8 KB a warp. Four counters of a lane make a word, and the words of lane k all lie in
// bank k, so that no two lanes ever collide, whatever the bytes are. A byte counts up to 255; before one can overflow,
// after 15 vectors of 16 bytes, the warp adds up its 32 copies in registers and starts over. Each lane has eight bins
// there. Better: two passes for each increment, one to load and one to store, instead of three or four. Slow: emptying
// 8 KB after every 7680 bytes costs another 128 passes, and 24 warps fill the SM, too few to hide that a lane's
// increments wait for each other.
constexpr unsigned kByteWarps = 4;  // of a block: 32 KB
constexpr unsigned kByteThreads = kByteWarps * kLanes;
constexpr unsigned kRows = kBins / 4;                   // words of a lane
constexpr unsigned kRounds = (255 - 1) / kVectorBytes;  // vectors until a byte might overflow, with one more byte

using WarpTallies = unsigned[kRows][kLanes];  // row r holds the counters of bins r, r + 64, r + 128, r + 192 in a word

__device__ void count_in_byte(WarpTallies& tallies, unsigned lane, unsigned bin) {
    ++reinterpret_cast<unsigned char*>(&tallies[bin % kRows][lane])[bin / kRows];
}

__device__ void count_word_in_bytes(WarpTallies& tallies, unsigned lane, unsigned word) {
    for (unsigned shift = 0; shift < 32; shift += 8) count_in_byte(tallies, lane, word >> shift & 0xFF);
}

// Adds the tallies of all lanes to `totals` and sets them back to 0. Lane k adds up rows k and k + 32, each time
// beginning with a word of another bank. Even and odd bytes apart, four sums of at most 32 * 255 fit in two words.
__device__ void empty_tallies(WarpTallies& tallies, unsigned lane, unsigned (&totals)[2][4]) {
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

__global__ void count_lane_bytes(const unsigned char* bytes, unsigned* counts, std::size_t count) {
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
    // All lanes of a warp make the same number of rounds, so that they meet in empty_tallies.
    for (std::size_t first = std::size_t{blockIdx.x} * kByteThreads + threadIdx.x - lane; first < vector_count;
         first += stride) {
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
        for (unsigned k = 0; k < 4; ++k) atomicAdd(&bins[k * kRows + half * kLanes + lane], totals[half][k]);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kByteThreads) atomicAdd(&counts[bin], bins[bin]);
}

void lane_bytes(Histogram& problem) { launch(count_lane_bytes, problem, kByteThreads, kVectorBytes); }

// Step 7, atomics again, and a copy of the histogram for each lane: lane k's counter of a bin is word 32 * bin + k, in
// bank k. 32 KB serve all warps of the block, because atomics let lanes k of different warps share a copy; a counter
// has 32 bits, and nothing has to be emptied on the way. Better: one pass for each increment, whatever the bytes are.
// Slow: 32 KB to fill with zeros and to add up at the end, which small inputs feel; and a thread has 16 bytes under
// way, then none while it counts them.
__device__ void count_word_in_lane(unsigned (&copies)[kBins][kLanes], unsigned lane, unsigned word) {
    for (unsigned shift = 0; shift < 32; shift += 8) atomicAdd(&copies[word >> shift & 0xFF][lane], 1u);
}

__global__ void count_lane_copies(const unsigned char* bytes, unsigned* counts, std::size_t count) {
    __shared__ unsigned copies[kBins][kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    for (unsigned bin = threadIdx.x / kLanes; bin < kBins; bin += kThreads / kLanes) copies[bin][lane] = 0;
    __syncthreads();
    const auto* vectors = reinterpret_cast<const uint4*>(bytes);
    const std::size_t vector_count = count / kVectorBytes;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < vector_count; i += stride) {
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
        unsigned sum = 0;  // each thread begins with another copy: in one column all would be in the same bank
#pragma unroll 4
        for (unsigned k = 0; k < kLanes; ++k) sum += copies[bin][(lane + k) % kLanes];
        atomicAdd(&counts[bin], sum);
    }
}

void lane_copies(Histogram& problem) { launch(count_lane_copies, problem, kThreads, kVectorBytes); }

// Step 8, the same with more under way: each thread loads kDeep vectors before it counts the first, the grid's length
// apart, and blocks of 512 threads fill the SM's 2048 with four copies of 32 KB, where 256 of them leave a quarter
// empty. That holds as long as a thread has no more than 32 registers: unrolled whole, the 32 loads of the sum at the
// end take twice as many, and half of the threads have to go. What is left after whole rounds is taken one vector at a
// time. Left to do: with a pass for 32 bytes, shared memory keeps up with 32 bytes a cycle and SM, more than the memory
// delivers. So the memory is the limit again, as it should be.
constexpr unsigned kDeepThreads = 512;
constexpr unsigned kDeep = 2;

__global__ void __launch_bounds__(kDeepThreads)
    count_lane_copies_deep(const unsigned char* bytes, unsigned* counts, std::size_t count) {
    __shared__ unsigned copies[kBins][kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    for (unsigned bin = threadIdx.x / kLanes; bin < kBins; bin += kDeepThreads / kLanes) copies[bin][lane] = 0;
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

void lane_copies_deep(Histogram& problem) { launch(count_lane_copies_deep, problem, kDeepThreads, kVectorBytes); }

#ifndef __CPU_DEVICE__
// What a user would call instead. Called without storage it only says how much it needs; 257 levels border 256 bins.
void vendor(Histogram& problem) {
    const auto call = [&](void* storage, std::size_t& bytes) {
        const unsigned char* samples = problem.d_bytes.data();
        return cub::DeviceHistogram::HistogramEven(storage, bytes, samples, problem.d_counts.data(), int{kBins} + 1, 0,
                                                   int{kBins}, static_cast<long long>(problem.count));
    };
    std::size_t needed = 0;
    warpwise::check(call(nullptr, needed));
    if (problem.d_vendor_storage.size() < needed) problem.d_vendor_storage = DeviceBuffer<unsigned char>(needed);
    warpwise::check(call(problem.d_vendor_storage.data(), needed));
}
#endif

// ---- the four inputs, counted and timed ---------------------------------------------------------------------------

// What the 32 increments of a warp cost on average, worked out of the bytes.
struct Collisions {
    double waiting = 0;  // lanes that find another lane of their warp at the same counter
    double passes = 0;   // over the banks; lanes at the same counter share one, because all of them add 1
};

// When a thread takes `width` bytes at a time, lane k counts byte k * width + j of a warp's bytes in its j-th
// increment. One histogram: bins lie in the banks in turn. `count` is a multiple of 32 * width.
Collisions collisions_of(const std::vector<unsigned char>& bytes, std::size_t width) {
    Collisions sum;
    for (std::size_t first = 0; first < bytes.size(); first += kLanes * width) {
        for (std::size_t j = 0; j < width; ++j) {
            std::array<bool, kBins> seen{};
            std::array<unsigned, kBanks> bins_of_bank{};
            unsigned passes = 0;
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const unsigned char bin = bytes[first + lane * width + j];
                if (std::exchange(seen[bin], true)) {
                    ++sum.waiting;
                } else {
                    passes = std::max(passes, ++bins_of_bank[bin % kBanks]);
                }
            }
            sum.passes += passes;
        }
    }
    const double requests = static_cast<double>(bytes.size()) / kLanes;
    return {sum.waiting / requests, sum.passes / requests};
}

// A step of the ladder, and how it finds its counters.
struct Method {
    const char* name;
    void (*run)(Histogram&);
    enum class Counters { global, shared_by_lanes, bytes_of_a_lane, copy_a_lane } counters;
    std::size_t width;  // bytes of a load
};
constexpr std::array<Method, 7> methods = {
    {{"count_global", global_atomics, Method::Counters::global, 1},
     {"count_shared", shared_atomics, Method::Counters::shared_by_lanes, 1},
     {"count_shared_uint4", shared_atomics_uint4, Method::Counters::shared_by_lanes, kVectorBytes},
     {"count_warp_copies", warp_copies, Method::Counters::shared_by_lanes, kVectorBytes},
     {"count_lane_bytes", lane_bytes, Method::Counters::bytes_of_a_lane, kVectorBytes},
     {"count_lane_copies", lane_copies, Method::Counters::copy_a_lane, kVectorBytes},
     {"count_lane_copies_deep", lane_copies_deep, Method::Counters::copy_a_lane, kVectorBytes}}};

// What step 6 does apart from counting, in passes over shared memory, when each lane counts a single vector: a warp
// sets its tallies to 0, adds them up, and sets them to 0 again; a block has its bins to set to 0 and to read.
double passes_around(std::size_t count) {
    const double blocks = static_cast<double>(count / (kByteThreads * kVectorBytes));
    return blocks * (kByteWarps * 3.0 * kRows + 2.0 * kBins / kLanes);
}

// Runs every step on `problem`, expects it to be right, and on the CPU device expects what the bytes predict.
void expect_collisions(warpwise::Lesson& lesson, Histogram& problem, const std::string& input,
                       std::vector<std::vector<std::string>>& rows) {
    using Counters = Method::Counters;
    const double requests = static_cast<double>(problem.count) / kLanes;
    for (const Method& method : methods) {
        const std::string name = std::string(method.name) + ", " + input + ": ";
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        lesson.expect(problem.compare().passed, name + "the histogram is right");

        Collisions predicted{0, 1};  // a copy a lane: nobody waits, and nobody collides
        if (method.counters == Counters::bytes_of_a_lane) predicted.passes = 2;
        const bool shared_by_lanes =
            method.counters == Counters::global || method.counters == Counters::shared_by_lanes;
        if (shared_by_lanes) predicted = collisions_of(problem.bytes, method.width);
        std::string waiting = "-", passes = "-";
        if (counts) {
            const bool global = method.counters == Counters::global;
            warpwise::RequestCounts counting = global ? counts->global_atomic : counts->shared_atomic;
            if (method.counters == Counters::bytes_of_a_lane) {
                counting.wavefronts = counts->shared_load.wavefronts + counts->shared_store.wavefronts;
                counting.wavefronts -= passes_around(problem.count);
                counting.same_address = 0;
            } else {
                lesson.expect(counting.requests == requests, name + "one atomic of a warp for 32 bytes");
            }
            lesson.expect(counting.same_address == predicted.waiting * requests,
                          name + "as many lanes wait as predicted");
            lesson.expect(global || counting.wavefronts == predicted.passes * requests,
                          name + "as many passes as predicted");
            waiting = warpwise::ratio_text(counting.same_address / requests);
            passes = warpwise::ratio_text(counting.wavefronts / requests);
        }
        const bool like_another = method.run == warp_copies || method.run == lane_copies_deep;
        if (method.counters == Counters::global || like_another) continue;
        rows.push_back({input, method.name, warpwise::ratio_text(predicted.waiting), waiting,
                        warpwise::ratio_text(predicted.passes), passes});
    }
}

// As many bytes of each input as the memory has room for, up to 1 GiB.
std::size_t bytes_of_each_input() {
    std::size_t free_bytes = 0, all_bytes = 0;
    warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
    std::size_t count = std::size_t{1} << 30;
    while (count > 1024 && inputs.size() * count > free_bytes / 2) count /= 2;
    return count;
}

// 32 Ki bytes of each input tell what all of them do.
void compare_inputs(warpwise::Lesson& lesson) {
    constexpr std::size_t count = std::size_t{1} << 15;
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        Histogram problem({count}, inputs[k]);
        expect_collisions(lesson, problem, input_names[k], rows);
    }
    lesson.table("What the increments of 32 lanes do, 32768 bytes",
                 {"bytes", "step", "lanes that wait", "counted", "passes", "counted"}, rows);
}

// The same, measured.
void print_measured_rates(warpwise::Lesson& lesson, const std::vector<std::string>& header) {
    const std::size_t count = bytes_of_each_input();
    std::vector<std::pair<std::string, void (*)(Histogram&)>> timed;
    for (const Method& method : methods) timed.emplace_back(method.name, method.run);
#ifndef __CPU_DEVICE__
    timed.emplace_back("vendor", vendor);
#endif
    std::vector<std::unique_ptr<Histogram>> problems;
    for (const Input input : inputs) {
        problems.push_back(std::make_unique<Histogram>(warpwise::Size{count}, input));
        std::vector<unsigned char>().swap(problems.back()->bytes);  // the host needs them no more
    }
    std::vector<warpwise::Candidate> candidates;
    for (const auto& [name, run] : timed) {
        for (const std::unique_ptr<Histogram>& problem : problems) {
            problem->poison();
            run(*problem);
            lesson.expect(problem->compare().passed, name + ": the histogram of " + std::to_string(count) + " bytes");
            candidates.push_back({[run = run, problem = problem.get()] { run(*problem); }, false});
        }
    }
    const std::vector<warpwise::Timing> timings =
        warpwise::measure_in_turn(candidates, {.seconds = 0.1, .longest = 1, .flush_l2 = false});
    std::vector<std::vector<std::string>> rows;
    for (std::size_t row = 0; row < timed.size(); ++row) {
        rows.push_back({timed[row].first});
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const double seconds = timings[row * inputs.size() + k].median;
            rows.back().push_back(text_of("%.4g", static_cast<double>(count) / seconds * 1e-9));
        }
    }
    lesson.table("GB/s of each step on each input, " + std::to_string(count) + " bytes", header, rows);
}

}  // namespace

void histogram(warpwise::Lesson& lesson) {
    lesson.text(
        R"(A histogram of bytes: 256 counters, and each byte adds 1 to one of them. Reading the bytes is one pass
over memory. Counting them means that thousands of threads share 256 counters, and that an increment has to be atomic,
one step that nobody comes between.

What you will see: counters in global memory, then a private copy for each block, each warp and each lane. The more
copies, the fewer threads wait for each other, and the more there is to add up at the end.

Before you look, three predictions. 32 lanes have random bytes: how many of them find another lane at the same
counter? In shared memory, 256 counters lie in 32 banks: how many passes does such an increment take? And which steps
will like it when all bytes are equal?)");
    std::vector<warpwise::Step<Histogram>> steps = {
        {"serial", "one core of the host", serial, warpwise::StepKind::host},
        {"count_global", "a thread a byte, counters in global memory", global_atomics},
        {"count_shared", "a histogram for each block, in shared memory", shared_atomics},
        {"count_shared_uint4", "16 bytes a load", shared_atomics_uint4},
        {"count_warp_copies", "a copy for each warp", warp_copies},
        {"count_lane_bytes", "byte counters for each lane, no atomics", lane_bytes},
        {"count_lane_copies", "a copy for each lane, in a bank of its own", lane_copies},
        {"count_lane_copies_deep", "full blocks, more bytes under way a thread", lane_copies_deep}};
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cub::DeviceHistogram::HistogramEven", vendor, warpwise::StepKind::vendor});
#endif
    lesson.steps<Histogram>(
        {.gpu = {std::size_t{1} << 30},
         .cpu = {std::size_t{1} << 18},
         .awkward = {{0}, {1}, {15}, {16}, {17}, {31}, {32}, {33}, {511}, {513}, {1009}, {4099}, {65537}}},
        steps);

    lesson.text(
        R"(With counters in global memory, each byte is a trip to the L2 cache. On a desktop of the 2010s that was
not even faster than the host: 100 MiB of random bytes took its CPU 150 ms, its card 178 ms with one global atomic a
byte, and 26.4 ms with shared atomics. That is 0.7, 0.6 and 4 GB/s. Chips have changed since, the reasons have not.

Now the four inputs: random bytes, one byte over and over, skewed ones (a quarter of all bytes are 0), and sorted
ones. The columns `lanes that wait` and `passes` were worked out on the host from the bytes.)");
    compare_inputs(lesson);
    lesson.text(
        R"(Of 32 random bytes about 30 are different: two lanes wait for another one. Passes are another matter.
30 counters in 32 banks do not spread evenly; the busiest bank has three or four, and a pass for each. No order of the
bins can change that, and 16 bytes a load or a copy a warp do not either: it is lanes of one warp that collide.

One byte over and over is a single pass: all lanes add 1 to the same counter, which the SM counts together. (Adding
anything but the constant 1, they would take 32 passes.) Sorted bytes are like that over long stretches; skewed ones
lie in between.

With counters of its own for each lane, in a bank of its own, nobody waits and nobody collides, whatever the bytes
are. Without atomics that takes two passes, a load and a store; and 128 more for every 7680 bytes, to empty counters
of 8 bits before they overflow. With atomics it takes one, and counters of 32 bits that all warps of the block share.
So leaving out the atomics is not what makes it fast.)");
    std::vector<std::string> header = {"step"};
    header.insert(header.end(), input_names.begin(), input_names.end());
    if (lesson.measures()) {
        print_measured_rates(lesson, header);
        lesson.text(
            R"(What the clock makes of it. A multiprocessor's shared memory makes one pass a cycle: with p passes for
32 bytes it counts 32 / p bytes a cycle at best. Multiply by the clock and by the number of multiprocessors: with
three or four passes that is less than what the memory delivers, and the step stops there. With one pass it is more,
and the memory is the limit again. The vendor's routine keeps one copy a block, and its speed depends on the bytes.)");
    } else {
        lesson.show_recorded("GB/s of each step on each input");
        lesson.text(
            R"(On a GPU passes are time: a multiprocessor's shared memory makes one a cycle. With three or four passes
for 32 bytes, 132 multiprocessors at 1.98 GHz count about 2 to 2.8 TB/s, and an H200's memory delivers more than 4.
With one pass the memory is the limit again.)");
    }
    lesson.text(
        R"(So it is on an H200: one copy a block, with 16 bytes a load, counts 2190 GB/s of random bytes, and 4186 of
one byte over and over. A copy a lane takes one pass whatever comes: 4296 to 4321 GB/s in its last form, on all four
inputs, as fast as a copy moves bytes in both directions together, and twice what the vendor's routine does with random
bytes.

But passes are a limit and not the whole time. count_shared, with a byte a load, makes 738 GB/s of every input: its
threads wait for the memory, not for the banks. And count_lane_bytes, the same on all inputs too, makes 1602, where its
passes would allow twice as much. Its copies are 8 KB a warp, so that 24 warps fill an SM; without atomics each
increment is a load, an addition and a store, and the next one of that lane may want the same word and has to come after
it. 24 warps are too few to hide that. The copies of count_lane_copies serve all warps of a block, 48 on an SM, and the
last step has 64, each with twice the bytes under way.)");
    lesson.text(
        R"(The rule to take along: when many threads update few places, give them copies, and let the copies of
neighboring lanes lie in different banks.

Mistakes to avoid: `++` on a counter that others use (it loses counts, and with random bytes only few: --check finds
it); forgetting to set the counters to 0, on every call; a copy a thread in global or local memory, where each
increment is a trip; atomics whose result is used although nobody needs it; judging by random bytes alone.

Try next: --lines shows where the collisions are. Then let count_word add 2 instead of 1, and halve the counts at the
end: how many passes do you expect for one byte over and over? (The lesson expects one, and will say that it was
WRONG.)

    memory_model histogram --lines --step count_shared_uint4
    memory_model histogram --size 1000003 --check)");
}

}  // namespace memory_model
