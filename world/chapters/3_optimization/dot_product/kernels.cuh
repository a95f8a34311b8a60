// The kernels of dot_product, in the order of its steps. Step 1 is a loop on the host.
#pragma once

#include <cstddef>

namespace optimization {
namespace {

constexpr unsigned kThreads = 256;          // per block, and products per tile
constexpr unsigned kWarps = kThreads / 32;  // per block

// Step 2: one block per tile of 256 products. They go to shared memory and are added in
// pairs: first with the neighbor, then with the sum two places on, then four places on. The
// thread of the left one adds, and `%` finds it. The host adds the sums of the tiles,
// because blocks cannot wait for each other.
// Slow because every second lane of all 8 warps has work in the first round, and every
// fourth in the second: a warp goes through a round even for a single lane. And the host
// gets one float per tile.
__global__ void dot_modulo(const float* a, const float* b, std::size_t count,
                           float* block_sums) {
    __shared__ float part[kThreads];
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    part[threadIdx.x] = i < count ? a[i] * b[i] : 0.0f;
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * distance) == 0)
            part[threadIdx.x] += part[threadIdx.x + distance];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = part[0];
}

// Step 3: the same pairs in the same places, but the first threads add: thread t takes the
// t-th pair.
// This could be faster because working lanes are neighbors in few warps, and a warp without
// work skips the round. Still slow because neighboring lanes access words that are
// 2 * distance apart, so that several lanes share a bank.
__global__ void dot_strided_index(const float* a, const float* b, std::size_t count,
                                  float* block_sums) {
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

// Step 4: other pairs. The upper half is added to the lower half, so what is left is a
// shorter array without gaps.
// Faster because neighboring lanes access neighboring words, in 32 different banks. Still
// slow because each thread has one product, and then eight rounds in which at best half of
// the threads work. The tree costs more than the product.
__global__ void dot_halves(const float* a, const float* b, std::size_t count,
                           float* block_sums) {
    __shared__ float part[kThreads];
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    part[threadIdx.x] = i < count ? a[i] * b[i] : 0.0f;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = part[0];
}

// Step 5: as many blocks as fit on the device, and threads that stride over the vectors. A
// thread adds up its products in a register. There is one tree per block, after all
// products have been read, instead of one per tile.
// Faster because hardly anything is left but loads, additions in registers, and a few
// hundred sums for the host. Still slow because the host has to wait for the kernel, copy
// these sums, and add them.
__global__ void dot_grid_stride(const float* a, const float* b, std::size_t count,
                                float* block_sums) {
    __shared__ float part[kThreads];
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride)
        sum += a[i] * b[i];
    part[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) block_sums[blockIdx.x] = part[0];
}

// Step 6: each block adds its sum to the result with an atomic operation.
// Faster because the host no longer takes part. Still slow because the result must be
// zeroed by a separate operation before the kernel. And since blocks finish in any order,
// the last digits may differ from run to run.
__global__ void dot_atomic(const float* a, const float* b, std::size_t count, float* dot) {
    __shared__ float part[kThreads];
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride)
        sum += a[i] * b[i];
    part[threadIdx.x] = sum;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(dot, part[0]);
}

// The tree of steps 4 to 6 as a function, because step 7 needs it twice. Thread 0 gets the
// whole sum.
__device__ float tree_of_halves(float value) {
    __shared__ float part[kThreads];
    part[threadIdx.x] = value;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    return threadIdx.x == 0 ? part[0] : 0.0f;
}

// Step 7: the last block finishes (lesson fences_and_last_block). Each block stores its sum
// and draws a ticket. The block with the last ticket adds up the block sums. atomicInc goes
// back to 0 by itself, ready for the next launch.
// This could be faster because there is one launch and nothing to clear; and the digits are
// the same in every run. Still slow because there are two trees now, and one more barrier.
// Steps 8 and 9 are this kernel with another tree.
template <float (*SumOfBlock)(float)>
__global__ void dot_last_block(const float* a, const float* b, std::size_t count,
                               float* block_sums, unsigned* drawn, float* dot) {
    __shared__ bool is_last;
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    float sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += stride)
        sum += a[i] * b[i];
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
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads)
        rest += block_sums[block];
    rest = SumOfBlock(rest);
    if (threadIdx.x == 0) *dot = rest;
}

// Step 8: one warp does the rounds from 64 parts on. Its lanes wait only for each other
// (lesson warp_synchronous_code), and the compiler unrolls the last five rounds, because
// their number is fixed.
// Faster because there are 3 barriers of the block instead of 8. Still slow because each
// round goes through shared memory.
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

// Step 9: shuffles. Each warp adds up its 32 values from register to register, and the
// first warp adds up the eight sums.
// Faster because there is one barrier, and shared memory holds only 8 floats. The tree is
// cheap now. Still slow because a warp loads 128 bytes of each vector and then waits.
__device__ float tree_of_shuffles(float value) {
    __shared__ float warp_sums[kWarps];
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return value;
    value = threadIdx.x < kWarps ? warp_sums[threadIdx.x] : 0.0f;
    for (unsigned distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    return value;
}

// Step 10: more loads in flight. A block takes tiles of 1024 products, and a thread issues
// four loads from each vector before it needs the first value. The products after the last
// whole tile are taken one by one, as in step 9.
// Faster because a full SM of 2048 threads now has 64 KiB in flight instead of 16 KiB, and
// the memory delivers only as fast as it is asked (Little's law). Still slow because every
// load brings only 4 bytes, so that the kernel issues many load instructions.
constexpr unsigned kLoads = 4;  // from each vector

__global__ void dot_four_loads(const float* a, const float* b, std::size_t count,
                               float* block_sums, unsigned* drawn, float* dot) {
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
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads)
        rest += block_sums[block];
    rest = tree_of_shuffles(rest);
    if (threadIdx.x == 0) *dot = rest;
}

// Step 11: wider loads. Each of the four loads is a float4 now and brings 16 bytes, so a
// tile has 4096 products. The vectors must start at multiples of 16 bytes, as memory from
// cudaMalloc does; a pointer into the middle of an array would not do.
// Faster because one load instruction does the work of four, and each thread has four times
// as many bytes in flight. It could still be slow because the products of all four loads
// are added to the same sum, so that each addition waits for the one before it: step 12
// tests it.
__global__ void dot_float4_loads(const float* a, const float* b, std::size_t count,
                                 float* block_sums, unsigned* drawn, float* dot) {
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
            sum += of_a[k].x * of_b[k].x + of_a[k].y * of_b[k].y + of_a[k].z * of_b[k].z +
                   of_a[k].w * of_b[k].w;
        }
    }
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    for (std::size_t i = tiles * 4 * tile + thread; i < count; i += stride)
        sum += a[i] * b[i];

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
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads)
        rest += block_sums[block];
    rest = tree_of_shuffles(rest);
    if (threadIdx.x == 0) *dot = rest;
}

// Step 12: one accumulator per load. The four sums are added up once, after the last tile.
// This should be faster where additions wait for each other: the chain of dependent
// additions is a quarter as long. Here the loads take much longer than four additions, so
// we expect no gain, and an H200 had none. It could still be slow because nvcc 13.0 saves
// registers and mixes loads and multiplications: not all eight loads are in flight
// together.
__global__ void dot_four_sums(const float* a, const float* b, std::size_t count,
                              float* block_sums, unsigned* drawn, float* dot) {
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
            sums[k] += of_a[k].x * of_b[k].x + of_a[k].y * of_b[k].y +
                       of_a[k].z * of_b[k].z + of_a[k].w * of_b[k].w;
        }
    }
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    for (std::size_t i = tiles * 4 * tile + thread; i < count; i += stride)
        sums[0] += a[i] * b[i];
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
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads)
        rest += block_sums[block];
    rest = tree_of_shuffles(rest);
    if (threadIdx.x == 0) *dot = rest;
}

// Step 13: tuning. __launch_bounds__ promises that no block has more than 256 threads, and
// says that two blocks per SM are enough. So the compiler may use more registers, and
// issues all eight loads before the first multiplication.
// What was tried: 1, 2, 4, and 8 loads from each vector, and 1, 2, and 16 blocks per SM
// (the table of small and large vectors shows all of them). Without the bounds nvcc 13.0
// begins to multiply when 6 of 8 loads have been issued, and with Loads = 8 when 4 of 16
// have. On an H200 the gain over step 12 was 0.5 %, within the spread. Nothing is left that
// could be saved: the bytes have to come.
template <unsigned Loads>
__global__ void __launch_bounds__(kThreads, 2)
    dot_tuned(const float* a, const float* b, std::size_t count, float* block_sums,
              unsigned* drawn, float* dot) {
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
            sums[k] += of_a[k].x * of_b[k].x + of_a[k].y * of_b[k].y +
                       of_a[k].z * of_b[k].z + of_a[k].w * of_b[k].w;
        }
    }
    const std::size_t stride = std::size_t{gridDim.x} * kThreads;
    const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    for (std::size_t i = tiles * 4 * tile + thread; i < count; i += stride)
        sums[0] += a[i] * b[i];
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
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads)
        rest += block_sums[block];
    rest = tree_of_shuffles(rest);
    if (threadIdx.x == 0) *dot = rest;
}

}  // namespace
}  // namespace optimization
