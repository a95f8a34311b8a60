// Memory that is read several times: working sets that fit in the L1 cache, in the L2 cache, or in neither.
#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace caches_kernels {

/// Every block reads its own region of `words` elements (a power of two) `rounds` times. Each round starts at another
/// place, so that the compiler cannot keep the elements in registers.
__global__ void reread_own_region(const float* in, unsigned words, unsigned rounds, float* out) {
    const float* const region = in + static_cast<std::size_t>(blockIdx.x) * words;
    float sum = 0;
    for (unsigned r = 0; r < rounds; ++r) {
        for (unsigned k = threadIdx.x; k < words; k += blockDim.x) {
            sum += region[(k + r * 32) & (words - 1)];
        }
    }
    out[thread_in_grid()] = sum;
}

Prepared own_regions(unsigned blocks, unsigned threads, unsigned words, unsigned rounds) {
    const Array<float> in = input<float>(std::size_t{blocks} * words);
    const Array<float> out = output<float>(std::size_t{blocks} * threads);
    const auto expected = [threads, words, rounds](std::size_t i) {
        double sum = 0;
        for (unsigned r = 0; r < rounds; ++r) {
            for (std::size_t k = i % threads; k < words; k += threads) {
                sum += element<double>(i / threads * words + (k + r * 32) % words);
            }
        }
        return sum;
    };
    return prepared(reread_own_region, {blocks, threads}, out, expected, 0, in, words, rounds, out);
}

/// Every block reads the same region, `rounds` times. Blocks start at different places.
__global__ void reread_common_region(const float4* in, unsigned words, unsigned rounds, float* out) {
    float sum = 0;
    unsigned place = (blockIdx.x * 1024 + threadIdx.x) % words;
    for (unsigned r = 0; r < rounds; ++r) {
        const float4 value = in[place];
        sum += (value.x + value.y) + (value.z + value.w);
        place += blockDim.x;
        if (place >= words) place -= words;
    }
    out[thread_in_grid()] = sum;
}

/// `words` elements of 16 bytes; every thread reads `rounds` of them.
Prepared common_region(unsigned blocks, unsigned threads, unsigned words, unsigned rounds, unsigned shared_bytes = 0) {
    const Array<float> in = input<float>(4 * std::size_t{words});
    const Array<float> out = output<float>(std::size_t{blocks} * threads);
    const auto expected = [threads, words, rounds](std::size_t i) {
        double sum = 0;
        std::size_t place = (i / threads * 1024 + i % threads) % words;
        for (unsigned r = 0; r < rounds; ++r) {
            for (std::size_t part = 0; part < 4; ++part) sum += element<double>(4 * place + part);
            place = (place + threads) % words;
        }
        return sum;
    };
    return prepared(reread_common_region, {blocks, threads, shared_bytes}, out, expected, 0, in.as<float4>(), words,
                    rounds, out);
}

/// The whole grid reads `n` elements from the first to the last, `rounds` times.
__global__ void reread_in_sweeps(const float4* in, unsigned n, unsigned rounds, float* out) {
    const unsigned threads = gridDim.x * blockDim.x;
    float sum = 0;
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll 4
        for (unsigned i = thread_in_grid(); i < n; i += threads) {
            const float4 value = in[i];
            sum += (value.x + value.y) + (value.z + value.w);
        }
    }
    out[thread_in_grid()] = sum;
}

Prepared sweeps(unsigned mebibytes, unsigned rounds) {
    constexpr unsigned blocks = 2 * kSms, threads = 512;
    const unsigned n = mebibytes * (kMi / 16);
    const Array<float> in = input<float>(4 * std::size_t{n});
    const Array<float> out = output<float>(std::size_t{blocks} * threads);
    const auto expected = [n, rounds](std::size_t thread) {
        double sum = 0;
        for (std::size_t i = thread; i < n; i += std::size_t{blocks} * threads) {
            for (std::size_t part = 0; part < 4; ++part) sum += element<double>(4 * i + part);
        }
        return sum * rounds;
    };
    return prepared(reread_in_sweeps, {blocks, threads}, out, expected, 0, in.as<float4>(), n, rounds, out);
}

/// All pairs: every thread reads all points, in the same order as its neighbors.
__global__ void sum_of_distances(const float2* points, unsigned n, float* out) {
    const float2 mine = points[thread_in_grid() % n];
    float sum = 0;
#pragma unroll 4
    for (unsigned k = 0; k < n; ++k) {
        const float2 other = points[k];
        sum += fabsf(mine.x - other.x) + fabsf(mine.y - other.y);
    }
    out[thread_in_grid()] = sum;
}

/// The same with the points in shared memory, 256 at a time.
__global__ void sum_of_distances_shared(const float2* points, unsigned n, float* out) {
    __shared__ float2 some[256];
    const float2 mine = points[thread_in_grid() % n];
    float sum = 0;
    for (unsigned first = 0; first < n; first += 256) {
        some[threadIdx.x] = points[first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (unsigned k = 0; k < 256; ++k) {
            const float2 other = some[k];
            sum += fabsf(mine.x - other.x) + fabsf(mine.y - other.y);
        }
        __syncthreads();
    }
    out[thread_in_grid()] = sum;
}

Prepared all_pairs(void (*kernel)(const float2*, unsigned, float*), unsigned blocks, unsigned n) {
    const Array<float> points = input<float>(2 * n);
    const Array<float> out = output<float>(std::size_t{blocks} * 256);
    // Coordinates have only 16 values: the sums follow from how many points have each of them.
    std::vector<double> sums(2 * n);
    for (unsigned axis = 0; axis < 2; ++axis) {
        unsigned points_at[16] = {};
        for (unsigned k = 0; k < n; ++k) ++points_at[hash(2 * k + axis) & 15];
        for (unsigned k = 0; k < n; ++k) {
            const int mine = static_cast<int>(hash(2 * k + axis) & 15);
            for (int other = 0; other < 16; ++other)
                sums[2 * k + axis] += points_at[other] * std::abs(mine - other) / 8.0;
        }
    }
    const auto expected = [sums, n](std::size_t i) { return sums[2 * (i % n)] + sums[2 * (i % n) + 1]; };
    return prepared(kernel, {blocks, 256}, out, expected, 0, points.as<float2>(), n, out);
}

/// Neighboring threads read overlapping windows of 32 elements.
__global__ void overlapping_windows(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < 32; ++k) sum += in[i + k];
    out[i] = sum;
}

Prepared windows(unsigned n) {
    const Array<float> in = input<float>(n + 32);
    const Array<float> out = output<float>(n);
    const auto expected = [](std::size_t i) {
        float sum = 0;
        for (std::size_t k = 0; k < 32; ++k) sum += element<float>(i + k);
        return sum;
    };
    return prepared(overlapping_windows, {n / 256, 256}, out, expected, 0, in, out);
}

/// Every thread sums 32 consecutive elements: lines are used 32 times, by one thread.
__global__ void consecutive_per_thread(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    float sum = 0;
#pragma unroll 4
    for (unsigned k = 0; k < 32; ++k) sum += in[i * 32 + k];
    out[i] = sum;
}

Prepared consecutive(unsigned n, unsigned shared_bytes = 0) {
    const Array<float> in = input<float>(32 * std::size_t{n});
    const Array<float> out = output<float>(n);
    const auto expected = [](std::size_t i) {
        float sum = 0;
        for (std::size_t k = 0; k < 32; ++k) sum += element<float>(32 * i + k);
        return sum;
    };
    return prepared(consecutive_per_thread, {n / 256, 256, shared_bytes}, out, expected, 0, in, out);
}

std::vector<Case> cache_reuse() {
    return {
        {"reuse_own_4_kib", [] { return own_regions(528, 256, kKi, 64); }},
        {"reuse_own_16_kib", [] { return own_regions(528, 256, 4 * kKi, 16); }},
        {"reuse_own_64_kib", [] { return own_regions(528, 256, 16 * kKi, 8); }},
        {"reuse_own_256_kib", [] { return own_regions(132, 256, 64 * kKi, 8); }},
        {"reuse_own_16_kib_of_1024", [] { return own_regions(264, 1024, 4 * kKi, 64); }},
        {"reuse_own_128_kib_of_1024", [] { return own_regions(132, 1024, 32 * kKi, 16); }},
        {"reuse_common_16_kib", [] { return common_region(1056, 256, kKi, 64); }},
        {"reuse_common_128_kib", [] { return common_region(1056, 256, 8 * kKi, 64); }},
        {"reuse_common_2_mib", [] { return common_region(1056, 256, 128 * kKi, 64); }},
        {"reuse_common_16_mib", [] { return common_region(1056, 256, kMi, 64); }},
        {"reuse_common_2_mib_one_block_per_sm", [] { return common_region(528, 256, 128 * kKi, 64, kOneBlockPerSm); }},
        {"reuse_common_48_kib_one_block_per_sm", [] { return common_region(528, 256, 3 * kKi, 64, kOneBlockPerSm); }},
        {"reuse_sweeps_4_mib", [] { return sweeps(4, 16); }},
        {"reuse_sweeps_16_mib", [] { return sweeps(16, 6); }},
        {"reuse_sweeps_32_mib", [] { return sweeps(32, 4); }},
        {"reuse_sweeps_96_mib", [] { return sweeps(96, 2); }},
        {"reuse_all_pairs", [] { return all_pairs(sum_of_distances, 264, 1024); }},
        {"reuse_all_pairs_shared", [] { return all_pairs(sum_of_distances_shared, 264, 1024); }},
        {"reuse_all_pairs_few_blocks", [] { return all_pairs(sum_of_distances, 33, 2048); }},
        {"reuse_windows_of_32", [] { return windows(kMi); }},
        {"reuse_32_consecutive", [] { return consecutive(kMi / 4); }},
        {"reuse_32_consecutive_one_block_per_sm", [] { return consecutive(kMi / 4, kOneBlockPerSm); }},
    };
}

}  // namespace caches_kernels

std::vector<Family> cache_families() { return {{"cache_reuse", caches_kernels::cache_reuse()}}; }

}  // namespace model_kernels
