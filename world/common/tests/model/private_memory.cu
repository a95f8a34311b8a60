// Memory that only some kernels use: arrays and spilled registers in local memory, and constant memory with one or
// several addresses per warp.
#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace private_memory_kernels {

// ---- local memory
// -----------------------------------------------------------------------------------------------------------

/// An array per thread that is indexed by data: it cannot be in registers.
template <unsigned size>
__global__ void array_by_data(const unsigned char* in, unsigned rounds, unsigned* out) {
    unsigned own[size];
#pragma unroll 4
    for (unsigned k = 0; k < size; ++k) own[k] = k;
    const unsigned i = thread_in_grid();
    for (unsigned r = 0; r < rounds; ++r) {
        const unsigned place = in[r * gridDim.x * blockDim.x + i] % size;
        own[place] = own[place] * 3 + r;
    }
    unsigned sum = 0;
#pragma unroll 4
    for (unsigned k = 0; k < size; ++k) sum = sum * 5 + own[k];
    out[i] = sum;
}

template <unsigned size>
Prepared arrays(unsigned blocks, unsigned threads, unsigned rounds) {
    const std::size_t grid = std::size_t{blocks} * threads;
    const Array<unsigned char> in = input<unsigned char>(grid * rounds);
    const Array<unsigned> out = output<unsigned>(grid);
    const auto expected = [grid, rounds](std::size_t i) {
        unsigned own[size];
        for (unsigned k = 0; k < size; ++k) own[k] = k;
        for (unsigned r = 0; r < rounds; ++r) {
            const unsigned place = element<unsigned char>(r * grid + i) % size;
            own[place] = own[place] * 3 + r;
        }
        unsigned sum = 0;
        for (unsigned k = 0; k < size; ++k) sum = sum * 5 + own[k];
        return sum;
    };
    return prepared(array_by_data<size>, {blocks, threads}, out, expected, 0, in, rounds, out);
}

/// The index is the same for all lanes: the accesses to local memory are coalesced and predictable.
__global__ void array_by_round(unsigned rounds, unsigned* out) {
    unsigned own[32];
#pragma unroll 4
    for (unsigned k = 0; k < 32; ++k) own[k] = threadIdx.x + k;
    for (unsigned r = 0; r < rounds; ++r) own[r * 7 % 32] += own[r * 5 % 32] ^ r;
    unsigned sum = 0;
#pragma unroll 4
    for (unsigned k = 0; k < 32; ++k) sum += own[k];
    out[thread_in_grid()] = sum;
}

Prepared arrays_by_round(unsigned blocks, unsigned threads, unsigned rounds) {
    std::vector<unsigned> sums(threads);
    for (unsigned thread = 0; thread < threads; ++thread) {
        unsigned own[32];
        for (unsigned k = 0; k < 32; ++k) own[k] = thread + k;
        for (unsigned r = 0; r < rounds; ++r) own[r * 7 % 32] += own[r * 5 % 32] ^ r;
        for (unsigned k = 0; k < 32; ++k) sums[thread] += own[k];
    }
    const Array<unsigned> out = output<unsigned>(std::size_t{blocks} * threads);
    const auto expected = [sums, threads](std::size_t i) { return sums[i % threads]; };
    return prepared(array_by_round, {blocks, threads}, out, expected, 0, rounds, out);
}

/// Many sums per thread, of which each round uses all.
template <unsigned sums>
__device__ void many_sums(const float* in, unsigned rounds, float* out) {
    float sum[sums];
#pragma unroll
    for (unsigned k = 0; k < sums; ++k) sum[k] = static_cast<float>(k);
    for (unsigned r = 0; r < rounds; ++r) {
        const float value = in[r];
#pragma unroll
        for (unsigned k = 0; k < sums; ++k) sum[k] = sum[(k + 1) % sums] * 0.5f + value;
    }
    float total = 0;
#pragma unroll
    for (unsigned k = 0; k < sums; ++k) total += sum[k] * static_cast<float>(k % 3 + 1);
    out[thread_in_grid()] = total + static_cast<float>(threadIdx.x);
}

/// 96 sums in registers.
__global__ void __launch_bounds__(256) sums_in_registers(const float* in, unsigned rounds, float* out) {
    many_sums<96>(in, rounds, out);
}

/// With two blocks of 1024 threads per SM, a thread can have at most 32 registers, so many sums are spilled.
__global__ void __launch_bounds__(1024, 2) sums_spilled(const float* in, unsigned rounds, float* out) {
    many_sums<96>(in, rounds, out);
}

/// With one block of 1024 threads per SM, a thread can have at most 64 registers, so some sums are spilled.
__global__ void __launch_bounds__(1024, 1) sums_half_spilled(const float* in, unsigned rounds, float* out) {
    many_sums<96>(in, rounds, out);
}

Prepared sums(void (*kernel)(const float*, unsigned, float*), unsigned blocks, unsigned threads, unsigned rounds) {
    constexpr unsigned count = 96;
    std::vector<double> sum(count);
    for (unsigned k = 0; k < count; ++k) sum[k] = k;
    for (unsigned r = 0; r < rounds; ++r) {
        // In place, in ascending order, as in the kernel: the last sum uses the new first one.
        for (unsigned k = 0; k < count; ++k) sum[k] = sum[(k + 1) % count] * 0.5 + element<double>(r);
    }
    double total = 0;
    for (unsigned k = 0; k < count; ++k) total += sum[k] * (k % 3 + 1);
    const Array<float> in = input<float>(rounds);
    const Array<float> out = output<float>(std::size_t{blocks} * threads);
    const auto expected = [total, threads](std::size_t i) { return total + static_cast<double>(i % threads); };
    return prepared(kernel, {blocks, threads}, out, expected, 1e-4, in, rounds, out);
}

std::vector<Case> local_memory() {
    return {
        {"local_array_of_8", [] { return arrays<8>(1056, 256, 16); }},
        {"local_array_of_32", [] { return arrays<32>(1056, 256, 16); }},
        {"local_array_of_128", [] { return arrays<128>(528, 256, 16); }},
        {"local_array_of_32_few_warps", [] { return arrays<32>(kSms, 64, 128); }},
        {"local_array_by_round", [] { return arrays_by_round(1056, 256, 64); }},
        {"local_array_by_round_one_warp", [] { return arrays_by_round(kSms, 32, 256); }},
        {"local_sums_in_registers", [] { return sums(sums_in_registers, 528, 256, 16); }},
        {"local_sums_half_spilled", [] { return sums(sums_half_spilled, 132, 1024, 16); }},
        {"local_sums_spilled", [] { return sums(sums_spilled, 264, 1024, 8); }},
        {"local_sums_in_registers_one_wave", [] { return sums(sums_in_registers, kSms, 256, 64); }},
    };
}

// ---- constant memory
// --------------------------------------------------------------------------------------------------------

/// Word k is `k * 7 % 61`: constant_word(k) says the same on the host.
constexpr unsigned kWords = 8192;
__constant__ unsigned words[kWords];

__host__ __device__ unsigned constant_word(unsigned k) { return k * 7 % 61; }

void fill_words() {
    std::vector<unsigned> values(kWords);
    for (unsigned k = 0; k < kWords; ++k) values[k] = constant_word(k);
    warpwise::check(cudaMemcpyToSymbol(words, values.data(), kWords * sizeof(unsigned)));
}

/// Lane l reads word (l % different) * apart, one further in each round.
__global__ void read_constants(unsigned different, unsigned apart, unsigned mask, unsigned rounds, unsigned* out) {
    unsigned place = threadIdx.x % 32 % different * apart;
    unsigned sum = 0;
#pragma unroll 4
    for (unsigned r = 0; r < rounds; ++r) sum += words[(place + r) & mask];
    out[thread_in_grid()] = sum;
}

Prepared constants(unsigned different, unsigned apart, unsigned size, unsigned rounds, unsigned blocks = 528,
                   unsigned threads = 256) {
    fill_words();
    std::vector<unsigned> sums(32);
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned r = 0; r < rounds; ++r) sums[lane] += constant_word((lane % different * apart + r) & (size - 1));
    }
    const Array<unsigned> out = output<unsigned>(std::size_t{blocks} * threads);
    return prepared(
        read_constants, {blocks, threads}, out, [sums](std::size_t i) { return sums[i % 32]; }, 0, different, apart,
        size - 1, rounds, out);
}

/// Every warp of the block walks through another part of the table.
__global__ void read_constants_per_warp(unsigned rounds, unsigned* out) {
    const unsigned first = threadIdx.x / 32 * 1024;
    unsigned sum = 0;
    for (unsigned r = 0; r < rounds; ++r) sum += words[(first + r * 16) % kWords];
    out[thread_in_grid()] = sum;
}

Prepared constants_per_warp(unsigned blocks, unsigned rounds) {
    fill_words();
    std::vector<unsigned> sums(8);
    for (unsigned warp = 0; warp < 8; ++warp) {
        for (unsigned r = 0; r < rounds; ++r) sums[warp] += constant_word((warp * 1024 + r * 16) % kWords);
    }
    const Array<unsigned> out = output<unsigned>(std::size_t{blocks} * 256);
    return prepared(
        read_constants_per_warp, {blocks, 256}, out, [sums](std::size_t i) { return sums[i % 256 / 32]; }, 0, rounds,
        out);
}

__constant__ float weights[64];

/// Weights from constant memory that are operands of multiply-adds.
__global__ void weighted_windows(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < 64; ++k) sum += in[i + k] * weights[k];
    out[i] = sum;
}

Prepared constant_weights(unsigned n) {
    std::vector<float> values(64);
    for (unsigned k = 0; k < 64; ++k) values[k] = element<float>(k);
    warpwise::check(cudaMemcpyToSymbol(weights, values.data(), 64 * sizeof(float)));
    const Array<float> in = input<float>(n + 64);
    const Array<float> out = output<float>(n);
    const auto expected = [](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < 64; ++k) sum += element<double>(i + k) * element<double>(k);
        return sum;
    };
    return prepared(weighted_windows, {n / 256, 256}, out, expected, 1e-6, in, out);
}

std::vector<Case> constant_memory() {
    return {
        {"constant_uniform", [] { return constants(1, 1, 1024, 64); }},
        {"constant_2_addresses", [] { return constants(2, 1, 1024, 64); }},
        {"constant_4_addresses", [] { return constants(4, 16, 256, 64); }},
        {"constant_8_addresses", [] { return constants(8, 16, 256, 64); }},
        {"constant_16_addresses", [] { return constants(16, 1, 256, 32); }},
        {"constant_32_addresses", [] { return constants(32, 1, 256, 32); }},
        {"constant_32_addresses_large_table", [] { return constants(32, 256, kWords, 16); }},
        {"constant_uniform_few_warps", [] { return constants(1, 1, 1024, 512, kSms, 32); }},
        {"constant_uniform_large_table", [] { return constants(1, 1, kWords, 2048, kSms, 128); }},
        {"constant_by_warp", [] { return constants_per_warp(264, 128); }},
        {"constant_weights", [] { return constant_weights(kMi); }},
    };
}

}  // namespace private_memory_kernels

std::vector<Family> private_memory_families() {
    return {{"local_memory", private_memory_kernels::local_memory()},
            {"constant_memory", private_memory_kernels::constant_memory()}};
}

}  // namespace model_kernels
