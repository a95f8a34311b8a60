// Problem: the dot product of two vectors of n floats, a[0] * b[0] + ... + a[n-1] * b[n-1].
//
// Eight bytes are read for one multiplication and one addition, so the memory should be the limit, and 4.8 TB/s would
// be 0.6 * 10^12 products a second. What keeps the first steps from it is the sum: many threads, one number. The
// ladder that leads there is a classic; M. Harris told it in 2007 for the sum of an array ("Optimizing parallel
// reduction in CUDA", NVIDIA), from 8.05 ms down to 0.27 ms for 2^22 integers on a G80. Here it goes on to today's
// chips, and each rung says beforehand what the counters have to show.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#include <thrust/functional.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/zip_function.h>

#include <cub/device/device_reduce.cuh>
#endif

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/cublas.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/read_only.cuh"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace optimization {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kThreads = 256;           // a block, and products of a tile
constexpr unsigned kWarps = kThreads / 32;   // a block
constexpr std::size_t kProductsAThread = 8;  // at least, from step 5 on; for fewer there are fewer blocks

// The vectors, their product in double, and memory for the steps. The counter of tickets is set to zero once, when it
// is made: each launch leaves it as it found it.
struct Dot {
    std::size_t count;
    std::vector<float> a, b;
    double reference = 0;
    DeviceBuffer<float> d_a, d_b, d_block_sums, d_dot{1};
    DeviceBuffer<unsigned> d_drawn{std::vector<unsigned>{0}};
    DeviceBuffer<unsigned char> d_vendor_storage;
    std::vector<float> block_sums;  // on the host, for steps that finish there
    std::optional<float> on_host;   // the result of a step that leaves it on the host
    double tolerance = 0;

    // Random numbers in [-1, 1], b with the signs of a: no product is negative, so that none makes up for one that is
    // missing, and a block that is left out shows in the sum.
    explicit Dot(const warpwise::Size& size)
        : count(size[0]),
          a(warpwise::uniform<float>(count, 1)),
          b(warpwise::uniform<float>(count, 2)),
          d_block_sums(tiles()),
          block_sums(tiles()) {
        const std::size_t parts = warpwise::parallel_parts(count);
        std::vector<double> sums(parts);
        warpwise::parallel_for_parts(count, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
            double sum = 0;
            for (std::size_t i = begin; i < end; ++i) {
                b[i] = std::copysign(b[i], a[i]);
                sum += double{a[i]} * double{b[i]};
            }
            sums[part] = sum;
        });
        for (const double sum : sums) reference += sum;
        d_a = DeviceBuffer<float>(a);
        d_b = DeviceBuffer<float>(b);
    }

    void poison() {
        d_dot.fill_bytes(0xFF);
        d_block_sums.fill_bytes(0xFF);
        on_host.reset();
        tolerance = 0;
    }

    // `chain`: the longest chain of roundings behind the result. All products are positive, so their magnitudes add
    // up to the reference.
    void rounds_like(std::size_t chain, double epsilon = std::numeric_limits<float>::epsilon()) {
        tolerance = warpwise::sum_tolerance(chain, epsilon, reference);
    }

    warpwise::Comparison compare() {
        const std::vector<float> result = on_host ? std::vector<float>{*on_host} : d_dot.download();
        return warpwise::compare(result, {reference}, {.absolute = tolerance});
    }

    warpwise::Work work() const {
        return {.bytes = 8 * static_cast<double>(count), .operations = 2 * static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (2 * size[0] + warpwise::ceil_div(size[0], kThreads)) * sizeof(float) + (std::size_t{1} << 20);
    }

    unsigned tiles() const { return warpwise::blocks_for(count, kThreads); }

    // Blocks for a kernel whose threads stride over the vectors: no more than fit on the device at once.
    template <class Kernel>
    unsigned blocks(Kernel kernel) const {
        return std::min(warpwise::blocks_for(count, kThreads * kProductsAThread),
                        warpwise::blocks_that_fill(kernel, kThreads));
    }

    // A product, the additions of a thread and 8 rounds of a tree; the same again for the block sums.
    std::size_t chain(unsigned blocks) const {
        return 1 + warpwise::ceil_div(count, std::size_t{blocks} * kThreads) + 8 +
               warpwise::ceil_div(blocks, kThreads) + 8;
    }
};

// ---- steps --------------------------------------------------------------------------------------------------------

// Step 1, the loop on one core, in double.
void serial(Dot& problem) {
    double sum = 0;
    for (std::size_t i = 0; i < problem.count; ++i) sum += double{problem.a[i]} * double{problem.b[i]};
    problem.on_host = static_cast<float>(sum);
    problem.rounds_like(1);
}

// Step 2, a block for each tile of 256 products. They go to shared memory and are added in pairs: the neighbor first,
// then the neighbor two places on, then four. The thread of the left one adds, and `%` finds it. The host adds the
// sums of the tiles, because blocks cannot wait for each other.
// Slow: in the first round every second lane of all 8 warps has work, in the second every fourth; a warp goes through
// a round even for a single lane. And the host gets a float for each tile.
__global__ void dot_modulo(const float* a, const float* b, std::size_t count, float* block_sums) {
    __shared__ float part[kThreads];
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    part[threadIdx.x] = i < count ? a[i] * b[i] : 0.0f;
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * distance) == 0) part[threadIdx.x] += part[threadIdx.x + distance];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = part[0];
}

// Step 3, the same pairs at the same places, but the first threads add: thread t takes the t-th pair.
// Better: working lanes stand side by side in few warps, and a warp without work passes by.
// Slow: neighboring lanes want words that are 2 * distance apart, so that they meet in the same banks.
__global__ void dot_strided_index(const float* a, const float* b, std::size_t count, float* block_sums) {
    __shared__ float part[kThreads];
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    part[threadIdx.x] = i < count ? a[i] * b[i] : 0.0f;
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
        __syncthreads();
        const unsigned place = 2 * distance * threadIdx.x;
        if (place < kThreads) part[place] += part[place + distance];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = part[0];
}

// Step 4, other pairs: the upper half is added to the lower half. What is left is a shorter array without gaps.
// Better: neighboring lanes, neighboring words, 32 different banks. Slow: each thread has one product, and then eight
// rounds in which at best half of the threads work. The tree costs more than the product.
__global__ void dot_halves(const float* a, const float* b, std::size_t count, float* block_sums) {
    __shared__ float part[kThreads];
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    part[threadIdx.x] = i < count ? a[i] * b[i] : 0.0f;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = part[0];
}

// Step 5, as many blocks as fit on the device, and threads that stride over the vectors. A thread adds up its
// products in a register; when all have been read there is one tree for each block, not one for each tile.
// Better: hardly anything but loads, additions in registers, and a few hundred sums for the host. Slow: for those it
// still waits for the kernel, copies, and adds.
__global__ void dot_grid_stride(const float* a, const float* b, std::size_t count, float* block_sums) {
    __shared__ float part[kThreads];
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) sum += a[i] * b[i];
    part[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = part[0];
}

// Steps 2 to 5: the kernel leaves block sums, the host adds them. In double, which costs it nothing.
template <auto Kernel>
void finish_on_host(Dot& problem, unsigned blocks) {
    Kernel<<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(), problem.count, problem.d_block_sums.data());
    warpwise::check_launch();
    warpwise::check(cudaMemcpy(problem.block_sums.data(), problem.d_block_sums.data(), blocks * sizeof(float),
                               cudaMemcpyDeviceToHost));
    double sum = 0;
    for (unsigned block = 0; block < blocks; ++block) sum += problem.block_sums[block];
    problem.on_host = static_cast<float>(sum);
    problem.rounds_like(problem.chain(blocks));
}

template <auto Kernel>
void block_a_tile(Dot& problem) {
    finish_on_host<Kernel>(problem, problem.tiles());
}

void grid_stride(Dot& problem) { finish_on_host<dot_grid_stride>(problem, problem.blocks(dot_grid_stride)); }

// Step 6, the block adds its sum to the result by an atomic operation.
// Better: nothing waits for the host. Slow: the result has to be cleared first, an operation of its own on the
// device; and since blocks come in any order, the last digits may differ from run to run.
__global__ void dot_atomic(const float* a, const float* b, std::size_t count, float* dot) {
    __shared__ float part[kThreads];
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) sum += a[i] * b[i];
    part[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(dot, part[0]);
}

void atomic_finish(Dot& problem) {
    warpwise::check(cudaMemsetAsync(problem.d_dot.data(), 0, problem.d_dot.bytes()));
    const unsigned blocks = problem.blocks(dot_atomic);
    dot_atomic<<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(), problem.count, problem.d_dot.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain(blocks) + blocks);
}

// Step 7, the last block finishes (lesson fences_and_last_block). Each block leaves its sum and draws a ticket; the
// one with the last ticket adds up the block sums. atomicInc goes back to 0 by itself, ready for the next launch.
// Better: one launch, nothing to clear, and the same digits in every run. Slow: two trees now, and a barrier more.
// The tree has become a function, because the kernel needs it twice. Steps 8 and 9 are this kernel with another one.
__device__ float tree_of_halves(float value) {  // thread 0 gets the whole sum
    __shared__ float part[kThreads];
    part[threadIdx.x] = value;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    return threadIdx.x == 0 ? part[0] : 0.0f;
}

template <float (*SumOfBlock)(float)>
__global__ void dot_last_block(const float* a, const float* b, std::size_t count, float* block_sums, unsigned* drawn,
                               float* dot) {
    __shared__ bool is_last;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) sum += a[i] * b[i];
    sum = SumOfBlock(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;  // all threads of the block, or none

    float rest = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads) rest += block_sums[block];
    rest = SumOfBlock(rest);
    if (threadIdx.x == 0) *dot = rest;
}

// Step 8, from 64 parts on a single warp is left. Its lanes wait for each other only (lesson warp_synchronous_code),
// and the compiler unrolls the five rounds, since their number is fixed.
// Better: 3 barriers of the block in the place of 8. Slow: each round goes through shared memory.
__device__ float tree_with_warp_tail(float value) {
    __shared__ float part[kThreads];
    part[threadIdx.x] = value;
    for (unsigned half = kThreads / 2; half >= 64; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        part[threadIdx.x] += part[threadIdx.x + 32];
#pragma unroll
        for (unsigned half = 16; half > 0; half /= 2) {
            __syncwarp();
            if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        }
    }
    return threadIdx.x == 0 ? part[0] : 0.0f;
}

// Step 9, shuffles: every warp adds up its 32 values from register to register, and the first warp the eight sums.
// Better: one barrier, and shared memory holds 8 floats. Slow: none of that any more. A warp asks for 128 bytes of
// each vector and then waits.
__device__ float tree_of_shuffles(float value) {
    __shared__ float warp_sums[kWarps];
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return value;
    value = threadIdx.x < kWarps ? warp_sums[threadIdx.x] : 0.0f;
    for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    return value;
}

template <float (*SumOfBlock)(float)>
void last_block(Dot& problem) {
    const unsigned blocks = problem.blocks(dot_last_block<SumOfBlock>);
    dot_last_block<SumOfBlock><<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(), problem.count,
                                                     problem.d_block_sums.data(), problem.d_drawn.data(),
                                                     problem.d_dot.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain(blocks));
}

// Step 10: more loads in flight. A block now takes tiles of 1024 products of each vector,
// and a thread issues four loads from each vector before it needs the first value. The
// products after the last whole tile are taken one by one, as in step 9.
// Faster because a full SM of 2048 threads now has 64 KiB in flight instead of 16 KiB, and
// the memory delivers only as fast as it is asked (Little's law). Still slow because every
// load brings only 4 bytes, so that the kernel issues many load instructions.
constexpr unsigned kLoads = 4;  // from each vector

__global__ void dot_four_loads(const float* a, const float* b, std::size_t count, float* block_sums, unsigned* drawn,
                               float* dot) {
    __shared__ bool is_last;
    constexpr unsigned tile = kLoads * kThreads;  // floats of each vector
    const std::size_t tiles = count / tile;
    float sum = 0;
    for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const std::size_t first = t * tile + threadIdx.x;
        float of_a[kLoads], of_b[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) {
            of_a[k] = a[first + k * kThreads];
            of_b[k] = b[first + k * kThreads];
        }
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) sum += of_a[k] * of_b[k];
    }
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    for (std::size_t i = tiles * tile + thread; i < count; i += stride) sum += a[i] * b[i];

    sum = tree_of_shuffles(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;

    float rest = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads) rest += block_sums[block];
    rest = tree_of_shuffles(rest);
    if (threadIdx.x == 0) *dot = rest;
}

// Step 11: wider loads. Each of the four loads is a float4 now and brings 16 bytes, so a
// tile has 4096 products. The vectors must start at multiples of 16 bytes, as memory from
// cudaMalloc does; a pointer into the middle of an array would not do.
// Faster because one load instruction does the work of four, and each thread has four times
// as many bytes in flight. It could still be slow because the products of all four loads are
// added to the same sum, so that each addition waits for the one before it: step 12 tests it.
__global__ void dot_float4_loads(const float* a, const float* b, std::size_t count, float* block_sums, unsigned* drawn,
                                 float* dot) {
    __shared__ bool is_last;
    constexpr unsigned tile = kLoads * kThreads;  // float4 of each vector
    const auto* fours_a = reinterpret_cast<const float4*>(a);
    const auto* fours_b = reinterpret_cast<const float4*>(b);
    const std::size_t tiles = count / (4 * tile);
    float sum = 0;
    for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const std::size_t first = t * tile + threadIdx.x;
        float4 of_a[kLoads], of_b[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) {
            of_a[k] = fours_a[first + k * kThreads];
            of_b[k] = fours_b[first + k * kThreads];
        }
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) {
            sum += of_a[k].x * of_b[k].x + of_a[k].y * of_b[k].y + of_a[k].z * of_b[k].z + of_a[k].w * of_b[k].w;
        }
    }
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    for (std::size_t i = tiles * 4 * tile + thread; i < count; i += stride) sum += a[i] * b[i];

    sum = tree_of_shuffles(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;

    float rest = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads) rest += block_sums[block];
    rest = tree_of_shuffles(rest);
    if (threadIdx.x == 0) *dot = rest;
}

// Step 12: one accumulator per load. The four sums are added up once, after the last tile.
// This should be faster where additions wait for each other: the chain of dependent
// additions is a quarter as long. Here the loads take much longer than four additions, so
// we expect no gain, and an H200 had none. It could still be slow because nvcc 13.0 saves
// registers and mixes loads and multiplications: not all eight loads are in flight together.
__global__ void dot_four_sums(const float* a, const float* b, std::size_t count, float* block_sums, unsigned* drawn,
                              float* dot) {
    __shared__ bool is_last;
    constexpr unsigned tile = kLoads * kThreads;  // float4 of each vector
    const auto* fours_a = reinterpret_cast<const float4*>(a);
    const auto* fours_b = reinterpret_cast<const float4*>(b);
    const std::size_t tiles = count / (4 * tile);
    float sums[kLoads] = {};
    for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const std::size_t first = t * tile + threadIdx.x;
        float4 of_a[kLoads], of_b[kLoads];
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) {
            of_a[k] = fours_a[first + k * kThreads];
            of_b[k] = fours_b[first + k * kThreads];
        }
#pragma unroll
        for (unsigned k = 0; k < kLoads; ++k) {
            sums[k] += of_a[k].x * of_b[k].x + of_a[k].y * of_b[k].y + of_a[k].z * of_b[k].z + of_a[k].w * of_b[k].w;
        }
    }
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    for (std::size_t i = tiles * 4 * tile + thread; i < count; i += stride) sums[0] += a[i] * b[i];
    float sum = 0;
    for (unsigned k = 0; k < kLoads; ++k) sum += sums[k];

    sum = tree_of_shuffles(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;

    float rest = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads) rest += block_sums[block];
    rest = tree_of_shuffles(rest);
    if (threadIdx.x == 0) *dot = rest;
}

// Step 13: tuning. __launch_bounds__ promises that no block has more than 256 threads, and
// says that two blocks per SM are enough. So the compiler may use more registers, and
// issues all eight loads before the first multiplication.
// What was tried: 1, 2, 4, and 8 loads from each vector, and 1, 2, and 16 blocks per SM
// (the table of small and large vectors shows all of them); without the bounds nvcc 13.0
// begins to multiply when 6 of 8 loads have been issued, and with Loads = 8 when 4 of 16
// have. On an H200 the gain over step 12 was 0.5 %, within the spread. Nothing is left that
// could be saved: the bytes have to come.
template <unsigned Loads>
__global__ void __launch_bounds__(kThreads, 2)
    dot_tuned(const float* a, const float* b, std::size_t count, float* block_sums, unsigned* drawn, float* dot) {
    __shared__ bool is_last;
    constexpr unsigned tile = Loads * kThreads;  // float4 of each vector
    const auto* fours_a = reinterpret_cast<const float4*>(a);
    const auto* fours_b = reinterpret_cast<const float4*>(b);
    const std::size_t tiles = count / (4 * tile);
    float sums[Loads] = {};
    for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const std::size_t first = t * tile + threadIdx.x;
        float4 of_a[Loads], of_b[Loads];
#pragma unroll
        for (unsigned k = 0; k < Loads; ++k) {
            of_a[k] = fours_a[first + k * kThreads];
            of_b[k] = fours_b[first + k * kThreads];
        }
#pragma unroll
        for (unsigned k = 0; k < Loads; ++k) {
            sums[k] += of_a[k].x * of_b[k].x + of_a[k].y * of_b[k].y + of_a[k].z * of_b[k].z + of_a[k].w * of_b[k].w;
        }
    }
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    for (std::size_t i = tiles * 4 * tile + thread; i < count; i += stride) sums[0] += a[i] * b[i];
    float sum = 0;
    for (unsigned k = 0; k < Loads; ++k) sum += sums[k];

    sum = tree_of_shuffles(sum);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
        __threadfence();
        const unsigned ticket = atomicInc(drawn, gridDim.x - 1);
        __threadfence();
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;

    float rest = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads) rest += block_sums[block];
    rest = tree_of_shuffles(rest);
    if (threadIdx.x == 0) *dot = rest;
}

// Steps 10 to 13: blocks take tiles in turn. There is one block for every `Products`
// products, but at most `BlocksPerSm` blocks per SM; 0 stands for as many as fit.
template <auto Kernel, std::size_t Products, unsigned BlocksPerSm = 0>
void tiles_in_turn(Dot& problem) {
    const unsigned most =
        BlocksPerSm == 0 ? warpwise::blocks_that_fill(Kernel, kThreads) : BlocksPerSm * warpwise::multiprocessors();
    const unsigned blocks = std::min(warpwise::blocks_for(problem.count, Products), most);
    Kernel<<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(), problem.count, problem.d_block_sums.data(),
                                 problem.d_drawn.data(), problem.d_dot.data());
    warpwise::check_launch();
    problem.rounds_like(problem.chain(blocks));
}

constexpr auto four_loads = tiles_in_turn<dot_four_loads, kProductsAThread * kThreads>;
constexpr auto float4_loads = tiles_in_turn<dot_float4_loads, kLoads * 4 * kThreads>;
constexpr auto four_sums = tiles_in_turn<dot_four_sums, kLoads * 4 * kThreads>;

template <unsigned Loads, unsigned BlocksPerSm = 0>
void tuned(Dot& problem) {
    tiles_in_turn<dot_tuned<Loads>, Loads * 4 * kThreads, BlocksPerSm>(problem);
}

#ifndef __CPU_DEVICE__
// What a user would call instead. Neither says how it adds; no thread is expected to add up more than 1 / 32768 of
// the products.
std::size_t chain_of_vendor(const Dot& problem) { return warpwise::ceil_div(problem.count, 32768) + 32; }

void vendor_cublas(Dot& problem) {
    // The result stays on the device.
    static const cublasHandle_t handle = warpwise::make_cublas_handle(CUBLAS_POINTER_MODE_DEVICE);
    if (problem.count == 0) return problem.d_dot.fill_bytes(0);  // not promised by its manual
    warpwise::check_cublas(cublasSdot_64(handle, static_cast<std::int64_t>(problem.count), problem.d_a.data(), 1,
                                         problem.d_b.data(), 1, problem.d_dot.data()));
    problem.rounds_like(chain_of_vendor(problem));
}

// A sum over products that nobody ever writes down: an iterator makes them where CUB looks.
void vendor_cub(Dot& problem) {
    const float *const a = problem.d_a.data(), *const b = problem.d_b.data();
    const auto products = thrust::make_transform_iterator(thrust::make_zip_iterator(a, b),
                                                          thrust::make_zip_function(thrust::multiplies<float>()));
    std::size_t needed = 0;
    warpwise::check(cub::DeviceReduce::Sum(nullptr, needed, products, problem.d_dot.data(), problem.count));
    if (problem.d_vendor_storage.size() < needed) problem.d_vendor_storage = DeviceBuffer<unsigned char>(needed);
    warpwise::check(
        cub::DeviceReduce::Sum(problem.d_vendor_storage.data(), needed, products, problem.d_dot.data(), problem.count));
    problem.rounds_like(chain_of_vendor(problem));
}
#endif

// ---- predictions, held against the counters -----------------------------------------------------------------------

// What the warps of a step do with 65536 products: 256 tiles, or 32 blocks in steps 5 to 10
// and 16 in steps 11 to 13. A tree: each of 8 warps stores its values, each warp with work
// in a round makes two loads and a store, and thread 0 reads the sum; 256 + 3 * 255 + 1 =
// 1022 lanes take part. With shuffles 8 lanes store, and 8 load at once. A ticket: one lane
// stores is_last, and behind a barrier 8 warps read it. The last block has a tree more, and
// one load.
struct Predicted {
    const char* step;
    void (*run)(Dot&);
    double accesses, lanes, conflicts, barriers, loads, atomics;  // accesses, conflicts: of shared memory
};
const Predicted predictions[] = {
    {"dot_modulo", block_a_tile<dot_modulo>, 256 * (8 + 3 * 47 + 1), 256 * 1022, 0, 256 * 8 * 8, 4096, 0},
    {"dot_strided_index", block_a_tile<dot_strided_index>, 256 * (8 + 3 * 12 + 1), 256 * 1022, 256 * 3 * (47 - 12),
     256 * 8 * 8, 4096, 0},
    {"dot_halves", block_a_tile<dot_halves>, 256 * 45, 256 * 1022, 0, 256 * 8 * 8, 4096, 0},
    {"dot_grid_stride", grid_stride, 32 * 45, 32 * 1022, 0, 32 * 8 * 8, 4096, 0},
    {"dot_atomic", atomic_finish, 32 * 45, 32 * 1022, 0, 32 * 8 * 8, 4096, 32},
    {"dot_last_block", last_block<tree_of_halves>, 33 * 45 + 32 * 9, 33 * 1022 + 32 * 257, 0, (33 * 8 + 32) * 8, 4097,
     32},
    {"dot_warp_tail", last_block<tree_with_warp_tail>, 33 * 45 + 32 * 9, 33 * 1022 + 32 * 257, 0, (33 * 3 + 32) * 8,
     4097, 32},
    {"dot_shuffles", last_block<tree_of_shuffles>, 33 * 9 + 32 * 9, 33 * 16 + 32 * 257, 0, (33 + 32) * 8, 4097, 32},
    {"dot_four_loads", four_loads, 33 * 9 + 32 * 9, 33 * 16 + 32 * 257, 0, (33 + 32) * 8, 4097, 32},
    {"dot_float4_loads", float4_loads, 17 * 9 + 16 * 9, 17 * 16 + 16 * 257, 0, (17 + 16) * 8, 1025, 16},
    {"dot_four_sums", four_sums, 17 * 9 + 16 * 9, 17 * 16 + 16 * 257, 0, (17 + 16) * 8, 1025, 16},
    {"dot_tuned", tuned<4>, 17 * 9 + 16 * 9, 17 * 16 + 16 * 257, 0, (17 + 16) * 8, 1025, 16},
};

void show_predictions(warpwise::Lesson& lesson) {
    Dot problem({65536});
    std::vector<std::vector<std::string>> rows;
    for (const Predicted& predicted : predictions) {
        using warpwise::count_text;
        const std::string step = predicted.step;
        rows.push_back({step, count_text(predicted.accesses), text_of("%.1f", predicted.lanes / predicted.accesses),
                        count_text(predicted.conflicts), count_text(predicted.barriers), count_text(predicted.loads),
                        count_text(predicted.atomics)});
        problem.poison();
        const auto counts = lesson.count([&] { predicted.run(problem); });
        if (!counts) continue;
        lesson.expect(problem.compare().passed, step + ": the dot product is right");
        lesson.expect(counts->shared().requests == predicted.accesses, step + ": accesses of shared memory");
        lesson.expect(counts->shared().lanes == predicted.lanes, step + ": lanes in them");
        lesson.expect(counts->shared().conflicts() == predicted.conflicts, step + ": bank conflicts");
        lesson.expect(counts->barriers == predicted.barriers, step + ": barriers");
        lesson.expect(counts->global_load.requests == predicted.loads, step + ": loads");
        // 8 bytes for each product and, where a block reads 32 or 16 block sums, those.
        const double sums = counts->global_load.sectors - 65536.0 * 8 / 32;
        lesson.expect(sums >= 0 && sums <= 4, step + ": whole sectors");
        lesson.expect(counts->global_atomic.requests == predicted.atomics, step + ": atomics");
    }
    lesson.table("Predicted for 65536 products: 256 tiles, 32 blocks in steps 5 to 10, 16 blocks after",
                 {"step", "shared accesses", "lanes in each", "conflicts", "barriers", "loads", "atomics"}, rows);
}

// ---- small and large vectors, and the roof for reading ------------------------------------------------------------

// The roof R: reads both vectors and does nothing else.
template <unsigned Loads>
void read_both(Dot& problem) {
    warpwise::read_only<Loads>(problem.d_a.data(), problem.d_b.data(), problem.d_a.bytes(), problem.d_drawn.data());
}

// The steps from 5 on, step 13 with other numbers of loads and blocks, the vendor's
// routines, and the roof.
struct Timed {
    const char* name;
    void (*run)(Dot&);
};
const std::vector<Timed> timed = {
    {"dot_grid_stride", grid_stride},
    {"dot_atomic", atomic_finish},
    {"dot_last_block", last_block<tree_of_halves>},
    {"dot_warp_tail", last_block<tree_with_warp_tail>},
    {"dot_shuffles", last_block<tree_of_shuffles>},
    {"dot_four_loads", four_loads},
    {"dot_float4_loads", float4_loads},
    {"dot_four_sums", four_sums},
    {"dot_tuned", tuned<4>},
    {"  with 1 load of each vector", tuned<1>},
    {"  with 2 loads of each vector", tuned<2>},
    {"  with 8 loads of each vector", tuned<8>},
    {"  with 1 block per SM", tuned<4, 1>},
    {"  with 2 blocks per SM", tuned<4, 2>},
    {"  with 16 blocks per SM", tuned<4, 16>},
#ifndef __CPU_DEVICE__
    {"cublasSdot", vendor_cublas},
    {"cub::DeviceReduce", vendor_cub},
#endif
    {"roof R, 4 loads", read_both<4>},
    {"roof R, 8 loads", read_both<8>},
};
bool is_roof(const std::string& name) { return name.starts_with("roof"); }

constexpr std::size_t kSmall = std::size_t{1} << 20, kLarge = std::size_t{1} << 28;

// kLarge, or as many as the free memory has room for.
std::size_t large_count() {
    std::size_t free_bytes = 0, all_bytes = 0, count = kLarge;
    warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
    while (count > kSmall && Dot::device_bytes({count}) > free_bytes / 2) count /= 2;
    return count;
}

// Seconds of each of `timed`, measured in turn. What adds up is checked afterwards.
std::vector<double> measure(warpwise::Lesson& lesson, std::size_t count) {
    Dot problem({count});
    std::vector<warpwise::Candidate> candidates;
    for (const Timed& each : timed) candidates.push_back({[&each, &problem] { each.run(problem); }});
    std::vector<double> seconds;
    for (const warpwise::Timing& timing : warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.2})) {
        seconds.push_back(timing.median);
    }
    for (const Timed& each : timed) {
        if (is_roof(each.name)) continue;
        problem.poison();
        each.run(problem);
        lesson.expect(problem.compare().passed, std::string(each.name) + ": right after timing");
    }
    return seconds;
}

void show_small_and_large(warpwise::Lesson& lesson) {
    const std::string title = "2^20 elements, and ";
    if (!lesson.measures()) {
        lesson.show_recorded(title);
        return;
    }
    const std::size_t count = large_count();
    const std::vector<double> small = measure(lesson, kSmall), large = measure(lesson, count);
    double roof = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < timed.size(); ++i) {
        if (is_roof(timed[i].name)) roof = std::min(roof, large[i]);
    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < timed.size(); ++i) {
        rows.push_back({timed[i].name, text_of("%.1f", small[i] * 1e6), text_of("%.1f", large[i] * 1e6),
                        text_of("%.0f", 8e-9 * static_cast<double>(count) / large[i]),
                        text_of("%.3f", roof / large[i])});
    }
    lesson.table(title + std::to_string(count), {"step", "2^20, us", "large, us", "large, GB/s", "of roof R"}, rows);
}

}  // namespace

void dot_product(warpwise::Lesson& lesson) {
    lesson.text(
        R"(A dot product reads two vectors once and leaves one number. There is so little to compute that the
memory should be the only limit. But many threads have to agree on one sum: in 2007, on a G80, the first and the last
way of such a ladder were a factor of 30 apart.

What you will see: three trees that add up 256 products in shared memory, then threads that add in registers first,
then two ways to finish without the host, then cheaper trees, and in the end only bytes.

Predict, with a pencil. A tree has 256 parts and eight rounds, a block has eight warps of 32 lanes.

In dot_modulo threads 0, 2, 4 .. add in the first round, 0, 4, 8 .. in the second. How many warps have work in a
round, over all eight rounds?

In dot_strided_index the pairs are the same, but threads 0, 1, 2 .. add. How many warps now? And how many passes
over the 32 banks do their accesses take, when lane t wants word 2 * distance * t?

In dot_halves lane t wants words t and t + half. How many warps, and how many passes?)");
    lesson.text(
        R"(The answers, before the counters are asked. dot_modulo: as long as the distance is below 32, all eight
warps have a lane that adds: 5 rounds of 8 warps, then 4, 2 and 1, together 47, of whose 1504 lanes 255 add. The
strided index: 4, 2 and 1 warps, then five rounds of one: 12. But of lanes 2 words apart two share a bank, of lanes 4
words apart four do, and the passes are 4 * 2, 2 * 4, 8, 8, 8, 4, 2, 1: 47 again! Passes depend on where the words
lie, not on who fetches them: the second tree saves instructions, and no pass. A round is two loads and a store, so a
tile has 3 * (47 - 12) = 105 conflicts. dot_halves moves the words together: 12 warps, 12 passes, no conflict.

From step 5 on there is one tree per block and not one per tile, and from step 11 on a load
brings 16 bytes where it brought 4. The table says what that makes. Where there are counters
they are held against it, each figure exactly.)");
    show_predictions(lesson);

    std::vector<warpwise::Step<Dot>> steps = {
        {"serial", "a loop in double, one core", serial, warpwise::StepKind::host},
        {"dot_modulo", "a tree a tile, every second thread", block_a_tile<dot_modulo>},
        {"dot_strided_index", "the same pairs, the first threads", block_a_tile<dot_strided_index>},
        {"dot_halves", "upper half to lower half", block_a_tile<dot_halves>},
        {"dot_grid_stride", "threads add first, one tree a block", grid_stride},
        {"dot_atomic", "blocks add with atomics, not the host", atomic_finish},
        {"dot_last_block", "the block with the last ticket finishes", last_block<tree_of_halves>},
        {"dot_warp_tail", "one warp does the last rounds", last_block<tree_with_warp_tail>},
        {"dot_shuffles", "warps add from register to register", last_block<tree_of_shuffles>},
        {"dot_four_loads", "four loads of each vector in flight", four_loads},
        {"dot_float4_loads", "16 bytes per load", float4_loads},
        {"dot_four_sums", "one sum per load", four_sums},
        {"dot_tuned", "tuning: more registers by launch bounds", tuned<4>},
    };
#ifndef __CPU_DEVICE__
    steps.push_back({"cublas", "cublasSdot", vendor_cublas, warpwise::StepKind::vendor});
    steps.push_back({"cub", "cub::DeviceReduce, products by iterator", vendor_cub, warpwise::StepKind::vendor});
#endif
    lesson.steps<Dot>(
        {.gpu = {kLarge},
         .cpu = {std::size_t{1} << 18},
         .awkward = {{0}, {1}, {3}, {31}, {32}, {33}, {255}, {257}, {1009}, {4095}, {4096}, {4099}, {100003}}},
        steps);
    lesson.text(
        R"(Steps 2 to 4 have the same loads and the same barriers, and differ only in what their trees do to shared
memory. (The column `lanes` is an average over all of the kernel, not over the tree alone.) In 2007 step 3 was more
than twice as fast as step 2, and step 4 twice as fast again. On an H200 they take 2.36, 2.63 and 2.31 ms, and the
strided index is the slowest: it saves instructions, but no pass. (Both need 47 passes for each access of the rounds;
step 2 spreads them over 47 requests and has no conflict, step 3 over 12 requests, which makes conflicts of them.)
Step 2 has lost what was worst about it: nvcc unrolls the rounds, and the remainder becomes a mask. And probably a
third of each time is the host's, which adds 2^20 sums.

Step 5 takes almost all of that away: no tree is as cheap as one that is not there. So should a large vector notice
steps 6 to 9? Each of them improves what is done once a block, or once. They are for small vectors, where launches,
copies and the way to the host are most of the time, and for kernels that cannot add first, because they need a sum
for every few hundred elements.

Steps 10 to 13 are about the time between asking and getting. Little's law: bytes in flight
= bandwidth * latency. An H200 delivers 4.8 TB/s, and answers after 332 ns when nobody else
asks (lesson memory_spaces): 1.6 MB, or 12 KB for each of 132 SMs, and a busy memory answers
later. In step 9 the 2048 threads of an SM have one float of each vector in flight, 16 KB.
Step 10 has four floats of each, and makes as many loads. Step 11 has four float4 of each,
and makes a quarter of the loads: 256 threads have 32 KB in flight, and 1024 have 128 KB.
Steps 12 and 13 do not change what is loaded: one gives each load a sum of its own, the
other lets the compiler use more registers. Predict: which of the four pays? And in step 13,
is one block per SM enough, and is one load of each vector?)");
    show_small_and_large(lesson);
    lesson.text(
        R"(Roof R reads the same bytes and adds nothing; the better of its two lines counts. (Roof C, of the steps on a
GPU, is a copy, for which the memory has to turn around between reading and writing.) In the column for 2^20 elements
look at the steps that differ in how they finish; in the one for large vectors at the bytes under way.

On an H200 the large vector does not notice steps 6 to 9. The small one notices step 6, which saves the copy and the
host's loop: 9.8 us for 21.9. The last block is not faster than that: clearing the result costs less than a second
tree. Cheaper trees bring 0.2 us.

Of the last four steps the first pays: 0.97 of roof R after 0.82. In step 13 one block per SM is almost enough, and so is
one load of 16 bytes: 0.95 and 0.98. 16 KB in flight on each SM make 0.82 of the roof (steps 6 to 9), 32 KB 0.95, and
64 KB 0.97 to 0.99, five times what Little's law asks for with the latency of an idle memory.)");
    lesson.text(
        R"(Mistakes to avoid: a tree without its barriers, or with one that only some threads reach; float4 from a
pointer that is no multiple of 16 bytes; forgetting the tail behind the last whole float4; an index of 32 bits; timing
the kernel without the memset, the copy and the host's loop that belong to it.

Try next: the line with the conflicts, a size that is a multiple of nothing, and a small one.

    optimization dot_product --lines --step dot_strided_index
    optimization dot_product --size 1000003 --check
    optimization dot_product --size 4Ki)");
}

}  // namespace optimization
