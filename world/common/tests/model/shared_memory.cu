// Shared memory: bank conflicts of loads and stores, loops that are bound by its bandwidth or its latency, and what
// the threads of a block or a warp exchange.
#include <algorithm>

#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace shared_memory_kernels {

constexpr unsigned kRounds = 64;
constexpr unsigned kBlocks = 4 * kSms;

// ---- bank conflicts -------------------------------------------------------------------------------------------------

/// Every warp has a region of its own of `kRegion` elements; lane `l` starts at element `l * stride`.
constexpr unsigned kRegion = 1024;

template <unsigned stride, class T>
__global__ void load_with_stride(unsigned rounds, T* out) {
    __shared__ T region[kRegion];
    for (unsigned k = threadIdx.x; k < kRegion; k += blockDim.x) region[k] = static_cast<T>(k % 64);
    __syncthreads();
    unsigned place = threadIdx.x % 32 * stride;
    T sum = 0;
#pragma unroll 8
    for (unsigned r = 0; r < rounds; ++r) {
        sum += region[place];
        place = (place + 1) % kRegion;
    }
    out[thread_in_grid()] = sum;
}

template <unsigned stride, class T>
Prepared strided_loads(unsigned blocks = kBlocks, unsigned shared_bytes = 0) {
    const Array<T> out = output<T>(std::size_t{blocks} * 256);
    const auto expected = [](std::size_t i) {
        double sum = 0;
        for (unsigned r = 0; r < kRounds; ++r) sum += static_cast<double>((i % 32 * stride + r) % kRegion % 64);
        return sum;
    };
    return prepared(load_with_stride<stride, T>, {blocks, 256, shared_bytes}, out, expected, 0, kRounds, out);
}

template <unsigned stride>
__global__ void load_float4_with_stride(unsigned rounds, float* out) {
    __shared__ float4 region[kRegion];
    for (unsigned k = threadIdx.x; k < kRegion; k += blockDim.x) {
        const float value = static_cast<float>(k % 64);
        region[k] = make_float4(value, value, value, value + 1);
    }
    __syncthreads();
    unsigned place = threadIdx.x % 32 * stride;
    float sum = 0;
#pragma unroll 8
    for (unsigned r = 0; r < rounds; ++r) {
        const float4 value = region[place];
        sum += (value.x + value.y) + (value.z + value.w);
        place = (place + 1) % kRegion;
    }
    out[thread_in_grid()] = sum;
}

template <unsigned stride>
Prepared strided_float4_loads() {
    const Array<float> out = output<float>(std::size_t{kBlocks} * 256);
    const auto expected = [](std::size_t i) {
        double sum = 0;
        for (unsigned r = 0; r < kRounds; ++r)
            sum += 4.0 * static_cast<double>((i % 32 * stride + r) % kRegion % 64) + 1;
        return sum;
    };
    return prepared(load_float4_with_stride<stride>, {kBlocks, 256}, out, expected, 0, kRounds, out);
}

/// 128 threads per block, one region per warp. The last round decides what a place holds, for each lane.
template <unsigned stride>
__global__ void store_with_stride(unsigned rounds, unsigned* out) {
    __shared__ unsigned regions[4][kRegion];
    volatile unsigned* const region = regions[threadIdx.x / 32];
    const unsigned first = threadIdx.x % 32 * stride;
    for (unsigned r = 0; r < rounds; ++r) region[first] = r + first;
    out[thread_in_grid()] = region[first];
}

template <unsigned stride>
Prepared strided_stores() {
    constexpr unsigned rounds = 128;
    const Array<unsigned> out = output<unsigned>(std::size_t{kBlocks} * 128);
    return prepared(
        store_with_stride<stride>, {kBlocks, 128}, out, [](std::size_t i) { return rounds - 1 + i % 32 * stride; }, 0,
        rounds, out);
}

/// Follows a table of random places: the next address depends on the value.
__global__ void follow_shared_table(const unsigned* table, unsigned rounds, unsigned* out) {
    __shared__ unsigned places[kRegion];
    for (unsigned k = threadIdx.x; k < kRegion; k += blockDim.x) places[k] = table[k];
    __syncthreads();
    unsigned place = threadIdx.x;
#pragma unroll 4
    for (unsigned r = 0; r < rounds; ++r) place = places[place];
    out[thread_in_grid()] = place;
}

Prepared followed_table(unsigned blocks, unsigned threads, unsigned rounds) {
    std::vector<unsigned> table(kRegion);
    for (unsigned k = 0; k < kRegion; ++k) table[k] = hash(k) % kRegion;
    std::vector<unsigned> ends(threads);
    for (unsigned thread = 0; thread < threads; ++thread) {
        ends[thread] = thread;
        for (unsigned r = 0; r < rounds; ++r) ends[thread] = table[ends[thread]];
    }
    const Array<unsigned> d_table = upload(table);
    const Array<unsigned> out = output<unsigned>(std::size_t{blocks} * threads);
    const auto expected = [ends, threads](std::size_t i) { return ends[i % threads]; };
    return prepared(follow_shared_table, {blocks, threads}, out, expected, 0, d_table, rounds, out);
}

std::vector<Case> bank_conflicts() {
    return {
        {"banks_load_stride_0", [] { return strided_loads<0, float>(); }},
        {"banks_load_stride_1", [] { return strided_loads<1, float>(); }},
        {"banks_load_stride_2", [] { return strided_loads<2, float>(); }},
        {"banks_load_stride_3", [] { return strided_loads<3, float>(); }},
        {"banks_load_stride_4", [] { return strided_loads<4, float>(); }},
        {"banks_load_stride_8", [] { return strided_loads<8, float>(); }},
        {"banks_load_stride_12", [] { return strided_loads<12, float>(); }},
        {"banks_load_stride_16", [] { return strided_loads<16, float>(); }},
        {"banks_load_stride_32", [] { return strided_loads<32, float>(); }},
        {"banks_load_stride_32_one_block_per_sm", [] { return strided_loads<32, float>(kSms, kOneBlockPerSm); }},
        {"banks_load_doubles_stride_1", [] { return strided_loads<1, double>(); }},
        {"banks_load_doubles_stride_4", [] { return strided_loads<4, double>(); }},
        {"banks_load_float4_stride_1", [] { return strided_float4_loads<1>(); }},
        {"banks_load_float4_stride_8", [] { return strided_float4_loads<8>(); }},
        {"banks_store_stride_1", [] { return strided_stores<1>(); }},
        {"banks_store_stride_2", [] { return strided_stores<2>(); }},
        {"banks_store_stride_8", [] { return strided_stores<8>(); }},
        {"banks_store_stride_32", [] { return strided_stores<32>(); }},
        {"banks_random_table", [] { return followed_table(kBlocks, 256, 128); }},
        {"banks_random_table_of_1_warp", [] { return followed_table(kSms, 32, 1024); }},
        {"banks_random_table_of_1024", [] { return followed_table(2 * kSms, 1024, 64); }},
    };
}

// ---- loops over shared memory, barriers, and exchange
// ------------------------------------------------------------------

/// A filter with 64 coefficients: two loads from shared memory for each multiply-add.
__global__ void filter_64(const float* in, const float* coefficients, float* out) {
    __shared__ float values[256 + 64];
    __shared__ float weights[64];
    const unsigned i = thread_in_grid();
    values[threadIdx.x] = in[i];
    if (threadIdx.x < 64) {
        values[256 + threadIdx.x] = in[i + 256];
        weights[threadIdx.x] = coefficients[threadIdx.x];
    }
    __syncthreads();
    float sum = 0;
#pragma unroll 16
    for (unsigned k = 0; k < 64; ++k) sum += values[threadIdx.x + k] * weights[k];
    out[i] = sum;
}

Prepared filtered(unsigned n) {
    const Array<float> in = input<float>(n + 256);
    const Array<float> coefficients = input<float>(64);
    const Array<float> out = output<float>(n);
    const auto expected = [](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < 64; ++k) sum += element<double>(i + k) * element<double>(k);
        return sum;
    };
    return prepared(filter_64, {n / 256, 256}, out, expected, 1e-6, in, coefficients, out);
}

/// A polynomial whose coefficients are in shared memory, for four arguments per thread.
__global__ void polynomial_from_shared(const float* coefficients, const float* in, float* out) {
    __shared__ float shared[128];
    if (threadIdx.x < 128) shared[threadIdx.x] = coefficients[threadIdx.x];
    __syncthreads();
    const unsigned i = blockIdx.x * 4 * blockDim.x + threadIdx.x;
    float x[4], sum[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
        x[k] = in[i + k * blockDim.x] * 0.5f;
        sum[k] = 0;
    }
#pragma unroll 16
    for (unsigned c = 0; c < 128; ++c) {
        const float coefficient = shared[c];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) sum[k] = sum[k] * x[k] + coefficient;
    }
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) out[i + k * blockDim.x] = sum[k];
}

Prepared shared_polynomials(unsigned n) {
    const Array<float> coefficients = input<float>(128);
    const Array<float> in = input<float>(n);
    const Array<float> out = output<float>(n);
    const auto expected = [](std::size_t i) {
        double sum = 0;
        for (std::size_t c = 0; c < 128; ++c) sum = sum * element<double>(i) * 0.5 + element<double>(c);
        return sum;
    };
    return prepared(polynomial_from_shared, {n / 1024, 256}, out, expected, 1e-5, coefficients, in, out);
}

/// Values move around the ring of a block's threads, with two barriers per step.
__global__ void pass_around(unsigned steps, unsigned* out) {
    extern __shared__ unsigned ring[];
    unsigned value = threadIdx.x;
    for (unsigned step = 0; step < steps; ++step) {
        ring[threadIdx.x] = value;
        __syncthreads();
        value = ring[threadIdx.x + 1 == blockDim.x ? 0 : threadIdx.x + 1] + 1;
        __syncthreads();
    }
    out[thread_in_grid()] = value;
}

Prepared passed_around(unsigned blocks, unsigned threads, unsigned steps) {
    const Array<unsigned> out = output<unsigned>(std::size_t{blocks} * threads);
    const auto expected = [threads, steps](std::size_t i) { return (i % threads + steps) % threads + steps; };
    const Shape shape{blocks, threads, static_cast<unsigned>(threads * sizeof(unsigned))};
    return prepared(pass_around, shape, out, expected, 0, steps, out);
}

/// Barriers and nothing else.
__global__ void only_barriers(unsigned steps, unsigned* out) {
    for (unsigned step = 0; step < steps; ++step) __syncthreads();
    out[thread_in_grid()] = steps;
}

Prepared barriers(unsigned blocks, unsigned threads, unsigned steps) {
    const Array<unsigned> out = output<unsigned>(std::size_t{blocks} * threads);
    return prepared(
        only_barriers, {blocks, threads}, out, [steps](std::size_t) { return steps; }, 0, steps, out);
}

/// Sorts 1024 integers per block by a bitonic network.
__global__ void sort_1024(const unsigned* in, unsigned* out) {
    __shared__ unsigned values[1024];
    const unsigned thread = threadIdx.x;
    values[thread] = in[blockIdx.x * 1024 + thread];
    __syncthreads();
    for (unsigned size = 2; size <= 1024; size *= 2) {
        for (unsigned distance = size / 2; distance > 0; distance /= 2) {
            const unsigned other = thread ^ distance;
            if (other > thread) {
                const unsigned a = values[thread], b = values[other];
                if ((a > b) == ((thread & size) == 0)) {
                    values[thread] = b;
                    values[other] = a;
                }
            }
            __syncthreads();
        }
    }
    out[blockIdx.x * 1024 + thread] = values[thread];
}

Prepared sorted_blocks(unsigned blocks) {
    const std::size_t n = std::size_t{blocks} * 1024;
    const Array<unsigned> in = input<unsigned>(n);
    const Array<unsigned> out = output<unsigned>(n);
    std::vector<unsigned> sorted(n);
    for (std::size_t i = 0; i < n; ++i) sorted[i] = element<unsigned>(i);
    for (std::size_t first = 0; first < n; first += 1024) {
        std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(first),
                  sorted.begin() + static_cast<std::ptrdiff_t>(first + 1024));
    }
    return prepared(
        sort_1024, {blocks, 1024}, out, [sorted](std::size_t i) { return sorted[i]; }, 0, in, out);
}

/// Inclusive prefix sums within a block (Hillis and Steele).
__global__ void prefix_sums(const unsigned* in, unsigned* out) {
    __shared__ unsigned sums[2][512];
    const unsigned thread = threadIdx.x;
    unsigned from = 0;
    sums[0][thread] = in[thread_in_grid()];
    __syncthreads();
    for (unsigned distance = 1; distance < 512; distance *= 2) {
        unsigned sum = sums[from][thread];
        if (thread >= distance) sum += sums[from][thread - distance];
        from = 1 - from;
        sums[from][thread] = sum;
        __syncthreads();
    }
    out[thread_in_grid()] = sums[from][thread];
}

Prepared block_prefix_sums(unsigned blocks) {
    const std::size_t n = std::size_t{blocks} * 512;
    const Array<unsigned> in = input<unsigned>(n);
    const Array<unsigned> out = output<unsigned>(n);
    std::vector<unsigned> sums(n);
    for (std::size_t i = 0; i < n; ++i) sums[i] = element<unsigned>(i) + (i % 512 == 0 ? 0 : sums[i - 1]);
    return prepared(
        prefix_sums, {blocks, 512}, out, [sums](std::size_t i) { return sums[i]; }, 0, in, out);
}

/// Butterfly exchanges within a warp.
__global__ void butterflies(unsigned rounds, unsigned* out) {
    unsigned value = threadIdx.x % 32;
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (unsigned distance = 16; distance > 0; distance /= 2) {
            value = value * 3 + __shfl_xor_sync(0xFFFFFFFFu, value, distance);
        }
    }
    out[thread_in_grid()] = value;
}

Prepared butterfly(unsigned blocks, unsigned threads, unsigned rounds) {
    std::vector<unsigned> values(32), next(32);
    for (unsigned lane = 0; lane < 32; ++lane) values[lane] = lane;
    for (unsigned r = 0; r < rounds; ++r) {
        for (unsigned distance = 16; distance > 0; distance /= 2) {
            for (unsigned lane = 0; lane < 32; ++lane) next[lane] = values[lane] * 3 + values[lane ^ distance];
            values = next;
        }
    }
    const Array<unsigned> out = output<unsigned>(std::size_t{blocks} * threads);
    return prepared(
        butterflies, {blocks, threads}, out, [values](std::size_t i) { return values[i % 32]; }, 0, rounds, out);
}

/// Votes: how many of the warp's lanes have each of 16 bits of a random number.
__global__ void vote_on_bits(const unsigned* in, unsigned* out) {
    const unsigned value = in[thread_in_grid()];
    unsigned sum = 0;
#pragma unroll
    for (unsigned bit = 0; bit < 16; ++bit) {
        sum = sum * 5 + static_cast<unsigned>(__popc(__ballot_sync(0xFFFFFFFFu, (value >> bit & 1) != 0)));
    }
    out[thread_in_grid()] = sum;
}

Prepared votes(unsigned n) {
    const Array<unsigned> in = input<unsigned>(n);
    const Array<unsigned> out = output<unsigned>(n);
    std::vector<unsigned> sums(n / 32);
    for (std::size_t warp = 0; warp < sums.size(); ++warp) {
        for (unsigned bit = 0; bit < 16; ++bit) {
            unsigned votes = 0;
            for (std::size_t lane = 0; lane < 32; ++lane) votes += element<unsigned>(warp * 32 + lane) >> bit & 1;
            sums[warp] = sums[warp] * 5 + votes;
        }
    }
    return prepared(
        vote_on_bits, {n / 256, 256}, out, [sums](std::size_t i) { return sums[i / 32]; }, 0, in, out);
}

std::vector<Case> shared_loops() {
    return {
        {"shared_filter_64", [] { return filtered(kMi); }},
        {"shared_filter_64_small", [] { return filtered(32 * kKi); }},
        {"shared_polynomial", [] { return shared_polynomials(kMi / 2); }},
        {"shared_ring_of_64", [] { return passed_around(8 * kSms, 64, 128); }},
        {"shared_ring_of_256", [] { return passed_around(4 * kSms, 256, 64); }},
        {"shared_ring_of_1024", [] { return passed_around(2 * kSms, 1024, 64); }},
        {"shared_ring_of_1024_one_block", [] { return passed_around(1, 1024, 128); }},
        {"shared_barriers_of_256", [] { return barriers(4 * kSms, 256, 128); }},
        {"shared_barriers_of_1024", [] { return barriers(kSms, 1024, 256); }},
        {"shared_sort_1024", [] { return sorted_blocks(kSms); }},
        {"shared_sort_1024_many_blocks", [] { return sorted_blocks(4 * kSms); }},
        {"shared_prefix_sums_512", [] { return block_prefix_sums(2048); }},
        {"shuffle_butterflies", [] { return butterfly(8 * kSms, 256, 16); }},
        {"shuffle_butterflies_of_1_warp", [] { return butterfly(kSms, 32, 128); }},
        {"shuffle_votes", [] { return votes(kMi); }},
    };
}

}  // namespace shared_memory_kernels

std::vector<Family> shared_memory_families() {
    return {{"bank_conflicts", shared_memory_kernels::bank_conflicts()},
            {"shared_loops", shared_memory_kernels::shared_loops()}};
}

}  // namespace model_kernels
